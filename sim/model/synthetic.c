/* synthetic.c - tables whose rows are computed from their position, for what is larger than memory
 * (sqlserver.md 2.17, 2.18).
 *
 * A profile gives the columns, the clustered key as a function of the position that only grows, and the other columns as
 * functions of their type, the position and the seed. So a bound of a range is a binary search over positions, a row is made
 * when a scan comes to it, and counting or skipping is arithmetic. Such a table cannot be written. */
#include <stdio.h>

#include "sim/model/model_internal.h"

#define ROWS_MOST       INT64_C(1000000000)
#define WIDE_COLUMNS    90 /* besides the key */
#define COMMIT_ROWS     64 /* of a profile of changes */
#define COMMITS_PER_VLF 500000
#define FIRST_VLF       0x2A
#define DENSE_FROM      INT64_C(1000000000000000)
#define TEXT_BYTES      32     /* of a made text or binary */
#define DAY_2026        739616 /* from 0001-01-01 */

typedef enum KeyForm { KEY_NUMBER, KEY_SKEWED, KEY_CHANGE, KEY_COMMIT } KeyForm;

typedef struct ProfileColumn {
    const char *name, *type;
    bool        is_nullable;
} ProfileColumn;

typedef struct Profile {
    const char *name;
    KeyForm     key;
    const ProfileColumn
        *columns; /* ends with a name of NULL; the cycle of WIDE_COLUMNS behind it when `is_wide` */
    bool is_wide;
    uint8_t key_columns[5]; /* ids, ends with 0 */
} Profile;

/* clang-format off */
static const ProfileColumn narrow_columns[] = {
    {"id", "int", false}, {"a", "int", false}, {"made", "datetime", false}, {"big", "bigint", false}, {"c", "int", false},
    {"code", "varchar(16)", false}, {NULL, NULL, false}};
static const ProfileColumn skewed_columns[] = {
    {"id", "bigint", false}, {"a", "int", false}, {"made", "datetime2(3)", false}, {"code", "varchar(16)", true}, {NULL, NULL, false}};
static const ProfileColumn wide_columns[] = {{"id", "bigint", false}, {NULL, NULL, false}};
static const ProfileColumn wide_cycle[] = {
    {NULL, "bigint", true}, {NULL, "int", true}, {NULL, "smallint", true}, {NULL, "decimal(18,2)", true}, {NULL, "float", true},
    {NULL, "nvarchar(20)", true}, {NULL, "varchar(16)", true}, {NULL, "date", true}, {NULL, "datetime2(3)", true}, {NULL, "bit", true},
    {NULL, "varbinary(8)", true}};
static const ProfileColumn change_columns[] = {
    {"__$start_lsn", "binary(10)", false}, {"__$end_lsn", "binary(10)", true}, {"__$seqval", "binary(10)", false},
    {"__$operation", "int", false}, {"__$update_mask", "varbinary(128)", true}, {"id", "int", false}, {"a", "int", false},
    {"made", "datetime", false}, {"big", "bigint", false}, {"c", "int", false}, {"code", "varchar(16)", false},
    {"__$command_id", "int", true}, {NULL, NULL, false}};
static const ProfileColumn commit_columns[] = {
    {"start_lsn", "binary(10)", false}, {"tran_begin_time", "datetime", true}, {"tran_end_time", "datetime", true},
    {"tran_id", "varbinary(10)", true}, {"tran_begin_lsn", "binary(10)", true}, {NULL, NULL, false}};
static const Profile profiles[] = {
    {"narrow", KEY_NUMBER, narrow_columns, false, {1}},
    {"wide", KEY_NUMBER, wide_columns, true, {1}},
    {"skewed", KEY_SKEWED, skewed_columns, false, {1}},
    {"changes", KEY_CHANGE, change_columns, false, {1, 12, 3, 4}},
    {"commits", KEY_COMMIT, commit_columns, false, {1}},
};
/* clang-format on */

