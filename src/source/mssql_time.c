/* mssql_time.c - commit times: from the server's clock to UTC (sqlserver.md 1.8; Q04, Q05, Q11 to
 * Q13). */
#include "source/mssql_internal.h"

#include "base/list.h"

#define US_PER_MINUTE ((int64_t)60 * 1000000)
#define US_PER_HOUR   (60 * US_PER_MINUTE)

/* --- which clock --- */

SqlQuery mssql_offset_question(Arena *arena)
{
    return mssql_question(
        arena, STR("SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS minutes_east;"), NULL, 0);
}

static bool read_offset(SqlConn *conn, int64_t *minutes_out, Err *err) /* Q05 */
{
    Arena   *scratch  = arena_new();
    SqlQuery question = mssql_offset_question(scratch);
    Rows     rows     = {0};
    bool     ok       = mssql_answer_on(conn, &question, 1, scratch, &rows, err);

    if (ok && (rows.block.row_count != 1 || rows_is_null(&rows, 0, 0)))
        ok = err_set(err, ERR_QUERY, "the server does not tell its UTC offset");
    if (ok) *minutes_out = rows_i64(&rows, 0, 0, 0);
    arena_close(scratch);
    return ok;
}

static bool read_zone(Mssql *mssql, SqlConn *conn, Err *err) /* Q04 */
{
    Arena *scratch = arena_new();
    Rows   rows    = {0};
    bool   ok      = mssql_rows_on(conn,
                                   STR("SELECT CAST(CURRENT_TIMEZONE_ID() AS nvarchar(128)) AS zone;"),
                                   NULL, 0, 1, scratch, &rows, err);

    if (ok && rows.block.row_count != 1)
        ok = err_set(err, ERR_QUERY, "the server does not tell its time zone");
    Str zone = ok ? rows_str(&rows, 0, 0) : STR_EMPTY;
    if (ok && str_equal_ignoring_case(zone, STR("UTC"))) {
        mssql->clock = (ServerClock){.kind = SERVER_CLOCK_FIXED};
    } else if (ok) {
        ok           = mssql_check_zone(zone, err);
        mssql->clock = (ServerClock){.kind = SERVER_CLOCK_ZONE,
                                     .zone = str_copy(mssql->arena, zone)};
    }
    arena_close(scratch);
    return ok;
}

/* The text goes to the log, and with the next refresh to the facts. */
static void warn_clock(Mssql *mssql, Str text)
{
    mssql->pending_warning = text;
    log_warn(mssql->options.log, "source", "commit times use a fixed UTC offset",
             LOG_STR("capture_instance", mssql->options.name), LOG_STR("warning", text));
}

bool mssql_resolve_clock(Mssql *mssql, SqlConn *conn, Err *err)
{
    Str  zone       = mssql->options.time_zone;
    bool tells_zone = mssql->facts.major_version >= 16 || mssql->facts.engine_edition == 5 ||
                      mssql->facts.engine_edition == 8;

    if (mssql->has_clock) return true;
    if (str_equal_ignoring_case(zone, STR("UTC"))) {
        mssql->clock = (ServerClock){.kind = SERVER_CLOCK_FIXED};
    } else if (!str_equal_ignoring_case(zone, STR("auto"))) {
        if (!mssql_check_zone(zone, err)) return false;
        mssql->clock = (ServerClock){.kind = SERVER_CLOCK_ZONE, .zone = zone};
    } else if (tells_zone) {
        if (!read_zone(mssql, conn, err)) return false;
    } else {
        mssql->clock = (ServerClock){.kind = SERVER_CLOCK_FIXED};
        if (!read_offset(conn, &mssql->clock.offset_minutes, err)) return false;
        mssql->clock_is_guess = true;
        warn_clock(mssql, str_printf(mssql->arena,
                                     "the server (before SQL Server 2022) does not tell its time "
                                     "zone: its current UTC offset of %lld minutes is used, "
                                     "which is wrong around a daylight-saving change; set "
                                     "time_zone to the zone's Windows name",
                                     (long long)mssql->clock.offset_minutes));
    }
    mssql->has_clock = true;
    return true;
}

static bool call_refresh(Mssql *mssql, void *arg, Err *err)
{
    return read_offset(mssql->meta, arg, err);
}

