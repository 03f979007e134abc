/* Silver while a chunked snapshot is open is what a model in plain C says after every call: rows of chunks ranked with
 * every later change, keys that go by their range, the rebuild (algorithms.md 1.2, 7.2 to 7.6).
 *
 * A lake holds many small tables side by side, each a block of keys with a history and chunks of its own; they share
 * waves and calls. Each is a case. */
#include "support/test_support.h"

#include "base/buf.h"
#include "support/open_lake.h"

#define BLOCKS     80
#define LAKES      7 /* 560 cases */
#define BLOCK_KEYS 8
#define KEYS       (BLOCKS * BLOCK_KEYS)
#define ROWS_MAX   40000
#define CHUNKS_MAX (BLOCKS * 3)
#define EARLY      4 /* changes up to it are in silver before; later ones up to SNAPSHOT are lost */
#define SNAPSHOT   10

/* Changes, or the rows of chunks. */
typedef struct Row {
    BronzeRow row;
    int       chunk; /* -1: a change */
} Row;

typedef struct Chunk {
    int      lo, hi; /* keys; hi KEYS for the last */
    int      wave;   /* -1: not read yet */
    unsigned stamp;
} Chunk;

/* Read, and not in bronze yet; count 0: none. */
typedef struct Wave {
    int        first, count;
    unsigned   stamp;
    BronzeRow *rows;
    int       *number; /* of each row's chunk */
    size_t     row_count;
} Wave;

typedef struct SilverRow {
    bool        is_there;
    unsigned    lsn;
    const char *v;
} SilverRow;

typedef struct Model {
    Arena      *arena;
    Rng        *rng;
    const char *source[KEYS]; /* NULL: no such row */
    Row        *rows;
    size_t      count;
    unsigned    now, streamed; /* the source's last commit; what bronze has of them */
    size_t      put_count;     /* rows[0 .. put_count) are in bronze or never will be */
    Chunk       chunks[CHUNKS_MAX];
    int         chunk_count, read_count, waves;
    Wave        wave;
    bool        is_open, is_complete;
    SilverRow   silver[KEYS];
    int64_t     applied, rebuilt_from, wave_from; /* -1: none */
    bool        has_open_from;
    int64_t     values;
} Model;

/* --- the source --- */

static void log_change(Model *model, int cmd, int op, int key, const char *v)
{
    assert_true(model->count < ROWS_MAX);
    model->rows[model->count++] = (Row){
        .row   = {model->now, cmd, (unsigned)rng_below(model->rng, 3) + (unsigned)cmd * 3, op, key,
                  v},
        .chunk = -1};
}

static const char *next_value(Model *model)
{
    return str_c(model->arena, str_printf(model->arena, "v%lld", (long long)++model->values));
}

/* Both rows of an update have one seqval. */
static void log_update(Model *model, int cmd, int key, int to, const char *v)
{
    log_change(model, cmd, 3, key, model->source[key]);
    log_change(model, cmd, 4, to, v);
    model->rows[model->count - 1].row.seq = model->rows[model->count - 2].row.seq;
}

static void change_something(Model *model, int block, int cmd)
{
    int         key = block * BLOCK_KEYS + (int)rng_below(model->rng, BLOCK_KEYS);
    int         to  = block * BLOCK_KEYS + (int)rng_below(model->rng, BLOCK_KEYS);
    const char *v   = next_value(model);

    if (!model->source[key]) {
        log_change(model, cmd, 2, key, v);
        model->source[key] = v;
    } else if (rng_below(model->rng, 3) == 0) {
        log_change(model, cmd, 1, key, model->source[key]);
        model->source[key] = NULL;
    } else if (rng_below(model->rng, 3) == 0 && !model->source[to]) {
        log_update(model, cmd, key, to, v);
        model->source[key] = NULL;
        model->source[to]  = v;
    } else {
        log_update(model, cmd, key, key, v);
        model->source[key] = v;
    }
}

static void commit(Model *model)
{
    model->now++;
    for (int block = 0; block < BLOCKS; block++)
        for (int cmd = 1; rng_below(model->rng, 2) == 0 && cmd <= 3; cmd++)
            change_something(model, block, cmd);
}

/* --- the rule --- */

static ChangeOrder order_of(const BronzeRow *row)
{
    bool is_range = row->op == 1 && row->cmd == 0;

    return (ChangeOrder){.start_lsn      = lsn_number(row->lsn),
                         .has_command_id = row->op != 0 && !is_range,
                         .command_id     = row->cmd,
                         .has_seqval     = row->op != 0 && !is_range,
                         .seqval         = lsn_number(row->seq),
                         .operation      = row->op};
}

static void offer(BronzeRow *latest, bool *has_latest, const BronzeRow *row)
{
    ChangeOrder mine = order_of(row), best = order_of(latest);

    if (*has_latest && change_order_compare(&mine, &best, true) <= 0) return;
    *latest     = *row;
    *has_latest = true;
}

typedef struct Call {
    bool rebuild, with_snapshot;
    int  after; /* the newest wave applied before */
} Call;

