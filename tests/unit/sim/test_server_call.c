/* Procedure calls as drivers send them: prepared statements, several calls in a message, parameters of every kind, and cursors. */
#include "unit/sim/server_world.h"

enum {
    CURSOR = 1,
    CURSOR_OPEN,
    CURSOR_PREPARE,
    CURSOR_EXECUTE,
    CURSOR_PREPEXEC,
    CURSOR_UNPREPARE,
    CURSOR_FETCH,
    CURSOR_OPTION,
    CURSOR_CLOSE,
    EXECUTESQL,
    PREPARE,
    EXECUTE,
    PREPEXEC,
    PREPEXECRPC,
    UNPREPARE
};

/* --- a call --- */

static void begin(Client *client)
{
    tds_writer_begin(client->writer, TDS_PACKET_RPC, 0);
    tds_put_headers(client->writer, client->tds_version, client->transaction);
}

static void call(Client *client, uint16_t id)
{
    begin(client);
    tds_put_rpc(client->writer, id, STR_EMPTY, 0);
}

static void put(Client *client, const char *name, TdsType type, TdsValue value, bool is_output)
{
    TdsParameter out = {
        .name = str_from_c(name), .type = type, .value = value, .is_output = is_output};

    tds_put_parameter(client->writer, &out);
}

static void put_int(Client *client, int64_t value)
{
    put(client, "", (TdsType){.token = TDS_TYPE_INTN, .length = 4}, (TdsValue){.i64 = value},
        false);
}

static void put_out(Client *client, int64_t value)
{
    put(client, "", (TdsType){.token = TDS_TYPE_INTN, .length = 4}, (TdsValue){.i64 = value}, true);
}

/* With five zero bytes for a collation, as Go's and Rust's drivers send it. */
static void put_named_text(Client *client, const char *name, const char *text)
{
    uint8_t *utf16 = arena_alloc(client->arena, 8000);
    size_t   len   = 2 * utf8_to_utf16le(str_from_c(text), utf16);

    put(client, name, (TdsType){.token = TDS_TYPE_NVARCHAR, .length = 8000},
        (TdsValue){.bytes = {utf16, len}}, false);
}

static void put_text(Client *client, const char *text)
{
    put_named_text(client, "", text);
}

static void run(Client *client)
{
    Err err = ERR_INIT;

    assert_ok(tds_writer_end(client->writer, &err), &err);
    assert_true(client_read(client));
}

/* What an answer held. */
typedef struct Answer {
    int64_t  rows[64]; /* the first column */
    size_t   row_count, columns, result_count;
    int64_t  outputs[8];
    bool     is_null[8];
    size_t   output_count;
    int32_t  status, errors[4];
    size_t   error_count;
    uint8_t  last_token;
    uint16_t last_status;
} Answer;

static Answer read_answer(Client *client)
{
    Answer  answer = {.status = -1};
    TdsItem item;

    while (client_next(client, &item))
        switch (item.kind) {
        case TDS_ITEM_COLUMNS:
            answer.columns = client->response.column_count;
            answer.result_count++;
            break;
        case TDS_ITEM_ROW: answer.rows[answer.row_count++] = client->response.values[0].i64; break;
        case TDS_ITEM_MESSAGE:
            if (item.message.is_error)
                answer.errors[answer.error_count++] = item.message.text.number;
            break;
        case TDS_ITEM_RETURN_STATUS: answer.status = item.return_status; break;
        case TDS_ITEM_RETURN_VALUE:
            answer.is_null[answer.output_count]   = item.return_value.value.is_null;
            answer.outputs[answer.output_count++] = item.return_value.value.i64;
            break;
        case TDS_ITEM_DONE:
            answer.last_token  = item.token;
            answer.last_status = item.done.status;
            break;
        case TDS_ITEM_END:
        case TDS_ITEM_ENV:
        case TDS_ITEM_LOGIN_ACK:
        case TDS_ITEM_OTHER: break;
        }
    assert_int_equal(tds_left(&client->response.cursor), 0); /* every token was known */
    return answer;
}

static Answer answer_of(Client *client)
{
    run(client);
    return read_answer(client);
}

static Client *with_numbers(const World *world)
{
    Client *client = connected(world);

    assert_true(client_batch(client,
                             "CREATE TABLE n (n int PRIMARY KEY); INSERT n SELECT value FROM "
                             "GENERATE_SERIES(1, 10)"));
    assert_int_equal(client_error(client), 0);
    return client;
}

/* --- prepared statements --- */

