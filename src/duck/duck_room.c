/* duck_room.c - memory for rows with values that a share of memory_limit has no place for. On its way
 * into a file libduckdb holds a value up to three times: among the rows of its group, in the page,
 * and as the compressed page. It reserves more than it fills: pages are powers of two, compressed
 * ones the longest that they might be. So the writers' share grows by that as long as a stream of
 * rows has such a row. */
#include "duck/duck_internal.h"

#include <stdio.h>

#define ROOM_FROM_BYTES ((size_t)8 << 20) /* smaller ones are what the share is for */
#define ROOM_TIMES      5

static bool set_limit(Duck *duck, int64_t bytes, Err *err)
{
    Connection    connection = {0};
    duckdb_result result     = {0};
    char          sql[64];

    (void)snprintf(sql, sizeof sql, "SET GLOBAL memory_limit = '%lldB'", (long long)bytes);
    if (!duck_connect(duck, INSTANCE_WRITER, &connection, err)) return false;
    bool ok = duck_run_sql(&connection, str_from_c(sql), false, &result, err);
    duckdb_destroy_result(&result);
    duck_disconnect(&connection);
    return ok;
}

static bool change_room(Duck *duck, int64_t by, Err *err)
{
    (void)pthread_mutex_lock(&duck->room_lock);
    duck->room_bytes += by;
    bool ok = set_limit(duck, duck->options.memory_limit_bytes / INSTANCE_COUNT + duck->room_bytes,
                        err);
    (void)pthread_mutex_unlock(&duck->room_lock);
    return ok;
}

/* A row that large ends its block, so the last one tells. Its columns are all there at once. */
static size_t last_row_bytes(const RowBlock *block)
{
    size_t bytes = 0;

    for (size_t i = 0; i < block->column_count; i++)
        if (column_type_is_text(block->columns[i].type) &&
            !column_is_null(&block->columns[i], block->row_count - 1))
            bytes += column_str(&block->columns[i], block->row_count - 1).len;
    return bytes;
}

bool duck_make_room(RowSource *source, Err *err)
{
    size_t  bytes  = source->block.row_count ? last_row_bytes(&source->block) : 0;
    int64_t wanted = (int64_t)bytes * ROOM_TIMES;

    if (source->duck->options.memory_limit_bytes <= 0 || bytes < ROOM_FROM_BYTES ||
        wanted <= source->room_bytes)
        return true;
    if (!change_room(source->duck, wanted - source->room_bytes, err)) return false;
    source->room_bytes = wanted;
    return true;
}

void duck_give_room_back(RowSource *source)
{
    Err ignored = ERR_INIT; /* then the limit stays higher, until the next change */

    if (source->room_bytes > 0) (void)change_room(source->duck, -source->room_bytes, &ignored);
    source->room_bytes = 0;
}
