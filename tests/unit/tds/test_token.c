/* Tokens: what the server puts, a client reads, in every version of the protocol. */
#include "unit/tds/tds_test.h"

#include "tds/tds_login.h"
#include "tds/tds_response.h"

static const uint32_t versions[] = {TDS_VERSION_74, TDS_VERSION_73B, TDS_VERSION_73A,
                                    TDS_VERSION_72, TDS_VERSION_71};

#define FOR_EACH_VERSION(at) for (size_t at = 0; at < COUNT_OF(versions); at++)

typedef struct TokenWire {
    Arena      *arena;
    Pipe        pipe;
    TdsWriter  *writer;
    uint32_t    version;
    TdsResponse response;
} TokenWire;

static void token_wire_open(TokenWire *wire, uint32_t version)
{
    wire->arena   = arena_new();
    wire->pipe    = pipe_new(wire->arena);
    wire->writer  = tds_writer_new(&wire->pipe.transport);
    wire->version = version;
    tds_writer_begin(wire->writer, TDS_PACKET_RESPONSE, 1);
}

static void token_wire_turn(TokenWire *wire)
{
    wire->response = tds_response(pipe_finish(&wire->pipe, wire->writer), wire->version,
                                  wire->arena);
}

static TdsItem next(TokenWire *wire, TdsItemKind kind)
{
    TdsItem item;

    assert_true(tds_next_item(&wire->response, wire->arena, &item));
    assert_int_equal(item.kind, kind);
    return item;
}

static void token_wire_close(TokenWire *wire)
{
    (void)next(wire, TDS_ITEM_END);
    tds_writer_close(wire->writer);
    arena_close(wire->arena);
}

static void done_of_each_kind(void **state)
{
    (void)state;
    FOR_EACH_VERSION(v)
    {
        TokenWire wire;
        TdsItem   item;
        token_wire_open(&wire, versions[v]);
        tds_put_done(wire.writer, versions[v], TDS_TOKEN_DONE, TDS_DONE_MORE | TDS_DONE_COUNT, 193,
                     UINT32_MAX);
        tds_put_done(wire.writer, versions[v], TDS_TOKEN_DONEINPROC, TDS_DONE_ERROR, 195, 0);
        tds_put_done(wire.writer, versions[v], TDS_TOKEN_DONEPROC, TDS_DONE_ATTN, 224, 5);
        token_wire_turn(&wire);
        item = next(&wire, TDS_ITEM_DONE);
        assert_int_equal(item.token, TDS_TOKEN_DONE);
        assert_int_equal(item.done.status, TDS_DONE_MORE | TDS_DONE_COUNT);
        assert_int_equal(item.done.command, 193);
        assert_int_equal(item.done.row_count, UINT32_MAX);
        assert_int_equal(next(&wire, TDS_ITEM_DONE).token, TDS_TOKEN_DONEINPROC);
        item = next(&wire, TDS_ITEM_DONE);
        assert_int_equal(item.token, TDS_TOKEN_DONEPROC);
        assert_int_equal(item.done.row_count, 5);
        token_wire_close(&wire);
    }
}

static void messages_with_every_part(void **state)
{
    const TdsServerMessage message = {.number    = 208,
                                      .line      = 12,
                                      .state     = 3,
                                      .severity  = 16,
                                      .text      = STR("Invalid \xF0\x9F\x98\x80 name"),
                                      .server    = STR("S\xC3\x84"),
                                      .procedure = STR("proc")};

    (void)state;
    FOR_EACH_VERSION(v)
    for (int is_error = 0; is_error < 2; is_error++) {
        TokenWire wire;
        TdsItem   item;
        token_wire_open(&wire, versions[v]);
        tds_put_message(wire.writer, versions[v], is_error, &message);
        token_wire_turn(&wire);
        item = next(&wire, TDS_ITEM_MESSAGE);
        assert_int_equal(item.message.is_error, is_error);
        assert_int_equal(item.message.text.number, 208);
        assert_int_equal(item.message.text.line, 12);
        assert_int_equal(item.message.text.state, 3);
        assert_int_equal(item.message.text.severity, 16);
        assert_true(str_equal(item.message.text.text, message.text));
        assert_true(str_equal(item.message.text.server, message.server));
        assert_true(str_equal(item.message.text.procedure, message.procedure));
        token_wire_close(&wire);
    }
}

