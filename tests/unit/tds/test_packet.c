/* Framing: messages into packets and back, whatever their sizes and wherever the bytes are cut. */
#include "unit/tds/tds_test.h"

static const uint8_t *pattern(Arena *arena, size_t len)
{
    uint8_t *bytes = arena_alloc(arena, len + 1);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    return bytes;
}

static void assert_bytes_are(Bytes got, const uint8_t *want, size_t len)
{
    assert_int_equal(got.len, len);
    assert_memory_equal(got.ptr, want, len);
}

static void a_message_of_any_size_comes_back_from_packets_of_any_size(void **state)
{
    static const size_t packets[] = {512, 4096, 8000, 32767};
    static const size_t sizes[]   = {0,    1,     503,   504,   505,    1008,   1009,
                                     4088, 65535, 65536, 81920, 100000, 131072, 1000003};

    (void)state;
    for (size_t p = 0; p < COUNT_OF(packets); p++)
        for (size_t s = 0; s < 2 * COUNT_OF(sizes); s++) { /* in one buffer, and in parts */
            Arena *arena = arena_new();
            Pipe   pipe  = pipe_new(arena);
            if (s >= COUNT_OF(sizes)) pipe.transport.write_parts = pipe_write_parts;
            TdsWriter     *writer = tds_writer_new(&pipe.transport);
            size_t         size   = sizes[s % COUNT_OF(sizes)];
            const uint8_t *bytes  = pattern(arena, size);
            tds_writer_set_packet_bytes(writer, packets[p]);
            tds_writer_begin(writer, TDS_PACKET_RESPONSE, 77);
            tds_put_bytes(writer, bytes, size);
            assert_bytes_are(pipe_finish(&pipe, writer), bytes, size);
            tds_writer_close(writer);
            arena_close(arena);
        }
}

static void headers_say_type_end_length_session_and_number(void **state)
{
    Arena         *arena  = arena_new();
    Pipe           pipe   = pipe_new(arena);
    TdsWriter     *writer = tds_writer_new(&pipe.transport);
    const uint8_t *at;
    Err            err   = ERR_INIT;
    size_t         count = 0;

    (void)state;
    tds_writer_set_packet_bytes(writer, 512);
    tds_writer_begin(writer, TDS_PACKET_RESPONSE, 0x1234);
    tds_put_bytes(writer, pattern(arena, 504 * 300), 504 * 300);
    assert_ok(tds_writer_end(writer, &err), &err);
    for (at = (const uint8_t *)pipe.bytes.ptr;
         at < (const uint8_t *)pipe.bytes.ptr + pipe.bytes.len;
         at += (size_t)(at[2] << 8 | at[3])) {
        count++;
        assert_int_equal(at[0], TDS_PACKET_RESPONSE);
        assert_int_equal(at[1], count == 300 ? TDS_STATUS_END : 0);
        assert_int_equal(at[2] << 8 | at[3], 512);
        assert_int_equal(at[4] << 8 | at[5], 0x1234);
        assert_int_equal(at[6], count % 256);
        assert_int_equal(at[7], 0);
    }
    assert_int_equal(count, 300); /* the last one is full, not followed by an empty one */
    tds_writer_close(writer);
    arena_close(arena);
}

static void bytes_may_be_cut_anywhere(void **state)
{
    Arena         *arena  = arena_new();
    Pipe           pipe   = pipe_new(arena);
    TdsWriter     *writer = tds_writer_new(&pipe.transport);
    const uint8_t *bytes  = pattern(arena, 1200);
    Err            err    = ERR_INIT;

    (void)state;
    tds_writer_set_packet_bytes(writer, 512);
    tds_writer_begin(writer, TDS_PACKET_BATCH, 0);
    tds_put_bytes(writer, bytes, 1200);
    assert_ok(tds_writer_end_with(writer, TDS_STATUS_RESET, &err), &err);
    for (size_t cut = 0; cut < pipe.bytes.len; cut++) {
        TdsMessage message;
        bool       is_end;
        pipe.at     = 0;
        pipe.cut_at = cut;
        pipe.piece  = cut % 5; /* 0: as much as there is */
        assert_ok(tds_read_message(&pipe.transport, arena, 4096, &message, &is_end, &err), &err);
        assert_false(is_end);
        assert_int_equal(message.type, TDS_PACKET_BATCH);
        assert_int_equal(message.status, TDS_STATUS_RESET | TDS_STATUS_END);
        assert_bytes_are(message.body, bytes, 1200);
    }
    tds_writer_close(writer);
    arena_close(arena);
}