static void a_statement_is_prepared_run_and_dropped(void **state)
{
    Client *client = with_numbers(*state);
    Answer  answer;

    call(client, PREPARE);
    put_out(client, 0);
    put_text(client, "@p int");
    put_text(client, "SELECT n FROM n WHERE n > @p");
    put_int(client, 1);
    answer = answer_of(client);
    assert_int_equal(answer.columns, 1); /* option 1 asks for them */
    assert_int_equal(answer.row_count, 0);
    assert_int_equal(answer.output_count, 1);
    int64_t handle = answer.outputs[0];
    for (int64_t p = 7; p < 10; p++) {
        call(client, EXECUTE);
        put_int(client, handle);
        put_int(client, p);
        answer = answer_of(client);
        assert_int_equal(answer.row_count, 10 - p);
        assert_int_equal(answer.rows[0], p + 1);
        assert_int_equal(answer.status, 0);
    }
    call(client, UNPREPARE);
    put_int(client, handle);
    assert_int_equal(answer_of(client).error_count, 0);
    call(client, EXECUTE);
    put_int(client, handle);
    answer = answer_of(client);
    assert_int_equal(answer.errors[0], 8179);
    assert_true(answer.last_status & TDS_DONE_ERROR);
    client_close(client);
}

static void prepexec_gives_its_handle_behind_the_rows(void **state)
{
    Client *client = with_numbers(*state);
    Answer  answer;

    call(client, PREPEXEC);
    put_out(client, 0);
    put_text(client, "@p int");
    put_text(client, "SELECT n FROM n WHERE n = @p");
    put_int(client, 4);
    answer = answer_of(client);
    assert_int_equal(answer.rows[0], 4);
    assert_int_equal(answer.output_count, 1);
    int64_t first = answer.outputs[0];
    call(client, PREPEXEC); /* an old handle is dropped on the way */
    put_out(client, first);
    put_text(client, "@p int");
    put_text(client, "SELECT n * 2 FROM n WHERE n = @p");
    put_int(client, 4);
    answer = answer_of(client);
    assert_int_equal(answer.rows[0], 8);
    call(client, EXECUTE);
    put_int(client, first);
    put_int(client, 1);
    assert_int_equal(answer_of(client).errors[0], 8179);
    client_close(client);
}

static void a_call_can_be_prepared_too(void **state)
{
    static const char *const texts[] = {"sys.sp_databases", "{call sp_databases}",
                                        "{? = call master..sp_databases()}"};
    Client                  *client  = with_numbers(*state);

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        call(client, PREPEXECRPC);
        put_out(client, 0);
        put_text(client, texts[i]);
        Answer answer = answer_of(client);
        assert_int_equal(answer.error_count, 0);
        assert_true(answer.row_count > 0);
        size_t rows = answer.row_count;
        call(client, EXECUTE);
        put_int(client, answer.outputs[0]);
        assert_int_equal(answer_of(client).row_count, rows);
    }
    call(client, PREPEXECRPC);
    put_out(client, 0);
    put_text(client, "no_such_procedure");
    assert_int_equal(answer_of(client).errors[0], 2812);
    call(client, PREPEXECRPC);
    put_out(client, 0);
    put_text(client, "{call sp_databases('x')}");
    assert_int_equal(answer_of(client).errors[0], 50001);
    client_close(client);
}

static void several_calls_fit_in_a_message(void **state)
{
    static const uint32_t versions[] = {TDS_VERSION_71, TDS_VERSION_74};

    for (size_t v = 0; v < COUNT_OF(versions); v++) {
        TdsLogin login  = client_default_login();
        Client  *client = client_open(((World *)*state)->port);
        assert_non_null(client);
        login.tds_version = versions[v];
        assert_true(client_prelogin(client) && client_login(client, &login));
        call(client, EXECUTESQL);
        put_text(client, "SELECT 1");
        tds_put_rpc_separator(client->writer, versions[v]);
        tds_put_rpc(client->writer, 0, STR("sp_executesql"), 0);
        put_text(client, "SELECT 2 / 0");
        tds_put_rpc_separator(client->writer, versions[v]);
        tds_put_rpc(client->writer, EXECUTESQL, STR_EMPTY, 0);
        put_text(client, "SELECT 3");
        Answer answer = answer_of(client);
        assert_int_equal(answer.row_count, 2);
        assert_int_equal(answer.rows[0], 1);
        assert_int_equal(answer.rows[1], 3);
        assert_int_equal(answer.errors[0], 8134);
        assert_int_equal(answer.last_token, TDS_TOKEN_DONEPROC);
        assert_false(answer.last_status & TDS_DONE_MORE);
        client_close(client);
    }
}

/* --- parameters --- */

