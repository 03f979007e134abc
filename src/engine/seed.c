/* seed.c - the refusals in their order, the rows, one commit, the event. */
#include "engine/seed.h"

#include "engine/copy_rows.h"
#include "engine/read_parallel.h"
#include "engine/snapshot_call.h"

/* Files are read together up to this size: so large is a file of bronze, about. */
#define PART_BYTES_LEAST (INT64_C(64) << 20)
#define PART_BYTES_MOST  (INT64_C(1) << 30)

typedef struct Seed {
    SnapshotCall      *call;
    const SeedOptions *options;
    Copy               copy;
    CopyReading        reading;
    Offset             stamp;
    OptLsn             newest;   /* of the snapshots that are there */
    bool               is_found; /* the stamp's snapshot is one of them */
    size_t            *starts;   /* of each part, the first of its files; one more ends the last */
    size_t             part_count;
    SnapshotCost       cost;
} Seed;

static Env *env_of(const Seed *seed)
{
    return seed->call->stream.env;
}

static Str target_of(const Seed *seed)
{
    return seed->call->stream.options->bronze.label;
}

static Str name_of(const Seed *seed)
{
    return seed->call->stream.options->capture_instance;
}

/* --- what is there --- */

/* An empty copy leaves no rows, but its event. */
static const SnapshotDone *find_empty(const Seed *seed)
{
    return family_find_empty(&seed->call->family, seed->call->stream.options->app_id);
}

static bool find_where(Seed *seed, const SnapshotFilter *filter, bool *found, Offset *out, Err *err)
{
    return bronze_find_snapshot_where(seed->call->stream.bronze, seed->call->names,
                                      seed->call->name_count, filter, found, out, err);
}

/* The snapshot of exactly the stamp, even below a newer one; else the newest of all, chunked ones too. */
static bool find_snapshots(Seed *seed, Err *err)
{
    const SnapshotDone  *empty   = find_empty(seed);
    const SnapshotFilter exactly = {.exactly = OPT_LSN(seed->stamp.lsn)};
    const SnapshotFilter any     = {.with_chunks = true};
    Offset               found;

    if (!find_where(seed, &exactly, &seed->is_found, &found, err)) return false;
    if (seed->is_found) {
        seed->stamp = found;
        return true;
    }
    if (!find_where(seed, &any, &seed->newest.is_set, &found, err)) return false;
    if (seed->newest.is_set) seed->newest.lsn = found.lsn;
    if (!empty) return true;
    seed->is_found = lsn_equal(empty->at.lsn, seed->stamp.lsn);
    if (!seed->newest.is_set || lsn_compare(empty->at.lsn, seed->newest.lsn) > 0)
        seed->newest = OPT_LSN(empty->at.lsn);
    return true;
}

/* --- where --- */

/* CDC knows no commit as old as the copy. A rerun whose time cleanup has passed finds its seed by that time. */
static bool find_by_time(Seed *seed, Err *err)
{
    const SnapshotDone  *empty = find_empty(seed);
    const SnapshotFilter until = {.until = seed->options->as_of};
    Arena               *scratch;

    if (!seed->options->reseeds) {
        if (!find_where(seed, &until, &seed->is_found, &seed->stamp, err)) return false;
        if (!seed->is_found && empty && empty->at.commit_ts.is_set &&
            empty->at.commit_ts.utc_us <= seed->options->as_of.utc_us) {
            seed->is_found = true;
            seed->stamp    = empty->at;
        }
        if (seed->is_found) return true;
    }
    scratch = arena_new();
    err_set(
        err, ERR_DATA_LOSS,
        "%.*s: CDC holds no commit at or before %.*s UTC: the copy is older than what it "
        "holds, and the changes in between are gone; seed from a newer copy, or take a snapshot",
        STR_ARG(target_of(seed)), STR_ARG(time_format_ms(scratch, seed->options->as_of.utc_us)));
    arena_close(scratch);
    return false;
}

static bool find_stamp(Seed *seed, Err *err)
{
    Mssql *mssql = seed->call->stream.mssql;
    bool   is_set;

    seed->stamp = (Offset){.lsn = seed->options->as_of_lsn};
    if (!seed->options->as_of.is_set) return find_snapshots(seed, err);
    if (!stream_refresh_clock(&seed->call->stream, err) ||
        !mssql_lsn_at_time(mssql, seed->options->as_of.utc_us, &seed->stamp.lsn, &is_set, err))
        return false;
    return is_set ? find_snapshots(seed, err) : find_by_time(seed, err);
}

/* --- refusals --- */

