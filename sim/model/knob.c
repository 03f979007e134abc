/* knob.c - the table of knobs. */
#include "sim/model/knob.h"

#include "sim/value/value.h"

/* clang-format off */
static const SimKnobSpec specs[SIM_KNOB_COUNT] = {
    [SIM_KNOB_MIN_LSN_BEFORE_CAPTURE] = {"min_lsn_before_capture", "null,zero", 0, 0, "what fn_cdc_get_min_lsn gives before capture has reached the instance"},
    [SIM_KNOB_COMMAND_ID_PER]         = {"command_id_per", "row,statement", 0, 0, "what a __$command_id numbers"},
    [SIM_KNOB_UNCHANGED_UPDATE]       = {"unchanged_update", "none,rows", 0, 0, "whether an UPDATE that leaves every captured value as it was is captured"},
    [SIM_KNOB_COMMAND_ID_2016]        = {"command_id_2016", "shown,hidden", 0, 0, "whether change tables made by a 2016 server have __$command_id"},
    [SIM_KNOB_COMMIT_VISIBLE]         = {"commit_visible", "before_capture,after_capture", 0, 0, "when statements that read versions begin to see a commit"},
    [SIM_KNOB_SCAN_LSN_NUL]           = {"scan_lsn_nul", "off,on", 0, 0, "a NUL behind the LSNs of dm_cdc_log_scan_sessions"},
    [SIM_KNOB_MAXTRANS]               = {"maxtrans", "1..1000000", 500, 1000000, "transactions of one cycle of the capture job"},
    [SIM_KNOB_SESSION_RECOVERY]       = {"session_recovery", "off,on", 0, 0, "whether a login's SESSIONRECOVERY is acknowledged"},
};
/* clang-format on */

const SimKnobSpec *sim_knob_spec(SimKnob knob)
{
    return &specs[knob];
}

bool sim_knob_find(Str name, SimKnob *out)
{
    for (int i = 0; i < SIM_KNOB_COUNT; i++)
        if (sim_name_equal(name, str_from_c(specs[i].name))) {
            *out = (SimKnob)i;
            return true;
        }
    return false;
}

bool sim_knob_parse(SimKnob knob, Str value, int64_t *out)
{
    Str rest = str_from_c(specs[knob].values), one;

    if (specs[knob].most > 0)
        return str_parse_i64(value, out) && *out >= 1 && *out <= specs[knob].most;
    for (*out = 0; str_split_next(&rest, ',', &one); (*out)++)
        if (sim_name_equal(one, value)) return true;
    return false;
}

Str sim_knob_format(SimKnob knob, int64_t value, Arena *arena)
{
    Str rest = str_from_c(specs[knob].values), one = STR_EMPTY;

    if (specs[knob].most > 0) return str_printf(arena, "%lld", (long long)value);
    for (int64_t i = 0; i <= value && str_split_next(&rest, ',', &one);)
        i++;
    return one;
}