static void values_find_their_parameter_by_place_or_name(void **state)
{
    Client *client = with_numbers(*state);

    call(client, EXECUTESQL);
    put_text(client, "SELECT @a * 100 + @b * 10 + @c");
    put_text(client, "@a int, @b int, @c int");
    put_int(client, 1);
    put(client, "@c", (TdsType){.token = TDS_TYPE_INTN, .length = 1}, (TdsValue){.i64 = 3}, false);
    put(client, "@b", (TdsType){.token = TDS_TYPE_INTN, .length = 8}, (TdsValue){.i64 = 2}, false);
    assert_int_equal(answer_of(client).rows[0], 123);
    call(client, EXECUTESQL); /* as Rust's driver: no @, and an empty definition */
    put_named_text(client, "stmt", "SELECT 7");
    put_named_text(client, "params", "");
    assert_int_equal(answer_of(client).rows[0], 7);
    call(client, EXECUTESQL);
    put_text(client, "SELECT @a, @b");
    put_text(client, "@a int, @b int");
    put(client, "@b", (TdsType){.token = TDS_TYPE_INTN, .length = 4}, (TdsValue){.i64 = 2}, false);
    assert_int_equal(answer_of(client).errors[0], 8178);
    call(client, EXECUTESQL);
    put_text(client, "SELECT @a");
    put_text(client, "@a int");
    put_int(client, 1);
    put_int(client, 2);
    assert_int_equal(answer_of(client).errors[0], 8144);
    call(client, EXECUTESQL);
    put_int(client, 1);
    assert_int_equal(answer_of(client).errors[0], 214);
    client_close(client);
}

static void every_type_can_be_null(void **state)
{
    static const TdsType types[] = {
        {.token = TDS_TYPE_NULL},
        {.token = TDS_TYPE_INTN, .length = 1},
        {.token = TDS_TYPE_INTN, .length = 8},
        {.token = TDS_TYPE_BITN, .length = 1},
        {.token = TDS_TYPE_FLTN, .length = 4},
        {.token = TDS_TYPE_FLTN, .length = 8},
        {.token = TDS_TYPE_MONEYN, .length = 4},
        {.token = TDS_TYPE_MONEYN, .length = 8},
        {.token = TDS_TYPE_DATETIMEN, .length = 4},
        {.token = TDS_TYPE_DATETIMEN, .length = 8},
        {.token = TDS_TYPE_DECIMALN, .length = 17, .precision = 38, .scale = 4},
        {.token = TDS_TYPE_NUMERICN, .length = 5, .precision = 9, .scale = 0},
        {.token = TDS_TYPE_DATEN, .length = 3},
        {.token = TDS_TYPE_TIMEN, .scale = 7},
        {.token = TDS_TYPE_DATETIME2N, .scale = 3},
        {.token = TDS_TYPE_DATETIMEOFFSETN, .scale = 0},
        {.token = TDS_TYPE_GUID, .length = 16},
        {.token = TDS_TYPE_BIGCHAR, .length = 10},
        {.token = TDS_TYPE_BIGVARCHAR, .length = 10},
        {.token = TDS_TYPE_BIGVARCHAR, .length = -1},
        {.token = TDS_TYPE_NCHAR, .length = 10},
        {.token = TDS_TYPE_NVARCHAR, .length = 10},
        {.token = TDS_TYPE_NVARCHAR, .length = -1},
        {.token = TDS_TYPE_BIGBINARY, .length = 10},
        {.token = TDS_TYPE_BIGVARBINARY, .length = 10},
        {.token = TDS_TYPE_BIGVARBINARY, .length = -1},
        {.token = TDS_TYPE_TEXT, .length = 100},
        {.token = TDS_TYPE_NTEXT, .length = 100},
        {.token = TDS_TYPE_IMAGE, .length = 100},
        {.token = TDS_TYPE_XML, .length = -1},
        {.token = TDS_TYPE_VARIANT, .length = 8009},
    };
    Client *client = with_numbers(*state);

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        call(client, EXECUTESQL);
        put_text(client, "SET @back = @v; SELECT CASE WHEN @v IS NULL THEN 1 ELSE 0 END");
        put_text(client, "@v sql_variant, @back sql_variant OUTPUT");
        put(client, "@v", types[i], (TdsValue){.is_null = true}, false);
        put(client, "@back", types[i], (TdsValue){.is_null = true}, true);
        Answer answer = answer_of(client);
        if (answer.rows[0] != 1) fail_msg("NULL of type 0x%02x", types[i].token);
        assert_int_equal(answer.output_count, 1);
        assert_true(answer.is_null[0]);
    }
    client_close(client);
}