static bool refuse_other(const Seed *seed, Err *err)
{
    return err_set(
        err, ERR_STATE,
        "%.*s already holds a snapshot of %.*s, at LSN %s: seed an empty target, or with "
        "--reseed a copy that is newer; this one is as of LSN %s",
        STR_ARG(target_of(seed)), STR_ARG(name_of(seed)), lsn_format(seed->newest.lsn).text,
        lsn_format(seed->stamp.lsn).text);
}

/* From the stamp on every change must still be there. */
static bool check_source(Seed *seed, Err *err)
{
    Stream *stream = &seed->call->stream;
    Lsn     newest, low;
    bool    is_null, is_purged = false;

    if (!mssql_max_lsn(stream->mssql, &newest, &is_null, err)) return false;
    if (lsn_compare(seed->stamp.lsn, newest) > 0)
        return err_set(err, ERR_STATE,
                       "%.*s: LSN %s is above %s, the newest that CDC has recorded: it is not "
                       "recorded yet; let the capture job catch up, or check --as-of",
                       STR_ARG(target_of(seed)), lsn_format(seed->stamp.lsn).text,
                       lsn_format(newest).text);
    if (lsn_equal(seed->stamp.lsn, newest)) return true; /* there is no change after it */
    if (!snapshot_is_purged(stream->mssql, &stream->table, seed->stamp.lsn, &is_purged, &low, err))
        return false;
    return !is_purged ||
           err_set(err, ERR_DATA_LOSS,
                   "%.*s: CDC no longer holds the changes of %.*s after LSN %s, the oldest that is "
                   "left is %s: the copy is older than the retention; seed from a newer copy",
                   STR_ARG(target_of(seed)), STR_ARG(name_of(seed)),
                   lsn_format(seed->stamp.lsn).text, lsn_format(low).text);
}

/* Everything that must hold before a byte is written, in this order (3.5). */
static bool check_all(Seed *seed, Err *err)
{
    Stream *stream = &seed->call->stream;

    if (!family_check_mode(&seed->call->family, SNAPSHOT_SEED, stream->mssql, &stream->table,
                           target_of(seed), err))
        return false;
    if (!copy_open(stream->env, seed->options->from, stream->arena, &seed->copy, err) ||
        !copy_check_files(&seed->reading, err))
        return err_context(err, "the copy");
    if (!find_stamp(seed, err)) return false;
    if (seed->is_found) return true;
    if (seed->newest.is_set &&
        !(seed->options->reseeds && lsn_compare(seed->stamp.lsn, seed->newest.lsn) > 0))
        return refuse_other(seed, err);
    return check_source(seed, err) &&
           mssql_commit_time(stream->mssql, seed->stamp.lsn, &seed->stamp.commit_ts, err);
}

/* --- rows --- */

static int64_t part_bytes(const Seed *seed)
{
    int64_t total = 0, partitions = MAX(seed->call->stream.options->source.num_partitions, 1);

    for (size_t i = 0; i < seed->copy.file_count; i++)
        total += seed->copy.files[i].size_bytes;
    return MIN(MAX(total / partitions, PART_BYTES_LEAST), PART_BYTES_MOST);
}

/* Neighbouring files together; a file is never divided. */
static void plan_parts_of_files(Seed *seed, Arena *arena)
{
    const Copy *copy  = &seed->copy;
    int64_t     limit = part_bytes(seed), size = 0;

    seed->starts     = ARENA_ARRAY(arena, size_t, copy->file_count + 1);
    seed->part_count = 0;
    for (size_t i = 0; i < copy->file_count; i++) {
        if (i == 0 || size + copy->files[i].size_bytes > limit) {
            seed->starts[seed->part_count++] = i;
            size                             = 0;
        }
        size += copy->files[i].size_bytes;
    }
    seed->starts[seed->part_count] = copy->file_count;
}

static bool open_part(void *arg, size_t index, Arena *arena, RowStream **out, Err *err)
{
    Seed *seed = arg;

    return copy_rows_open(&seed->reading, seed->starts[index], seed->starts[index + 1], arena, out,
                          err);
}

/* 0: some file does not tell. */
static int64_t row_total(const Copy *copy)
{
    int64_t total = 0;

    for (size_t i = 0; i < copy->file_count; i++) {
        if (copy->files[i].row_count < 0) return 0;
        total += copy->files[i].row_count;
    }
    return total;
}

static bool append(Seed *seed, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                   Arena *scratch, Err *err)
{
    Offset stamp = seed->stamp;
    bool   was_first;

    if (!bronze_append_first_snapshot(seed->call->stream.bronze, writer, adds, count,
                                      seed->call->names, seed->call->name_count, seed->newest,
                                      payload_seed(scratch, name_of(seed), &stamp), &stamp,
                                      &was_first, err))
        return false;
    if (!was_first) return true;
    seed->newest = OPT_LSN(stamp.lsn);
    if (!lsn_equal(stamp.lsn, seed->stamp.lsn))
        return refuse_other(seed, err) || err_context(err, "another run came first");
    seed->is_found = true;
    return true;
}

