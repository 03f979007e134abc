/* tds_request.h - what a client asks once it is logged in (sqlserver.md 2.2, 2.6, 2.8). */
#ifndef TIDELAKE_TDS_TDS_REQUEST_H
#define TIDELAKE_TDS_TDS_REQUEST_H

#include "base/list.h"
#include "tds/tds_type.h"

/* ALL_HEADERS in front of a request of TDS 7.2 or later; leaves the cursor behind them. */
bool tds_get_headers(TdsCursor *cursor, uint32_t tds_version, uint64_t *transaction_out) MUST_CHECK;
/* What a client writes: the transaction's descriptor, as ENVCHANGE 8 gave it, or 0. */
void tds_put_headers(TdsWriter *writer, uint32_t tds_version, uint64_t transaction);

enum { TDS_RPC_NO_METADATA = 0x02 }; /* flag of a call: the client knows the columns */

typedef struct TdsParameter {
    Str      name;
    bool     is_output, is_default;
    TdsType  type;
    TdsValue value;
} TdsParameter;

typedef struct TdsRpc {
    uint16_t proc_id; /* 0: by name */
    Str      name;
    uint16_t flags;
    uint8_t
        unreadable; /* TDS_TYPE_TABLE or TDS_TYPE_UDT: a parameter of it came, and ends what can be read; 0: none */
    LIST(TdsParameter) parameters;
} TdsRpc;

/* The next call of an RPC message; `*has_out` false at the end. */
bool tds_get_rpc(TdsCursor *cursor, uint32_t tds_version, Arena *arena, bool *has_out,
                 TdsRpc *out) MUST_CHECK;

/* A call, by id or, where that is 0, by name; its parameters follow. Between two calls of a message
 * stands the separator. */
void tds_put_rpc(TdsWriter *writer, uint16_t proc_id, Str name, uint16_t flags);
void tds_put_parameter(TdsWriter *writer, const TdsParameter *parameter);
void tds_put_rpc_separator(TdsWriter *writer, uint32_t tds_version);

typedef struct TdsTransactionRequest {
    uint16_t kind; /* 5 begin, 7 commit, 8 rollback, 9 save; others are refused */
    Str      name;
    uint8_t  isolation;
    bool     begins_next;
    uint8_t  next_isolation;
    Str      next_name;
} TdsTransactionRequest;
bool tds_get_transaction_request(TdsCursor *cursor, Arena *arena,
                                 TdsTransactionRequest *out) MUST_CHECK;

#endif