bool mssql_refresh_clock(Mssql *mssql, Arena *arena, Str *warning_out, Err *err)
{
    int64_t minutes = mssql->clock.offset_minutes;

    if (mssql->clock_is_guess && !mssql_retry(mssql, "refresh_clock", call_refresh, &minutes, err))
        return false;
    if (minutes != mssql->clock.offset_minutes) {
        warn_clock(mssql, str_printf(mssql->arena,
                                     "the server's UTC offset changed from %lld to %lld minutes; "
                                     "set time_zone to the zone's Windows name",
                                     (long long)mssql->clock.offset_minutes, (long long)minutes));
        mssql->clock.offset_minutes = minutes;
    }
    if (warning_out) {
        *warning_out           = str_copy(arena, mssql->pending_warning);
        mssql->pending_warning = STR_EMPTY;
    }
    return true;
}

/* --- the repeated hour --- */

int64_t repeated_hour_offset(RepeatedHour *rule, const CommitOffsets *commit)
{
    bool can_repeat = commit->off3 < commit->off0 && commit->off_moved == commit->off3;
    bool goes_back  = commit->has_previous &&
                     commit->local_us <
                         commit->previous_us - US_PER_MINUTE; /* less is clock jitter */

    if (can_repeat && goes_back) {
        rule->drop_us_max = rule->has_drop ? MAX(rule->drop_us_max, commit->local_us)
                                           : commit->local_us;
        rule->has_drop    = true;
    }
    return rule->has_drop && rule->drop_us_max > commit->local_us - 3 * US_PER_HOUR ? commit->off3
                                                                                    : commit->off0;
}

/* --- a range (Q12, Q13) --- */

typedef struct RangeOffsets {
    bool    has_commits;
    bool    is_one; /* off_last holds for every commit */
    int64_t off_last;
    int64_t first_end_us;
} RangeOffsets;

static bool explain_zone_error(const ServerClock *clock, Err *err)
{
    if (err->native == 9820)
        return err_set(err, ERR_CONFIG,
                       "the server does not know the time zone \"%.*s\": set time_zone to a "
                       "Windows zone name that "
                       "sys.time_zone_info lists",
                       STR_ARG(clock->zone));
    return false;
}

SqlQuery mssql_range_offsets_question(Arena *arena, const ServerClock *clock, Lsn from, Lsn to)
{
    const char *zone = str_c(arena, clock->zone);
    Str         text = str_printf(
                arena,
                "SELECT r.first_end, r.last_end, DATEDIFF(day, r.first_end, r.last_end) AS days,\n"
                        "       DATEPART(TZOFFSET, DATEADD(hour, -3, r.first_end) AT TIME ZONE N'%s') AS "
                        "off_first,\n"
                        "       DATEPART(TZOFFSET, DATEADD(hour,  3, r.last_end)  AT TIME ZONE N'%s') AS off_last\n"
                        "FROM (SELECT MIN(m.tran_end_time) AS first_end, MAX(m.tran_end_time) AS last_end\n"
                        "      FROM cdc.lsn_time_mapping AS m\n"
                        "      WHERE m.start_lsn >= CONVERT(binary(10), ?, 1)\n"
                        "        AND m.start_lsn <= CONVERT(binary(10), ?, 1)) AS r;",
                zone, zone);

    return mssql_question(arena, text, (SqlParam[]){param_lsn(arena, from), param_lsn(arena, to)},
                          2);
}

static bool read_range_offsets(SqlConn *conn, const ServerClock *clock, Lsn from, Lsn to,
                               Arena *scratch, RangeOffsets *out, Err *err) /* Q12 */
{
    SqlQuery question = mssql_range_offsets_question(scratch, clock, from, to);
    Rows     rows     = {0};

    *out = (RangeOffsets){0};
    if (!mssql_answer_on(conn, &question, 1, scratch, &rows, err))
        return explain_zone_error(clock, err);
    if (rows.block.row_count != 1 || rows_is_null(&rows, 0, 0)) return true;
    int64_t off_first = rows_i64(&rows, 0, 3, 0);
    *out              = (RangeOffsets){.has_commits  = true,
                                       .off_last     = rows_i64(&rows, 0, 4, 0),
                                       .first_end_us = rows_i64(&rows, 0, 0, 0)};
    out->is_one       = off_first == out->off_last && rows_i64(&rows, 0, 2, 0) < 7;
    return true;
}

