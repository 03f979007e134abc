/* Which files of the log lead to a version (delta.md 1.2). */
#include "delta/delta_internal.h"

#define PARTS_MAX 100000 /* of a checkpoint; more is no number to trust */

/* Multi-part checkpoints of one version, by their number of parts. */
typedef struct PartSet {
    int64_t part_count, found_count;
    Str    *parts;
} PartSet;

/* The checkpoint files of one version, as the listing shows them. */
typedef struct Candidate {
    int64_t version;
    Str     classic, uuid;
    bool    uuid_is_json;
    LIST(PartSet) part_sets;
} Candidate;

typedef struct Listing {
    Candidate best;    /* NO_VERSION: none complete */
    int64_t   lowest;  /* of all complete ones, for messages */
    int64_t  *commits; /* ascending */
    size_t    commit_count;
    int64_t   newest; /* version of any kind, also above the target */
    bool      has_any;
} Listing;

typedef struct Wish {
    int64_t from, target, checkpoint_below;
} Wish;

static const PartSet *find_whole_set(const Candidate *candidate)
{
    for (size_t i = 0; i < candidate->part_sets.count; i++)
        if (candidate->part_sets.items[i].found_count == candidate->part_sets.items[i].part_count)
            return &candidate->part_sets.items[i];
    return NULL;
}

static bool is_complete(const Candidate *candidate)
{
    return candidate->uuid.len > 0 || candidate->classic.len > 0 || find_whole_set(candidate);
}

static void take_candidate(Listing *listing, const Candidate *candidate, const Wish *wish)
{
    if (candidate->version == NO_VERSION || !is_complete(candidate)) return;
    if (listing->lowest == NO_VERSION) listing->lowest = candidate->version;
    if (wish->target != NO_VERSION && candidate->version > wish->target) return;
    if (candidate->version < wish->checkpoint_below) listing->best = *candidate;
}

static PartSet *find_part_set(Candidate *candidate, int64_t part_count, Arena *arena)
{
    for (size_t i = 0; i < candidate->part_sets.count; i++)
        if (candidate->part_sets.items[i].part_count == part_count)
            return &candidate->part_sets.items[i];
    PartSet *set    = LIST_PUSH(arena, &candidate->part_sets);
    set->part_count = part_count;
    set->parts      = ARENA_ARRAY(arena, Str, (size_t)part_count);
    return set;
}

static void note_part(Candidate *candidate, const LogName *name, Str text, Arena *arena)
{
    if (name->part_count > PARTS_MAX) return;
    PartSet *set = find_part_set(candidate, name->part_count, arena);
    set->found_count += set->parts[name->part - 1].len == 0;
    set->parts[name->part - 1] = text;
}

static void note_checkpoint(Candidate *candidate, const LogName *name, Str text, Arena *arena)
{
    if (name->kind == LOG_FILE_CHECKPOINT) candidate->classic = text;
    if (name->kind == LOG_FILE_CHECKPOINT_PART) note_part(candidate, name, text, arena);
    if (name->kind == LOG_FILE_CHECKPOINT_UUID) {
        candidate->uuid         = text;
        candidate->uuid_is_json = name->is_json;
    }
}

static bool list_log(const LogPlace *place, const Wish *wish, Arena *arena, Listing *out, Err *err)
{
    StoreList list;
    Candidate candidate = {.version = NO_VERSION};
    Str       after     = wish->from > 0 ? log_name_version(arena, wish->from) : STR_EMPTY;

    *out = (Listing){.best = {.version = NO_VERSION}, .lowest = NO_VERSION, .newest = NO_VERSION};
    if (!store_list_after(place->context->store, place->log_path, after, arena, &list, err))
        return err_context(err, "table %.*s", STR_ARG(place->path));
    out->commits = ARENA_ARRAY(arena, int64_t, list.count + 1);
    for (size_t i = 0; i < list.count; i++) {
        LogName name = log_name_parse(list.entries[i].name);
        if (name.kind == LOG_FILE_OTHER) continue;
        if (name.kind != LOG_FILE_COMMIT && list.entries[i].size_bytes == 0)
            continue; /* as good as absent */
        out->has_any = true;
        out->newest  = MAX(out->newest, name.version);
        if (name.kind == LOG_FILE_COMMIT) {
            if (wish->target == NO_VERSION || name.version <= wish->target)
                out->commits[out->commit_count++] = name.version;
            continue;
        }
        if (name.version != candidate.version) {
            take_candidate(out, &candidate, wish);
            candidate = (Candidate){.version = name.version};
        }
        note_checkpoint(&candidate, &name, list.entries[i].name, arena);
    }
    take_candidate(out, &candidate, wish);
    return true;
}