static void a_reader_takes_no_byte_of_the_next_message(void **state)
{
    Arena     *arena  = arena_new();
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);
    Err        err    = ERR_INIT;
    TdsMessage message;
    bool       is_end;

    (void)state;
    for (uint8_t i = 0; i < 3; i++) {
        tds_writer_begin(writer, TDS_PACKET_BATCH, 0);
        tds_put_u8(writer, i);
        assert_ok(tds_writer_end(writer, &err), &err);
    }
    for (uint8_t i = 0; i < 3; i++) {
        assert_ok(tds_read_message(&pipe.transport, arena, 16, &message, &is_end, &err), &err);
        assert_int_equal(pipe.at, (i + 1) * 9);
        assert_int_equal(message.body.ptr[0], i);
    }
    assert_ok(tds_read_message(&pipe.transport, arena, 16, &message, &is_end, &err), &err);
    assert_true(is_end);
    tds_writer_close(writer);
    arena_close(arena);
}

static void assert_refused(const uint8_t *bytes, size_t len, size_t limit, const char *why)
{
    Arena     *arena = arena_new();
    Pipe       pipe  = pipe_new(arena);
    Err        err   = ERR_INIT;
    TdsMessage message;
    bool       is_end;

    buf_append_bytes(&pipe.bytes, bytes, len);
    assert_false(tds_read_message(&pipe.transport, arena, limit, &message, &is_end, &err));
    assert_err(&err, ERR_DAMAGED, why);
    arena_close(arena);
}

static void malformed_headers_and_broken_streams_are_refused(void **state)
{
    static const uint8_t type[]   = {0x16, 1, 0, 8, 0, 0, 1, 0}; /* a TLS record */
    static const uint8_t small[]  = {1, 1, 0, 7, 0, 0, 1, 0};
    static const uint8_t header[] = {1, 1, 0, 8, 0};
    static const uint8_t body[]   = {1, 1, 0, 12, 0, 0, 1, 0, 'a', 'b'};
    static const uint8_t second[] = {1, 0, 0, 9, 0, 0, 1, 0, 'a', 3, 1, 0, 9, 0, 0, 1, 0, 'b'};
    static const uint8_t open[]   = {1, 0, 0, 9, 0, 0, 1, 0, 'a'};
    static const uint8_t large[]  = {1, 1, 0, 24, 0, 0, 1, 0, 1, 2, 3, 4,
                                     5, 6, 7, 8,  9, 0, 1, 2, 3, 4, 5, 6};

    (void)state;
    assert_refused(type, sizeof type, 100, "type 0x16");
    assert_refused(small, sizeof small, 100, "length 7");
    assert_refused(header, sizeof header, 100, "inside a packet header");
    assert_refused(body, sizeof body, 100, "inside a packet");
    assert_refused(second, sizeof second, 100, "type 0x03");
    assert_refused(open, sizeof open, 100, "inside a packet header");
    assert_refused(large, sizeof large, 15, "larger than 15 bytes");
}

static void after_a_failed_write_everything_is_dropped(void **state)
{
    Arena     *arena  = arena_new();
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);
    Err        err    = ERR_INIT;

    (void)state;
    pipe.write_most = 100000;
    tds_writer_begin(writer, TDS_PACKET_RESPONSE, 1);
    for (int i = 0; i < 1000; i++)
        tds_put_bytes(writer, pattern(arena, 1000), 1000);
    assert_true(tds_writer_has_failed(writer));
    assert_false(tds_writer_end(writer, &err));
    assert_err(&err, ERR_SOURCE, "the pipe broke");
    assert_true(pipe.bytes.len <= 100000);
    tds_writer_close(writer);
    arena_close(arena);
}

static void results_leave_in_pieces_of_64_kib(void **state)
{
    Arena     *arena  = arena_new();
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);

    (void)state;
    tds_writer_begin(writer, TDS_PACKET_RESPONSE, 1);
    for (int i = 0; i < 100000; i++)
        tds_put_u64(writer, (uint64_t)i);
    assert_true(pipe.write_count >= 9);
    assert_true(pipe.write_count <= 13);
    assert_int_equal(pipe_finish(&pipe, writer).len, 800000);
    tds_writer_close(writer);
    arena_close(arena);
}

static void integers_are_little_endian_unless_they_say_otherwise(void **state)
{
    static const uint8_t want[] = {0xAB, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 8,    7,   6,
                                   5,    4,    3,    2,    1,    0x12, 0x34, 0x56, 0x78};
    Arena               *arena  = arena_new();
    Pipe                 pipe   = pipe_new(arena);
    TdsWriter           *writer = tds_writer_new(&pipe.transport);
    TdsCursor            cursor;

    (void)state;
    tds_writer_begin(writer, TDS_PACKET_RESPONSE, 1);
    tds_put_u8(writer, 0xAB);
    tds_put_u16(writer, 0x1234);
    tds_put_u32(writer, 0x12345678);
    tds_put_u64(writer, 0x0102030405060708);
    tds_put_u32_be(writer, 0x12345678);
    cursor = tds_cursor(pipe_finish(&pipe, writer));
    assert_bytes_are((Bytes){cursor.ptr, cursor.len}, want, sizeof want);
    assert_int_equal(tds_get_u8(&cursor), 0xAB);
    assert_int_equal(tds_get_u16(&cursor), 0x1234);
    assert_int_equal(tds_get_u32(&cursor), 0x12345678);
    assert_int_equal(tds_get_u64(&cursor), 0x0102030405060708);
    assert_int_equal(tds_get_u16_be(&cursor), 0x1234);
    assert_int_equal(tds_left(&cursor), 2);
    assert_int_equal(tds_get_u32_be(&cursor), 0); /* past the end */
    assert_true(cursor.failed);
    assert_int_equal(tds_left(&cursor), 0);
    assert_int_equal(tds_get_u8(&cursor), 0); /* and for ever */
    assert_int_equal(tds_get_bytes(&cursor, 1).len, 0);
    assert_int_equal(tds_get_text(&cursor, 1, arena).len, 0);
    tds_writer_close(writer);
    arena_close(arena);
}

