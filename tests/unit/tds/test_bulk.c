/* Bulk loads are read as they come: in pieces of any size, rows larger than the window, stopped, cut short, and wrong. */
#include "unit/tds/tds_test.h"

#include "tds/tds_bulk.h"

static const TdsColumn columns[] = {
    {.name = {"id", 2}, .type = {.token = TDS_TYPE_INTN, .length = 4}},
    {.name = {"t", 1}, .type = {.token = TDS_TYPE_BIGVARCHAR, .length = -1}},
};

typedef struct Load { /* a message on its way to the reader */
    Arena     *arena, *row_arena;
    Pipe       pipe;
    TdsWriter *writer;
    TdsBulk    bulk;
} Load;

static void begin(Load *load)
{
    load->arena     = arena_new();
    load->row_arena = arena_new();
    load->pipe      = pipe_new(load->arena);
    load->writer    = tds_writer_new(&load->pipe.transport);
    tds_writer_begin(load->writer, TDS_PACKET_BULK, 0);
}

static void put_row(Load *load, int64_t id, size_t text_bytes)
{
    uint8_t *text      = arena_alloc(load->arena, text_bytes + 1);
    TdsValue values[2] = {{.i64 = id}, {.bytes = {text, text_bytes}}};

    memset(text, (int)('a' + id % 26), text_bytes);
    tds_put_row(load->writer, TDS_VERSION_74, columns, values, 2);
}

static void send(Load *load, size_t piece)
{
    TdsMessage first;
    Err        err = ERR_INIT;
    bool       is_end;

    assert_ok(tds_writer_end(load->writer, &err), &err);
    load->pipe.piece = piece;
    assert_ok(tds_read_message(&load->pipe.transport, load->arena, TDS_MAX_MESSAGE_BYTES, &first,
                               &is_end, &err),
              &err);
    load->bulk = tds_bulk_begin(&load->pipe.transport, TDS_VERSION_74, &first, load->arena);
}

static TdsBulkItem next(Load *load)
{
    arena_reset(load->row_arena);
    return tds_bulk_next(&load->bulk, load->row_arena);
}

static void end(Load *load)
{
    tds_bulk_end(&load->bulk);
    tds_writer_close(load->writer);
    arena_close(load->row_arena);
    arena_close(load->arena);
}

static void assert_row(Load *load, int64_t id, size_t text_bytes)
{
    assert_int_equal(next(load), TDS_BULK_ROW);
    assert_int_equal(load->bulk.values[0].i64, id);
    assert_int_equal(load->bulk.values[1].bytes.len, text_bytes);
    for (size_t i = 0; i < text_bytes; i++)
        assert_int_equal(load->bulk.values[1].bytes.ptr[i], 'a' + id % 26);
}

static void rows_come_out_as_they_went_in_however_they_are_cut(void **state)
{
    static const size_t pieces[] = {0, 1, 7, 4096};

    (void)state;
    for (size_t p = 0; p < COUNT_OF(pieces); p++) {
        Load load;
        begin(&load);
        tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
        for (int64_t i = 0; i < 300; i++)
            put_row(&load, i, (size_t)i * 3);
        tds_put_done(load.writer, TDS_VERSION_74, TDS_TOKEN_DONE, 0, 0, 300);
        send(&load, pieces[p]);
        assert_int_equal(next(&load), TDS_BULK_COLUMNS);
        assert_int_equal(load.bulk.column_count, 2);
        assert_str_is(load.bulk.columns[0].name, "id");
        for (int64_t i = 0; i < 300; i++)
            assert_row(&load, i, (size_t)i * 3);
        assert_int_equal(next(&load), TDS_BULK_END);
        assert_int_equal(load.pipe.at, load.pipe.bytes.len);
        end(&load);
    }
}

static void memory_is_a_window_and_not_the_message(void **state)
{
    Load load;

    (void)state;
    begin(&load);
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    for (int64_t i = 0; i < 5000; i++)
        put_row(&load, i, 2000); /* some 10 MB */
    put_row(&load, 5000, 1000000);
    put_row(&load, 5001, 3);
    tds_put_done(load.writer, TDS_VERSION_74, TDS_TOKEN_DONE, 0, 0, 0);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    for (int64_t i = 0; i < 5000; i++)
        assert_row(&load, i, 2000);
    assert_true(load.bulk.capacity <= 256 << 10);
    assert_row(&load, 5000, 1000000); /* larger than the window */
    assert_row(&load, 5001, 3);
    assert_true(load.bulk.capacity <= 4 << 20);
    assert_int_equal(next(&load), TDS_BULK_END);
    end(&load);
}