static void decimal_and_numeric_have_tokens_of_their_own(void **state)
{
    static const uint8_t tokens[] = {TDS_TYPE_DECIMALN, TDS_TYPE_NUMERICN};
    Client              *client   = with_numbers(*state);
    TdsItem              item;

    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        TdsType type = {.token = tokens[i], .length = 5, .precision = 5, .scale = 1};
        call(client, EXECUTESQL);
        put_text(client, "SELECT @v AS v, CAST(@v AS sql_variant) AS s, @x AS x; SET @back = @v");
        put_text(client, i == 0 ? "@v decimal(5,1), @x sql_variant, @back decimal(5,1) OUTPUT"
                                : "@v numeric(5,1), @x sql_variant, @back numeric(5,1) OUTPUT");
        /* The other name becomes the one declared; a sql_variant takes the one sent, an output
         * goes back as it was asked for. */
        TdsType other = type;
        other.token   = tokens[1 - i];
        put(client, "@v", other, (TdsValue){.dec = {.lower = 15}}, false);
        put(client, "@x", type, (TdsValue){.dec = {.lower = 15}}, false);
        put(client, "@back", other, (TdsValue){.is_null = true}, true);
        run(client);
        assert_true(client_find(client, TDS_ITEM_ROW, &item));
        assert_int_equal(client->response.columns[0].type.token, tokens[i]);
        assert_int_equal(client->response.values[0].dec.lower, 15);
        for (size_t column = 1; column <= 2; column++) {
            assert_int_equal(client->response.columns[column].type.token, TDS_TYPE_VARIANT);
            assert_int_equal(client->response.values[column].variant->type.token, tokens[i]);
        }
        assert_true(client_find(client, TDS_ITEM_RETURN_VALUE, &item));
        assert_int_equal(item.return_value.type.token, other.token);
        assert_int_equal(item.return_value.value.dec.lower, 15);
        assert_int_equal(client_number(client, "SELECT 9"), 9);
    }
    client_close(client);
}

static void tables_and_user_types_are_refused_and_the_connection_stays(void **state)
{
    static const uint8_t tokens[] = {TDS_TYPE_TABLE, TDS_TYPE_UDT};
    Client              *client   = with_numbers(*state);

    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        call(client, EXECUTESQL);
        put_text(client, "SELECT 1");
        put_text(client, "@t dbo.list READONLY");
        tds_put_b_varchar(client->writer, STR("@t"));
        tds_put_u8(client->writer, 0);
        tds_put_u8(client->writer, tokens[i]);
        tds_put_text(client->writer, STR("whatever its description is"));
        assert_int_equal(answer_of(client).errors[0], 50001);
        assert_int_equal(client_number(client, "SELECT 9"), 9);
    }
    client_close(client);
}

static void a_transaction_left_open_is_266(void **state)
{
    Client *client = with_numbers(*state);

    call(client, EXECUTESQL);
    put_text(client, "BEGIN TRAN");
    assert_int_equal(answer_of(client).errors[0], 266);
    assert_int_equal(client_number(client, "SELECT @@TRANCOUNT"), 1);
    client_close(client);
}

/* --- cursors --- */

enum {
    KEYSET        = 1,
    DYNAMIC       = 2,
    FORWARD       = 4,
    STATIC        = 8,
    FAST          = 16,
    PARAMETERIZED = 0x1000,
    AUTO_FETCH    = 0x2000,
    AUTO_CLOSE    = 0x4000,
    ALLOW_DIRECT  = 0x2000
};
enum {
    FIRST         = 1,
    NEXT          = 2,
    PREV          = 4,
    LAST          = 8,
    ABSOLUTE      = 16,
    RELATIVE      = 32,
    REFRESH       = 128,
    INFO          = 256,
    PREV_NOADJUST = 512
};

static Answer open_cursor(Client *client, const char *sql, int64_t scroll, int64_t concurrency,
                          int64_t rows)
{
    call(client, CURSOR_OPEN);
    put_out(client, 0);
    put_text(client, sql);
    put_out(client, scroll);
    put_out(client, concurrency);
    put_out(client, rows);
    return answer_of(client);
}

static Answer fetch(Client *client, int64_t cursor, int64_t kind, int64_t row, int64_t rows)
{
    call(client, CURSOR_FETCH);
    put_int(client, cursor);
    put_int(client, kind);
    put_int(client, row);
    put_int(client, rows);
    return answer_of(client);
}

static void assert_rows(Answer answer, int64_t from, size_t count)
{
    assert_int_equal(answer.error_count, 0);
    assert_int_equal(answer.row_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(answer.rows[i], from + (int64_t)i);
}

static void a_cursor_opens_without_rows_and_says_what_it_is(void **state)
{
    static const struct {
        int64_t asked, got, row_count;
    } kinds[]      = {{KEYSET, STATIC, 10},
                      {DYNAMIC, STATIC, 10},
                      {STATIC, STATIC, 10},
                      {FORWARD, FORWARD, -1},
                      {FAST, FAST, -1}};
    Client *client = with_numbers(*state);

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        Answer answer = open_cursor(client, "SELECT n FROM n ORDER BY n", kinds[i].asked, 4, 0);
        assert_int_equal(answer.error_count, 0);
        assert_int_equal(answer.columns, 2); /* ROWSTAT is the last */
        assert_int_equal(answer.row_count, 0);
        assert_int_equal(answer.status, 0);
        assert_int_equal(answer.output_count, 4);
        assert_true(answer.outputs[0] > 0);
        assert_int_equal(answer.outputs[1], kinds[i].got);
        assert_int_equal(answer.outputs[2], 1); /* read-only */
        assert_int_equal(answer.outputs[3], kinds[i].row_count);
    }
    client_close(client);
}

