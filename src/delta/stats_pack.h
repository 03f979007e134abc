/* stats_pack.h - statistics held in memory, a third of their text (delta.md 1.5: not a byte of
 * them may change).
 *
 * The files of a table have statistics of the same form: the same keys in the same order, other
 * values. The form is held once, each file has its values: those of digits and signs (numbers,
 * dates, times) as four bits a character, others as they stand. Any text comes back as it was. */
#ifndef TIDELAKE_DELTA_STATS_PACK_H
#define TIDELAKE_DELTA_STATS_PACK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* The texts between the values of statistics. */
typedef struct StatsForm StatsForm;

/* The forms seen so far; owns them. */
typedef struct StatsForms StatsForms;

StatsForms *stats_forms_new(void);
void        stats_forms_close(StatsForms *forms); /* accepts NULL */

/* What one thread packs with: several may fill the same set. */
typedef struct StatsPacker {
    StatsForms      *forms;
    const StatsForm *last;   /* what the next text most likely has */
    Buf              values; /* of the text that was packed last */
} StatsPacker;

StatsPacker stats_packer(StatsForms *forms, Arena *arena);
/* The form of `text`; its values are in the packer. NULL, and no values, for an empty text. */
const StatsForm *stats_pack(StatsPacker *packer, Str text);
/* The text again. An empty Str for form NULL. */
Str stats_unpack(const StatsForm *form, const char *values, Arena *arena);

#endif
