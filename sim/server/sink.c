/* sink.c - a session's results as tokens. */
#include "sim/server/server_internal.h"

#define TEXT_SIZE_MOST 0x7FFFFFFF

static TdsSink *of(SimSink *sink)
{
    return (TdsSink *)sink;
}

static uint8_t done_token(SimDoneKind kind)
{
    switch (kind) {
    case SIM_DONE_STATEMENT: return TDS_TOKEN_DONE;
    case SIM_DONE_IN_PROC: return TDS_TOKEN_DONEINPROC;
    case SIM_DONE_PROC: return TDS_TOKEN_DONEPROC;
    }
    return TDS_TOKEN_DONE;
}

static void put_pending(TdsSink *sink, bool is_last)
{
    const SimDone *done   = &sink->pending;
    uint16_t       status = 0;

    if (!sink->has_pending) return;
    sink->has_pending = false;
    if (!is_last) status |= TDS_DONE_MORE;
    if (done->has_error || sink->is_fatal) status |= TDS_DONE_ERROR;
    if (done->in_transaction) status |= TDS_DONE_INXACT;
    if (done->has_count) status |= TDS_DONE_COUNT;
    if (done->is_attention) status |= TDS_DONE_ATTN;
    if (is_last && sink->is_fatal) status |= TDS_DONE_SRVERROR;
    tds_put_done(sink->writer, sink->client.tds_version, done_token(done->kind), status,
                 done->is_attention ? SIM_COMMAND_ATTENTION : done->command,
                 (uint64_t)(done->has_count ? done->row_count : 0));
}

static bool is_open(const TdsSink *sink)
{
    return !tds_writer_has_failed(sink->writer);
}

static TdsColumn column_of(const TdsSink *sink, const SimResultColumn *column)
{
    uint16_t flags = TDS_COLUMN_UPDATABLE_UNKNOWN;

    if (column->is_nullable) flags |= TDS_COLUMN_NULLABLE;
    if (column->is_case_sensitive) flags |= TDS_COLUMN_CASE_SENSITIVE;
    if (column->is_identity) flags |= TDS_COLUMN_IDENTITY;
    if (column->is_computed) flags |= TDS_COLUMN_COMPUTED;
    return (TdsColumn){.name  = str_copy(sink->columns_arena, column->name),
                       .type  = tds_type_of_sim(&column->type, &sink->client),
                       .flags = flags};
}

static WireCopy copy_of(const SimType *stored, const TdsType *sent)
{
    switch (sent->token) {
    case TDS_TYPE_BITN:
    case TDS_TYPE_INTN:
    case TDS_TYPE_FLTN:
    case TDS_TYPE_DECIMALN:
    case TDS_TYPE_NUMERICN:
    case TDS_TYPE_MONEYN:
    case TDS_TYPE_DATEN:
    case TDS_TYPE_TIMEN:
    case TDS_TYPE_DATETIME2N:
    case TDS_TYPE_DATETIMEOFFSETN:
    case TDS_TYPE_DATETIMEN:
    case TDS_TYPE_GUID: return (WireCopy){.is_same = true, .null_len = 1};
    case TDS_TYPE_NVARCHAR: /* dates and UTF-8 text become such for clients that do not know them */
        if (stored->kind != SIM_NVARCHAR) return (WireCopy){0};
        break;
    case TDS_TYPE_NCHAR:
    case TDS_TYPE_BIGCHAR:
    case TDS_TYPE_BIGVARCHAR:
    case TDS_TYPE_BIGBINARY:
    case TDS_TYPE_BIGVARBINARY: break;
    default: return (WireCopy){0};
    }
    return (WireCopy){
        .is_same = true, .is_long = sent->length < 0, .null_len = sent->length < 0 ? 8 : 2};
}

