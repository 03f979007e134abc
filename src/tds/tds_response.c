/* tds_response.c - tokens, read. */
#include "tds/tds_response.h"

#define NO_METADATA  0xFFFF
#define COLUMNS_MOST 4096

TdsResponse tds_response(Bytes body, uint32_t tds_version, Arena *arena)
{
    return (TdsResponse){.cursor = tds_cursor(body), .tds_version = tds_version, .arena = arena};
}

static bool has_wide_fields(const TdsResponse *response)
{
    return response->tds_version >= TDS_VERSION_72;
}

static uint32_t get_user_type(TdsResponse *response)
{
    return has_wide_fields(response) ? tds_get_u32(&response->cursor)
                                     : tds_get_u16(&response->cursor);
}

static Str get_b_varchar(TdsCursor *cursor, Arena *arena)
{
    return tds_get_text(cursor, tds_get_u8(cursor), arena);
}

static Str get_us_varchar(TdsCursor *cursor, Arena *arena)
{
    return tds_get_text(cursor, tds_get_u16(cursor), arena);
}

static bool is_lob(uint8_t token)
{
    return token == TDS_TYPE_TEXT || token == TDS_TYPE_NTEXT || token == TDS_TYPE_IMAGE;
}

static bool get_column(TdsResponse *response, TdsColumn *out)
{
    TdsCursor *cursor    = &response->cursor;
    uint32_t   user_type = get_user_type(response);

    out->flags = tds_get_u16(cursor);
    if (!tds_get_type(cursor, &out->type)) return false;
    out->type.user_type = user_type;
    if (is_lob(out->type.token)) { /* the table's name, in parts */
        size_t parts = has_wide_fields(response) ? tds_get_u8(cursor) : 1;
        while (parts-- > 0)
            (void)tds_get_bytes(cursor, 2 * (size_t)tds_get_u16(cursor));
    }
    out->name = get_b_varchar(cursor, response->arena);
    return !cursor->failed;
}

static bool get_columns(TdsResponse *response)
{
    uint16_t count = tds_get_u16(&response->cursor);

    if (count == NO_METADATA) count = 0;
    if (count > COLUMNS_MOST) return false;
    response->columns      = ARENA_ARRAY(response->arena, TdsColumn, count + 1u);
    response->values       = ARENA_ARRAY(response->arena, TdsValue, count + 1u);
    response->column_count = count;
    for (size_t i = 0; i < count; i++)
        if (!get_column(response, &response->columns[i])) return false;
    return !response->cursor.failed;
}

static bool get_row(TdsResponse *response, Arena *arena, bool has_null_bits)
{
    size_t count = response->column_count;
    Bytes  bits  = {NULL, 0};

    if (!response->columns) return false;
    if (has_null_bits) bits = tds_get_bytes(&response->cursor, (count + 7) / 8);
    for (size_t i = 0; i < count && !response->cursor.failed; i++) {
        if (bits.len > i / 8 && (bits.ptr[i / 8] >> (i % 8) & 1))
            response->values[i] = (TdsValue){.is_null = true};
        else if (!tds_get_row_value(&response->cursor, &response->columns[i].type, arena,
                                    &response->values[i]))
            return false;
    }
    return !response->cursor.failed;
}

/* The content of a token whose length stands in front. */
static TdsCursor get_content(TdsResponse *response)
{
    return tds_cursor(tds_get_bytes(&response->cursor, tds_get_u16(&response->cursor)));
}

static bool get_message(TdsResponse *response, Arena *arena, TdsItem *out)
{
    TdsCursor         content = get_content(response);
    TdsServerMessage *text    = &out->message.text;

    out->message.is_error = out->token == TDS_TOKEN_ERROR;
    text->number          = (int32_t)tds_get_u32(&content);
    text->state           = tds_get_u8(&content);
    text->severity        = tds_get_u8(&content);
    text->text            = get_us_varchar(&content, arena);
    text->server          = get_b_varchar(&content, arena);
    text->procedure       = get_b_varchar(&content, arena);
    text->line            = has_wide_fields(response) ? (int32_t)tds_get_u32(&content)
                                                      : (int32_t)tds_get_u16(&content);
    return !content.failed;
}

static bool get_env(TdsResponse *response, Arena *arena, TdsItem *out)
{
    TdsCursor content = get_content(response);

    out->env.kind    = tds_get_u8(&content);
    out->env.is_text = out->env.kind <= 6 || out->env.kind == 13;
    if (out->env.is_text) {
        out->env.new_text = get_b_varchar(&content, arena);
        out->env.old_text = get_b_varchar(&content, arena);
    } else {
        out->env.new_bytes = tds_get_bytes(&content, tds_get_u8(&content));
        out->env.old_bytes = tds_get_bytes(&content, tds_get_u8(&content));
    }
    return !content.failed;
}