static void a_message_may_end_behind_a_row(void **state)
{
    Load load;

    (void)state;
    begin(&load);
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    put_row(&load, 1, 5);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    assert_row(&load, 1, 5);
    assert_int_equal(next(&load), TDS_BULK_END);
    end(&load);
}

static void what_is_not_whole_or_not_known_is_told_apart(void **state)
{
    Load load;

    (void)state;
    begin(&load); /* in the middle of a row */
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    tds_put_u8(load.writer, TDS_TOKEN_ROW);
    tds_put_u8(load.writer, 4);
    tds_put_u8(load.writer, 1);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    assert_int_equal(next(&load), TDS_BULK_ENDS_EARLY);
    end(&load);

    begin(&load); /* nothing at all */
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_ENDS_EARLY);
    end(&load);

    begin(&load); /* a row without columns */
    put_row(&load, 1, 1);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_BAD_TOKEN);
    end(&load);

    begin(&load); /* an integer of nine bytes */
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    tds_put_u8(load.writer, TDS_TOKEN_ROW);
    tds_put_u8(load.writer, 9);
    for (int i = 0; i < 9; i++)
        tds_put_u8(load.writer, 0);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    assert_int_equal(next(&load), TDS_BULK_BAD_LENGTH);
    assert_int_equal(load.bulk.bad_column, 0);
    end(&load);

    begin(&load); /* XML, which comes as nvarchar */
    TdsColumn xml[2] = {columns[0], {.name = {"x", 1}, .type = {.token = TDS_TYPE_XML}}};
    tds_put_columns(load.writer, TDS_VERSION_74, xml, 2);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_BAD_TYPE);
    assert_int_equal(load.bulk.bad_column, 1);
    end(&load);
}

static void a_client_may_stop_it_between_packets_or_in_the_last(void **state)
{
    Load    load;
    uint8_t attention[8] = {TDS_PACKET_ATTENTION, TDS_STATUS_END, 0, 8};
    Err     err          = ERR_INIT;

    (void)state;
    begin(&load);
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    put_row(&load, 1, 5);
    tds_put_done(load.writer, TDS_VERSION_74, TDS_TOKEN_DONE, 0, 0, 1);
    assert_ok(tds_writer_end_with(load.writer, TDS_STATUS_IGNORE, &err), &err);
    tds_writer_begin(load.writer, TDS_PACKET_BATCH, 0);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    assert_row(&load, 1, 5);
    assert_int_equal(next(&load), TDS_BULK_CUT);
    end(&load);

    begin(&load);
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    put_row(&load, 1, 5);
    assert_ok(tds_writer_end(load.writer, &err), &err);
    load.pipe.bytes.ptr[1] = 0; /* that was not the last packet */
    buf_append_bytes(&load.pipe.bytes, attention, sizeof attention);
    tds_writer_begin(load.writer, TDS_PACKET_BATCH, 0);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    assert_row(&load, 1, 5);
    assert_int_equal(next(&load), TDS_BULK_CUT);
    assert_true(load.bulk.by_attention);
    end(&load);
}

static void what_is_left_can_be_read_over(void **state)
{
    Load load;
    Err  err = ERR_INIT;

    (void)state;
    begin(&load);
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    for (int64_t i = 0; i < 1000; i++)
        put_row(&load, i, 1000);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    assert_ok(tds_bulk_skip(&load.bulk), &load.bulk.err);
    assert_int_equal(load.pipe.at, load.pipe.bytes.len);
    end(&load);

    begin(&load); /* the connection is lost on the way */
    tds_put_columns(load.writer, TDS_VERSION_74, columns, 2);
    put_row(&load, 1, 10);
    assert_ok(tds_writer_end(load.writer, &err), &err);
    load.pipe.bytes.ptr[1] = 0;
    tds_writer_begin(load.writer, TDS_PACKET_BATCH, 0);
    send(&load, 0);
    assert_int_equal(next(&load), TDS_BULK_COLUMNS);
    assert_row(&load, 1, 10);
    assert_int_equal(next(&load), TDS_BULK_LOST);
    assert_int_equal(load.bulk.err.code, ERR_DAMAGED);
    end(&load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_out_as_they_went_in_however_they_are_cut),
        cmocka_unit_test(memory_is_a_window_and_not_the_message),
        cmocka_unit_test(a_message_may_end_behind_a_row),
        cmocka_unit_test(what_is_not_whole_or_not_known_is_told_apart),
        cmocka_unit_test(a_client_may_stop_it_between_packets_or_in_the_last),
        cmocka_unit_test(what_is_left_can_be_read_over),
    };

    return RUN_TESTS(tests);
}
