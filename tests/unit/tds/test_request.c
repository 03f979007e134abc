/* Requests: what a client puts, the server reads. */
#include "unit/tds/tds_test.h"

#include "tds/tds_request.h"

static void wire_open(Wire *wire)
{
    wire_begin(wire, TDS_PACKET_RPC, 0);
}

static TdsCursor wire_finish(Wire *wire)
{
    return tds_cursor(pipe_finish(&wire->pipe, wire->writer));
}

static void headers_carry_the_transaction_from_7_2_on(void **state)
{
    Wire      wire;
    TdsCursor cursor;
    uint64_t  transaction = 1;

    (void)state;
    wire_open(&wire);
    tds_put_headers(wire.writer, TDS_VERSION_74, 0x0102030405060708);
    cursor = wire_finish(&wire);
    assert_true(tds_get_headers(&cursor, TDS_VERSION_74, &transaction));
    assert_int_equal(transaction, 0x0102030405060708);
    assert_int_equal(tds_left(&cursor), 0);
    wire_close(&wire);
    wire_open(&wire);
    tds_put_headers(wire.writer, TDS_VERSION_71, 5);
    tds_put_u8(wire.writer, 'x');
    cursor = wire_finish(&wire);
    assert_true(tds_get_headers(&cursor, TDS_VERSION_71, &transaction));
    assert_int_equal(transaction, 0);
    assert_int_equal(tds_left(&cursor), 1);
    wire_close(&wire);
}

static bool headers_read(const char *bytes, size_t len)
{
    TdsCursor cursor = tds_cursor((Bytes){(const uint8_t *)bytes, len});
    uint64_t  transaction;

    return tds_get_headers(&cursor, TDS_VERSION_74, &transaction);
}

#define HEADERS_READ(literal) headers_read((literal), sizeof(literal) - 1)

static void broken_headers_are_refused(void **state)
{
    (void)state;
    assert_true(HEADERS_READ("\x04\0\0\0"));                  /* none */
    assert_true(HEADERS_READ("\x0A\0\0\0\x06\0\0\0\x03\0"));  /* one we do not know */
    assert_false(HEADERS_READ("\x03\0\0\0"));                 /* shorter than itself */
    assert_false(HEADERS_READ("\xFF\xFF\xFF\xFF"));           /* longer than the message */
    assert_false(HEADERS_READ("\x0A\0\0\0\x07\0\0\0\x03\0")); /* a header longer than all */
    assert_false(HEADERS_READ("\x0A\0\0\0\x05\0\0\0\x03\0")); /* shorter than its own head */
    assert_false(HEADERS_READ("\x0A\0\0\0\0\0\0\0\x03\0"));   /* a loop */
    assert_false(HEADERS_READ("\x04\0"));
}

static void calls_by_id_and_by_name_in_one_message(void **state)
{
    static const uint32_t versions[] = {TDS_VERSION_74, TDS_VERSION_71};
    static const uint8_t  text[]     = {'x', 0};
    const TdsParameter    number     = {.name      = STR("@n"),
                                        .is_output = true,
                                        .type      = {.token = TDS_TYPE_INTN, .length = 4},
                                        .value     = {.i64 = -7}};
    const TdsParameter    word       = {.type  = {.token = TDS_TYPE_NVARCHAR, .length = 8000},
                                        .value = {.bytes = {text, 2}}};
    const TdsParameter    nothing    = {.name       = STR("@d"),
                                        .is_default = true,
                                        .type       = {.token = TDS_TYPE_INTN, .length = 8},
                                        .value      = {.is_null = true}};

    (void)state;
    for (size_t v = 0; v < COUNT_OF(versions); v++) {
        Wire      wire;
        TdsCursor cursor;
        TdsRpc    rpc;
        bool      has;
        wire_open(&wire);
        tds_put_rpc(wire.writer, 10, STR_EMPTY, 0);
        tds_put_parameter(wire.writer, &word);
        tds_put_parameter(wire.writer, &number);
        tds_put_rpc_separator(wire.writer, versions[v]);
        tds_put_rpc(wire.writer, 0, STR("sp_unprepare"), 2);
        tds_put_parameter(wire.writer, &nothing);
        cursor = wire_finish(&wire);
        assert_true(tds_get_rpc(&cursor, versions[v], wire.arena, &has, &rpc));
        assert_true(has);
        assert_int_equal(rpc.proc_id, 10);
        assert_int_equal(rpc.parameters.count, 2);
        assert_int_equal(rpc.parameters.items[0].name.len, 0);
        assert_memory_equal(rpc.parameters.items[0].value.bytes.ptr, text, 2);
        assert_str_is(rpc.parameters.items[1].name, "@n");
        assert_true(rpc.parameters.items[1].is_output);
        assert_int_equal(rpc.parameters.items[1].value.i64, -7);
        assert_true(tds_get_rpc(&cursor, versions[v], wire.arena, &has, &rpc));
        assert_true(has);
        assert_int_equal(rpc.proc_id, 0);
        assert_str_is(rpc.name, "sp_unprepare");
        assert_int_equal(rpc.flags, 2);
        assert_int_equal(rpc.parameters.count, 1);
        assert_true(rpc.parameters.items[0].is_default);
        assert_true(rpc.parameters.items[0].value.is_null);
        assert_true(tds_get_rpc(&cursor, versions[v], wire.arena, &has, &rpc));
        assert_false(has);
        wire_close(&wire);
    }
}