static void a_static_cursor_is_fetched_in_every_direction(void **state)
{
    Client *client = with_numbers(*state);
    int64_t cursor = open_cursor(client, "SELECT n FROM n ORDER BY n", STATIC, 1, 0).outputs[0];

    assert_rows(fetch(client, cursor, NEXT, 0, 4), 1, 4);
    assert_rows(fetch(client, cursor, NEXT, 0, 4), 5, 4);
    assert_rows(fetch(client, cursor, REFRESH, 0, 0), 5, 4);
    assert_rows(fetch(client, cursor, NEXT, 0, 4), 9, 2);
    assert_rows(fetch(client, cursor, NEXT, 0, 4), 0, 0);
    assert_rows(fetch(client, cursor, PREV, 0, 4), 7, 4);
    assert_rows(fetch(client, cursor, FIRST, 0, 3), 1, 3);
    assert_rows(fetch(client, cursor, PREV, 0, 3), 0, 0);
    assert_rows(fetch(client, cursor, LAST, 0, 3), 8, 3);
    assert_rows(fetch(client, cursor, ABSOLUTE, 4, 2), 4, 2);
    assert_rows(fetch(client, cursor, RELATIVE, 2, 2), 6, 2);
    assert_rows(fetch(client, cursor, RELATIVE, -1, 1), 5, 1);
    assert_rows(fetch(client, cursor, ABSOLUTE, -2, 5), 9, 2);
    assert_rows(fetch(client, cursor, ABSOLUTE, 0, 5), 0, 0);
    assert_rows(fetch(client, cursor, NEXT, 0, 1), 1, 1);
    assert_rows(fetch(client, cursor, ABSOLUTE, 3, 1), 3, 1);
    Answer adjusted = fetch(client, cursor, PREV, 0, 5); /* reaches over the beginning */
    assert_rows(adjusted, 1, 5);
    assert_int_equal(adjusted.status, 2);
    assert_rows(fetch(client, cursor, ABSOLUTE, 3, 1), 3, 1);
    assert_rows(fetch(client, cursor, PREV_NOADJUST, 0, 5), 1, 2);
    call(client, CURSOR_FETCH);
    put_int(client, cursor);
    put_int(client, INFO);
    put_out(client, 0);
    put_out(client, 0);
    Answer info = answer_of(client);
    assert_int_equal(info.outputs[0], 1);
    assert_int_equal(info.outputs[1], 10);
    assert_int_equal(fetch(client, cursor, 3, 0, 1).errors[0], 16902);
    client_close(client);
}

static void a_cursor_keeps_what_it_saw(void **state)
{
    Client *client = with_numbers(*state);
    int64_t cursor = open_cursor(client, "SELECT n FROM n ORDER BY n", STATIC, 1, 0).outputs[0];

    assert_true(client_batch(client, "DELETE n"));
    assert_rows(fetch(client, cursor, NEXT, 0, 20), 1, 10);
    client_close(client);
}

static void a_forward_cursor_goes_forward_only(void **state)
{
    Client *client = with_numbers(*state);
    int64_t cursor = open_cursor(client, "SELECT n FROM n ORDER BY n", FAST, 1, 0).outputs[0];

    assert_rows(fetch(client, cursor, NEXT, 0, 8), 1, 8);
    assert_int_equal(fetch(client, cursor, PREV, 0, 1).errors[0], 16911);
    assert_rows(fetch(client, cursor, NEXT, 0, 8), 9, 2);
    client_close(client);
}

static void rows_may_come_with_the_opening(void **state)
{
    Client *client = with_numbers(*state);
    Answer  answer = open_cursor(client, "SELECT n FROM n ORDER BY n", FAST | AUTO_FETCH, 1, 4);

    assert_rows(answer, 1, 4);
    assert_rows(fetch(client, answer.outputs[0], NEXT, 0, 3), 5, 3);
    answer = open_cursor(client, "SELECT n FROM n ORDER BY n", FAST | AUTO_FETCH | AUTO_CLOSE, 1,
                         40);
    assert_rows(answer, 1, 10);
    assert_int_equal(answer.outputs[0], 0); /* closed again */
    client_close(client);
}