static bool is_new(const Model *model, const Call *call, int chunk)
{
    return model->is_open && !model->is_complete && model->chunks[chunk].wave > call->after;
}

/* Which keys the rows of new chunks have. */
static void mark_chunk_rows(const Model *model, const Call *call, bool *out)
{
    for (size_t i = 0; i < model->put_count; i++)
        if (model->rows[i].chunk >= 0 && is_new(model, call, model->rows[i].chunk))
            out[model->rows[i].row.key] = true;
}

static bool takes(const Model *model, const Call *call, const Row *row, bool is_of_chunk)
{
    if (row->chunk >= 0) return call->with_snapshot || is_new(model, call, row->chunk);
    if (row->row.lsn > EARLY && row->row.lsn <= SNAPSHOT) return false; /* lost */
    if (is_of_chunk && row->row.lsn > SNAPSHOT) return true;
    if (call->with_snapshot) return row->row.lsn > SNAPSHOT;
    return call->rebuild || (int64_t)row->row.lsn > model->applied;
}

static void merge_key(Model *model, const Call *call, int key, bool is_of_chunk)
{
    SilverRow *mine       = &model->silver[key];
    bool       has_latest = false;
    BronzeRow  latest     = {0};

    for (size_t i = 0; i < model->put_count; i++)
        if (model->rows[i].row.key == key && takes(model, call, &model->rows[i], is_of_chunk))
            offer(&latest, &has_latest, &model->rows[i].row);
    for (int c = 0; c < model->chunk_count; c++) {
        const Chunk *chunk = &model->chunks[c];

        if (!is_of_chunk && mine->is_there && mine->lsn < chunk->stamp && key >= chunk->lo &&
            key < chunk->hi && is_new(model, call, c))
            offer(&latest, &has_latest, &(BronzeRow){chunk->stamp, 0, 0, 1, key, NULL});
    }
    if (!has_latest) {
        if (call->with_snapshot) mine->is_there = false;
        return;
    }
    if (mine->is_there && latest.lsn <= mine->lsn) return;
    *mine = (SilverRow){latest.op != 1 && latest.op != 3, latest.lsn, latest.v};
}

static void apply_model(Model *model)
{
    bool    snapshot = model->is_complete, is_open = model->is_open && !model->is_complete;
    Call    call           = {.after = -1};
    int64_t newest         = -1;
    bool    of_chunk[KEYS] = {false};

    call.rebuild = (model->applied < 0 && !model->has_open_from) ||
                   (snapshot && model->rebuilt_from < 0);
    call.with_snapshot = call.rebuild && snapshot;
    if (!call.rebuild && model->has_open_from) call.after = (int)model->wave_from;
    mark_chunk_rows(model, &call, of_chunk);
    for (size_t i = 0; i < model->put_count; i++)
        if (model->rows[i].chunk < 0 &&
            takes(model, &call, &model->rows[i], of_chunk[model->rows[i].row.key]))
            newest = MAX(newest, (int64_t)model->rows[i].row.lsn);
    for (int key = 0; key < KEYS; key++)
        merge_key(model, &call, key, of_chunk[key]);
    model->applied = MAX(model->applied, newest);
    if (snapshot) model->applied = MAX(model->applied, SNAPSHOT);
    if (call.with_snapshot) model->rebuilt_from = SNAPSHOT;
    model->has_open_from = is_open;
    for (int c = 0; is_open && c < model->chunk_count; c++)
        model->wave_from = MAX(model->wave_from, model->chunks[c].wave);
}

static Str silver_of_model(const Model *model)
{
    Buf buf = buf_new(model->arena, 0);

    for (int key = 0; key < KEYS; key++)
        if (model->silver[key].is_there)
            buf_printf(&buf, "%s%d=%s", buf.len ? " " : "", key, model->silver[key].v);
    return buf_str(&buf);
}

/* --- both --- */

/* Changes up to an LSN reach bronze. */
static void stream_to(Model *model, OpenLake *open, unsigned lsn)
{
    BronzeRow *rows  = ARENA_ARRAY(model->arena, BronzeRow, model->count + 1);
    size_t     count = 0;

    for (; model->put_count < model->count && model->rows[model->put_count].row.lsn <= lsn;
         model->put_count++)
        rows[count++] = model->rows[model->put_count].row;
    put_rows(&open->lake, rows, count);
}

/* Rows of chunks stand in bronze before changes that were logged earlier and are streamed later. */
static void insert_row(Model *model, const Row *row)
{
    assert_true(model->count < ROWS_MAX);
    for (size_t i = model->count++; i > model->put_count; i--)
        model->rows[i] = model->rows[i - 1];
    model->rows[model->put_count++] = *row;
}

static const char *bound(Model *model, int key, bool is_open)
{
    return is_open ? "null" : str_c(model->arena, str_printf(model->arena, "%d", key));
}