static void a_call_cut_off_is_refused(void **state)
{
    const TdsParameter parameter = {.name  = STR("@n"),
                                    .type  = {.token = TDS_TYPE_NVARCHAR, .length = -1},
                                    .value = {.bytes = {(const uint8_t *)"abcd", 4}}};
    Wire               wire;
    TdsCursor          whole;

    (void)state;
    wire_open(&wire);
    tds_put_rpc(wire.writer, 0, STR("p"), 0);
    tds_put_parameter(wire.writer, &parameter);
    whole = wire_finish(&wire);
    for (size_t len = 1; len < whole.len; len++) {
        uint8_t  *bytes = mem_alloc(len);
        TdsCursor cursor;
        TdsRpc    rpc;
        bool      has;
        memcpy(bytes, whole.ptr, len);
        cursor = tds_cursor((Bytes){bytes, len});
        if (len == 6) /* the name alone: a call without parameters */
            assert_true(tds_get_rpc(&cursor, TDS_VERSION_74, wire.arena, &has, &rpc));
        else
            assert_false(tds_get_rpc(&cursor, TDS_VERSION_74, wire.arena, &has, &rpc));
        mem_free(bytes);
    }
    wire_close(&wire);
}

static void more_than_2100_parameters_are_refused(void **state)
{
    const TdsParameter bit = {.type = {.token = TDS_TYPE_BITN, .length = 1}, .value = {.i64 = 1}};

    (void)state;
    for (int count = 2100; count <= 2101; count++) {
        Wire      wire;
        TdsCursor cursor;
        TdsRpc    rpc;
        bool      has;
        wire_open(&wire);
        tds_put_rpc(wire.writer, 10, STR_EMPTY, 0);
        for (int i = 0; i < count; i++)
            tds_put_parameter(wire.writer, &bit);
        cursor = wire_finish(&wire);
        assert_int_equal(tds_get_rpc(&cursor, TDS_VERSION_74, wire.arena, &has, &rpc),
                         count == 2100);
        wire_close(&wire);
    }
}

static bool request_reads(const char *bytes, size_t len, Arena *arena, TdsTransactionRequest *out)
{
    TdsCursor cursor = tds_cursor((Bytes){(const uint8_t *)bytes, len});

    return tds_get_transaction_request(&cursor, arena, out);
}

#define REQUEST_READS(literal, arena, out) \
    request_reads((literal), sizeof(literal) - 1, (arena), (out))

static void transaction_requests(void **state)
{
    Arena                *arena = arena_new();
    TdsTransactionRequest request;

    (void)state;
    assert_true(REQUEST_READS("\x05\0\x02\0", arena, &request));
    assert_int_equal(request.kind, 5);
    assert_int_equal(request.isolation, 2);
    assert_int_equal(request.name.len, 0);
    assert_true(REQUEST_READS("\x05\0\0\x04t\0x\0", arena, &request));
    assert_str_is(request.name, "tx");
    assert_true(REQUEST_READS("\x08\0\0\x01\x03\0", arena, &request)); /* and begin the next */
    assert_true(request.begins_next);
    assert_int_equal(request.next_isolation, 3);
    assert_true(REQUEST_READS("\x07\0\0\0", arena, &request));
    assert_false(request.begins_next);
    assert_true(REQUEST_READS("\x09\0\x02s\0", arena, &request));
    assert_str_is(request.name, "s");
    assert_false(REQUEST_READS("\x05\0", arena, &request));
    assert_false(REQUEST_READS("\x08\0\0", arena, &request));
    assert_false(REQUEST_READS("\x09\0\x04s\0", arena, &request));
    assert_false(REQUEST_READS("", arena, &request));
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_carry_the_transaction_from_7_2_on),
        cmocka_unit_test(broken_headers_are_refused),
        cmocka_unit_test(calls_by_id_and_by_name_in_one_message),
        cmocka_unit_test(a_call_cut_off_is_refused),
        cmocka_unit_test(more_than_2100_parameters_are_refused),
        cmocka_unit_test(transaction_requests),
    };

    return RUN_TESTS(tests);
}