static bool on_columns(SimSink *base, const SimResultColumn *columns, size_t count)
{
    TdsSink *sink = of(base);

    put_pending(sink, false);
    arena_reset(sink->columns_arena);
    sink->columns      = ARENA_ARRAY(sink->columns_arena, TdsColumn, count + 1);
    sink->values       = ARENA_ARRAY(sink->columns_arena, TdsValue, count + 1);
    sink->sim_types    = ARENA_ARRAY(sink->columns_arena, SimType, count + 1);
    sink->copies       = ARENA_ARRAY(sink->columns_arena, WireCopy, count + 1);
    sink->encoded      = ARENA_ARRAY(sink->columns_arena, Bytes, count + 1);
    sink->is_null      = ARENA_ARRAY(sink->columns_arena, bool, count + 1);
    sink->column_count = count;
    sink->text_size    = (size_t)sim_session_text_size(sink->session);
    for (size_t i = 0; i < count; i++) {
        sink->columns[i]   = column_of(sink, &columns[i]);
        sink->sim_types[i] = columns[i].type;
        sink->copies[i]    = copy_of(&columns[i].type, &sink->columns[i].type);
    }
    if (sink->omits_columns)
        tds_put_no_columns(sink->writer);
    else
        tds_put_columns(sink->writer, sink->client.tds_version, sink->columns, count);
    if (!sink->omits_columns && count > 0 && columns[count - 1].is_hidden)
        tds_put_hidden_column(sink->writer, sink->client.tds_version, count);
    return is_open(sink);
}

/* (max) types and their forerunners are cut to SET TEXTSIZE, between characters. */
static bool is_long(const TdsType *type)
{
    return type->length < 0 || type->token == TDS_TYPE_TEXT || type->token == TDS_TYPE_NTEXT ||
           type->token == TDS_TYPE_IMAGE;
}

static void cut_long_value(const TdsSink *sink, size_t index)
{
    TdsValue      *value = &sink->values[index];
    const TdsType *type  = &sink->columns[index].type;
    size_t         unit  = type->token == TDS_TYPE_NVARCHAR || type->token == TDS_TYPE_NTEXT ||
                          type->token == TDS_TYPE_XML
                               ? 2
                               : 1;

    if (value->is_null || !is_long(type)) return;
    if (value->bytes.len > sink->text_size)
        value->bytes.len = sink->text_size - sink->text_size % unit;
}

static bool on_row(SimSink *base, const SimValue *values, size_t count)
{
    TdsSink *sink = of(base);

    arena_reset(sink->row_arena);
    for (size_t i = 0; i < count; i++)
        sink->values[i] = tds_value_of_sim(&values[i], &sink->sim_types[i], &sink->columns[i].type,
                                           sink->row_arena);
    for (size_t i = 0; i < count && sink->text_size < TEXT_SIZE_MOST; i++)
        cut_long_value(sink, i);
    tds_put_row(sink->writer, sink->client.tds_version, sink->columns, sink->values, count);
    return is_open(sink);
}

/* As SimSink.wire_row has it: no column that can be copied is looked into. */
static bool on_wire_row(SimSink *base, const Bytes *wires, const SimValue *values, size_t count)
{
    TdsSink *sink = of(base);

    arena_reset(sink->row_arena);
    for (size_t i = 0; i < count; i++) {
        const WireCopy *copy = &sink->copies[i];
        SimValue        stored;
        const SimValue *value = &values[i];
        if (wires[i].ptr != NULL && copy->is_same &&
            !(copy->is_long && wires[i].len > sink->text_size)) {
            sink->encoded[i] = wires[i];
            sink->is_null[i] = wires[i].len == copy->null_len &&
                               (copy->null_len != 2 || wires[i].ptr[0] == 0xFF);
            continue;
        }
        if (wires[i].ptr != NULL) {
            sim_wire_value(&sink->sim_types[i], wires[i], &stored);
            value = &stored;
        }
        sink->encoded[i].ptr = NULL;
        sink->values[i]      = tds_value_of_sim(value, &sink->sim_types[i], &sink->columns[i].type,
                                                sink->row_arena);
        sink->is_null[i]     = sink->values[i].is_null;
        if (sink->text_size < TEXT_SIZE_MOST) cut_long_value(sink, i);
    }
    tds_put_encoded_row(sink->writer, sink->client.tds_version, sink->columns, sink->encoded,
                        sink->is_null, sink->values, count);
    return is_open(sink);
}

