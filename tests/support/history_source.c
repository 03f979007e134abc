/* history_source.c - see history_source.h. */
#include "support/test_support.h"

#include "support/history_source.h"

#include "base/buf.h"

/* --- keys --- */

static const char *const columns_of[HISTORY_KEYS] = {
    [KEY_DENSE]    = "k int NOT NULL PRIMARY KEY",
    [KEY_SPARSE]   = "k bigint NOT NULL PRIMARY KEY",
    [KEY_PAIR]     = "a int NOT NULL, b varchar(10) NOT NULL, PRIMARY KEY (a, b)",
    [KEY_VARCHAR]  = "k varchar(20) NOT NULL PRIMARY KEY",
    [KEY_TIME]     = "k datetime2(7) NOT NULL PRIMARY KEY",
    [KEY_DECIMAL]  = "k decimal(12, 2) NOT NULL PRIMARY KEY",
    [KEY_GUID]     = "k uniqueidentifier NOT NULL PRIMARY KEY",
    [KEY_REPEATED] = "k int NOT NULL PRIMARY KEY, g varchar(5) NULL",
};

const Str *history_key_columns(HistoryKey kind, size_t *count_out)
{
    static const Str one[] = {{"k", 1}}, pair[] = {{"a", 1}, {"b", 1}};

    *count_out = kind == KEY_PAIR ? 2 : 1;
    return kind == KEY_PAIR ? pair : one;
}

const Str *history_cut_columns(HistoryKey kind, size_t *count_out)
{
    static const Str cut[] = {{"g", 1}};

    *count_out = kind == KEY_REPEATED ? 1 : 0;
    return kind == KEY_REPEATED ? cut : NULL;
}

const char *history_columns(const HistorySource *source)
{
    static const char *const with_text[] = {"a, b, n, v, t", "k, g, n, v, t", "k, n, v, t"};
    static const char *const without[]   = {"a, b, n, v", "k, g, n, v", "k, n, v"};
    size_t at = source->kind == KEY_PAIR ? 0 : source->kind == KEY_REPEATED ? 1 : 2;

    return source->has_large_rows ? with_text[at] : without[at];
}

/* What column t has where v is `v`: a long text in some rows, by which a value that came to another row would show. */
static Str text_of(const HistorySource *source, Str v)
{
    return str_printf(source->arena,
                      "CASE WHEN (%.*s) %% %d = 0 THEN REPLICATE(CONVERT(varchar(12), %.*s) + ',', "
                      "%d) END",
                      STR_ARG(v), HISTORY_LARGE_EVERY, STR_ARG(v), HISTORY_LARGE_TIMES);
}

static Str literal(const HistorySource *source, int64_t v)
{
    return str_printf(source->arena, "%lld", (long long)v);
}

/* In an UPDATE, next to its v. */
static void append_text(const HistorySource *source, Buf *sql, Str v)
{
    if (source->has_large_rows) buf_printf(sql, ", t = %.*s", STR_ARG(text_of(source, v)));
}

/* The same for the same n, without order. */
static unsigned scramble(int n)
{
    return ((unsigned)n * 2654435761U) >> 8;
}

/* A value of column k for row n. */
static Str key_literal(const HistorySource *source, int n)
{
    Arena *arena = source->arena;

    switch (source->kind) {
    case KEY_SPARSE:
        if (n == 0) return STR("-4000000000");
        if (n == source->universe - 1) return STR("9223372036854775807");
        if (n < source->universe / 2) return str_printf(arena, "%d", 1000 + n);
        return str_printf(arena, "%lld", (long long)n * 1000003);
    case KEY_VARCHAR:
        return str_printf(arena, "'%c%s%d'", "aBcDeFgH"[scramble(n) % 8],
                          source -> flipped[n] ? "KEY" : "key", n);
    case KEY_TIME:
        return str_printf(arena, "'2026-01-03T%02d:59:59.%06d%d'", n / 40 % 24, 999960 + n % 40,
                          n % 4 * 2);
    case KEY_DECIMAL:
        return str_printf(arena, "%s%d.%02d", n % 2 ? "-" : "", n * 37 / 100, n * 37 % 100);
    case KEY_GUID:
        return str_printf(arena, "'%08x-0000-0000-0000-%012x'", (unsigned)n, scramble(n));
    case KEY_PAIR:
    case KEY_DENSE:
    case KEY_REPEATED:
    case HISTORY_KEYS: break;
    }
    return str_printf(arena, "%d", n);
}

static void append_values(const HistorySource *source, Buf *buf, int n, int64_t v)
{
    if (source->kind == KEY_PAIR)
        buf_printf(buf, "(%d, 'b%d', %d, %lld", n / 7, n % 7, n, (long long)v);
    else if (source->kind == KEY_REPEATED && rng_below(source->rng, 5) == 0)
        buf_printf(buf, "(%d, NULL, %d, %lld", n, n, (long long)v);
    else if (source->kind == KEY_REPEATED)
        buf_printf(buf, "(%d, '%c%d', %d, %lld", n, "gG"[n % 2], (int)rng_below(source->rng, 9), n,
                   (long long)v);
    else
        buf_printf(buf, "(%.*s, %d, %lld", STR_ARG(key_literal(source, n)), n, (long long)v);
    if (source->has_large_rows)
        buf_printf(buf, ", %.*s", STR_ARG(text_of(source, literal(source, v))));
    buf_append_char(buf, ')');
}

