/* Who committed what, and when (delta.md 1.14, 2.18). */
#include "delta/delta_internal.h"
#include "delta/maintain.h"

#define NO_TIME ((int64_t)-1)

typedef struct CommitList {
    CommitFile *items; /* ascending */
    size_t      count;
} CommitList;

static LogPlace place_of(DeltaContext *context, Str path, Arena *arena)
{
    return (LogPlace){
        .context = context, .path = path, .log_path = store_join(arena, path, STR("_delta_log"))};
}

static bool list_commits(const LogPlace *place, int64_t from, int64_t to, Arena *arena,
                         CommitList *out, Err *err)
{
    StoreList list;
    Str       after = from > 0 ? log_name_version(arena, from) : STR_EMPTY;

    if (!store_list_after(place->context->store, place->log_path, after, arena, &list, err))
        return false;
    *out = (CommitList){.items = ARENA_ARRAY(arena, CommitFile, list.count + 1)};
    for (size_t i = 0; i < list.count; i++) {
        LogName name = log_name_parse(list.entries[i].name);
        if (name.kind != LOG_FILE_COMMIT || name.version < from ||
            (to != NO_VERSION && name.version > to))
            continue;
        out->items[out->count++] = (CommitFile){
            .version = name.version, .modified_ms = list.entries[i].modified_utc_us / 1000};
    }
    return true;
}

/* The commitInfo of a version, wherever it stands; *found_out false: it has none. Strings are in
 * `arena`. */
static bool read_info(const LogPlace *place, int64_t version, Arena *arena, bool *found_out,
                      CommitInfo *out, Err *err)
{
    Str    path = store_join(arena, place->log_path, log_name_commit(arena, version));
    Bytes  bytes;
    bool   found;
    Action action;

    *found_out = false;
    if (!store_read(place->context->store, path, LIMIT_LOG_FILE_BYTES, arena, &bytes, err))
        return false;
    ActionReader reader = action_reader(bytes_str(bytes), path, arena);
    for (;;) {
        if (!action_next(&reader, &found, &action, err)) return false;
        if (!found) return true;
        if (action.kind != ACTION_COMMIT_INFO) continue;
        *out       = action.commit_info;
        *found_out = true;
        return true;
    }
}

static Str keep(Arena *arena, Str text)
{
    return text.ptr ? str_copy(arena, text) : STR_EMPTY;
}

static DeltaHistoryEntry make_entry(int64_t version, bool has_info, const CommitInfo *info,
                                    Arena *arena)
{
    DeltaHistoryEntry entry = {.version         = version,
                               .timestamp_ms    = NO_TIME,
                               .operation       = STR_EMPTY,
                               .user_metadata   = STR_EMPTY,
                               .engine_info     = STR_EMPTY,
                               .parameters_json = STR("{}"),
                               .metrics_json    = STR("{}")};
    if (!has_info) return entry;
    entry.timestamp_ms    = info->in_commit_ms >= 0 ? info->in_commit_ms : info->timestamp_ms;
    entry.operation       = keep(arena, info->operation);
    entry.user_metadata   = keep(arena, info->user_metadata);
    entry.engine_info     = keep(arena, info->engine_info);
    entry.parameters_json = keep(arena, info->parameters);
    entry.metrics_json    = keep(arena, info->metrics);
    entry.is_blind_append = info->is_blind_append;
    return entry;
}

bool delta_table_history(DeltaContext *context, Str path, int64_t from_version, int64_t to_version,
                         Arena *arena, DeltaHistoryEntry **out, size_t *count_out, Err *err)
{
    Arena     *listed  = arena_new();
    Arena     *scratch = arena_new();
    LogPlace   place   = place_of(context, path, listed);
    CommitList commits = {0};

    bool ok = list_commits(&place, MAX(from_version, 0), to_version, listed, &commits, err);
    if (ok && commits.count == 0) {
        LogSegment segment;
        ok = segment_find(&place, NO_VERSION, INT64_MAX, scratch, &segment,
                          err); /* is there a table at all? */
    }
    *out       = ARENA_ARRAY(arena, DeltaHistoryEntry, commits.count + 1);
    *count_out = 0;
    for (size_t i = commits.count; ok && i-- > 0;) {
        CommitInfo info     = {0};
        bool       has_info = false;
        arena_reset(scratch);
        ok = log_check_cancel(context, err) &&
             read_info(&place, commits.items[i].version, scratch, &has_info, &info, err);
        if (!ok &&
            err->code ==
                ERR_NOT_FOUND) { /* cleaned up while we were reading: the older ones are gone too */
            err_clear(err);
            ok = true;
            break;
        }
        if (ok)
            (*out)[(*count_out)++] = make_entry(commits.items[i].version, has_info, &info, arena);
    }
    arena_close(scratch);
    arena_close(listed);
    return ok || err_context(err, "history of table %.*s", STR_ARG(path));
}