static bool on_message(SimSink *base, const SimError *message)
{
    TdsSink         *sink = of(base);
    TdsServerMessage tds  = {.number    = message->number,
                             .line      = MAX(message->line, 1),
                             .state     = message->state,
                             .severity  = message->severity,
                             .text      = sim_error_text(message),
                             .server    = sink->server_name,
                             .procedure = str_from_c(message->procedure)};

    put_pending(sink, false);
    if (message->severity >= 20) sink->is_fatal = true;
    tds_put_message(sink->writer, sink->client.tds_version, message->severity > 10, &tds);
    return is_open(sink);
}

static bool on_done(SimSink *base, const SimDone *done)
{
    TdsSink *sink = of(base);

    if (done->is_attention) {
        sink->ended_by_attention = true;
        return is_open(sink);
    }
    put_pending(sink, false);
    sink->pending     = *done;
    sink->has_pending = true;
    return is_open(sink);
}

static bool on_env_change(SimSink *base, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    TdsSink *sink = of(base);

    put_pending(sink, false);
    if (kind == SIM_ENV_DATABASE || kind == SIM_ENV_LANGUAGE || kind == SIM_ENV_PACKET_SIZE)
        tds_put_env_text(sink->writer, (uint8_t)kind, bytes_str(new_value), bytes_str(old_value));
    else
        tds_put_env_bytes(sink->writer, (uint8_t)kind, new_value, old_value);
    return is_open(sink);
}

static bool on_return_status(SimSink *base, int32_t status)
{
    TdsSink *sink = of(base);

    put_pending(sink, false);
    tds_put_return_status(sink->writer, status);
    return is_open(sink);
}

/* Which parameter of the call comes back: the one of this name, else the next that is for output. Clients count by it. */
static uint16_t take_ordinal(TdsSink *sink, Str name)
{
    size_t i = sink->next_output;

    for (size_t k = 0; k < sink->parameter_count; k++)
        if (!str_is_empty(name) && sim_name_equal(sink->parameters[k].name, name))
            return (uint16_t)k;
    while (i < sink->parameter_count && !sink->parameters[i].is_output)
        i++;
    sink->next_output = i + 1;
    return (uint16_t)i;
}

static bool on_return_value(SimSink *base, Str name, const SimValue *value)
{
    TdsSink *sink = of(base);
    TdsType  type = tds_type_of_sim(&value->type, &sink->client);
    TdsValue wire;

    put_pending(sink, false);
    arena_reset(sink->row_arena);
    wire = tds_value_of_sim(value, &value->type, &type, sink->row_arena);
    tds_put_return_value(sink->writer, sink->client.tds_version, take_ordinal(sink, name), name,
                         &type, &wire);
    return is_open(sink);
}

void tds_sink_init(TdsSink *sink, TdsWriter *writer, const SimSession *session,
                   const TdsClient *client, Str server_name)
{
    *sink = (TdsSink){.sink          = {.columns       = on_columns,
                                        .row           = on_row,
                                        .wire_row      = on_wire_row,
                                        .message       = on_message,
                                        .done          = on_done,
                                        .env_change    = on_env_change,
                                        .return_status = on_return_status,
                                        .return_value  = on_return_value},
                      .writer        = writer,
                      .client        = *client,
                      .session       = session,
                      .server_name   = server_name,
                      .columns_arena = arena_new(),
                      .row_arena     = arena_new()};
}

void tds_sink_close(TdsSink *sink)
{
    arena_close(sink->columns_arena);
    arena_close(sink->row_arena);
}

void tds_sink_begin(TdsSink *sink)
{
    sink->has_pending = sink->ended_by_attention = sink->is_fatal = sink->omits_columns = false;
    sink->parameter_count                                                               = 0;
}

static void put_state(TdsSink *sink)
{
    bool is_recoverable = sim_session_is_recoverable(sink->session);

    if (!sink->tells_state || is_recoverable == sink->was_recoverable) return;
    tds_put_session_state(sink->writer, ++sink->state_sequence, is_recoverable);
    sink->was_recoverable = is_recoverable;
}

void tds_sink_finish(TdsSink *sink, bool is_rpc)
{
    put_state(sink);
    if (!sink->has_pending) {
        sink->pending     = (SimDone){.kind = is_rpc ? SIM_DONE_PROC : SIM_DONE_STATEMENT};
        sink->has_pending = true;
    }
    put_pending(sink, true);
}
