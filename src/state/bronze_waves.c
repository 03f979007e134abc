/* bronze_waves.c - appends of waves, and what bronze still knows of an earlier attempt. */
#include "state/bronze_waves.h"

#include "base/list.h"
#include "state/bronze_internal.h"

bool bronze_append_wave(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                        const WaveTag *tag, DeltaOutcome *out, Err *err)
{
    Arena   *scratch = arena_new();
    DeltaTxn txn     = {.app_id = tag->key, .version = tag->wave};
    /* the wave before was committed through another handle: without a look, its commit would be a conflict */
    bool ok = delta_table_refresh(bronze->table, err) &&
              bronze_commit_rows(bronze, writer, adds, count, &txn, payload_wave_tag(scratch, tag),
                                 out, err);

    arena_close(scratch);
    return ok;
}

bool bronze_take_staged(Bronze *bronze, Str purpose, Arena *arena, DeltaStaged ***out,
                        size_t *count_out, Err *err)
{
    return delta_staged_take(bronze->context, bronze->ref.path, purpose, arena, out, count_out,
                             err) ||
           err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

bool bronze_open_staged(Bronze *bronze, DeltaStaged *staged, Arena *arena, DeltaWriter **out,
                        DeltaAdd **adds_out, size_t *count_out, Str *why_not, Err *err)
{
    return delta_writer_open_staged(bronze->table, bronze_pending_schema(bronze), staged, arena,
                                    out, adds_out, count_out, why_not, err) ||
           err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

typedef struct WaveCommit {
    Str      key;
    int64_t  wave;
    Arena   *arena; /* of the tag */
    WaveTag *tag;
} WaveCommit;

static bool is_of_wave(void *arg, Str user_metadata)
{
    WaveCommit *wanted  = arg;
    Arena      *scratch = arena_new();
    WaveTag     tag;
    bool        is_it = payload_parse_wave_tag(user_metadata, scratch, &tag) &&
                 str_equal(tag.key, wanted->key) && tag.wave == wanted->wave;

    arena_close(scratch);
    return is_it && payload_parse_wave_tag(str_copy(wanted->arena, user_metadata), wanted->arena,
                                           wanted->tag);
}

bool bronze_find_wave(Bronze *bronze, Str key, int64_t wave, Arena *arena, bool *is_in,
                      bool *has_tag, WaveTag *out, Err *err)
{
    int64_t version;
    bool    ok = true;

    *is_in = *has_tag = false;
    *out              = (WaveTag){0};
    if (bronze->table) ok = delta_table_refresh(bronze->table, err);
    if (ok && bronze->table && delta_table_find_txn(bronze->table, key, &version) &&
        version >= wave) {
        *is_in            = true;
        WaveCommit wanted = {.key = key, .wave = wave, .arena = arena, .tag = out};
        ok                = bronze_find_commit(bronze, is_of_wave, &wanted, has_tag, err);
    }
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

static bool add_count(const RowBlock *block, size_t row, ChunkCount *out, Err *err)
{
    Str text = column_str(&block->columns[2], row);

    out->chunk = column_i64(&block->columns[0], row);
    out->rows  = column_i64(&block->columns[1], row);
    return lsn_parse(text, &out->stamp) ||
           err_set(err, ERR_DAMAGED, "a chunk's row is stamped \"%.*s\", which is no LSN",
                   STR_ARG(text));
}

bool bronze_count_chunks(Bronze *bronze, Lsn snapshot, int64_t first, Arena *arena,
                         ChunkCount **out, size_t *count_out, Err *err)
{
    SnapshotQuery query     = {.arena = arena_new()};
    LIST(ChunkCount) counts = {0};
    Str  where              = str_printf(query.arena, "_snapshot = '%s' AND _chunk >= %lld",
                                         lsn_format(snapshot).text, (long long)first);
    bool is_empty;
    bool ok = (!bronze->table || delta_table_refresh(bronze->table, err)) &&
              bronze_open_query(bronze, (OptLsn){0}, "_chunk, count(*), min(_start_lsn)", where,
                                " GROUP BY _chunk ORDER BY _chunk", &query, &is_empty, err);

    while (ok && !is_empty) {
        RowBlock block;

        ok = row_stream_next(query.rows, &block, err);
        if (!ok || block.row_count == 0) break;
        for (size_t i = 0; ok && i < block.row_count; i++)
            ok = add_count(&block, i, LIST_PUSH(arena, &counts), err);
    }
    bronze_close_query(&query);
    *out       = counts.items;
    *count_out = counts.count;
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}
