/* VACUUM (delta.md 2.17): what no version within the retention names, and nobody can be about to
 * name, goes.
 *
 * The order matters. Candidates are listed first and the newest version is read after that, so a
 * file whose commit came in between is seen to be live. A file that a writer has published and not
 * committed yet is younger than the retention; with a short retention nobody may be writing. */
#include "delta/deletion_vector.h"
#include "delta/maintain.h"

#include <stdlib.h>
#include <string.h>

#define DAY_US               (INT64_C(86400) * 1000000)
#define RETENTION_US_DEFAULT (7 * DAY_US)
#define LEAST_US             (7 * DAY_US) /* below it an override is needed */
#define DEPTH_MOST           64

typedef struct Candidate {
    Str     path; /* below the table */
    int64_t size_bytes, modified_utc_us;
} Candidate;

typedef struct Vacuum {
    DeltaTable        *table;
    const DeltaVacuum *options;
    Arena             *arena; /* of the call */
    Store             *store;
    int64_t            retention_us, cutoff_us;
    bool               skips_iceberg; /* metadata/ is another format's */
    LIST(Candidate) files;
    LIST(Str) folders; /* old ones, a folder before those in it */
    Map *paths;        /* protected, decoded, below the table */
    Map *names;        /* last parts of absolute paths, protected wherever they are */
    LIST(DeltaGarbage) garbage;
    DeltaVacuumed *out;
} Vacuum;

/* --- may it run, and how far back --- */

static Str format_days(Arena *arena, int64_t us)
{
    if (us % DAY_US == 0) return str_printf(arena, "%lld days", (long long)(us / DAY_US));
    return str_printf(arena, "%.2f hours", (double)us / 3600e6);
}

static bool choose_retention(Vacuum *vacuum, Err *err)
{
    const DeltaVacuum *options = vacuum->options;
    DeltaTable        *table   = vacuum->table;
    int64_t            own     = header_property_interval_us(
                       table_header(table), "delta.deletedFileRetentionDuration", RETENTION_US_DEFAULT);
    int64_t least = MAX(own, LEAST_US);

    vacuum->retention_us = options->retention_us < 0 ? own : options->retention_us;
    vacuum->cutoff_us    = clock_utc_us(table->context->clock) - vacuum->retention_us;
    if (options->dry_run || options->allow_short || options->retention_us < 0 ||
        vacuum->retention_us >= least)
        return true;
    return err_set(
        err, ERR_STATE,
        "table %.*s: a retention of %.*s is below %.*s, so readers of older versions and "
        "writers under way could lose files; nothing was removed; pass "
        "--allow-short-retention when there are none",
        STR_ARG(table->place.path), STR_ARG(format_days(vacuum->arena, vacuum->retention_us)),
        STR_ARG(format_days(vacuum->arena, least)));
}

/* Whoever writes holds a staging folder until its commit is made. */
static bool refuse_writers(Vacuum *vacuum, Err *err)
{
    StoreDeadRuns dead;
    int64_t       held = 0;

    if (vacuum->options->dry_run || vacuum->retention_us >= LEAST_US) return true;
    if (!store_staging_sweep(vacuum->store, vacuum->table->place.path, true, vacuum->arena, &dead,
                             &held, err))
        return false;
    if (held == 0) return true;
    return err_set(
        err, ERR_STATE,
        "table %.*s: a run is writing to it, and a retention of %.*s would not spare the "
        "files it has not committed yet; nothing was removed; stop it, or use a "
        "retention of 7 days or more",
        STR_ARG(vacuum->table->place.path),
        STR_ARG(format_days(vacuum->arena, vacuum->retention_us)));
}

/* --- candidates --- */

/* Names that no engine's VACUUM looks at, but for two folders of data. */
static bool is_hidden(Str name)
{
    if (str_equal(name, STR("_change_data")) || str_equal(name, STR("_delta_index"))) return false;
    return name.ptr[0] == '_' || name.ptr[0] == '.';
}

static bool is_a_table(const StoreChildren *children)
{
    for (size_t i = 0; i < children->count; i++)
        if (children->items[i].is_directory &&
            str_equal(children->items[i].name, STR("_delta_log")))
            return true;
    return false;
}