static void a_cursor_is_read_only_and_ends_when_closed(void **state)
{
    Client *client = with_numbers(*state);
    int64_t cursor = open_cursor(client, "SELECT n FROM n ORDER BY n", KEYSET, 4, 0).outputs[0];

    assert_rows(fetch(client, cursor, NEXT, 0, 3), 1, 3);
    for (int64_t change = 1; change <= 4; change *= 2) {
        call(client, CURSOR);
        put_int(client, cursor);
        put_int(client, change);
        put_int(client, 1);
        put_text(client, "n");
        assert_int_equal(answer_of(client).errors[0], 16929);
    }
    call(client, CURSOR); /* Microsoft's driver reads a row again so */
    put_int(client, cursor);
    put_int(client, 0x28);
    put_int(client, 2);
    assert_rows(answer_of(client), 2, 1);
    call(client, CURSOR_OPTION);
    put_int(client, cursor);
    put_int(client, 2);
    put_text(client, "my_cursor");
    assert_int_equal(answer_of(client).error_count, 0);
    call(client, CURSOR_CLOSE);
    put_int(client, cursor);
    assert_int_equal(answer_of(client).error_count, 0);
    assert_int_equal(fetch(client, cursor, NEXT, 0, 1).errors[0], 16909);
    client_close(client);
}

static void what_is_no_select_runs_directly_or_not_at_all(void **state)
{
    Client *client = with_numbers(*state);
    Answer  answer = open_cursor(client, "INSERT n VALUES (11); SELECT n FROM n WHERE n = 11",
                                 STATIC, 1 | ALLOW_DIRECT, 0);

    assert_rows(answer, 11, 1);
    assert_int_equal(answer.columns, 1);
    assert_int_equal(answer.outputs[0], 0);
    assert_int_equal(open_cursor(client, "DELETE n", STATIC, 1, 0).errors[0], 16937);
    answer = open_cursor(client, "SELECT * FROM nowhere", STATIC, 1, 0);
    assert_int_equal(answer.errors[0], 208);
    assert_int_equal(answer.errors[1], 16945);
    assert_int_equal(answer.outputs[0], 0);
    assert_int_equal(open_cursor(client, "SELECT FROM", STATIC, 1, 0).errors[0], 156);
    client_close(client);
}

static void cursors_take_parameters_and_can_be_prepared(void **state)
{
    Client *client = with_numbers(*state);
    Answer  answer;

    call(client, CURSOR_OPEN);
    put_out(client, 0);
    put_text(client, "SELECT n FROM n WHERE n > @p ORDER BY n");
    put_int(client, STATIC | PARAMETERIZED);
    put_int(client, 1);
    put_out(client, 0);
    put_text(client, "@p int");
    put_int(client, 6);
    answer = answer_of(client);
    assert_int_equal(answer.output_count, 2);
    assert_int_equal(answer.outputs[1], 4);
    assert_rows(fetch(client, answer.outputs[0], NEXT, 0, 10), 7, 4);

    call(client, CURSOR_PREPEXEC);
    put_out(client, 0);
    put_out(client, 0);
    put_text(client, "@p int");
    put_text(client, "SELECT n FROM n WHERE n > @p ORDER BY n");
    put_int(client, STATIC | PARAMETERIZED);
    put_int(client, 1);
    put_out(client, 0);
    put_int(client, 8);
    answer = answer_of(client);
    assert_int_equal(answer.output_count, 3);
    int64_t handle = answer.outputs[0];
    assert_rows(fetch(client, answer.outputs[1], NEXT, 0, 10), 9, 2);

    call(client, CURSOR_EXECUTE);
    put_int(client, handle);
    put_out(client, 0);
    put_int(client, STATIC);
    put_int(client, 1);
    put_out(client, 0);
    put_int(client, 9);
    answer = answer_of(client);
    assert_int_equal(answer.outputs[1], 1);
    assert_rows(fetch(client, answer.outputs[0], NEXT, 0, 10), 10, 1);

    call(client, CURSOR_UNPREPARE);
    put_int(client, handle);
    assert_int_equal(answer_of(client).error_count, 0);
    call(client, CURSOR_EXECUTE);
    put_int(client, handle);
    put_out(client, 0);
    assert_int_equal(answer_of(client).errors[0], 8179);

    call(client, CURSOR_PREPARE);
    put_out(client, 0);
    put_text(client, "");
    put_text(client, "SELECT n FROM n ORDER BY n");
    put_int(client, 1);
    answer = answer_of(client);
    call(client, CURSOR_EXECUTE);
    put_int(client, answer.outputs[0]);
    put_out(client, 0);
    put_int(client, FAST);
    put_int(client, 1);
    put_out(client, 0);
    answer = answer_of(client);
    assert_rows(fetch(client, answer.outputs[0], NEXT, 0, 3), 1, 3);
    client_close(client);
}

