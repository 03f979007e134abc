/* function_internal.h - what the files of scalar functions share: the table's entry, typing,
 * arguments as text. */
#ifndef TIDESIM_FUNCTION_INTERNAL_H
#define TIDESIM_FUNCTION_INTERNAL_H

#include "base/buf.h"
#include "sim/function/function.h"
#include "sim/value/value_internal.h"

typedef struct Typing {
    const SimFunction     *function;
    const SimType         *args;
    const SimValue *const *constants; /* may be NULL */
    size_t                 count;
    SimError              *error;
} Typing;

typedef struct Call {
    const SimFunction *function;
    const SimType     *type;
    const SimValue    *args; /* none is NULL, unless the function takes NULLs */
    size_t             count;
    Arena             *arena;
    SimError          *error;
} Call;

struct SimFunction {
    const char *name;
    uint8_t     min_args, max_args;
    bool        takes_datepart, takes_nulls;
    int         tag; /* tells apart functions that share code */
    bool (*type)(const Typing *typing, SimType *out);
    bool (*call)(const Call *call, SimValue *out);
};

enum { ARGS_ANY = 250 };

/* --- the tables, by name --- */
const SimFunction *function_find_hash(Str name);
const SimFunction *function_find_text(Str name);
const SimFunction *function_find_search(Str name);
const SimFunction *function_find_math(Str name);
const SimFunction *function_find_date(Str name);
const SimFunction *function_find_among(const SimFunction *functions, size_t count, Str name);

/* --- typing --- */
bool type_int(const Typing *typing, SimType *out);
bool type_float(const Typing *typing, SimType *out);
bool type_sized(SimTypeKind kind, int64_t length, const SimType *from,
                SimType *out); /* with the collation of `from` */
/* varchar or nvarchar as wide as the first argument's text. */
bool type_of_text(const Typing *typing, SimType *out);
bool refuse_argument(const Typing *typing, size_t index); /* 8116 */
int64_t
     text_width(const SimType *type); /* characters a value of the type may have as text; -1: max */
bool constant_i64(const Typing *typing, size_t index, int64_t *out);

/* --- arguments --- */
/* Text in units: bytes of a code page, or UTF-16. A UTF-8 collation is worked on as UTF-16. */
typedef struct Text {
    Bytes               bytes;
    const SimCollation *collation;
    bool                wide;
} Text;
bool text_arg(const Call *call, size_t index, Text *out) MUST_CHECK;
/* As wide as another one, so that both can be compared. */
void     text_widen(const Call *call, Text *text);
size_t   text_len(const Text *text);
Text     text_slice(const Text *text, size_t from, size_t to);
uint32_t text_unit(const Text *text, size_t index);
/* For what a function makes. One that is full is too long for set_text. */
Buf  text_buf(const Call *call);
bool set_text(const Call *call, const Text *text, SimValue *out); /* as the call's type */
bool set_utf8(const Call *call, Str text, SimValue *out);
bool i64_arg(const Call *call, size_t index, int64_t *out) MUST_CHECK; /* bigint by conversion */
bool f64_arg(const Call *call, size_t index, double *out) MUST_CHECK;

#endif
