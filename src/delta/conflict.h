/* conflict.h - may a commit go behind those that came first? (delta.md 2.11)
 *
 * One table says what each kind of commit makes of each thing that a winner may have done. Nothing
 * is merged: a commit goes behind its winners as it is, or whoever made it computes it again. */
#ifndef TIDELAKE_DELTA_CONFLICT_H
#define TIDELAKE_DELTA_CONFLICT_H

#include "delta/delta_internal.h"

/* What our commit is; it may be several of them at once. */
typedef enum OurPart {
    OURS_APPEND,      /* adds rows, having read nothing */
    OURS_CHANGE,      /* computed from every row of the table */
    OURS_FILES,       /* removes files, or rows of them, whatever else is in the table */
    OURS_REARRANGED,  /* the same rows in other files */
    OURS_METADATA,    /* columns, properties, and the protocol they need */
    OURS_FROM_HEADER, /* computed from columns and properties */
    OURS_DOMAIN,      /* sets domains */
    OURS_ENTRY,       /* says something in the log, no more */
} OurPart;
#define OUR_PART_COUNT (OURS_ENTRY + 1)

/* What winners did. */
typedef enum TheirPart {
    THEIRS_ROWS_ADDED,
    THEIRS_ROWS_REMOVED, /* from files that we do not touch */
    THEIRS_REARRANGED,   /* such files, without a change of rows */
    THEIRS_FILE_OF_OURS, /* it is gone, or lost other rows: vectors are never merged */
    THEIRS_METADATA,
    THEIRS_PROTOCOL,
    THEIRS_PROTOCOL_LOWERED, /* a feature dropped */
    THEIRS_DOMAIN_OF_OURS,
} TheirPart;
#define THEIR_PART_COUNT (THEIRS_DOMAIN_OF_OURS + 1)

typedef enum Ruling {
    GO_ON,
    LOOK, /* go on if the newest header still allows it, and what we bring is still what it asks for:
             every attempt looks */
    AGAIN,
} Ruling;

Ruling conflict_ruling(OurPart ours, TheirPart theirs);
bool   commit_has_part(const DeltaCommit *commit, OurPart part);
/* `lost_file`: a path of ours that is gone, ptr NULL: none. ERR_CONFLICT names what was done. */
bool conflict_check(const LogPlace *place, int64_t version, const DeltaCommit *commit,
                    const LogChanges *changes, Str lost_file, Err *err) MUST_CHECK;
/* Always false. */
bool conflict_fail(const LogPlace *place, int64_t version, const char *what, Str name, Err *err);

#endif
