/* language.c - the language of a session: its name, and the messages that have a text in it. Of dates it says nothing. */
#include "sim/session/session_internal.h"

#include <stdio.h>
#include <string.h>

typedef struct Language {
    const char *name, *alias;
    bool        is_portuguese;
} Language;
static const Language languages[] = {{"us_english", "English", false},
                                     {"Portugu\xC3\xAAs", "Portuguese", true},
                                     {"Portugu\xC3\xAAs (Brasil)", "Brazilian", true}};

static const Language *find_language(Str name)
{
    for (size_t i = 0; i < COUNT_OF(languages); i++)
        if (sim_name_equal(name, str_from_c(languages[i].name)) ||
            sim_name_equal(name, str_from_c(languages[i].alias)))
            return &languages[i];
    return NULL;
}

void session_set_language(SessionOptions *options, Str name)
{
    const Language *known = find_language(name);

    (void)snprintf(options->language, sizeof options->language, "%.*s",
                   STR_ARG(known ? str_from_c(known->name) : name));
}

/* --- messages --- */
/* What a text names stands between quotes; %1 to %3 are those names, in the English text's order. */
typedef struct Translation {
    int32_t     number;
    const char *text;
} Translation;
static const Translation portuguese[] = {
    {208, "Nome de objeto '%1' inv\xC3\xA1lido."},
    {1222, "Tempo limite da solicita\xC3\xA7\xC3\xA3o de bloqueio excedido."},
};

static Str quoted_part(const char *text, size_t index)
{
    Str rest = str_from_c(text), part = STR_EMPTY;

    for (size_t i = 0; i <= 2 * index + 1; i++)
        if (!str_split_next(&rest, '\'', &part)) return STR_EMPTY;
    return part;
}

/* The word behind "The " in "The SELECT permission was denied on the object ...". */
static Str permission_of(const char *text)
{
    Str       whole = str_from_c(text);
    ptrdiff_t end   = str_find(whole, STR(" permission "), 0);

    return end > 4 ? str_slice(whole, 4, (size_t)end) : STR_EMPTY;
}

static void denied(SimError *error)
{
    char text[sizeof error->message];
    Str  permission = permission_of(error->message);

    if (permission.len == 0) return;
    (void)snprintf(text, sizeof text,
                   "A permiss\xC3\xA3o %.*s foi negada no objeto '%.*s', banco de dados '%.*s', "
                   "esquema '%.*s'.",
                   STR_ARG(permission), STR_ARG(quoted_part(error->message, 0)),
                   STR_ARG(quoted_part(error->message, 1)),
                   STR_ARG(quoted_part(error->message, 2)));
    memcpy(error->message, text, sizeof text);
}

static void deadlocked(SimError *error)
{
    Str       whole = str_from_c(error->message), id;
    ptrdiff_t from  = str_find(whole, STR("Process ID "), 0);
    ptrdiff_t end   = from < 0 ? -1 : str_find_char(whole, ')', (size_t)from);
    char      text[sizeof error->message];

    if (end < 0) return;
    id = str_slice(whole, (size_t)from + 11, (size_t)end);
    (void)snprintf(text, sizeof text,
                   "A transa\xC3\xA7\xC3\xA3o (ID do processo %.*s) entrou em deadlock em recursos "
                   "lock com outro processo e foi escolhida como a v\xC3\xADtima do deadlock. "
                   "Execute a transa\xC3\xA7\xC3\xA3o novamente.",
                   STR_ARG(id));
    memcpy(error->message, text, sizeof text);
}

static void fill_in(SimError *error, const char *text)
{
    char   out[sizeof error->message];
    size_t len = 0;

    for (const char *at = text; *at && len + 1 < sizeof out; at++) {
        if (*at != '%') {
            out[len++] = *at;
            continue;
        }
        Str    part = quoted_part(error->message, (size_t)(*++at - '1'));
        size_t take = MIN(part.len, sizeof out - 1 - len);
        memcpy(out + len, part.ptr, take);
        len += take;
    }
    out[len] = '\0';
    memcpy(error->message, out, len + 1);
}

void session_translate(const SimSession *session, SimError *error)
{
    const Language *language = find_language(str_from_c(session->options.language));

    if (!language || !language->is_portuguese) return;
    if (error->number == 229) denied(error);
    if (error->number == 1205) deadlocked(error);
    for (size_t i = 0; i < COUNT_OF(portuguese); i++)
        if (portuguese[i].number == error->number) fill_in(error, portuguese[i].text);
}
