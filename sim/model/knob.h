/* knob.h - points on which SQL Server's behaviour is not settled, or differs between builds: each has a value, and tests
 * run under others. */
#ifndef TIDESIM_KNOB_H
#define TIDESIM_KNOB_H

#include "base/str.h"

typedef enum SimKnob {
    SIM_KNOB_MIN_LSN_BEFORE_CAPTURE, /* index of its value: 0 null, 1 zero */
    SIM_KNOB_COMMAND_ID_PER,         /* 0 row, 1 statement */
    SIM_KNOB_UNCHANGED_UPDATE,       /* 0 none, 1 rows */
    SIM_KNOB_COMMAND_ID_2016,        /* 0 shown, 1 hidden */
    SIM_KNOB_COMMIT_VISIBLE,         /* 0 before_capture, 1 after_capture */
    SIM_KNOB_SCAN_LSN_NUL,           /* 0 off, 1 on */
    SIM_KNOB_MAXTRANS,               /* the number itself */
    SIM_KNOB_SESSION_RECOVERY,       /* 0 off, 1 on */
    SIM_KNOB_COUNT
} SimKnob;

typedef struct SimKnobSpec {
    const char *name;
    const char *values; /* "a,b": the first is the default; "1..N": a number */
    int64_t     initial, most;
    const char *meaning;
} SimKnobSpec;

const SimKnobSpec *sim_knob_spec(SimKnob knob);
bool               sim_knob_find(Str name, SimKnob *out);
bool               sim_knob_parse(SimKnob knob, Str value, int64_t *out) MUST_CHECK;
/* As it is written: "row", "500". */
Str sim_knob_format(SimKnob knob, int64_t value, Arena *arena);

#endif
