/* sql_error.c - what class an error of SQL Server belongs to (sqlserver.md 1.13). The native number decides first: drivers do not agree on the
 * SQLSTATE of a server error, and FreeTDS gives 42000 even to a deadlock. */
#include "sqlconn/sqlconn_internal.h"

#include <string.h>

typedef struct NativeClass {
    int32_t native;
    ErrCode code;
} NativeClass;

static const NativeClass native_classes[] = {
    /* transient, the server's own */
    {1205, ERR_SOURCE},  {1204, ERR_SOURCE},  {701, ERR_SOURCE},   {8645, ERR_SOURCE},  {8651, ERR_SOURCE},  {596, ERR_SOURCE},
    {6005, ERR_SOURCE},  {17142, ERR_SOURCE}, {18401, ERR_SOURCE}, {921, ERR_SOURCE},   {922, ERR_SOURCE},   {927, ERR_SOURCE},
    {942, ERR_SOURCE},   {952, ERR_SOURCE},   {976, ERR_SOURCE},   {978, ERR_SOURCE},   {979, ERR_SOURCE},   {982, ERR_SOURCE},
    {983, ERR_SOURCE},   {3948, ERR_SOURCE},  {3949, ERR_SOURCE},  {3950, ERR_SOURCE},  {3953, ERR_SOURCE},  {3956, ERR_SOURCE},
    {3957, ERR_SOURCE},  {3958, ERR_SOURCE},  {3961, ERR_SOURCE},  {3966, ERR_SOURCE},  {22984, ERR_SOURCE},
    /* transient, Azure and login */
    {4060, ERR_SOURCE},  {4221, ERR_SOURCE},  {10928, ERR_SOURCE}, {10929, ERR_SOURCE}, {40143, ERR_SOURCE}, {40197, ERR_SOURCE},
    {40501, ERR_SOURCE}, {40540, ERR_SOURCE}, {40613, ERR_SOURCE}, {42108, ERR_SOURCE}, {42109, ERR_SOURCE}, {49918, ERR_SOURCE},
    {49919, ERR_SOURCE}, {49920, ERR_SOURCE},
    /* transient, transport */
    {20, ERR_SOURCE},    {64, ERR_SOURCE},    {121, ERR_SOURCE},   {233, ERR_SOURCE},   {997, ERR_SOURCE},   {10053, ERR_SOURCE},
    {10054, ERR_SOURCE}, {10060, ERR_SOURCE}, {11001, ERR_SOURCE},
    /* a lock that is likely still held */
    {1222, ERR_LOCK_TIMEOUT},
    /* login refused */
    {18456, ERR_LOGIN},  {18452, ERR_LOGIN},  {18470, ERR_LOGIN},  {18486, ERR_LOGIN},  {18487, ERR_LOGIN},  {18488, ERR_LOGIN},
    {4064, ERR_LOGIN},
    /* permission */
    {229, ERR_PERMISSION},   {230, ERR_PERMISSION},   {300, ERR_PERMISSION},   {262, ERR_PERMISSION},   {297, ERR_PERMISSION},
    {15247, ERR_PERMISSION},
    /* CDC off or out of reach, an instance or its table gone, isolation not allowed */
    {22981, ERR_SOURCE_STATE}, {22901, ERR_SOURCE_STATE}, {22985, ERR_SOURCE_STATE}, {22910, ERR_SOURCE_STATE},
    {208, ERR_SOURCE_STATE},   {22920, ERR_SOURCE_STATE}, {22960, ERR_SOURCE_STATE}, {3952, ERR_SOURCE_STATE},
    {3954, ERR_SOURCE_STATE},
};

ErrCode sql_error_classify(int32_t native, const char *sqlstate)
{
    static const char *const transport[] = {"08001", "08004", "08007", "08S01", "08006", "HYT00", "HYT01"};

    for (size_t i = 0; i < COUNT_OF(native_classes); i++)
        if (native_classes[i].native == native) return native_classes[i].code;
    if (strcmp(sqlstate, "40001") == 0) return ERR_SOURCE;
    if (strcmp(sqlstate, "28000") == 0) return ERR_LOGIN;
    if (native != 0) return ERR_QUERY;
    for (size_t i = 0; i < COUNT_OF(transport); i++)
        if (strcmp(sqlstate, transport[i]) == 0) return ERR_SOURCE;
    return ERR_QUERY;
}

bool sql_error_quotes_values(int32_t native)
{
    static const int32_t numbers[] = {241, 242, 244, 245, 248, 295, 2601, 2627, 2628, 8114, 8115, 8152, 8169};

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] == native) return true;
    return false;
}

Str sql_error_strip_values(Arena *arena, Str message)
{
    char  *out   = arena_alloc(arena, message.len + 1);
    size_t len   = 0;
    char   until = 0;

    for (size_t i = 0; i < message.len; i++) {
        char c = message.ptr[i];
        if (until) {
            if (c != until) continue;
            until = 0;
        } else if (c == '\'' || c == '(') {
            until = c == '(' ? ')' : c;
        }
        out[len++] = c;
    }
    return (Str){out, len};
}