/* What a wave's chunks hold now. Changes may come, and be applied, before the wave lands. */
static void read_wave(Model *model)
{
    Wave *wave = &model->wave;

    *wave = (Wave){
        .first  = model->read_count,
        .count  = MIN(model->chunk_count - model->read_count, 1 + (int)rng_below(model->rng, 80)),
        .stamp  = MAX(model->now - (unsigned)rng_below(model->rng, 2), SNAPSHOT),
        .rows   = ARENA_ARRAY(model->arena, BronzeRow, KEYS),
        .number = ARENA_ARRAY(model->arena, int, KEYS)};
    for (int c = wave->first; c < wave->first + wave->count; c++)
        for (int key = model->chunks[c].lo; key < model->chunks[c].hi; key++) {
            if (!model->source[key]) continue;
            wave->number[wave->row_count] = c;
            wave->rows[wave->row_count++] = (BronzeRow){wave->stamp, 0,   0,
                                                        0,           key, model->source[key]};
        }
    model->read_count += wave->count;
}

static void land_wave(Model *model, OpenLake *open)
{
    Wave      *wave = &model->wave;
    HandChunk *hand = ARENA_ARRAY(model->arena, HandChunk, (size_t)wave->count);

    for (int i = 0; i < wave->count; i++) {
        Chunk *chunk = &model->chunks[wave->first + i];

        chunk->wave  = model->waves;
        chunk->stamp = wave->stamp;
        hand[i]      = (HandChunk){wave->first + i, bound(model, chunk->lo, wave->first + i == 0),
                                   bound(model, chunk->hi, chunk->hi == KEYS)};
    }
    for (size_t i = 0; i < wave->row_count; i++)
        insert_row(model, &(Row){wave->rows[i], wave->number[i]});
    open->lake.snapshot   = SNAPSHOT;
    open->lake.row_chunks = wave->number;
    put_rows(&open->lake, wave->rows, wave->row_count);
    open->lake.snapshot   = 0;
    open->lake.row_chunks = NULL;
    put_wave(open, model->waves++, wave->stamp, hand, (size_t)wave->count);
    wave->count = 0;
}

static void cut_chunks(Model *model)
{
    int lo = 0;

    for (int block = 0; block < BLOCKS; block++)
        for (int key = block * BLOCK_KEYS + 1; key <= (block + 1) * BLOCK_KEYS; key++) {
            bool is_end = key == (block + 1) * BLOCK_KEYS;

            if (!is_end && (rng_below(model->rng, 6) > 0 || key % BLOCK_KEYS > 5)) continue;
            if (!is_end && model->chunk_count > 0 && lo % BLOCK_KEYS > 0)
                continue; /* two a block */
            model->chunks[model->chunk_count++] = (Chunk){.lo = lo, .hi = key, .wave = -1};
            lo                                  = key;
        }
}

static void compare(Model *model, OpenLake *open)
{
    (void)apply_now(&open->lake);
    apply_model(model);
    assert_str_is(str_trim(silver_text(&open->lake)), str_c(model->arena, silver_of_model(model)));
}

static void go_on(Model *model, OpenLake *open)
{
    switch (rng_below(model->rng, model->wave.count > 0 ? 8 : 5)) { /* a wave takes its time */
    case 0:
        if (model->wave.count > 0)
            land_wave(model, open);
        else
            read_wave(model);
        break;
    case 1:
    case 5: commit(model); break;
    case 2:
    case 6:
        model->streamed = (unsigned)rng_between(model->rng, model->streamed, model->now);
        stream_to(model, open, model->streamed);
        break;
    default: compare(model, open); break;
    }
}

static void silver_is_what_the_rule_says_after_every_call(void **state) /* T1.1 */
{
    FOR_EACH_SEED (seed, LAKES) {
        OpenLake open  = open_lake_open(*state, SNAPSHOT);
        Model   *model = ARENA_NEW(open.lake.lake->arena, Model);

        *model                    = (Model){.arena        = open.lake.lake->arena,
                                            .rng          = rng_new(seed),
                                            .rows         = ARENA_ARRAY(open.lake.lake->arena, Row, ROWS_MAX),
                                            .applied      = -1,
                                            .rebuilt_from = -1,
                                            .wave_from    = -1};
        open.is_old               = seed % 4 == 0;
        open.lake.without_vectors = seed % 3 == 0;
        cut_chunks(model);
        while (model->now < EARLY)
            commit(model);
        stream_to(model, &open, EARLY);
        compare(model, &open);
        while (model->now < SNAPSHOT)
            commit(model); /* nobody reads these */
        model->put_count = model->count;
        model->streamed  = model->now;
        put_open(&open);
        model->is_open = true;
        while (model->read_count < model->chunk_count || model->wave.count > 0)
            go_on(model, &open);
        put_completion(&open);
        model->is_complete = true;
        compare(model, &open);
        stream_to(model, &open, model->now);
        compare(model, &open);
        for (int key = 0; key < KEYS; key++) { /* which is the source's table */
            assert_int_equal(model->silver[key].is_there, model->source[key] != NULL);
            if (model->source[key]) assert_string_equal(model->silver[key].v, model->source[key]);
        }
        rng_close(model->rng);
        open_lake_close(&open);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(silver_is_what_the_rule_says_after_every_call),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