static bool get_login_ack(TdsResponse *response, Arena *arena, TdsItem *out)
{
    TdsCursor content = get_content(response);

    (void)tds_get_u8(&content); /* interface */
    out->login_ack.tds_version = tds_get_u32_be(&content);
    out->login_ack.program     = get_b_varchar(&content, arena);
    out->login_ack.major       = tds_get_u8(&content);
    out->login_ack.minor       = tds_get_u8(&content);
    out->login_ack.build       = tds_get_u16_be(&content);
    return !content.failed;
}

static bool get_done(TdsResponse *response, TdsItem *out)
{
    TdsCursor *cursor = &response->cursor;

    out->done.status    = tds_get_u16(cursor);
    out->done.command   = tds_get_u16(cursor);
    out->done.row_count = has_wide_fields(response) ? tds_get_u64(cursor) : tds_get_u32(cursor);
    return !cursor->failed;
}

static bool get_return_value(TdsResponse *response, Arena *arena, TdsItem *out)
{
    TdsCursor *cursor = &response->cursor;
    uint32_t   user_type;

    out->return_value.ordinal = tds_get_u16(cursor);
    out->return_value.name    = get_b_varchar(cursor, arena);
    (void)tds_get_u8(cursor); /* a parameter, or a function's result */
    user_type = get_user_type(response);
    (void)tds_get_u16(cursor); /* flags */
    if (!tds_get_type(cursor, &out->return_value.type)) return false;
    out->return_value.type.user_type = user_type;
    return tds_get_value(cursor, &out->return_value.type, arena, &out->return_value.value);
}

static bool skip_features(TdsCursor *cursor)
{
    while (!cursor->failed && tds_get_u8(cursor) != 0xFF)
        (void)tds_get_bytes(cursor, tds_get_u32(cursor));
    return !cursor->failed;
}

static bool get_item(TdsResponse *response, Arena *arena, TdsItem *out)
{
    switch (out->token) {
    case TDS_TOKEN_COLMETADATA: out->kind = TDS_ITEM_COLUMNS; return get_columns(response);
    case TDS_TOKEN_ROW:
    case TDS_TOKEN_NBCROW:
        out->kind = TDS_ITEM_ROW;
        return get_row(response, arena, out->token == TDS_TOKEN_NBCROW);
    case TDS_TOKEN_ERROR:
    case TDS_TOKEN_INFO: out->kind = TDS_ITEM_MESSAGE; return get_message(response, arena, out);
    case TDS_TOKEN_DONE:
    case TDS_TOKEN_DONEPROC:
    case TDS_TOKEN_DONEINPROC: out->kind = TDS_ITEM_DONE; return get_done(response, out);
    case TDS_TOKEN_ENVCHANGE: out->kind = TDS_ITEM_ENV; return get_env(response, arena, out);
    case TDS_TOKEN_LOGINACK:
        out->kind = TDS_ITEM_LOGIN_ACK;
        return get_login_ack(response, arena, out);
    case TDS_TOKEN_RETURNSTATUS:
        out->kind          = TDS_ITEM_RETURN_STATUS;
        out->return_status = (int32_t)tds_get_u32(&response->cursor);
        return !response->cursor.failed;
    case TDS_TOKEN_RETURNVALUE:
        out->kind = TDS_ITEM_RETURN_VALUE;
        return get_return_value(response, arena, out);
    case TDS_TOKEN_FEATUREEXTACK: return skip_features(&response->cursor);
    case TDS_TOKEN_SESSIONSTATE:
        (void)tds_get_bytes(&response->cursor, tds_get_u32(&response->cursor));
        return !response->cursor.failed;
    case TDS_TOKEN_TABNAME:
    case TDS_TOKEN_COLINFO:
    case TDS_TOKEN_ORDER: (void)get_content(response); return !response->cursor.failed;
    default: break;
    }
    return false;
}

bool tds_next_item(TdsResponse *response, Arena *arena, TdsItem *out)
{
    *out = (TdsItem){.kind = TDS_ITEM_END};
    if (response->cursor.failed) return false;
    if (tds_left(&response->cursor) == 0) return true;
    out->kind  = TDS_ITEM_OTHER;
    out->token = tds_get_u8(&response->cursor);
    if (get_item(response, arena, out)) return true;
    response->cursor.failed = true;
    return false;
}