static void a_message_longer_than_its_token_is_cut(void **state)
{
    TokenWire wire;
    Arena    *arena = arena_new();
    char     *text  = arena_alloc(arena, 100000);
    TdsItem   item;

    (void)state;
    memset(text, 'x', 100000);
    token_wire_open(&wire, TDS_VERSION_74);
    tds_put_message(wire.writer, TDS_VERSION_74, true,
                    &(TdsServerMessage){
                        .text = {text, 100000}, .server = {text, 1000}, .procedure = {text, 1000}});
    tds_put_env_text(wire.writer, 1, (Str){text, 300}, (Str){text, 300});
    token_wire_turn(&wire);
    item = next(&wire, TDS_ITEM_MESSAGE);
    assert_int_equal(item.message.text.text.len, 4000);
    assert_int_equal(item.message.text.server.len, 255);
    item = next(&wire, TDS_ITEM_ENV);
    assert_int_equal(item.env.new_text.len, 255);
    token_wire_close(&wire);
    arena_close(arena);
}

static void environment_changes_return_values_and_login_acks(void **state)
{
    static const uint8_t descriptor[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const TdsType        type         = {.token = TDS_TYPE_INTN, .length = 8, .user_type = 9};
    const TdsValue       value        = {.i64 = INT64_MIN};

    (void)state;
    FOR_EACH_VERSION(v)
    {
        TokenWire wire;
        TdsItem   item;
        token_wire_open(&wire, versions[v]);
        tds_put_env_text(wire.writer, 1, STR("shop"), STR("master"));
        tds_put_env_bytes(wire.writer, 8, (Bytes){descriptor, 8}, (Bytes){NULL, 0});
        tds_put_return_status(wire.writer, -6);
        tds_put_return_value(wire.writer, versions[v], 2, STR("@x"), &type, &value);
        tds_put_login_ack(wire.writer, versions[v], STR("Microsoft SQL Server"), 16, 0, 4135);
        tds_put_feature_ack(wire.writer, &(TdsLogin){.asks_utf8 = true});
        token_wire_turn(&wire);
        item = next(&wire, TDS_ITEM_ENV);
        assert_str_is(item.env.new_text, "shop");
        assert_str_is(item.env.old_text, "master");
        item = next(&wire, TDS_ITEM_ENV);
        assert_false(item.env.is_text);
        assert_memory_equal(item.env.new_bytes.ptr, descriptor, 8);
        assert_int_equal(item.env.old_bytes.len, 0);
        assert_int_equal(next(&wire, TDS_ITEM_RETURN_STATUS).return_status, -6);
        item = next(&wire, TDS_ITEM_RETURN_VALUE);
        assert_int_equal(item.return_value.ordinal, 2);
        assert_str_is(item.return_value.name, "@x");
        assert_int_equal(item.return_value.type.user_type, 9);
        assert_true(item.return_value.value.i64 == INT64_MIN);
        item = next(&wire, TDS_ITEM_LOGIN_ACK);
        assert_int_equal(item.login_ack.tds_version, versions[v]);
        assert_int_equal(item.login_ack.major, 16);
        assert_int_equal(item.login_ack.build, 4135);
        (void)next(&wire, TDS_ITEM_OTHER);
        token_wire_close(&wire);
    }
}

#define COLUMNS 70

/* Every kind of column in turn. */
static TdsColumn column_at(Arena *arena, size_t index)
{
    static const TdsType types[] = {
        {.token = TDS_TYPE_INTN, .length = 4},
        {.token = TDS_TYPE_INTN, .length = 4, .is_fixed = true},
        {.token = TDS_TYPE_NVARCHAR, .length = 40},
        {.token = TDS_TYPE_BIGVARBINARY, .length = -1},
        {.token = TDS_TYPE_NTEXT, .length = INT32_MAX},
        {.token = TDS_TYPE_NUMERICN, .length = 9, .precision = 18, .scale = 3},
        {.token = TDS_TYPE_DATETIME2N, .scale = 7},
        {.token = TDS_TYPE_VARIANT, .length = 8009},
        {.token = TDS_TYPE_BIGBINARY, .length = 8, .user_type = 80},
    };

    return (TdsColumn){.name  = str_printf(arena, "c%zu", index),
                       .type  = types[index % COUNT_OF(types)],
                       .flags = index % 2 ? TDS_COLUMN_NULLABLE : TDS_COLUMN_IDENTITY};
}

static TdsValue value_at(Arena *arena, const TdsColumn *column, size_t index, bool may_be_null)
{
    TdsVariant *variant = ARENA_NEW(arena, TdsVariant);

    if (may_be_null && !column->type.is_fixed && index % 3 == 0) return (TdsValue){.is_null = true};
    switch (column->type.token) {
    case TDS_TYPE_NVARCHAR:
    case TDS_TYPE_BIGVARBINARY:
    case TDS_TYPE_NTEXT:
    case TDS_TYPE_BIGBINARY: return (TdsValue){.bytes = {(const uint8_t *)"abcdefgh", 8}};
    case TDS_TYPE_DATETIME2N: return (TdsValue){.time = {.days = (int32_t)index, .ticks = 77}};
    case TDS_TYPE_NUMERICN: return (TdsValue){.dec = {.lower = index}};
    case TDS_TYPE_VARIANT:
        *variant = (TdsVariant){{.token = TDS_TYPE_INTN, .length = 2}, {.i64 = (int64_t)index}};
        return (TdsValue){.variant = variant};
    default: break;
    }
    return (TdsValue){.i64 = (int64_t)index};
}

static void assert_values_equal(const TdsColumn *column, const TdsValue *got, const TdsValue *want)
{
    assert_int_equal(got->is_null, want->is_null);
    if (want->is_null) return;
    if (column->type.token == TDS_TYPE_VARIANT) {
        assert_int_equal(got->variant->value.i64, want->variant->value.i64);
    } else if (column->type.token == TDS_TYPE_INTN) {
        assert_int_equal(got->i64, want->i64);
    } else if (column->type.token == TDS_TYPE_NUMERICN) {
        assert_int_equal(int128_compare(got->dec, want->dec), 0);
    } else if (column->type.token == TDS_TYPE_DATETIME2N) {
        assert_int_equal(got->time.days, want->time.days);
        assert_int_equal(got->time.ticks, want->time.ticks);
    } else {
        assert_int_equal(got->bytes.len, want->bytes.len);
        assert_memory_equal(got->bytes.ptr, want->bytes.ptr, want->bytes.len);
    }
}

static void assert_row(TokenWire *wire, const TdsColumn *columns, const TdsValue *values,
                       size_t count, uint8_t token)
{
    assert_int_equal(next(wire, TDS_ITEM_ROW).token, token);
    for (size_t i = 0; i < count; i++)
        assert_values_equal(&columns[i], &wire->response.values[i], &values[i]);
}

static void rows_of_every_width_with_and_without_nulls(void **state)
{
    (void)state;
    FOR_EACH_VERSION(v)
    for (size_t count = 0; count <= COLUMNS; count++) {
        TokenWire wire;
        TdsColumn columns[COLUMNS + 1];
        TdsValue  full[COLUMNS + 1], holes[COLUMNS + 1];
        bool      has_null = false;
        token_wire_open(&wire, versions[v]);
        for (size_t i = 0; i < count; i++) {
            columns[i] = column_at(wire.arena, i);
            full[i]    = value_at(wire.arena, &columns[i], i, false);
            holes[i]   = value_at(wire.arena, &columns[i], i, true);
            has_null |= holes[i].is_null;
        }
        tds_put_columns(wire.writer, versions[v], columns, count);
        tds_put_row(wire.writer, versions[v], columns, full, count);
        tds_put_row(wire.writer, versions[v], columns, holes, count);
        tds_put_done(wire.writer, versions[v], TDS_TOKEN_DONE, TDS_DONE_COUNT, 193, 2);
        token_wire_turn(&wire);
        (void)next(&wire, TDS_ITEM_COLUMNS);
        assert_int_equal(wire.response.column_count, count);
        for (size_t i = 0; i < count; i++) {
            assert_true(str_equal(wire.response.columns[i].name, columns[i].name));
            assert_int_equal(wire.response.columns[i].flags, columns[i].flags);
            assert_int_equal(wire.response.columns[i].type.token, columns[i].type.token);
            assert_int_equal(wire.response.columns[i].type.user_type, columns[i].type.user_type);
        }
        assert_row(&wire, columns, full, count, TDS_TOKEN_ROW);
        assert_row(&wire, columns, holes, count,
                   has_null && versions[v] >= TDS_VERSION_73B ? TDS_TOKEN_NBCROW : TDS_TOKEN_ROW);
        (void)next(&wire, TDS_ITEM_DONE);
        token_wire_close(&wire);
    }
}

/* Every column's bytes one behind the other, as a store of rows has them. */
static void encode(Arena *arena, const TdsColumn *columns, const TdsValue *values, size_t count,
                   Bytes *out)
{
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);
    Buf        all    = buf_new(arena, 0);

    for (size_t i = 0; i < count; i++) {
        tds_writer_begin(writer, TDS_PACKET_RESPONSE, 0);
        tds_put_value(writer, &columns[i].type, &values[i]);
        Bytes one = pipe_finish(&pipe, writer);
        buf_append_bytes(&all, one.ptr, one.len);
        out[i].len = one.len;
    }
    for (size_t i = 0, at = 0; i < count; at += out[i++].len)
        out[i].ptr = (const uint8_t *)all.ptr + at;
    tds_writer_close(writer);
}