static bool list_folder(Vacuum *vacuum, Str folder, int depth, Err *err);

static bool list_child(Vacuum *vacuum, Str folder, const StoreChild *child, int depth, Err *err)
{
    Str path = store_join(vacuum->arena, folder, child->name);

    if (is_hidden(child->name)) return true;
    if (!child->is_directory) {
        if (child->modified_utc_us < vacuum->cutoff_us)
            *LIST_PUSH(vacuum->arena,
                       &vacuum->files) = (Candidate){.path            = path,
                                                     .size_bytes      = child->size_bytes,
                                                     .modified_utc_us = child->modified_utc_us};
        return true;
    }
    if (vacuum->skips_iceberg && depth == 0 && str_equal(child->name, STR("metadata"))) return true;
    if (child->modified_utc_us < vacuum->cutoff_us)
        *LIST_PUSH(vacuum->arena, &vacuum->folders) = path;
    return list_folder(vacuum, path, depth + 1, err);
}

static bool list_folder(Vacuum *vacuum, Str folder, int depth, Err *err)
{
    Str           path = store_join(vacuum->arena, vacuum->table->place.path, folder);
    StoreChildren children;

    if (!log_check_cancel(vacuum->table->context, err)) return false;
    if (depth > DEPTH_MOST)
        return err_set(err, ERR_LIMIT, "%.*s: folders lie more than %d deep", STR_ARG(path),
                       DEPTH_MOST);
    if (!store_list_children(vacuum->store, path, vacuum->arena, &children, err)) return false;
    if (depth > 0 && is_a_table(&children)) {
        log_warn(vacuum->table->context->log, "delta",
                 "a folder of the table is a table itself; nothing in it is removed",
                 LOG_STR("table", vacuum->table->place.path), LOG_STR("folder", path));
        return true;
    }
    for (size_t i = 0; i < children.count; i++)
        if (!list_child(vacuum, folder, &children.items[i], depth, err)) return false;
    return true;
}

/* --- what is protected --- */

/* Without doubled slashes and "."; false when it leads somewhere else. */
static bool normalize(Str path, Arena *arena, Str *out)
{
    Buf buf  = buf_new(arena, 0);
    Str rest = path, part;

    if (str_starts_with(path, STR("/")) || str_find(path, STR(":/"), 0) > 0) return false;
    while (str_split_next(&rest, '/', &part)) {
        if (part.len == 0 || str_equal(part, STR("."))) continue;
        if (str_equal(part, STR(".."))) return false;
        if (buf.len > 0) buf_append_char(&buf, '/');
        buf_append(&buf, part);
    }
    *out = buf_str(&buf);
    return true;
}

/* A path that begins at a root, or elsewhere, may name the same file in another way: then the
 * file's own name is kept, wherever it is. */
static void protect_path(Vacuum *vacuum, Str path)
{
    Str normal;

    if (normalize(path, vacuum->arena, &normal)) {
        (void)map_put(vacuum->paths, normal, vacuum);
        return;
    }
    ptrdiff_t slash = str_find_last_char(path, '/');
    (void)map_put(vacuum->names,
                  str_copy(vacuum->arena, str_slice(path, (size_t)(slash + 1), path.len)), vacuum);
}

/* As the log has it decoded once, and as it stands, should its writer have left it unencoded. */
static void protect_file(Vacuum *vacuum, Str path)
{
    Str decoded = delta_path_decode(vacuum->arena, path);

    protect_path(vacuum, decoded);
    if (!str_equal(decoded, path)) protect_path(vacuum, path);
}

static bool protect_vector(Vacuum *vacuum, Str file, JsonText vector, Err *err)
{
    Str storage = json_text_str(json_text_find(vector, "storageType"), vacuum->arena);
    Str text    = json_text_str(json_text_find(vector, "pathOrInlineDv"), vacuum->arena);
    Str path;

    if (vector.kind != JSON_TEXT_OBJECT || str_equal_c(storage, "i")) return true;
    if (str_equal_c(storage, "u") && vector_path_of_uuid(text, vacuum->arena, &path)) {
        protect_path(vacuum, path);
        return true;
    }
    if (str_equal_c(storage, "p")) {
        protect_file(vacuum, text);
        return true;
    }
    return err_set(err, ERR_UNSUPPORTED,
                   "DELTA-D03 table %.*s: the deletion vector of file %.*s is stored in a way "
                   "tidelake does not know (\"%.*s\"); nothing was removed",
                   STR_ARG(vacuum->table->place.path), STR_ARG(file), STR_ARG(storage));
}

