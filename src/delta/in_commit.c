/* In-commit timestamps (delta.md 2.6): they grow with every commit, whatever the clocks of those
 * who commit say. */
#include "delta/delta_internal.h"

/* What the commit wants, if it says anything. */
static bool wants(const DeltaCommit *commit, bool *out)
{
    for (size_t i = 0; i < commit->set_property_count; i++) {
        const DeltaProperty *property = &commit->set_properties[i];
        if (!str_equal_ignoring_case(property->key, STR(IN_COMMIT_ENABLED))) continue;
        *out = str_equal_ignoring_case(property->value, STR("true"));
        return true;
    }
    return false;
}

/* The commit before ours by the time of its file, as readers still take it. It may be gone: then
 * nobody asks for its time. */
static bool file_time_ms(const DeltaTable *table, int64_t *out, Err *err)
{
    Arena     *arena = arena_new();
    Str        name  = log_name_commit(arena, table->state->version);
    StoreEntry entry = {0};

    bool ok = store_stat(table->context->store, store_join(arena, table->place.log_path, name),
                         &entry, err);
    *out    = ok ? entry.modified_utc_us / 1000 : 0;
    if (!ok && err->code == ERR_NOT_FOUND) {
        err_clear(err);
        ok = true;
    }
    arena_close(arena);
    return ok;
}

/* The one before ours is in memory, or in its file when the state came from a checkpoint. */
bool in_commit_plan(DeltaTable *table, const DeltaCommit *commit, int64_t now_ms, InCommit *out,
                    Err *err)
{
    bool    was_active = header_property_is_true(table_header(table), IN_COMMIT_ENABLED);
    bool    is_active  = was_active;
    int64_t before     = table->state->in_commit_ms;

    *out = (InCommit){.ms = -1};
    (void)wants(commit, &is_active);
    if (!is_active) return true;
    if (!was_active) {
        if (!file_time_ms(table, &before, err)) return false;
        out->is_first = true;
    } else if (before < 0 &&
               !log_read_in_commit_ms(&table->place, table->state->version, &before, err)) {
        return false;
    }
    out->ms = MAX(now_ms, before + 1);
    return true;
}