/* --- statements; each edits the draft --- */

/* v of row n in this statement: base + n, so that no two images have the same. */
static int64_t take_v(HistorySource *source)
{
    int64_t base = source->next_v;

    source->next_v += source->universe;
    return base;
}

/* A row that is there, or is not; -1 when there is none. */
static int choose_row(HistorySource *source, bool is_there)
{
    int start = (int)rng_below(source->rng, (uint64_t)source->universe);

    for (int i = 0; i < source->universe; i++) {
        int n = (start + i) % source->universe;
        if ((source->draft[n] != 0) == is_there) return n;
    }
    return -1;
}

static void insert_rows(HistorySource *source, Buf *sql)
{
    int64_t base = take_v(source);

    for (int count = 1 + (int)rng_below(source->rng, 5); count > 0; count--) {
        int n = choose_row(source, false);

        if (n < 0) return;
        source->draft[n] = base + n;
        buf_append_c(sql, "INSERT INTO dbo.orders VALUES ");
        append_values(source, sql, n, base + n);
        buf_append_c(sql, "; ");
    }
}

static void update_rows(HistorySource *source, Buf *sql, int from, int to)
{
    int64_t base = take_v(source);

    Str v = str_printf(source->arena, "%lld + n", (long long)base);

    buf_printf(sql, "UPDATE dbo.orders SET v = %.*s", STR_ARG(v));
    append_text(source, sql, v);
    buf_printf(sql, " WHERE n BETWEEN %d AND %d; ", from, to);
    for (int n = from; n <= to; n++)
        if (source->draft[n]) source->draft[n] = base + n;
}

static void delete_rows(HistorySource *source, Buf *sql, int from, int to)
{
    buf_printf(sql, "DELETE FROM dbo.orders WHERE n BETWEEN %d AND %d; ", from, to);
    for (int n = from; n <= to; n++)
        source->draft[n] = 0;
}

static void move_row(HistorySource *source, Buf *sql)
{
    int64_t base = take_v(source);
    int     from = choose_row(source, true), to = choose_row(source, false);

    if (from < 0 || to < 0) return;
    if (source->kind == KEY_PAIR)
        buf_printf(sql, "UPDATE dbo.orders SET a = %d, b = 'b%d'", to / 7, to % 7);
    else
        buf_printf(sql, "UPDATE dbo.orders SET k = %.*s", STR_ARG(key_literal(source, to)));
    buf_printf(sql, ", n = %d, v = %lld", to, (long long)(base + to));
    append_text(source, sql, literal(source, base + to));
    buf_printf(sql, " WHERE n = %d; ", from);
    source->draft[from] = 0;
    source->draft[to]   = base + to;
}

/* Two rows take each other's key, in one statement. */
static void swap_rows(HistorySource *source, Buf *sql)
{
    int64_t base = take_v(source);
    int     left = choose_row(source, true), right = choose_row(source, true);
    Str     v;

    if (left < 0 || left == right || source->kind == KEY_PAIR) return;
    v = str_printf(source->arena, "CASE n WHEN %d THEN %lld ELSE %lld END", left,
                   (long long)(base + right), (long long)(base + left));
    buf_printf(sql,
               "UPDATE dbo.orders SET k = CASE n WHEN %d THEN %.*s ELSE %.*s END, n = CASE n WHEN "
               "%d THEN %d ELSE %d END, v = %.*s",
               left, STR_ARG(key_literal(source, right)), STR_ARG(key_literal(source, left)), left,
               right, left, STR_ARG(v));
    append_text(source, sql, v);
    buf_printf(sql, " WHERE n IN (%d, %d); ", left, right);
    source->draft[left]  = base + left;
    source->draft[right] = base + right;
}

/* Deleted and there again, with one commit. */
static void replace_row(HistorySource *source, Buf *sql)
{
    int     n    = choose_row(source, true);
    int64_t base = take_v(source);

    if (n < 0) return;
    delete_rows(source, sql, n, n);
    source->draft[n] = base + n;
    buf_append_c(sql, "INSERT INTO dbo.orders VALUES ");
    append_values(source, sql, n, base + n);
    buf_append_c(sql, "; ");
}

static void flip_key(HistorySource *source, Buf *sql)
{
    int     n    = choose_row(source, true);
    int64_t base = take_v(source);

    if (n < 0 || source->kind != KEY_VARCHAR) return;
    source->flipped[n] = !source->flipped[n];
    source->draft[n]   = base + n;
    buf_printf(sql, "UPDATE dbo.orders SET k = %.*s, v = %lld", STR_ARG(key_literal(source, n)),
               (long long)(base + n));
    append_text(source, sql, literal(source, base + n));
    buf_printf(sql, " WHERE n = %d; ", n);
}