static void an_empty_cursor_has_nothing(void **state)
{
    TdsCursor cursor = tds_cursor((Bytes){NULL, 0});

    (void)state;
    assert_int_equal(tds_left(&cursor), 0);
    assert_int_equal(tds_get_bytes(&cursor, 0).len, 0);
    assert_false(cursor.failed);
    assert_int_equal(tds_get_bytes(&cursor, SIZE_MAX).len, 0);
    assert_true(cursor.failed);
}

/* A text longer than a store, with characters of every length across its seams. */
static void text_of_any_length_travels_as_utf16(void **state)
{
    static const uint32_t starts[] = {'a', 0xE9, 0x20AC, 0x1F600};

    (void)state;
    for (size_t count = 0; count < 30000; count = count * 2 + 1)
        for (size_t shift = 0; shift < 4; shift++) {
            Arena     *arena  = arena_new();
            Pipe       pipe   = pipe_new(arena);
            TdsWriter *writer = tds_writer_new(&pipe.transport);
            Buf        text   = buf_new(arena, 0);
            TdsCursor  cursor;
            size_t     units;
            for (size_t i = 0; i < count; i++) {
                char one[4];
                buf_append_bytes(&text, one, utf8_encode(starts[(i + shift) % 4], one));
            }
            units = tds_text_units(buf_str(&text));
            tds_writer_begin(writer, TDS_PACKET_BATCH, 0);
            tds_put_text(writer, buf_str(&text));
            cursor = tds_cursor(pipe_finish(&pipe, writer));
            assert_int_equal(tds_left(&cursor), units * 2);
            assert_true(str_equal(tds_get_text(&cursor, units, arena), buf_str(&text)));
            tds_writer_close(writer);
            arena_close(arena);
        }
}

static void counted_text_is_cut_between_characters(void **state)
{
    Arena     *arena  = arena_new();
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);
    Buf        text   = buf_new(arena, 0);
    TdsCursor  cursor;
    size_t     units;

    (void)state;
    buf_append_char(&text, 'x');
    for (int i = 0; i < 40000; i++)
        buf_append(&text, STR("\xF0\x9F\x98\x80")); /* two units */
    tds_writer_begin(writer, TDS_PACKET_BATCH, 0);
    tds_put_b_varchar(writer, buf_str(&text));
    tds_put_us_varchar(writer, buf_str(&text));
    tds_put_b_varchar(writer, STR_EMPTY);
    cursor = tds_cursor(pipe_finish(&pipe, writer));
    units  = tds_get_u8(&cursor);
    assert_int_equal(units, 255);
    assert_int_equal(tds_get_text(&cursor, units, arena).len, 1 + 127 * 4);
    units = tds_get_u16(&cursor);
    assert_int_equal(units, 65535);
    assert_int_equal(tds_get_text(&cursor, units, arena).len, 1 + 32767 * 4);
    assert_int_equal(tds_get_u8(&cursor), 0);
    assert_int_equal(tds_left(&cursor), 0);
    assert_int_equal(tds_text_units(tds_text_cut(buf_str(&text), 4)), 3);
    assert_int_equal(tds_text_cut(buf_str(&text), 0).len, 0);
    tds_writer_close(writer);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_of_any_size_comes_back_from_packets_of_any_size),
        cmocka_unit_test(headers_say_type_end_length_session_and_number),
        cmocka_unit_test(bytes_may_be_cut_anywhere),
        cmocka_unit_test(a_reader_takes_no_byte_of_the_next_message),
        cmocka_unit_test(malformed_headers_and_broken_streams_are_refused),
        cmocka_unit_test(after_a_failed_write_everything_is_dropped),
        cmocka_unit_test(results_leave_in_pieces_of_64_kib),
        cmocka_unit_test(integers_are_little_endian_unless_they_say_otherwise),
        cmocka_unit_test(an_empty_cursor_has_nothing),
        cmocka_unit_test(text_of_any_length_travels_as_utf16),
        cmocka_unit_test(counted_text_is_cut_between_characters),
    };

    return RUN_TESTS(tests);
}
