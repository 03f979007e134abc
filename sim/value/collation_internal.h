/* collation_internal.h - what the files of collations share: weights, code pages, the collation
 * itself. */
#ifndef TIDESIM_COLLATION_INTERNAL_H
#define TIDESIM_COLLATION_INTERNAL_H

#include "sim/value/value.h"

typedef enum CollationOrder { ORDER_WINDOWS, ORDER_SQL, ORDER_BIN, ORDER_BIN2 } CollationOrder;

struct SimCollation {
    const char    *name;
    uint32_t       lcid;
    int32_t        code_page; /* 65001: UTF-8 */
    uint8_t        version;   /* 0: the first, 1: _90, 2: _100, 3: _140 */
    uint8_t        sort_id;   /* of SQL_ collations */
    CollationOrder order;     /* ORDER_SQL: that of varchar; nvarchar then goes as under Windows */
    bool           ignores_case, ignores_accents;
    bool           is_turkish; /* dotted and dotless i, letters of their own */
};

/* primary << 16 | accent << 8 | case. Primary 0xE000: not in the table, ordered by code point
 * behind everything; 0: a combining mark; 1: a hyphen or apostrophe, which only decides between
 * texts that are equal otherwise. Case 1 is upper. */
uint32_t collation_weight(uint32_t code_point);
const uint16_t *
code_page_upper_half(int code_page); /* code points of bytes 0x80 to 0xFF; unknown pages: 1252 */
const uint8_t *code_page_sql_ranks(int code_page, bool ignore_accents);

/* Lower case letters `from`, from + step, ... `to` have their upper case `delta` away. */
typedef struct CaseRun {
    uint16_t from, to;
    uint8_t  step;
    int32_t  delta;
} CaseRun;
const CaseRun *collation_case_runs(size_t *count_out);

/* The next code point of text as stored; moves *at. Lone surrogates and broken UTF-8 give some
 * value of their own. */
uint32_t collation_next(const SimCollation *collation, bool unicode, Bytes text, size_t *at);

/* Length without trailing blanks. */
size_t collation_trimmed(const SimCollation *collation, bool unicode, Bytes text);
void   collation_sort_key(const SimCollation *collation, bool unicode, Bytes text, Buf *out);

#endif