static void columns_can_be_left_out(void **state)
{
    Client *client = with_numbers(*state);
    int64_t cursor = open_cursor(client, "SELECT n FROM n ORDER BY n", STATIC, 1, 0).outputs[0];
    TdsItem item;

    begin(client);
    tds_put_rpc(client->writer, CURSOR_FETCH, STR_EMPTY, TDS_RPC_NO_METADATA);
    put_int(client, cursor);
    put_int(client, NEXT);
    put_int(client, 0);
    put_int(client, 1);
    run(client);
    assert_true(client_next(client, &item));
    assert_int_equal(item.kind, TDS_ITEM_COLUMNS);
    assert_int_equal(client->response.column_count, 0);
    assert_memory_equal(client->message.body.ptr, "\x81\xFF\xFF\xD1\x04\x01\0\0\0\x04\x01\0\0\0",
                        14);
    client_close(client);
}

/* Microsoft's driver asks for none when it prepares a statement anew, also when a parameter has another type by then. */
static void what_is_prepared_anew_comes_with_its_columns(void **state)
{
    Client *client = with_numbers(*state);

    begin(client);
    tds_put_rpc(client->writer, PREPEXEC, STR_EMPTY, TDS_RPC_NO_METADATA);
    put_out(client, 0);
    put_text(client, "@p bigint");
    put_text(client, "SELECT @p AS v");
    put(client, "", (TdsType){.token = TDS_TYPE_INTN, .length = 8},
        (TdsValue){.i64 = INT64_C(1) << 40}, false);

    Answer answer = answer_of(client);

    assert_int_equal(answer.columns, 1);
    assert_int_equal(answer.row_count, 1);
    assert_true(answer.rows[0] == INT64_C(1) << 40);
    client_close(client);
}

static void a_reset_and_a_commit_close_cursors(void **state)
{
    Client *client = with_numbers(*state);
    int64_t cursor = open_cursor(client, "SELECT n FROM n ORDER BY n", STATIC, 1, 0).outputs[0];

    assert_true(client_send_batch(client, "SELECT 1", TDS_STATUS_RESET));
    assert_true(client_read(client));
    assert_int_equal(fetch(client, cursor, NEXT, 0, 1).errors[0], 16909);
    cursor = open_cursor(client, "SELECT n FROM n ORDER BY n", STATIC, 1, 0).outputs[0];
    assert_int_equal(client_number(client, "BEGIN TRAN; COMMIT; SELECT 1"), 1);
    assert_rows(fetch(client, cursor, NEXT, 0, 1), 1, 1);
    assert_int_equal(
        client_number(client, "SET CURSOR_CLOSE_ON_COMMIT ON; BEGIN TRAN; COMMIT; SELECT 1"), 1);
    assert_int_equal(fetch(client, cursor, NEXT, 0, 1).errors[0], 16909);
    client_close(client);
}

/* --- procedures --- */
static void an_output_comes_back_in_the_type_of_the_parameter(void **state)
{
    static const TdsType bigint = {.token = TDS_TYPE_INTN, .length = 8},
                         tiny   = {.token = TDS_TYPE_INTN, .length = 1};
    Client *client              = connected(*state);

    assert_true(client_batch(client,
                             "CREATE PROCEDURE dbo.p @bit bit OUTPUT, @n int OUTPUT, @t "
                             "varchar(9) OUTPUT AS SELECT @bit = 1, @n = 9, @t = @t + '0'"));
    assert_int_equal(client_error(client), 0);
    for (int64_t n = 9; n <= 90; n += 81) {
        begin(client);
        tds_put_rpc(client->writer, 0, STR("dbo.p"), 0);
        put(client, "@bit", bigint, (TdsValue){.i64 = 5}, true);
        put(client, "@n", tiny, (TdsValue){.is_null = true}, true);
        put(client, "@t", n == 9 ? bigint : tiny, (TdsValue){.i64 = n == 9 ? 9 : 99}, true);
        Answer answer = answer_of(client);
        assert_int_equal(answer.output_count, 3);
        assert_int_equal(answer.outputs[0], 1);
        assert_int_equal(answer.outputs[1], 9);
        assert_int_equal(answer.error_count, n == 9 ? 0 : 1);
        if (n == 9) {
            assert_int_equal(answer.outputs[2], 90);
        } else {
            assert_int_equal(answer.errors[0], 244); /* 990 is no tinyint */
            assert_true(answer.is_null[2]);
            assert_true(answer.last_status & TDS_DONE_ERROR);
        }
    }
    assert_int_equal(client_number(client, "SELECT 3"), 3);
    client_close(client);
}

/* The statements of an answer, as DONEs tell them apart: those behind which there was no count. */
static size_t count_dones(Client *client, uint8_t token)
{
    TdsItem item;
    size_t  count = 0;

    while (client_next(client, &item))
        if (item.kind == TDS_ITEM_DONE && item.token == token &&
            !(item.done.status & TDS_DONE_COUNT))
            count++;
    return count;
}