/* An LSN below every commit that reads less than 3 hours before the range's first local time. */
static bool read_below(SqlConn *conn, int64_t first_end_us, Arena *scratch, Lsn *out, Err *err)
{
    SqlParam param = param_str(time_format_ms(scratch, first_end_us));
    Rows     rows  = {0};
    bool     is_null;

    if (!mssql_rows_on(
            conn,
            STR("SELECT CONVERT(char(22), COALESCE((SELECT TOP (1) m.start_lsn FROM "
                "cdc.lsn_time_mapping AS m\n"
                "         WHERE m.tran_end_time <= DATEADD(hour, -3, CONVERT(datetime, ?, 126))\n"
                "         ORDER BY m.tran_end_time DESC, m.start_lsn DESC),\n"
                "       0x00000000000000000000), 1) AS below;"),
            &param, 1, 1, scratch, &rows, err))
        return false;
    if (rows.block.row_count != 1)
        return err_set(err, ERR_QUERY, "the server gave no LSN before a time");
    return rows_lsn(&rows, 0, 0, out, &is_null, err);
}

typedef LIST(OffsetRun) OffsetRuns;

static bool add_commits(const RowBlock *block, RepeatedHour *rule, Lsn from, Arena *arena,
                        OffsetRuns *runs, Err *err)
{
    const ColumnVector *columns = block->columns;

    for (size_t i = 0; i < block->row_count; i++) {
        Lsn lsn;
        if (column_is_null(&columns[0], i) ||
            !lsn_from_bytes(str_bytes(column_str(&columns[0], i)), &lsn))
            return err_set(err, ERR_QUERY,
                           "the server gave an LSN of another length than 10 bytes");
        if (column_is_null(&columns[1], i)) continue;
        CommitOffsets commit = {.local_us     = column_i64(&columns[1], i),
                                .has_previous = !column_is_null(&columns[2], i),
                                .off0         = column_i64(&columns[3], i),
                                .off3         = column_i64(&columns[4], i),
                                .off_moved    = column_i64(&columns[5], i)};
        if (commit.has_previous) commit.previous_us = column_i64(&columns[2], i);
        int64_t offset = repeated_hour_offset(rule, &commit);
        if (lsn_compare(lsn, from) < 0) continue; /* read for its drops alone */
        if (runs->count > 0 && runs->items[runs->count - 1].offset_minutes == offset) continue;
        *LIST_PUSH(arena, runs) = (OffsetRun){lsn, offset};
    }
    return true;
}

static bool read_commits(SqlConn *conn, const ServerClock *clock, Lsn below, Lsn from, Lsn to,
                         Arena *arena, Arena *scratch, RangeClock *out, Err *err) /* Q13 */
{
    const char  *zone     = str_c(scratch, clock->zone);
    SqlParam     params[] = {param_lsn(scratch, below), param_lsn(scratch, to)};
    RepeatedHour rule     = {0};
    OffsetRuns   runs     = {0};
    SqlResult   *result   = NULL;
    RowBlock     block    = {0};
    bool         ok       = false;
    SqlQuery     query    = {.params = params, .param_count = 2};

    query.text = str_printf(
        scratch,
        "WITH w AS (\n"
        "  SELECT m.start_lsn, m.tran_end_time AS t,\n"
        "         LAG(m.tran_end_time) OVER (ORDER BY m.start_lsn) AS prev_t,\n"
        "         DATEPART(TZOFFSET, m.tran_end_time AT TIME ZONE N'%s') AS off0,\n"
        "         DATEPART(TZOFFSET, DATEADD(hour, 3, m.tran_end_time) AT TIME ZONE N'%s') AS "
        "off3\n"
        "  FROM cdc.lsn_time_mapping AS m\n"
        "  WHERE m.start_lsn > CONVERT(binary(10), ?, 1) AND m.start_lsn <= CONVERT(binary(10), ?, "
        "1))\n"
        "SELECT start_lsn, t, prev_t, off0, off3,\n"
        "       DATEPART(TZOFFSET, DATEADD(minute, off0 - off3, t) AT TIME ZONE N'%s') AS "
        "off_moved\n"
        "FROM w ORDER BY start_lsn;",
        zone, zone, zone);
    if (!sqlconn_query(conn, &query, &result, err)) return false;
    do {
        if (!sqlresult_next(result, &block, err)) goto done;
        if (block.row_count > 0 && block.column_count != 6) {
            err_set(err, ERR_QUERY,
                    "the server answered with another number of columns than asked for");
            goto done;
        }
        if (!add_commits(&block, &rule, from, arena, &runs, err)) goto done;
    } while (block.row_count > 0);
    *out = (RangeClock){runs.items, runs.count};
    ok   = true;
done:
    sqlresult_close(result);
    return ok;
}