static void fill_checkpoint(LogSegment *segment, const Candidate *candidate, Arena *arena)
{
    segment->checkpoint_version = candidate->version;
    segment->checkpoint_count   = 1;
    segment->checkpoint_names   = ARENA_ARRAY(arena, Str, 1);
    if (candidate->uuid.len > 0) {
        segment->checkpoint_names[0] = candidate->uuid;
        segment->checkpoint_is_json  = candidate->uuid_is_json;
    } else if (candidate->classic.len > 0) {
        segment->checkpoint_names[0] = candidate->classic;
    } else {
        const PartSet *set        = find_whole_set(candidate);
        segment->checkpoint_names = set->parts;
        segment->checkpoint_count = (size_t)set->part_count;
    }
}

/* A listing is no snapshot: it may show a new commit and miss the one before. Only a look at the
 * file tells a hole. */
static bool commit_exists(const LogPlace *place, int64_t version, Arena *arena, bool *exists_out,
                          Err *err)
{
    StoreEntry entry;
    Str        path = store_join(arena, place->log_path, log_name_commit(arena, version));

    *exists_out = store_stat(place->context->store, path, &entry, err);
    if (*exists_out) return true;
    if (err->code != ERR_NOT_FOUND) return false;
    err_clear(err);
    return true;
}

static bool fail_hole(const LogPlace *place, const Listing *listing, const Wish *wish,
                      int64_t missing, int64_t last, Err *err)
{
    if (listing->best.version != NO_VERSION)
        return err_set(
            err, ERR_DAMAGED,
            "DELTA-L02 table %.*s: commit %lld is missing between checkpoint %lld and version %lld",
            STR_ARG(place->path), (long long)missing, (long long)listing->best.version,
            (long long)last);
    if (wish->target != NO_VERSION && listing->lowest != NO_VERSION)
        return err_set(err, ERR_NOT_FOUND,
                       "DELTA-L03 table %.*s: version %lld is not available; available: %lld..%lld",
                       STR_ARG(place->path), (long long)wish->target, (long long)listing->lowest,
                       (long long)listing->newest);
    return err_set(err, ERR_DAMAGED,
                   "DELTA-L02 table %.*s: commit %lld is missing and no complete checkpoint stands "
                   "in for it (the log "
                   "goes on to version %lld)",
                   STR_ARG(place->path), (long long)missing, (long long)MAX(last, listing->newest));
}

/* Walks the commits above the checkpoint; `version_out` is the last one without a hole before
 * it. */
static bool walk_commits(const LogPlace *place, const Listing *listing, const Wish *wish,
                         Arena *arena, int64_t *version_out, Err *err)
{
    int64_t version = listing->best.version;
    int64_t last    = listing->commit_count > 0 ? listing->commits[listing->commit_count - 1]
                                                : version;

    for (size_t i = 0; i < listing->commit_count; i++) {
        while (listing->commits[i] > version + 1) {
            bool exists;
            if (!commit_exists(place, version + 1, arena, &exists, err)) return false;
            if (!exists) return fail_hole(place, listing, wish, version + 1, last, err);
            version++;
        }
        version = MAX(version, listing->commits[i]);
    }
    *version_out = version;
    return true;
}

static bool finish_segment(const LogPlace *place, const Listing *listing, const Wish *wish,
                           Arena *arena, LogSegment *out, Err *err)
{
    *out = (LogSegment){.checkpoint_version = NO_VERSION, .hinted_adds = -1};
    if (!listing->has_any)
        return err_set(err, ERR_NOT_FOUND, "DELTA-L01 not a Delta table: %.*s",
                       STR_ARG(place->path));
    if (!walk_commits(place, listing, wish, arena, &out->version, err)) return false;
    if (out->version == NO_VERSION) return fail_hole(place, listing, wish, 0, listing->newest, err);
    if (wish->target != NO_VERSION && out->version < wish->target) {
        if (listing->newest > wish->target)
            return fail_hole(place, listing, wish, out->version + 1, wish->target, err);
        return err_set(err, ERR_NOT_FOUND,
                       "DELTA-L04 table %.*s: version %lld does not exist yet; the newest is %lld",
                       STR_ARG(place->path), (long long)wish->target, (long long)out->version);
    }
    if (listing->best.version != NO_VERSION) fill_checkpoint(out, &listing->best, arena);
    return true;
}

bool segment_find(const LogPlace *place, int64_t target, int64_t checkpoint_below, Arena *arena,
                  LogSegment *out, Err *err)
{
    LastCheckpoint hint = {.version = 0};
    Listing        listing;
    Wish           wish     = {.target = target, .checkpoint_below = checkpoint_below};
    bool           has_hint = last_checkpoint_read(place, arena, &hint, err);

    if (!has_hint && err->code != ERR_NONE) return false;
    if (has_hint && hint.version < checkpoint_below &&
        (target == NO_VERSION || hint.version <= target))
        wish.from = hint.version;
    if (!list_log(place, &wish, arena, &listing, err)) return false;
    if (wish.from > 0 && listing.best.version == NO_VERSION) {
        wish.from = 0;
        if (!list_log(place, &wish, arena, &listing, err)) return false;
    }
    if (!finish_segment(place, &listing, &wish, arena, out, err)) return false;
    if (has_hint && hint.version == out->checkpoint_version) out->hinted_adds = hint.add_count;
    return true;
}
