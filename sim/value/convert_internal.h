/* convert_internal.h - the parts of sim_convert, by what they make. Each gets a value that is not
 * NULL and a conversion that is allowed. */
#ifndef TIDESIM_CONVERT_INTERNAL_H
#define TIDESIM_CONVERT_INTERNAL_H

#include "sim/value/value_internal.h"

typedef struct Conversion {
    const SimValue *value;
    const SimType  *to;
    int             style;
    Arena          *arena;
    SimError       *error;
} Conversion;

bool convert_to_number(const Conversion *conversion, SimValue *out) MUST_CHECK;
bool convert_to_time(const Conversion *conversion, SimValue *out) MUST_CHECK;
bool convert_to_text(const Conversion *conversion, SimValue *out) MUST_CHECK;
bool convert_to_binary(const Conversion *conversion, SimValue *out) MUST_CHECK;
bool convert_to_xml(const Conversion *conversion,
                    SimValue         *out) MUST_CHECK; /* from text or binary */
bool convert_to_guid(const Conversion *conversion, SimValue *out) MUST_CHECK;

/* The UTF-8 of a character value. */
Str conversion_text(const Conversion *conversion);
/* The name of the value's type as messages have it ("numeric" for decimal). */
const char *type_message_name(SimTypeKind kind);
bool        overflow_error(const Conversion *conversion, const char *from); /* 8115 */

/* --- times --- */
typedef struct DateParts {
    int32_t year, month, day;
} DateParts;
DateParts date_from_days(int32_t days);                                    /* since 0001-01-01 */
bool date_to_days(int64_t year, int64_t month, int64_t day, int32_t *out); /* false: no such day */
int  days_in_month(int64_t year, int64_t month);
/* A date and ticks of 100 ns as a value of the type, rounded as it rounds; false when it is out of
 * the type's range. `offset` for datetimeoffset, whose days and ticks here are local. */
bool time_make(const SimType *to, int64_t days, int64_t ticks, int16_t offset_minutes,
               SimValue *out) MUST_CHECK;
/* Days and ticks as a clock on the wall shows them: datetimeoffset in its own offset; time on
 * 1900-01-01. */
void time_local(const SimValue *value, int64_t *days_out, int64_t *ticks_out);
/* CONVERT of a time to text; false for a style that does not exist. */
bool time_format(const SimValue *value, int style, Arena *arena, Str *out) MUST_CHECK;
bool time_parse_text(const Conversion *conversion, Str text, SimValue *out) MUST_CHECK;
extern const char *const month_names[12];

#endif