static Bytes encoded_row(Arena *arena, uint32_t version, const TdsColumn *columns,
                         const TdsValue *values, size_t count, size_t every)
{
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);
    Bytes      bytes[COLUMNS + 1];
    bool       is_null[COLUMNS + 1];

    encode(arena, columns, values, count, bytes);
    for (size_t i = 0; i < count; i++) {
        is_null[i] = values[i].is_null;
        if (every && i % every == 0) bytes[i].ptr = NULL;
    }
    tds_writer_begin(writer, TDS_PACKET_RESPONSE, 0);
    if (every == 1)
        tds_put_row(writer, version, columns, values, count);
    else
        tds_put_encoded_row(writer, version, columns, bytes, is_null, values, count);
    Bytes body = pipe_finish(&pipe, writer);
    tds_writer_close(writer);
    return body;
}

static void encoded_rows_are_the_bytes_of_their_values(void **state)
{
    (void)state;
    FOR_EACH_VERSION(v)
    for (size_t count = 0; count <= COLUMNS; count++)
        for (int with_nulls = 0; with_nulls <= 1; with_nulls++) {
            Arena    *arena = arena_new();
            TdsColumn columns[COLUMNS + 1];
            TdsValue  values[COLUMNS + 1];
            for (size_t i = 0; i < count; i++) {
                columns[i] = column_at(arena, i);
                values[i]  = value_at(arena, &columns[i], i, with_nulls);
            }
            Bytes want = encoded_row(arena, versions[v], columns, values, count, 1);
            for (size_t every = 0; every <= 3; every++) { /* 0: all of them encoded */
                Bytes got = encoded_row(arena, versions[v], columns, values, count, every);
                assert_int_equal(got.len, want.len);
                assert_memory_equal(got.ptr, want.ptr, want.len);
            }
            arena_close(arena);
        }
}

