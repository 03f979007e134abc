/* option.c - SET options (sqlserver.md 2.4, 2.10). What they are set to lives in SessionOptions, so that a reset or the end of a prepared text restores it. */
#include "sim/session/session_internal.h"

#include <stddef.h>
#include <stdio.h>

typedef struct Switch {
    const char *name;
    size_t      offset;  /* of a bool in SessionOptions */
    bool        only_on; /* OFF is refused: nothing here behaves so */
} Switch;

#define AT(field) offsetof(SessionOptions, field)
static const Switch switches[] = {
    {"NOCOUNT", AT(nocount), false},
    {"XACT_ABORT", AT(xact_abort), false},
    {"IMPLICIT_TRANSACTIONS", AT(implicit_transactions), false},
    {"QUOTED_IDENTIFIER", AT(quoted_identifier), false},
    {"FMTONLY", AT(fmtonly), false},
    {"ANSI_NULLS", AT(ansi_nulls), true},
    {"ANSI_PADDING", AT(ansi_padding), false},
    {"ANSI_WARNINGS", AT(ansi_warnings), false},
    {"ANSI_NULL_DFLT_ON", AT(ansi_null_dflt_on), false},
    {"ARITHABORT", AT(arithabort), false},
    {"CONCAT_NULL_YIELDS_NULL", AT(concat_null_yields_null), true},
    {"CURSOR_CLOSE_ON_COMMIT", AT(cursor_close_on_commit), false},
    {"NUMERIC_ROUNDABORT", AT(numeric_roundabort), false},
};
/* Accepted, and without effect. */
static const char *const ignored[] = {"ANSI_DEFAULTS",
                                      "ANSI_NULL_DFLT_OFF",
                                      "ARITHIGNORE",
                                      "FORCEPLAN",
                                      "REMOTE_PROC_TRANSACTIONS",
                                      "NO_BROWSETABLE",
                                      "QUERY_GOVERNOR_COST_LIMIT",
                                      "CONTEXT_INFO",
                                      "STATISTICS"};

static bool is_word(const Stmt *stmt, size_t at, const char *word)
{
    return at < stmt->words.count &&
           str_equal_ignoring_case(stmt->words.items[at], str_from_c(word));
}

static bool set_isolation(SimSession *session, const Stmt *stmt)
{
    SimIsolation isolation = SIM_READ_COMMITTED;

    if (is_word(stmt, 3, "SNAPSHOT"))
        isolation = SIM_SNAPSHOT;
    else if (is_word(stmt, 3, "SERIALIZABLE"))
        isolation = SIM_SERIALIZABLE;
    else if (is_word(stmt, 3, "REPEATABLE"))
        isolation = SIM_REPEATABLE_READ;
    else if (is_word(stmt, 4, "UNCOMMITTED"))
        isolation = SIM_READ_UNCOMMITTED;
    session->options.isolation = isolation;
    return true;
}

static bool set_identity_insert(SimSession *session, const Stmt *stmt, SimError *error)
{
    SimTable *table = NULL;

    if (stmt->object.name.len > 0 && stmt->object.name.ptr[0] == '#') {
        for (size_t i = session->temp_tables.count; i-- > 0 && !table;)
            if (sim_name_equal(session->temp_tables.items[i].name, stmt->object.name))
                table = session->temp_tables.items[i].table;
    } else {
        SimDatabase *database = str_is_empty(stmt->object.database)
                                    ? session->database
                                    : sim_server_find_database(session->server,
                                                               stmt->object.database);
        if (database)
            table = sim_database_find_table(database, stmt->object.schema, stmt->object.name);
    }
    if (!table)
        return sim_error(error, 1088,
                         "Cannot find the object \"%.*s\" because it does not exist or you do not "
                         "have permissions.",
                         STR_ARG(stmt->object.name));
    const SimTableInfo *info         = sim_table_info(table);
    bool                has_identity = false;
    for (size_t i = 0; i < info->column_count; i++)
        has_identity |= info->columns[i].is_identity;
    if (!has_identity)
        return sim_error(
            error, 8106,
            "Table '%.*s' does not have the identity property. Cannot perform SET operation.",
            STR_ARG(stmt->object.name));
    bool on = is_word(stmt, 1, "ON");
    if (on && session->identity_insert && session->identity_insert != table)
        return sim_error(error, 8107,
                         "IDENTITY_INSERT is already ON for table '%.*s'. Cannot perform SET "
                         "operation for table '%.*s'.",
                         STR_ARG(sim_table_info(session->identity_insert)->name),
                         STR_ARG(info->name));
    if (on)
        session->identity_insert = table;
    else if (session->identity_insert == table)
        session->identity_insert = NULL;
    return true;
}

static bool out_of_range(Arena *arena, const SimValue *value, SimError *error)
{
    return sim_error(error, 1080, "The integer value %.*s is out of range.",
                     STR_ARG(sim_value_text(arena, value)));
}

/* The value of an option, an int. Out of range is a constant (1080), or a variable that converts to none (8115). */
static bool option_number(SimSession *session, const Stmt *stmt, Arena *arena, int64_t *out,
                          SimError *error)
{
    SimType  type = sim_type(SIM_INT);
    SimValue value, number;

    if (!stmt->expr)
        return sim_error(error, 102, "Incorrect syntax near '%.*s'.",
                         STR_ARG(stmt->words.items[0]));
    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    if (!sim_convert(&value, &type, 0, true, arena, &number, error))
        return error->number == 8115 && stmt->expr->kind != EXPR_VARIABLE
                   ? out_of_range(arena, &value, error)
                   : false;
    *out = number.is_null ? 0 : number.i64;
    return true;
}