struct Synthetic {
    const Profile *profile;
    int64_t        rows;
    uint64_t       seed;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* --- keys --- */

/* A twentieth of sparse keys, nine tenths without a gap, a twentieth of very sparse ones; below them all -1, above the
 * largest bigint there is, as tables have that keep a row for "none" and one for "for ever". */
static int64_t skewed_key(const Synthetic *synthetic, int64_t position)
{
    int64_t edge = synthetic->rows / 20;

    if (position == 0) return -1;
    if (position == synthetic->rows - 1) return INT64_MAX;
    if (position < edge) return position * 1000;
    if (position < synthetic->rows - edge) return DENSE_FROM + position;
    return 2 * DENSE_FROM + position * 1000000;
}

static int64_t number_key(const Synthetic *synthetic, int64_t position)
{
    return synthetic->profile->key == KEY_SKEWED ? skewed_key(synthetic, position) : position + 1;
}

/* The LSN of a record of a commit; the commit's own is behind those of its rows. */
static Bytes put_lsn(int64_t commit, int64_t slot, uint8_t out[LSN_BYTES])
{
    uint32_t vlf   = (uint32_t)(FIRST_VLF + commit / COMMITS_PER_VLF);
    uint32_t block = (uint32_t)(2 * (commit % COMMITS_PER_VLF) + 16);

    for (unsigned i = 0; i < 4; i++) {
        out[i]     = (uint8_t)(vlf >> (24 - 8 * i));
        out[4 + i] = (uint8_t)(block >> (24 - 8 * i));
    }
    out[8] = (uint8_t)(slot >> 8);
    out[9] = (uint8_t)slot;
    return (Bytes){out, LSN_BYTES};
}

/* Of four rows one is inserted, one updated (before and after, under one seqval), one deleted. */
static void change_value(int32_t column_id, int64_t position, uint8_t *bytes, SimValue *out)
{
    static const int     operations[] = {2, 3, 4, 1};
    static const uint8_t mask[]       = {0x3F};
    int64_t              commit = position / COMMIT_ROWS, at = position % COMMIT_ROWS;

    switch (column_id) {
    case 1: out->bytes = put_lsn(commit, COMMIT_ROWS + 1, bytes); break;
    case 2: out->is_null = true; break;
    case 3: out->bytes = put_lsn(commit, at % 4 == 2 ? at : at + 1, bytes); break;
    case 4: out->i64 = operations[at % 4]; break;
    case 5: out->bytes = (Bytes){mask, sizeof mask}; break;
    default: out->i64 = 1; break; /* the command's id */
    }
}

static SimValue commit_time(int64_t commit, SimType type)
{
    return (SimValue){
        .type = type,
        .time = {.days = (int32_t)(DAY_2026 + commit / 86400), .ticks = commit % 86400 * 300}};
}

/* --- any other column: by its type --- */

static Bytes put_digits(const char *prefix, uint64_t number, bool is_wide, uint8_t *out)
{
    char text[TEXT_BYTES / 2];
    int  len = snprintf(text, sizeof text, "%s%u", prefix, (unsigned)number);

    for (int i = 0; i < len; i++) {
        out[is_wide ? 2 * i : i] = (uint8_t)text[i];
        if (is_wide) out[2 * i + 1] = 0;
    }
    return (Bytes){out, (size_t)len * (is_wide ? 2 : 1)};
}

static void made_value(const SimColumn *column, uint64_t random, int64_t position, uint8_t *bytes,
                       SimValue *out)
{
    out->is_null = column->is_nullable && random % 16 == 0;
    if (out->is_null) return;
    random >>= 8;
    switch (column->type.kind) {
    case SIM_BIT: out->i64 = (int64_t)(random & 1); break;
    case SIM_SMALLINT:
    case SIM_INT: out->i64 = (int64_t)(random % 10000); break;
    case SIM_BIGINT: out->i64 = (int64_t)(random >> 16); break;
    case SIM_FLOAT: out->f64 = (double)(random % 1000000) / 8; break;
    case SIM_DECIMAL: out->dec = (Int128){.lower = random % 100000000}; break;
    case SIM_DATE: out->time.days = DAY_2026 - (int32_t)(random % 9000); break;
    case SIM_DATETIME: *out = commit_time(position, column->type); break;
    case SIM_DATETIME2:
        out->time.days  = (int32_t)(DAY_2026 + position / 86400);
        out->time.ticks = position % 86400 * 10000000;
        break;
    case SIM_VARCHAR: out->bytes = put_digits("code", random % 4096, false, bytes); break;
    case SIM_NVARCHAR: out->bytes = put_digits("name", random % 4096, true, bytes); break;
    default:
        memcpy(bytes, &random, sizeof random);
        out->bytes = (Bytes){bytes, sizeof random};
        break;
    }
}

/* The value of a column at a position; its bytes are in `bytes`, TEXT_BYTES of them. */
static void value_at(const Synthetic *synthetic, const SimColumn *column, int64_t position,
                     uint8_t *bytes, SimValue *out)
{
    KeyForm key = synthetic->profile->key;

    *out = (SimValue){.type = column->type};
    if (key == KEY_CHANGE && (column->column_id <= 5 || column->column_id == 12)) {
        change_value(column->column_id, position, bytes, out);
    } else if (key == KEY_CHANGE && column->column_id == 6) {
        out->i64 = position / 4 + 1;
    } else if (key == KEY_COMMIT && (column->column_id == 1 || column->column_id == 5)) {
        out->bytes = put_lsn(position, column->column_id == 1 ? COMMIT_ROWS + 1 : 1, bytes);
    } else if (key == KEY_COMMIT && column->column_id != 4) {
        *out = commit_time(position, column->type);
    } else if (column->column_id == 1) {
        out->i64 = number_key(synthetic, position);
    } else {
        made_value(column,
                   mix(synthetic->seed + (uint64_t)position * 0x9E3779B97F4A7C15u +
                       (uint64_t)(uint32_t)column->column_id * 0xD1B54A32D192ED03u),
                   position, bytes, out);
    }
}

/* --- rows --- */

int64_t synthetic_rows(const Synthetic *synthetic)
{
    return synthetic->rows;
}

SimRow *synthetic_row(const Synthetic *synthetic, const SimTableInfo *info, int64_t position,
                      Arena *arena)
{
    SimValue *values = ARENA_ARRAY(arena, SimValue, info->column_count);
    uint8_t  *bytes  = arena_alloc_uninit(arena, info->column_count * TEXT_BYTES);
    size_t    size   = 0;

    for (size_t i = 0; i < info->column_count; i++) {
        value_at(synthetic, &info->columns[i], position, bytes + i * TEXT_BYTES, &values[i]);
        size += wire_size(&info->columns[i].type, &values[i]);
    }
    RowBuild build = row_build_in(arena, info->column_count, size);
    for (size_t i = 0; i < info->column_count; i++)
        wire_put(&info->columns[i].type, &values[i],
                 row_build_column(&build, wire_size(&info->columns[i].type, &values[i])));
    return build.row;
}

static void key_at(const Synthetic *synthetic, const SimTableInfo *info, const SimIndex *index,
                   int64_t position, Buf *out)
{
    buf_clear(out);
    for (size_t i = 0; i < index->column_count; i++) {
        uint8_t  bytes[TEXT_BYTES];
        SimValue value;
        value_at(synthetic, &info->columns[index->columns[i].column_id - 1], position, bytes,
                 &value);
        sim_sort_key(&value, index->columns[i].descending, out);
    }
}

int64_t synthetic_find(const Synthetic *synthetic, const SimTableInfo *info, Bytes key)
{
    Arena  *arena = arena_new();
    Buf     at    = buf_new(arena, 0);
    int64_t low = 0, high = synthetic->rows;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        key_at(synthetic, info, info->indexes[0], middle, &at);
        if (key_compare((const uint8_t *)at.ptr, at.len, key.ptr, key.len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    arena_close(arena);
    return low;
}

void synthetic_ints(const Synthetic *synthetic, const SimColumn *column, int64_t from, int64_t step,
                    size_t count, int64_t *out)
{
    KeyForm key = synthetic->profile->key;

    if (column->column_id == 1 && key == KEY_NUMBER) {
        for (size_t i = 0; i < count; i++)
            out[i] = from + (int64_t)i * step + 1;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t  bytes[TEXT_BYTES];
        SimValue value;
        value_at(synthetic, column, from + (int64_t)i * step, bytes, &value);
        out[i] = value.i64;
    }
}

/* --- making one --- */

static const Profile *find_profile(Str name)
{
    for (size_t i = 0; i < COUNT_OF(profiles); i++)
        if (sim_name_equal(name, str_from_c(profiles[i].name))) return &profiles[i];
    return NULL;
}

static SimColumn profile_column(const ProfileColumn *from, Str name)
{
    SimColumn column = {.name = name, .is_nullable = from->is_nullable};
    bool      parsed = sim_type_parse(str_from_c(from->type), &column.type);

    assert(parsed);
    return column;
}

static size_t profile_columns(const Profile *profile, Arena *arena, SimColumn *out)
{
    size_t count = 0;

    for (; profile->columns[count].name != NULL; count++)
        out[count] = profile_column(&profile->columns[count],
                                    str_from_c(profile->columns[count].name));
    for (size_t i = 0; profile->is_wide && i < WIDE_COLUMNS; i++)
        out[count++] = profile_column(&wide_cycle[i % COUNT_OF(wide_cycle)],
                                      str_printf(arena, "c%zu", i));
    return count;
}

bool sim_create_synthetic(SimTxn *txn, Str schema, Str name, int64_t rows, Str profile,
                          uint64_t seed, SimTable **out, SimError *error)
{
    const Profile *found = find_profile(profile);

    if (found == NULL)
        return sim_error(error, 50000, "There is no profile '%.*s' of a synthetic table.",
                         STR_ARG(profile));
    if (rows < 1 || rows > ROWS_MOST)
        return sim_error(error, 50000, "A synthetic table has from 1 to %lld rows.",
                         (long long)ROWS_MOST);
    Arena         *arena   = arena_new();
    SimColumn     *columns = ARENA_ARRAY(arena, SimColumn, WIDE_COLUMNS + 16);
    SimIndexColumn keys[COUNT_OF(found->key_columns)];
    SimIndex       index = {.name           = str_printf(arena, "PK_%.*s", STR_ARG(name)),
                            .is_unique      = true,
                            .is_clustered   = true,
                            .is_primary_key = found->key != KEY_CHANGE,
                            .columns        = keys};
    SimTableSpec   spec  = {.schema       = schema,
                            .name         = name,
                            .columns      = columns,
                            .column_count = profile_columns(found, arena, columns),
                            .indexes      = &index,
                            .index_count  = 1};
    for (; found->key_columns[index.column_count] != 0; index.column_count++)
        keys[index.column_count] = (SimIndexColumn){
            .column_id = found->key_columns[index.column_count]};
    bool ok = sim_create_table(txn, &spec, out, error);
    if (ok) {
        Synthetic *synthetic = ARENA_NEW((*out)->arena, Synthetic);
        *synthetic           = (Synthetic){.profile = found, .rows = rows, .seed = mix(seed)};
        SimRow *row          = synthetic_row(synthetic, sim_table_info(*out), rows / 2, arena);
        (*out)->synthetic    = synthetic;
        atomic_store(&(*out)->row_count, rows);
        atomic_store(&(*out)->size_bytes, rows * (int64_t)row_size(row));
    }
    arena_close(arena);
    return ok;
}

bool synthetic_refuse_change(const SimTable *table, SimError *error)
{
    if (table->synthetic == NULL) return true;
    return sim_not_supported(error, "a change of the synthetic table '%.*s'",
                             STR_ARG(sim_table_info(table)->name));
}