/* `members` are those of an action without braces. */
static bool protect_action(Vacuum *vacuum, Str path, Str members, Err *err)
{
    protect_file(vacuum, path);
    if (str_find(members, STR("\"deletionVector\""), 0) < 0) return true;
    JsonText object = {.kind = JSON_TEXT_OBJECT,
                       .text = str_printf(vacuum->arena, "{%.*s}", STR_ARG(members))};
    return protect_vector(vacuum, path, json_text_find(object, "deletionVector"), err);
}

static bool protect_state(Vacuum *vacuum, Err *err)
{
    const LogState *state     = vacuum->table->state;
    int64_t         cutoff_ms = vacuum->cutoff_us / 1000;
    const LiveFile *live;
    Str             key;
    void           *value;

    for (size_t at = 0; (live = file_set_next(state->files, &at));)
        if (!protect_action(vacuum, live->file.path, live->file.extra_members, err)) return false;
    for (size_t at = 0; map_next(state->tombstones, &at, &key, &value);) {
        const Tombstone *stone = value;
        if (stone->deletion_ms < cutoff_ms) continue;
        if (!protect_action(vacuum, stone->path, stone->members, err)) return false;
    }
    return true;
}

/* Tombstones older than the table's own retention may have left the state: a longer one that was
 * asked for finds them in the commits. */
static bool protect_commit(Vacuum *vacuum, Str name, Err *err)
{
    const LogPlace *place = &vacuum->table->place;
    Str             path  = store_join(vacuum->arena, place->log_path, name);
    Bytes           bytes;
    bool            found;
    Action          action;

    if (!store_read(vacuum->store, path, LIMIT_LOG_FILE_BYTES, vacuum->arena, &bytes, err)) {
        if (err->code != ERR_NOT_FOUND) return false;
        err_clear(err); /* cleaned up meanwhile */
        return true;
    }
    ActionReader reader = action_reader(bytes_str(bytes), path, vacuum->arena);
    for (;;) {
        if (!action_next(&reader, &found, &action, err)) return false;
        if (!found) return true;
        if (action.kind == ACTION_REMOVE &&
            !protect_action(vacuum, action.remove.path, action.remove.members, err))
            return false;
    }
}