bool delta_table_find_user_metadata(DeltaContext *context, Str path, int64_t after_version,
                                    Str user_metadata, int64_t *version_out, Err *err)
{
    Arena     *listed  = arena_new();
    Arena     *scratch = arena_new();
    LogPlace   place   = place_of(context, path, listed);
    CommitList commits = {0};

    *version_out = NO_VERSION;
    bool ok = list_commits(&place, MAX(after_version + 1, 0), NO_VERSION, listed, &commits, err);
    for (size_t i = commits.count; ok && i-- > 0 && *version_out == NO_VERSION;) {
        CommitInfo info  = {0};
        bool       found = false;
        arena_reset(scratch);
        ok = log_check_cancel(context, err) &&
             read_info(&place, commits.items[i].version, scratch, &found, &info, err);
        if (ok && found && info.user_metadata.ptr && str_equal(info.user_metadata, user_metadata))
            *version_out = commits.items[i].version;
    }
    arena_close(scratch);
    arena_close(listed);
    return ok || err_context(err, "history of table %.*s", STR_ARG(path));
}

bool log_read_in_commit_ms(const LogPlace *place, int64_t version, int64_t *out, Err *err)
{
    Arena     *scratch = arena_new();
    CommitInfo info    = {.in_commit_ms = -1};
    bool       found   = false;

    bool ok = read_info(place, version, scratch, &found, &info, err);
    if (ok && (!found || info.in_commit_ms < 0))
        ok = err_set(err, ERR_DAMAGED, "table %.*s: commit %lld has no inCommitTimestamp",
                     STR_ARG(place->path), (long long)version);
    *out = info.in_commit_ms;
    arena_close(scratch);
    return ok;
}

bool delta_find_newest_version(DeltaContext *context, Str path, int64_t known, int64_t *out,
                               Err *err)
{
    Arena     *scratch = arena_new();
    LogPlace   place   = place_of(context, path, scratch);
    StoreEntry entry;

    *out = known;
    while (store_stat(context->store,
                      store_join(scratch, place.log_path, log_name_commit(scratch, *out + 1)),
                      &entry, err))
        (*out)++;
    arena_close(scratch);
    if (err->code != ERR_NOT_FOUND) return false;
    err_clear(err);
    return true;
}

/* --- commit times (1.14) --- */

/* File times made monotonic: t(v+1) <= t(v) becomes t(v) + 1 ms. */
static void make_monotonic(CommitList *commits)
{
    for (size_t i = 1; i < commits->count; i++)
        commits->items[i].modified_ms = MAX(commits->items[i].modified_ms,
                                            commits->items[i - 1].modified_ms + 1);
}

/* From which version on commits carry their own time; INT64_MAX: none do. */
static int64_t in_commit_from(const DeltaTable *newest)
{
    const Header *header = table_header(newest);
    if (!header_property_is_true(header, "delta.enableInCommitTimestamps")) return INT64_MAX;
    return header_property_i64(header, "delta.inCommitTimestampEnablementVersion", 0);
}

/* How the times of a table's commits are told. */
typedef struct TimeRule {
    const LogPlace *place;
    int64_t         own_from;     /* commits from this version on carry theirs */
    bool            own_when_any; /* nobody knows from where on: those that have one */
} TimeRule;