static bool read_and_append(Seed *seed, int64_t *rows_out, Err *err)
{
    Stream              *stream  = &seed->call->stream;
    const StreamOptions *options = stream->options;
    Arena               *arena   = arena_new();
    DeltaWriter         *writer  = NULL;
    DeltaAdds            adds;
    bool                 ok    = false;
    ReadParts            parts = {.method     = "read copy",
                                  .what       = "seed",
                                  .name       = options->capture_instance,
                                  .open       = open_part,
                                  .arg        = seed,
                                  .partitions = MAX(options->source.num_partitions, 1),
                                  .row_total  = row_total(&seed->copy)};

    plan_parts_of_files(seed, arena);
    parts.count = seed->part_count;
    if (!bronze_prepare(stream->bronze, &stream->captured, options->source.include_command_id, err))
        goto done;
    if (!bronze_writer_open(stream->bronze,
                            str_printf(arena, "seed.%.*s", STR_ARG(options->capture_instance)),
                            &writer, err))
        goto done;
    parts.writer = writer;
    if (!read_parts(stream->env, stream->mssql, &parts, arena, &adds, err)) goto done;
    *rows_out = read_parts_rows(&adds);
    ok        = append(seed, writer, adds.items, adds.count, arena, err);
done:
    delta_writer_close(writer);
    arena_close(arena);
    return ok;
}

/* --- all of it --- */

static bool write_seed(Seed *seed, Err *err)
{
    Env    *env        = env_of(seed);
    int64_t started_us = clock_utc_us(env->clock), rows = 0;

    log_info(env->log, "seed", "seed started", LOG_STR("stream", name_of(seed)),
             LOG_LSN("lsn", seed->stamp.lsn), LOG_STR("from", seed->options->from),
             LOG_I64("files", (int64_t)seed->copy.file_count));
    if (!read_and_append(seed, &rows, err)) return false;
    if (seed->is_found) return true;
    seed->cost = snapshot_cost(env, started_us, rows);
    log_info(env->log, "seed", "copy appended", LOG_STR("stream", name_of(seed)),
             LOG_LSN("lsn", seed->stamp.lsn), LOG_I64("rows", rows),
             LOG_I64("duration_ms", seed->cost.duration_ms.value));
    if (rows == 0 && seed->call->stream.options->facts.path.len == 0)
        log_warn(env->log, "seed",
                 "the copy has no rows, and without facts nothing records that: begin the stream "
                 "with starting_lsn, not with bootstrap",
                 LOG_STR("stream", name_of(seed)), LOG_LSN("starting_lsn", seed->stamp.lsn));
    return true;
}

static bool write_event(Seed *seed, Err *err)
{
    Stream         *stream = &seed->call->stream;
    const TableRef *ref    = &stream->options->facts;

    if (ref->path.len && !stream->facts &&
        !facts_open(stream->env->delta, ref, &stream->facts, err))
        return false;
    return snapshot_write_bootstrap(stream->facts, stream->options, &seed->stamp, &seed->cost, err);
}

static bool run(Seed *seed, SnapshotResult *out, Err *err)
{
    Stream *stream = &seed->call->stream;

    seed->reading = (CopyReading){
        .copy           = &seed->copy,
        .captured       = &stream->captured,
        .instance       = &stream->table.instances[0],
        .instance_name  = name_of(seed),
        .allows_missing = seed->options->allows_missing_columns,
    };
    if (!check_all(seed, err)) return false;
    seed->reading.stamp = seed->stamp;
    if (seed->is_found)
        log_info(env_of(seed)->log, "seed", "bronze holds the seed already, nothing was read",
                 LOG_STR("stream", name_of(seed)), LOG_LSN("lsn", seed->stamp.lsn));
    else if (!write_seed(seed, err))
        return false;
    if (!write_event(seed, err)) return false;
    *out = (SnapshotResult){.lsn       = OPT_LSN(seed->stamp.lsn),
                            .commit_ts = seed->stamp.commit_ts,
                            .rows      = seed->cost.rows};
    return true;
}

bool seed_run(Env *env, const StreamOptions *options, const SeedOptions *seed_options,
              SnapshotResult *out, Err *err)
{
    SnapshotCall call;
    Seed         seed = {.call = &call, .options = seed_options};
    bool         ok;

    *out = (SnapshotResult){0};
    ok   = snapshot_call_open(env, options, &call, err) && run(&seed, out, err);
    copy_close(&seed.copy);
    snapshot_call_close(&call);
    return ok || err_context(err, "%.*s", STR_ARG(options->capture_instance));
}
