/* sql_error.c - what class an error of SQL Server belongs to (sqlserver.md 1.13). The native number
 * decides first: drivers do not agree on the SQLSTATE of a server error, and FreeTDS gives 42000
 * even to a deadlock. */
#include "sqlconn/sqlconn_internal.h"

#include <string.h>

typedef struct NativeClass {
    int32_t native;
    ErrCode code;
} NativeClass;

// clang-format off
#define TRANSIENT(native) {native, ERR_SOURCE}
static const NativeClass native_classes[] = {
    /* transient: deadlock, locks, memory, killed, shutting down, recovering, availability groups, snapshot conditions */
    TRANSIENT(1205),  TRANSIENT(1204),  TRANSIENT(701),   TRANSIENT(8645),  TRANSIENT(8651),  TRANSIENT(596),
    TRANSIENT(6005),  TRANSIENT(17142), TRANSIENT(18401), TRANSIENT(921),   TRANSIENT(922),   TRANSIENT(927),
    TRANSIENT(942),   TRANSIENT(952),   TRANSIENT(976),   TRANSIENT(978),   TRANSIENT(979),   TRANSIENT(982),
    TRANSIENT(983),   TRANSIENT(3948),  TRANSIENT(3949),  TRANSIENT(3950),  TRANSIENT(3953),  TRANSIENT(3956),
    TRANSIENT(3957),  TRANSIENT(3958),  TRANSIENT(3961),  TRANSIENT(3966),  TRANSIENT(22984),
    /* transient, Azure and login */
    TRANSIENT(4060),  TRANSIENT(4221),  TRANSIENT(10928), TRANSIENT(10929), TRANSIENT(40143), TRANSIENT(40197),
    TRANSIENT(40501), TRANSIENT(40540), TRANSIENT(40613), TRANSIENT(42108), TRANSIENT(42109), TRANSIENT(49918),
    TRANSIENT(49919), TRANSIENT(49920),
    /* transient, transport */
    TRANSIENT(20),    TRANSIENT(64),    TRANSIENT(121),   TRANSIENT(233),   TRANSIENT(997),   TRANSIENT(10053),
    TRANSIENT(10054), TRANSIENT(10060), TRANSIENT(11001),
    /* a lock that is likely still held */
    {1222, ERR_LOCK_TIMEOUT},
    /* login refused */
    {18456, ERR_LOGIN}, {18452, ERR_LOGIN}, {18470, ERR_LOGIN}, {18486, ERR_LOGIN}, {18487, ERR_LOGIN},
    {18488, ERR_LOGIN}, {4064, ERR_LOGIN},
    /* permission */
    {229, ERR_PERMISSION}, {230, ERR_PERMISSION}, {300, ERR_PERMISSION}, {262, ERR_PERMISSION},
    {297, ERR_PERMISSION}, {15247, ERR_PERMISSION},
    /* CDC off or out of reach, an instance or its table gone, isolation not allowed */
    {22981, ERR_SOURCE_STATE}, {22901, ERR_SOURCE_STATE}, {22985, ERR_SOURCE_STATE}, {22910, ERR_SOURCE_STATE},
    {208, ERR_SOURCE_STATE},   {22920, ERR_SOURCE_STATE}, {22960, ERR_SOURCE_STATE}, {3952, ERR_SOURCE_STATE},
    {3954, ERR_SOURCE_STATE},
};
// clang-format on

ErrCode sql_error_classify(int32_t native, const char *sqlstate)
{
    static const char *const transport[] = {"08001", "08004", "08007", "08S01", "08006"};

    for (size_t i = 0; i < COUNT_OF(native_classes); i++)
        if (native_classes[i].native == native) return native_classes[i].code;
    if (strcmp(sqlstate, "40001") == 0) return ERR_SOURCE;
    if (strcmp(sqlstate, "28000") == 0) return ERR_LOGIN;
    /* Microsoft's driver gives the socket's error as the number of an 08001 (10057, a refused
     * port). */
    for (size_t i = 0; i < COUNT_OF(transport); i++)
        if (strcmp(sqlstate, transport[i]) == 0) return ERR_SOURCE;
    if (native == 0 && (strcmp(sqlstate, "HYT00") == 0 || strcmp(sqlstate, "HYT01") == 0))
        return ERR_SOURCE;
    return ERR_QUERY;
}

bool sql_error_quotes_values(int32_t native)
{
    static const int32_t numbers[] = {241,  242,  244,  245,  248,  295, 2601,
                                      2627, 2628, 8114, 8115, 8152, 8169};

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] == native) return true;
    return false;
}

Str sql_error_strip_values(Arena *arena, Str message)
{
    size_t first = message.len, last = 0;

    for (size_t i = 0; i < message.len; i++) {
        char c = message.ptr[i];
        if (first == message.len && (c == '\'' || c == '(')) first = i + 1;
        if (c == '\'' || c == ')') last = i;
    }
    if (last <= first) return str_slice(message, 0, first); /* cut off in the middle of a value */
    return str_printf(arena, "%.*s...%.*s", STR_ARG(str_slice(message, 0, first)),
                      STR_ARG(str_slice(message, last, message.len)));
}