static void append_statement(HistorySource *source, Buf *sql)
{
    int from = (int)rng_below(source->rng, (uint64_t)source->universe);
    int to   = from + (int)rng_below(source->rng, 20);

    to = MIN(to, source->universe - 1);
    switch (rng_below(source->rng, 16)) {
    case 0:
    case 1:
    case 2: insert_rows(source, sql); break;
    case 3:
    case 4: update_rows(source, sql, from, to); break;
    case 5:
    case 6: delete_rows(source, sql, from, to); break;
    case 7:
    case 8: move_row(source, sql); break;
    case 9: swap_rows(source, sql); break;
    case 10: replace_row(source, sql); break;
    case 11: flip_key(source, sql); break;
    case 12: delete_rows(source, sql, from, from); break;
    default: update_rows(source, sql, from, from); break;
    }
}

/* --- transactions --- */

/* The commit is in the model before the server has it: others may see it at once. */
static void note_commit(HistorySource *source)
{
    HistoryCommit *commit       = LIST_PUSH(source->arena, &source->commits);
    LIST(HistoryChange) changes = {0};

    for (int n = 0; n < source->universe; n++)
        if (source->now[n] != source->draft[n]) {
            *LIST_PUSH(source->arena, &changes) = (HistoryChange){n, source->now[n],
                                                                  source->draft[n]};
            source->now[n]                      = source->draft[n];
        }
    *commit = (HistoryCommit){INT64_MAX, changes.items, changes.count};
}

static void run_transaction(HistorySource *source, Str statements, int64_t hold_ms)
{
    World *world = source->world;
    Clock *clock = world_clock(world);

    if (statements.len == 0) return;
    if (hold_ms > 0) {
        world_exec(world, "BEGIN TRAN; %.*s", STR_ARG(statements));
        clock_sleep_ms(clock, hold_ms, NULL);
        note_commit(source);
        world_exec(world, "COMMIT");
    } else {
        note_commit(source);
        world_exec(world, "BEGIN TRAN; %.*sCOMMIT", STR_ARG(statements));
    }
    source->commits.items[source->commits.count - 1].done_us = clock_utc_us(clock);
}

void history_source_write(HistorySource *source, int64_t hold_ms)
{
    Buf sql = buf_new(source->arena, 0);

    for (int count = 1 + (int)rng_below(source->rng, 4); count > 0; count--)
        append_statement(source, &sql);
    run_transaction(source, buf_str(&sql), hold_ms);
}

void history_source_delete_all(HistorySource *source)
{
    Buf sql = buf_new(source->arena, 0);

    delete_rows(source, &sql, 0, source->universe - 1);
    run_transaction(source, buf_str(&sql), 0);
}

HistorySource *history_source_new(World *world, uint64_t seed, HistoryKey kind, int rows,
                                  bool has_large_rows)
{
    Arena         *arena  = arena_new();
    HistorySource *source = ARENA_NEW(arena, HistorySource);
    Buf            sql    = buf_new(arena, 0);

    *source         = (HistorySource){.world          = world,
                                      .arena          = arena,
                                      .rng            = rng_new(seed * 31 + 7),
                                      .kind           = kind,
                                      .has_large_rows = has_large_rows,
                                      .universe       = rows + 30,
                                      .next_v         = 1};
    source->now     = ARENA_ARRAY(arena, int64_t, (size_t)source->universe);
    source->draft   = ARENA_ARRAY(arena, int64_t, (size_t)source->universe);
    source->flipped = ARENA_ARRAY(arena, bool, (size_t)source->universe);
    world_create(
        world, "orders",
        str_c(arena, str_printf(arena, "%s, n int NOT NULL, v int NOT NULL%s", columns_of[kind],
                                has_large_rows ? ", t varchar(8000) NULL" : "")));
    int64_t base = take_v(source);
    for (int i = 0; i < rows; i++) {
        int n = choose_row(source, false);

        source->draft[n] = base + n;
        buf_append_c(&sql, i ? ", " : "INSERT INTO dbo.orders VALUES ");
        append_values(source, &sql, n, base + n);
    }
    if (rows) buf_append_c(&sql, "; ");
    run_transaction(source, buf_str(&sql), 0);
    world_scan(world);
    return source;
}

void history_source_close(HistorySource *source)
{
    rng_close(source->rng);
    arena_close(source->arena);
}

bool history_source_allows(const HistorySource *source, int n, int64_t v, int64_t from_us)
{
    bool    allowed = false;
    int64_t image   = 0;

    if (n < 0 || n >= source->universe) return false;
    for (size_t i = 0; i < source->commits.count; i++) {
        const HistoryCommit *commit = &source->commits.items[i];
        if (commit->done_us >= from_us)
            allowed = allowed || image == v; /* true at from_us, or later */
        for (size_t c = 0; c < commit->change_count; c++)
            if (commit->changes[c].n == n) image = commit->changes[c].after;
    }
    return allowed || image == v;
}
