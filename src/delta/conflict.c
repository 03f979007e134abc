/* The rules of delta.md 2.11. */
#include "delta/conflict.h"

/* clang-format off */
static const Ruling rules[OUR_PART_COUNT][THEIR_PART_COUNT] = {
    /*                     rows added  removed  rearranged  our file  metadata  protocol  lowered  our domain */
    [OURS_APPEND]      = { GO_ON,      GO_ON,   GO_ON,      GO_ON,    LOOK,     LOOK,     AGAIN,   GO_ON },
    [OURS_CHANGE]      = { AGAIN,      AGAIN,   GO_ON,      AGAIN,    AGAIN,    AGAIN,    AGAIN,   GO_ON },
    [OURS_FILES]       = { GO_ON,      GO_ON,   GO_ON,      AGAIN,    AGAIN,    AGAIN,    AGAIN,   GO_ON },
    [OURS_REARRANGED]  = { GO_ON,      GO_ON,   GO_ON,      AGAIN,    AGAIN,    AGAIN,    AGAIN,   GO_ON },
    [OURS_METADATA]    = { GO_ON,      GO_ON,   GO_ON,      GO_ON,    LOOK,     LOOK,     AGAIN,   GO_ON },
    [OURS_FROM_HEADER] = { GO_ON,      GO_ON,   GO_ON,      GO_ON,    AGAIN,    AGAIN,    AGAIN,   GO_ON },
    [OURS_DOMAIN]      = { GO_ON,      GO_ON,   GO_ON,      GO_ON,    LOOK,     LOOK,     AGAIN,   AGAIN },
    [OURS_ENTRY]       = { GO_ON,      GO_ON,   GO_ON,      GO_ON,    GO_ON,    LOOK,     AGAIN,   GO_ON },
};
/* clang-format on */

Ruling conflict_ruling(OurPart ours, TheirPart theirs)
{
    return rules[ours][theirs];
}

static bool has_header_change(const DeltaCommit *commit)
{
    return commit->schema || commit->comments || commit->description.ptr ||
           commit->set_property_count > 0;
}

bool commit_has_part(const DeltaCommit *commit, OurPart part)
{
    bool has_removes = commit->remove_count + commit->deletion_count > 0;

    switch (part) {
    case OURS_APPEND: return commit->add_count > 0 && !has_removes && !commit->read_whole_table;
    case OURS_CHANGE: return commit->read_whole_table && !commit->rearranges;
    case OURS_FILES: return has_removes && !commit->rearranges;
    case OURS_REARRANGED: return commit->rearranges;
    case OURS_METADATA: return has_header_change(commit);
    case OURS_FROM_HEADER: return commit->read_header;
    case OURS_DOMAIN: return commit->domain_count > 0;
    case OURS_ENTRY: return commit->is_log_entry;
    }
    return false;
}

static bool sets_domain(const DeltaCommit *commit, Str name)
{
    for (size_t i = 0; i < commit->domain_count; i++)
        if (str_equal(commit->domains[i].name, name)) return true;
    return false;
}

/* Whether the winners did it; `*name` of what, if it has one. */
static bool have_done(const DeltaCommit *commit, const LogChanges *changes, Str lost_file,
                      TheirPart part, Str *name)
{
    *name = STR_EMPTY;
    switch (part) {
    case THEIRS_ROWS_ADDED: return changes->has_data_adds;
    case THEIRS_ROWS_REMOVED: return changes->has_data_removes;
    case THEIRS_REARRANGED: return changes->has_rearranged;
    case THEIRS_FILE_OF_OURS: *name = lost_file; return lost_file.ptr != NULL;
    case THEIRS_METADATA: return changes->has_metadata;
    case THEIRS_PROTOCOL: return changes->has_protocol;
    case THEIRS_PROTOCOL_LOWERED: return changes->has_lowered_protocol;
    case THEIRS_DOMAIN_OF_OURS:
        for (size_t i = 0; i < changes->domains.count; i++) {
            *name = changes->domains.items[i];
            if (sets_domain(commit, *name)) return true;
        }
        return changes->may_have_any_domain && commit->domain_count > 0;
    }
    return false;
}

static const char *describe(TheirPart part)
{
    switch (part) {
    case THEIRS_ROWS_ADDED:
    case THEIRS_ROWS_REMOVED: return "and changed rows";
    case THEIRS_REARRANGED: return "and moved rows into other files";
    case THEIRS_FILE_OF_OURS: return "and removed or changed file";
    case THEIRS_METADATA: return "and changed the table's metadata";
    case THEIRS_PROTOCOL: return "and changed the table's protocol";
    case THEIRS_PROTOCOL_LOWERED: return "and dropped a feature from the table's protocol";
    case THEIRS_DOMAIN_OF_OURS: return "and set domain";
    }
    return "";
}

bool conflict_fail(const LogPlace *place, int64_t version, const char *what, Str name, Err *err)
{
    return err_set(
        err, ERR_CONFLICT,
        "table %.*s: another writer came first, %s%s%.*s (version %lld); compute it again",
        STR_ARG(place->path), what, name.len ? " " : "", STR_ARG(name), (long long)version);
}

bool conflict_check(const LogPlace *place, int64_t version, const DeltaCommit *commit,
                    const LogChanges *changes, Str lost_file, Err *err)
{
    for (int theirs = 0; theirs < THEIR_PART_COUNT; theirs++) {
        Str name;
        if (!have_done(commit, changes, lost_file, (TheirPart)theirs, &name)) continue;
        for (int ours = 0; ours < OUR_PART_COUNT; ours++)
            if (commit_has_part(commit, (OurPart)ours) &&
                conflict_ruling((OurPart)ours, (TheirPart)theirs) == AGAIN)
                return conflict_fail(place, version, describe((TheirPart)theirs), name, err);
    }
    return true;
}