static void a_response_cut_off_is_noticed(void **state)
{
    TokenWire wire;
    TdsColumn columns[9];
    TdsValue  values[9];
    Bytes     body;
    size_t    tokens_whole = 0;

    (void)state;
    token_wire_open(&wire, TDS_VERSION_74);
    for (size_t i = 0; i < 9; i++) {
        columns[i] = column_at(wire.arena, i);
        values[i]  = value_at(wire.arena, &columns[i], i, true);
    }
    tds_put_columns(wire.writer, TDS_VERSION_74, columns, 9);
    tds_put_row(wire.writer, TDS_VERSION_74, columns, values, 9);
    tds_put_done(wire.writer, TDS_VERSION_74, TDS_TOKEN_DONE, 0, 193, 1);
    body = pipe_finish(&wire.pipe, wire.writer);
    for (size_t len = 0; len <= body.len; len++) {
        uint8_t    *bytes    = mem_alloc(len);
        TdsResponse response = tds_response((Bytes){bytes, len}, TDS_VERSION_74, wire.arena);
        TdsItem     item     = {.kind = TDS_ITEM_OTHER};
        bool        ok       = true;
        if (len) memcpy(bytes, body.ptr, len);
        while (ok && item.kind != TDS_ITEM_END)
            ok = tds_next_item(&response, wire.arena, &item);
        tokens_whole += ok;
        if (!ok) assert_false(tds_next_item(&response, wire.arena, &item)); /* and stays so */
        mem_free(bytes);
    }
    assert_int_equal(tokens_whole, 4); /* after 0, 1, 2 and 3 tokens */
    token_wire_turn(&wire);
    token_wire_close(&wire);
}

static void tokens_nobody_knows_are_refused(void **state)
{
    static const uint8_t unknown[] = {0x42, 0, 0}, orphan[] = {TDS_TOKEN_ROW, 0, 0};
    Arena               *arena = arena_new();
    TdsResponse          response;
    TdsItem              item;

    (void)state;
    response = tds_response((Bytes){unknown, sizeof unknown}, TDS_VERSION_74, arena);
    assert_false(tds_next_item(&response, arena, &item));
    response = tds_response((Bytes){orphan, sizeof orphan}, TDS_VERSION_74,
                            arena); /* no columns yet */
    assert_false(tds_next_item(&response, arena, &item));
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(done_of_each_kind),
        cmocka_unit_test(messages_with_every_part),
        cmocka_unit_test(a_message_longer_than_its_token_is_cut),
        cmocka_unit_test(environment_changes_return_values_and_login_acks),
        cmocka_unit_test(rows_of_every_width_with_and_without_nulls),
        cmocka_unit_test(encoded_rows_are_the_bytes_of_their_values),
        cmocka_unit_test(a_response_cut_off_is_noticed),
        cmocka_unit_test(tokens_nobody_knows_are_refused),
    };

    return RUN_TESTS(tests);
}