static bool protect_recent_commits(Vacuum *vacuum, Err *err)
{
    const LogPlace *place = &vacuum->table->place;
    int64_t         own   = header_property_interval_us(
                  table_header(vacuum->table), "delta.deletedFileRetentionDuration", RETENTION_US_DEFAULT);
    StoreList list;

    if (vacuum->retention_us <= own) return true;
    if (!store_list_after(vacuum->store, place->log_path, STR_EMPTY, vacuum->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (log_name_parse(list.entries[i].name).kind != LOG_FILE_COMMIT ||
            list.entries[i].modified_utc_us < vacuum->cutoff_us)
            continue;
        if (!protect_commit(vacuum, list.entries[i].name, err)) return false;
    }
    return true;
}

static bool is_protected(const Vacuum *vacuum, Str path)
{
    ptrdiff_t slash = str_find_last_char(path, '/');
    return map_find(vacuum->paths, path) ||
           map_find(vacuum->names, str_slice(path, (size_t)(slash + 1), path.len));
}

/* --- removing --- */

static void show(const Vacuum *vacuum, const char *what, int64_t done, int64_t total)
{
    const DeltaProgress *progress = &vacuum->options->progress;
    if (progress->show) progress->show(progress->arg, what, "files", done, total);
}

static bool remove_file(Vacuum *vacuum, const DeltaGarbage *garbage, Err *err)
{
    Str path = store_join(vacuum->arena, vacuum->table->place.path, garbage->path);
    return log_check_cancel(vacuum->table->context, err) && store_remove(vacuum->store, path, err);
}

static void note(Vacuum *vacuum, const DeltaGarbage *garbage)
{
    *LIST_PUSH(vacuum->arena, &vacuum->garbage) = *garbage;
    vacuum->out->file_count += garbage->file_count;
    vacuum->out->size_bytes += garbage->size_bytes;
}

static bool remove_files(Vacuum *vacuum, Err *err)
{
    for (size_t i = 0; i < vacuum->files.count; i++) {
        const Candidate *file = &vacuum->files.items[i];
        if (is_protected(vacuum, file->path)) continue;
        DeltaGarbage garbage = {.path        = file->path,
                                .file_count  = 1,
                                .size_bytes  = file->size_bytes,
                                .modified_ms = file->modified_utc_us / 1000};
        show(vacuum, "vacuum", (int64_t)i, (int64_t)vacuum->files.count);
        if (!vacuum->options->dry_run && !remove_file(vacuum, &garbage, err)) return false;
        note(vacuum, &garbage);
    }
    return true;
}

static bool remove_dead_runs(Vacuum *vacuum, Err *err)
{
    StoreDeadRuns dead;

    if (!store_staging_sweep(vacuum->store, vacuum->table->place.path, vacuum->options->dry_run,
                             vacuum->arena, &dead, NULL, err))
        return false;
    for (size_t i = 0; i < dead.count; i++)
        note(vacuum, &(DeltaGarbage){.path = str_printf(vacuum->arena, "_tidelake_staging/%.*s",
                                                        STR_ARG(dead.items[i].name)),
                                     .file_count  = dead.items[i].file_count,
                                     .size_bytes  = dead.items[i].size_bytes,
                                     .modified_ms = -1});
    return true;
}

/* The innermost first. */
static bool remove_folders(Vacuum *vacuum, Err *err)
{
    for (size_t i = vacuum->folders.count; !vacuum->options->dry_run && i-- > 0;) {
        Str  path = store_join(vacuum->arena, vacuum->table->place.path, vacuum->folders.items[i]);
        bool removed;
        if (!store_remove_directory(vacuum->store, path, &removed, err)) return false;
        vacuum->out->directory_count += removed;
    }
    return true;
}

/* --- the whole --- */

static bool has_iceberg_metadata(const Header *header)
{
    const Str prefixes[] = {STR("delta.universalFormat."), STR("delta.enableIceberg")};

    for (size_t i = 0; i < header->metadata.property_count; i++)
        for (size_t p = 0; p < COUNT_OF(prefixes); p++)
            if (str_equal_ignoring_case(
                    str_slice(header->metadata.properties[i].key, 0, prefixes[p].len), prefixes[p]))
                return true;
    return false;
}

static bool run(Vacuum *vacuum, Err *err)
{
    DeltaTable *table = vacuum->table;

    if (!delta_table_check_writable(table, DELTA_APPENDS, err)) return false;
    if (!choose_retention(vacuum, err)) return false;
    vacuum->skips_iceberg = has_iceberg_metadata(table_header(table));
    show(vacuum, "vacuum: listing files", 0, 0);
    if (!list_folder(vacuum, STR_EMPTY, 0, err) || !refuse_writers(vacuum, err)) return false;
    if (!delta_table_refresh(table, err)) return false;
    if (!delta_table_check_writable(table, DELTA_APPENDS, err)) return false;
    if (!protect_state(vacuum, err) || !protect_recent_commits(vacuum, err)) return false;
    return remove_files(vacuum, err) && remove_dead_runs(vacuum, err) &&
           remove_folders(vacuum, err);
}

bool delta_table_vacuum(DeltaTable *table, const DeltaVacuum *options, Arena *arena,
                        DeltaVacuumed *out, Err *err)
{
    Vacuum vacuum = {.table   = table,
                     .options = options,
                     .arena   = arena,
                     .store   = table->context->store,
                     .paths   = map_new(),
                     .names   = map_new(),
                     .out     = out};

    *out           = (DeltaVacuumed){0};
    bool ok        = run(&vacuum, err);
    out->items     = vacuum.garbage.items;
    out->count     = vacuum.garbage.count;
    out->cutoff_us = vacuum.cutoff_us;
    map_close(vacuum.paths);
    map_close(vacuum.names);
    return ok || err_context(err, "vacuum of table %.*s", STR_ARG(table->place.path));
}
