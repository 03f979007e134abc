/* limits.h - what comes from outside is refused past these sizes. One place, so that each is a
 * decision. */
#ifndef TIDELAKE_BASE_LIMITS_H
#define TIDELAKE_BASE_LIMITS_H

#include <stddef.h>

#define LIMIT_BUF_BYTES              ((size_t)1 << 30)  /* default limit of a Buf */
#define LIMIT_CONFIG_BYTES           ((size_t)4 << 20)  /* tidelake.yaml */
#define LIMIT_LOG_FILE_BYTES         ((size_t)1 << 30)  /* one commit JSON of a Delta log */
#define LIMIT_VECTOR_FILE_BYTES      ((size_t)1 << 30)  /* one file of deletion vectors */
#define LIMIT_STATE_FILE_BYTES       ((size_t)16 << 20) /* one file of a checkpoint directory */
#define LIMIT_COLUMNS                4096               /* columns of a table */
#define LIMIT_NESTING                64   /* arrays, maps, structs inside each other */
#define LIMIT_IDENTIFIER_UNITS       128  /* UTF-16 units of a SQL Server identifier */
#define LIMIT_CAPTURE_INSTANCE_CHARS 100  /* characters of a capture instance name */
#define LIMIT_QUEUE_ITEMS            1024 /* items of any queue */
#define LIMIT_PARTITIONS             64   /* connections one batch or snapshot may use */
#define LIMIT_PATH_BYTES             4096
/* One text or binary value. A page of a Parquet file tells its length, before and after compression,
 * as a signed 32-bit number: the value, what stands before it, and what it may grow by where it does not
 * compress must stay below 2 GiB. */
#define LIMIT_VALUE_MIB   2047
#define LIMIT_VALUE_BYTES ((size_t)LIMIT_VALUE_MIB << 20)

#endif