static RangeClock one_offset(Arena *arena, Lsn from, int64_t offset_minutes)
{
    OffsetRun *run = ARENA_NEW(arena, OffsetRun);

    *run = (OffsetRun){from, offset_minutes};
    return (RangeClock){run, 1};
}

bool mssql_range_clock_on(SqlConn *conn, const ServerClock *clock, Lsn from, Lsn to, Arena *arena,
                          RangeClock *out, Err *err)
{
    Arena       *scratch = arena_new();
    RangeOffsets offsets = {0};
    Lsn          below;
    bool         ok = true;

    *out = (RangeClock){0};
    if (clock->kind == SERVER_CLOCK_FIXED) {
        *out = one_offset(arena, from, clock->offset_minutes);
    } else {
        ok = read_range_offsets(conn, clock, from, to, scratch, &offsets, err);
        if (ok && offsets.is_one)
            *out = one_offset(arena, from, offsets.off_last);
        else if (ok && offsets.has_commits)
            ok = read_below(conn, offsets.first_end_us, scratch, &below, err) &&
                 read_commits(conn, clock, below, from, to, arena, scratch, out, err);
    }
    arena_close(scratch);
    return ok;
}

int64_t range_clock_to_utc(const RangeClock *clock, Lsn lsn, int64_t local_us, size_t *at)
{
    while (*at + 1 < clock->run_count && lsn_compare(clock->runs[*at + 1].from_lsn, lsn) <= 0)
        (*at)++;
    return clock->run_count == 0 ? local_us
                                 : local_us - clock->runs[*at].offset_minutes * US_PER_MINUTE;
}

/* --- Q11 --- */

static Str time_to_lsn_text(Arena *arena, const ServerClock *clock)
{
    const char *zone = str_c(arena, clock->zone);

    if (clock->kind == SERVER_CLOCK_FIXED)
        return str_printf(
            arena,
            "SELECT CONVERT(char(22), sys.fn_cdc_map_time_to_lsn(N'largest less than or equal',\n"
            "          DATEADD(minute, %lld, CONVERT(datetime2(0), ?, 126))), 1) AS lsn;",
            (long long)clock->offset_minutes);
    return str_printf(
        arena,
        "DECLARE @utc  datetime2(0) = CONVERT(datetime2(0), ?, 126);\n"
        "DECLARE @here datetime2(0) = CONVERT(datetime2(0),\n"
        "          @utc AT TIME ZONE N'UTC' AT TIME ZONE N'%s');\n"
        "DECLARE @next datetime2(0) = DATEADD(hour, -1, CONVERT(datetime2(0),\n"
        "          DATEADD(hour, 1, @utc) AT TIME ZONE N'UTC' AT TIME ZONE N'%s'));\n"
        "SELECT CONVERT(char(22), sys.fn_cdc_map_time_to_lsn(N'largest less than or equal',\n"
        "          IIF(@next < @here, @next, @here)), 1) AS lsn;",
        zone, zone);
}

bool mssql_lsn_at_time(Mssql *mssql, int64_t utc_us, Lsn *out, bool *is_set_out, Err *err)
{
    Arena   *scratch = arena_new();
    Str      ms      = time_format_ms(scratch, utc_us);
    SqlParam param   = param_str(
          str_slice(ms, 0, 19)); /* whole seconds, cut: the function's datetime rounds, upward too */
    Rows rows    = {0};
    bool is_null = true;
    bool ok = mssql_ask(mssql, "lsn_at_time", time_to_lsn_text(scratch, &mssql->clock), &param, 1,
                        1, scratch, &rows, err);

    *out = LSN_ZERO;
    if (!ok) explain_zone_error(&mssql->clock, err);
    if (ok && rows.block.row_count == 1) ok = rows_lsn(&rows, 0, 0, out, &is_null, err);
    *is_set_out = ok && !is_null && !lsn_is_zero(*out);
    arena_close(scratch);
    return ok;
}