/* As go-mssqldb's own tests count them on a SQL Server. */
static void every_statement_says_that_it_is_done(void **state)
{
    static const char body[] = "DECLARE @n int; DECLARE c CURSOR FOR SELECT 1 UNION SELECT 2 OPEN "
                               "c; FETCH NEXT FROM c INTO @n; WHILE @@FETCH_STATUS = 0 BEGIN PRINT "
                               "@n FETCH NEXT FROM c INTO @n; END; CLOSE c; DEALLOCATE c;";
    Client           *client = connected(*state);

    assert_true(client_batch(
        client, str_printf(client->arena, "CREATE PROCEDURE p AS BEGIN %s END", body).ptr));
    assert_true(client_batch(client, "EXEC p"));
    assert_int_equal(count_dones(client, TDS_TOKEN_DONEINPROC), 12);
    assert_true(client_batch(client, "SET NOCOUNT ON; EXEC p"));
    assert_int_equal(count_dones(client, TDS_TOKEN_DONEINPROC), 0);
    assert_true(client_batch(client, "SET NOCOUNT OFF"));
    assert_true(client_batch(client, body));
    assert_int_equal(count_dones(client, TDS_TOKEN_DONE), 12);
    assert_true(client_batch(client, "DECLARE @n int; SET @n = 1; IF @n = 1 PRINT 'one'"));
    assert_int_equal(count_dones(client, TDS_TOKEN_DONE), 3);
    client_close(client);
}

static void a_severe_error_is_the_last_thing_a_client_hears(void **state)
{
    Client *client = connected(*state);
    TdsItem item;

    assert_true(client_batch(client, "RAISERROR('severe', 20, 1) WITH LOG; SELECT 1"));
    assert_int_equal(client_error(client), 50000);
    assert_true(client_find(client, TDS_ITEM_DONE, &item));
    assert_int_equal(item.done.status, TDS_DONE_SRVERROR | TDS_DONE_ERROR);
    assert_false(client_batch(client, "SELECT 1"));
    client_close(client);
}

/* As the pool of python-tds calls it. */
static void a_reset_by_name_is_a_reset_and_tells_of_the_transaction(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);

    assert_true(client_batch(client, "SET LOCK_TIMEOUT 1234; BEGIN TRAN"));
    assert_int_equal(client_error(client), 0);
    assert_true(client->transaction != 0);
    begin(client);
    tds_put_rpc(client->writer, 0, STR("sp_reset_connection"), 0);
    assert_int_equal(answer_of(client).error_count, 0);
    assert_true(client->transaction == 0);
    assert_int_equal(client_number(client, "SELECT @@LOCK_TIMEOUT"), -1);
    assert_int_equal(client_number(client, "SELECT @@TRANCOUNT"), 0);
    client_close(client);
}

#define CALL_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALL_TEST(a_statement_is_prepared_run_and_dropped),
        CALL_TEST(prepexec_gives_its_handle_behind_the_rows),
        CALL_TEST(a_call_can_be_prepared_too),
        CALL_TEST(several_calls_fit_in_a_message),
        CALL_TEST(values_find_their_parameter_by_place_or_name),
        CALL_TEST(every_type_can_be_null),
        CALL_TEST(decimal_and_numeric_have_tokens_of_their_own),
        CALL_TEST(tables_and_user_types_are_refused_and_the_connection_stays),
        CALL_TEST(a_transaction_left_open_is_266),
        CALL_TEST(a_cursor_opens_without_rows_and_says_what_it_is),
        CALL_TEST(a_static_cursor_is_fetched_in_every_direction),
        CALL_TEST(a_cursor_keeps_what_it_saw),
        CALL_TEST(a_forward_cursor_goes_forward_only),
        CALL_TEST(rows_may_come_with_the_opening),
        CALL_TEST(a_cursor_is_read_only_and_ends_when_closed),
        CALL_TEST(what_is_no_select_runs_directly_or_not_at_all),
        CALL_TEST(cursors_take_parameters_and_can_be_prepared),
        CALL_TEST(columns_can_be_left_out),
        CALL_TEST(what_is_prepared_anew_comes_with_its_columns),
        CALL_TEST(a_reset_and_a_commit_close_cursors),
        CALL_TEST(a_reset_by_name_is_a_reset_and_tells_of_the_transaction),
        CALL_TEST(an_output_comes_back_in_the_type_of_the_parameter),
        CALL_TEST(every_statement_says_that_it_is_done),
        CALL_TEST(a_severe_error_is_the_last_thing_a_client_hears),
    };

    return RUN_TESTS(tests);
}
