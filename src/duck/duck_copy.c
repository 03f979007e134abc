/* duck_copy.c - COPY statements that are kept for the next file of the same form.
 *
 * Planning a COPY costs as much as writing a small file. So a statement writes to "/proc/self/fd/N": N is a
 * descriptor of its own, behind which the file at hand is put before each run, and its rows come from the stream
 * at hand. Whoever writes has a statement for himself until he gives it back. What a run needed is freed only with
 * its statement, or by the next run: one that wrote many rows is not kept. */
#define _GNU_SOURCE /* dup3 */
#include "duck/duck_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FEW_ROWS 64
#define KEPT_MAX 16 /* forms of files: bronze, silver, plans, facts, control of a few streams */

CopyStatement *duck_find_copy(Duck *duck, int64_t id)
{
    CopyStatement *found = NULL;

    (void)pthread_mutex_lock(&duck->lock);
    for (CopyStatement *at = duck->copies; at && !found; at = at->next)
        if (at->id == id) found = at;
    (void)pthread_mutex_unlock(&duck->lock);
    return found;
}

/* --- the descriptor --- */

static bool fail(Err *err, const char *path)
{
    int number = errno;

    err_set(err, ERR_STORE, "%s: %s", path, strerror(number));
    err->native = number;
    return false;
}

/* The descriptor keeps its number; what was behind it is let go. */
static bool put_behind(CopyStatement *copy, const char *path, int flags, Err *err)
{
    int  file = open(path, flags | O_CLOEXEC, 0666);
    bool ok   = file >= 0 && (copy->fd < 0 || dup3(file, copy->fd, O_CLOEXEC) >= 0);

    if (!ok) fail(err, path);
    if (ok && copy->fd < 0)
        copy->fd = file;
    else if (file >= 0)
        (void)close(file);
    return ok;
}

/* --- statements --- */

/* What a statement was planned for. */
static Str key_of(Arena *arena, const Schema *schema, const DuckWriteOptions *options)
{
    Buf key = buf_new(arena, 0);

    duck_append_copy_options(&key, schema, options);
    for (size_t i = 0; i < schema->column_count; i++) {
        duck_append_identifier(&key, schema->columns[i].name);
        buf_append(&key, duck_type_name(arena, schema->columns[i].type));
    }
    return buf_str(&key);
}

static void close_statement(CopyStatement *copy)
{
    Duck *duck;

    if (!copy) return;
    duck = copy->connection.duck;
    if (duck) {
        (void)pthread_mutex_lock(&duck->lock);
        for (CopyStatement **at = &duck->copies; *at; at = &(*at)->next)
            if (*at == copy) {
                *at = copy->next;
                break;
            }
        (void)pthread_mutex_unlock(&duck->lock);
    }
    duckdb_destroy_prepare(&copy->prepared);
    duck_disconnect(&copy->connection);
    if (copy->fd >= 0) (void)close(copy->fd);
    arena_close(copy->arena); /* the statement lives in it */
}

static bool plan(CopyStatement *copy, RowSource *source, const DuckWriteOptions *options, Err *err)
{
    Duck *duck = source->duck;
    Buf   sql  = buf_new(copy->arena, 0);

    if (!put_behind(copy, "/dev/null", O_RDWR, err) ||
        !duck_connect(duck, INSTANCE_WRITER, &copy->connection, err))
        return false;
    copy->source = source;
    (void)pthread_mutex_lock(&duck->lock);
    copy->id     = ++duck->last_copy_id;
    copy->next   = duck->copies;
    duck->copies = copy;
    (void)pthread_mutex_unlock(&duck->lock);
    buf_printf(&sql, "COPY (SELECT * FROM " ROWS_FUNCTION "(%lld)) TO '/proc/self/fd/%d' ",
               (long long)copy->id, copy->fd);
    duck_append_copy_options(&sql, &source->rows->schema, options);
    return duck_prepare_sql(&copy->connection, buf_str(&sql), &copy->prepared, err);
}

static CopyStatement *take_kept(Duck *duck, Str key)
{
    CopyStatement *found = NULL;

    (void)pthread_mutex_lock(&duck->lock);
    for (CopyStatement **at = &duck->kept; *at && !found;) {
        if (str_equal((*at)->key, key)) {
            found = *at;
            *at   = found->next_kept;
            duck->kept_count--;
        } else {
            at = &(*at)->next_kept;
        }
    }
    (void)pthread_mutex_unlock(&duck->lock);
    return found;
}

/* One too many: the one that was not used for the longest time goes. */
static void keep(Duck *duck, CopyStatement *copy)
{
    CopyStatement **last;
    CopyStatement  *oldest = NULL;

    (void)pthread_mutex_lock(&duck->lock);
    copy->next_kept = duck->kept;
    duck->kept      = copy;
    if (duck->kept_count == KEPT_MAX) {
        for (last = &duck->kept; (*last)->next_kept;)
            last = &(*last)->next_kept;
        oldest = *last;
        *last  = NULL;
    } else {
        duck->kept_count++;
    }
    (void)pthread_mutex_unlock(&duck->lock);
    close_statement(oldest);
}

/* A statement of the source's form; on failure there is none. */
static CopyStatement *take(RowSource *source, const DuckWriteOptions *options, Err *err)
{
    Arena         *arena = arena_new();
    Str            key   = key_of(arena, &source->rows->schema, options);
    CopyStatement *copy  = take_kept(source->duck, key);

    if (copy) {
        arena_close(arena);
        copy->source = source;
        return copy;
    }
    copy  = ARENA_NEW(arena, CopyStatement);
    *copy = (CopyStatement){.arena = arena, .key = key, .fd = -1};
    if (plan(copy, source, options, err)) return copy;
    close_statement(copy);
    return NULL;
}

/* What libduckdb says knows the descriptor only. */
static void name_file(Str local_path, Err *err)
{
    int number = (int)err->native;

    if (err->code != ERR_STORE || number == 0) {
        err_context(err, "writing %.*s", STR_ARG(local_path));
        return;
    }
    err_clear(err);
    err_set_errno(err, ERR_STORE, number, "%.*s: could not be written", STR_ARG(local_path));
}

bool duck_copy_rows(RowSource *source, Str local_path, const DuckWriteOptions *options,
                    Arena *arena, DuckFile *out, Err *err)
{
    duckdb_result    result  = {0};
    Err              ignored = ERR_INIT;
    size_t           limit   = source->rows->row_limit;
    DuckWriteOptions ours    = *options;

    ours.has_few_rows   = limit > 0 && limit <= FEW_ROWS;
    CopyStatement *copy = take(source, &ours, err);
    bool ok = copy && put_behind(copy, str_c(arena, local_path), O_RDWR | O_CREAT | O_TRUNC, err);

    if (ok && !duck_run_prepared(&copy->connection, copy->prepared, false, &result, err)) {
        ok = false;
        if (source->err.code != ERR_NONE)
            err_copy(err, &source->err);
        else
            name_file(local_path, err);
    }
    ok = ok && duck_read_copy_stats(&copy->connection, &result, &source->rows->schema, local_path,
                                    source->slice_count <= 1, arena, out, err);
    if (!ok) duck_discard_file(local_path);
    duckdb_destroy_result(&result);
    if (ok && source->is_small && put_behind(copy, "/dev/null", O_RDWR, &ignored))
        keep(source->duck, copy);
    else
        close_statement(copy);
    return ok;
}

void duck_close_copies(Duck *duck)
{
    CopyStatement *copy;

    while ((copy = duck->kept)) {
        duck->kept = copy->next_kept;
        close_statement(copy);
    }
    duck->kept_count = 0;
}
