/* sql.c - runs a GO-separated script from stdin through the same driver tidelake uses, against any
 * SQL Server; stops at the first error.
 *
 * sql --connection STRING < script.sql */
#include "program.h"

#include "base/limits.h"

#include <stdio.h>

static Str read_stdin(Arena *arena)
{
    Buf    buf = buf_new(arena, LIMIT_CONFIG_BYTES);
    size_t got;

    do {
        char *room = buf_reserve(&buf, 4096);
        got        = room ? fread(room, 1, 4096, stdin) : 0;
        buf_advance(&buf, got);
    } while (got > 0);
    return buf_str(&buf);
}

/* Batches end at a line that holds GO alone. */
static bool run_script(SqlConn *conn, Str script, Arena *arena, Err *err)
{
    Buf batch = buf_new(arena, 0);
    Str line;

    while (str_split_next(&script, '\n', &line)) {
        if (!str_equal_ignoring_case(str_trim(line), STR("GO"))) {
            buf_append(&batch, line);
            buf_append_char(&batch, '\n');
            continue;
        }
        if (str_trim(buf_str(&batch)).len && !sqlconn_execute(conn, buf_str(&batch), err))
            return false;
        buf_clear(&batch);
    }
    return str_trim(buf_str(&batch)).len == 0 || sqlconn_execute(conn, buf_str(&batch), err);
}

int main(int argc, char **argv)
{
    Program program;
    Err     err = ERR_INIT;
    bool    ok  = program_open(&program, "sql", program_option(argc, argv, "--connection", NULL),
                               &err) &&
              run_script(program.conn, read_stdin(program.arena), program.arena, &err);

    if (!ok) (void)program_fail(&program, &err);
    program_close(&program);
    return ok ? 0 : 1;
}