static bool read_time(const TimeRule *rule, const CommitFile *commit, int64_t *ms_out, Err *err)
{
    *ms_out = commit->modified_ms;
    if (commit->version < rule->own_from) return true;
    if (!rule->own_when_any)
        return log_read_in_commit_ms(rule->place, commit->version, ms_out, err);

    Arena     *scratch = arena_new();
    CommitInfo info    = {.in_commit_ms = -1};
    bool       found   = false;
    bool       ok      = read_info(rule->place, commit->version, scratch, &found, &info, err);
    if (ok && found && info.in_commit_ms >= 0) *ms_out = info.in_commit_ms;
    arena_close(scratch);
    return ok;
}

/* Times grow from commit to commit, so few of them need to be read. */
static bool find_as_of(const TimeRule *rule, int64_t newest, int64_t at_ms, CommitFile *out,
                       CommitFile *oldest_out, Err *err)
{
    Arena     *scratch = arena_new();
    CommitList commits = {0};
    size_t     lo = 0, hi = 0; /* commits before `lo` are not later, those from `hi` on are */

    *out = *oldest_out = (CommitFile){.version = NO_VERSION};
    bool ok            = list_commits(rule->place, 0, newest, scratch, &commits, err);
    make_monotonic(&commits);
    for (hi = commits.count; ok && lo < hi;) {
        size_t     middle = lo + (hi - lo) / 2;
        CommitFile commit = commits.items[middle];
        ok                = read_time(rule, &commit, &commit.modified_ms, err);
        if (ok && commit.modified_ms <= at_ms) {
            lo   = middle + 1;
            *out = commit;
        } else {
            hi = middle;
        }
    }
    if (ok && commits.count > 0) {
        *oldest_out = commits.items[0];
        ok          = read_time(rule, &commits.items[0], &oldest_out->modified_ms, err);
    }
    arena_close(scratch);
    return ok;
}

bool log_find_as_of(const DeltaTable *newest, int64_t at_ms, CommitFile *out,
                    CommitFile *oldest_out, Err *err)
{
    TimeRule rule = {.place = &newest->place, .own_from = in_commit_from(newest)};
    return find_as_of(&rule, newest->state->version, at_ms, out, oldest_out, err);
}

static bool fail_too_old(Str path, const CommitFile *oldest, Err *err)
{
    Arena *scratch = arena_new();
    Str    what    = oldest->version == NO_VERSION
                         ? STR("the log holds no commit")
                         : str_printf(scratch, "the oldest commit in the log is version %lld of %.*s",
                                      (long long)oldest->version,
                                      STR_ARG(time_format_ms(scratch, oldest->modified_ms * 1000)));

    (void)err_set(err, ERR_NOT_FOUND,
                  "DELTA-L03 table %.*s: no version that is left was committed at that time or "
                  "before; %.*s",
                  STR_ARG(path), STR_ARG(what));
    arena_close(scratch);
    return false;
}

/* The newest version tells how times are told. It may ask for more than this program reads, and the
 * version that is wanted may not. */
static bool find_in_table(DeltaContext *context, Str path, int64_t at_ms, CommitFile *out,
                          CommitFile *oldest_out, Err *err)
{
    DeltaTable *newest = NULL;

    if (delta_table_open(context, path, &newest, err)) {
        bool ok = log_find_as_of(newest, at_ms, out, oldest_out, err);
        delta_table_close(newest);
        return ok;
    }
    if (err->code != ERR_UNSUPPORTED) return false;
    err_clear(err);
    Arena   *scratch = arena_new();
    LogPlace place   = place_of(context, path, scratch);
    TimeRule rule    = {.place = &place, .own_when_any = true};
    bool     ok      = find_as_of(&rule, NO_VERSION, at_ms, out, oldest_out, err);
    arena_close(scratch);
    return ok;
}

bool delta_table_open_as_of(DeltaContext *context, Str path, int64_t utc_us, DeltaTable **out,
                            Err *err)
{
    CommitFile found, oldest;
    int64_t    at_ms = utc_us >= 0 ? utc_us / 1000 : -((-utc_us + 999) / 1000);

    if (!find_in_table(context, path, at_ms, &found, &oldest, err)) return false;
    if (found.version == NO_VERSION) return fail_too_old(path, &oldest, err);
    return delta_table_open_version(context, path, found.version, out, err);
}