static bool option_text(SimSession *session, const Stmt *stmt, Arena *arena, Str *out,
                        SimError *error)
{
    SimValue value;

    if (!stmt->expr) {
        *out = stmt->words.count > 1 ? stmt->words.items[1] : STR_EMPTY;
        return true;
    }
    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    *out = sim_value_text(arena, &value);
    return true;
}

static bool set_priority(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    int64_t number = 0;

    if (is_word(stmt, 1, "LOW"))
        number = -5;
    else if (is_word(stmt, 1, "HIGH"))
        number = 5;
    else if (!is_word(stmt, 1, "NORMAL") && !option_number(session, stmt, arena, &number, error))
        return false;
    session->options.deadlock_priority = (int)MAX(MIN(number, 10), -10);
    return true;
}

static bool set_date_format(SimSession *session, Str text, SimError *error)
{
    static const char *const supported[] = {"mdy", "dmy", "ymd"};
    static const char *const others[]    = {"ydm", "myd", "dym"};

    for (size_t i = 0; i < COUNT_OF(supported); i++)
        if (str_equal_ignoring_case(text, str_from_c(supported[i]))) {
            (void)snprintf(session->options.date_format, sizeof session->options.date_format, "%s",
                           supported[i]);
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (str_equal_ignoring_case(text, str_from_c(others[i])))
            return sim_not_supported(error, "DATEFORMAT %s", others[i]);
    return sim_error(error, 2741, "SET DATEFORMAT date order '%.*s' is invalid.", STR_ARG(text));
}

/* A language brings the order of dates and the first day of the week along. Its names of months are English here. */
static bool set_language(SimSession *session, const Stmt *stmt, Str text, SimError *error)
{
    static const struct {
        const char *name, *alias, *format;
        int         first_day;
    } languages[] = {{"us_english", "English", "mdy", 7},
                     {"British", "British English", "dmy", 1},
                     {"Portugu\xC3\xAAs", "Portuguese", "dmy", 7},
                     {"Portugu\xC3\xAAs (Brasil)", "Brazilian", "dmy", 7}};

    for (size_t i = 0; i < COUNT_OF(languages); i++) {
        if (!sim_name_equal(text, str_from_c(languages[i].name)) &&
            !sim_name_equal(text, str_from_c(languages[i].alias)))
            continue;
        SessionOptions *options = &session->options;
        session_set_language(options, text);
        (void)snprintf(options->date_format, sizeof options->date_format, "%s",
                       languages[i].format);
        options->date_first = languages[i].first_day;
        session_send_info(session, 5703, 0, 1, stmt->line, "Changed language setting to %s.",
                          languages[i].name);
        return true;
    }
    return sim_not_supported(error, "the language %.*s", STR_ARG(text));
}

static bool set_valued(SimSession *session, const Stmt *stmt, Arena *arena, bool *found,
                       SimError *error)
{
    SessionOptions *options = &session->options;
    int64_t         number  = 0;
    Str             text;

    *found = true;
    if (is_word(stmt, 0, "DEADLOCK_PRIORITY")) return set_priority(session, stmt, arena, error);
    if (is_word(stmt, 0, "LANGUAGE"))
        return option_text(session, stmt, arena, &text, error) &&
               set_language(session, stmt, text, error);
    if (is_word(stmt, 0, "DATEFORMAT"))
        return option_text(session, stmt, arena, &text, error) &&
               set_date_format(session, text, error);
    *found = is_word(stmt, 0, "LOCK_TIMEOUT") || is_word(stmt, 0, "ROWCOUNT") ||
             is_word(stmt, 0, "TEXTSIZE") || is_word(stmt, 0, "DATEFIRST");
    if (!*found) return true;
    if (!option_number(session, stmt, arena, &number, error)) return false;
    if (!is_word(stmt, 0, "DATEFIRST") && number < (is_word(stmt, 0, "ROWCOUNT") ? 0 : -1)) {
        SimValue refused = sim_int(number, SIM_BIGINT);
        return out_of_range(arena, &refused, error);
    }
    if (is_word(stmt, 0, "LOCK_TIMEOUT"))
        options->lock_timeout_ms = number;
    else if (is_word(stmt, 0, "ROWCOUNT"))
        options->row_limit = number;
    else if (is_word(stmt, 0, "TEXTSIZE")) /* 0: as at the start of DB-Library; -1: all of it */
        options->text_size = number == 0 ? 4096 : number < 0 ? INT32_MAX : (int)number;
    else if (number < 1 || number > 7)
        return sim_error(error, 2742, "SET DATEFIRST %lld is out of range.", (long long)number);
    else
        options->date_first = (int)number;
    return true;
}

bool run_set_option(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    bool found = false;

    if (is_word(stmt, 0, "TRANSACTION")) return set_isolation(session, stmt);
    if (is_word(stmt, 0, "IDENTITY_INSERT")) return set_identity_insert(session, stmt, error);
    for (size_t i = 0; i < COUNT_OF(switches); i++) {
        if (!is_word(stmt, 0, switches[i].name)) continue;
        bool on = is_word(stmt, 1, "ON");
        if (!on && switches[i].only_on)
            return sim_not_supported(error, "SET %s OFF", switches[i].name);
        *(bool *)((char *)&session->options + switches[i].offset) = on;
        return true;
    }
    if (!set_valued(session, stmt, arena, &found, error)) return false;
    if (found) {
        session_use_options(session);
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(ignored); i++)
        if (is_word(stmt, 0, ignored[i])) return true;
    if (is_word(stmt, 1, "OFF"))
        return true; /* NOEXEC, PARSEONLY, SHOWPLAN: off is what they are */
    return sim_not_supported(error, "SET %.*s ON", STR_ARG(stmt->words.items[0]));
}
