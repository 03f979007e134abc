/* tds_test.h - a transport in memory: what is written can be read again, in pieces of any size. */
#ifndef TIDELAKE_TDS_TEST_H
#define TIDELAKE_TDS_TEST_H

#include "support/test_support.h"

#include "tds/tds_packet.h"

typedef struct Pipe {
    TdsTransport transport; /* first */
    Arena       *arena;
    Buf          bytes;
    size_t       at;         /* next byte to read */
    size_t       piece;      /* at most so many at once; 0: all */
    size_t       cut_at;     /* the first piece ends here; 0: nowhere */
    size_t       write_most; /* bytes before a write fails */
    size_t       write_count;
} Pipe;

static bool pipe_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    Pipe  *pipe = (Pipe *)base;
    size_t left = pipe->bytes.len - pipe->at, most = pipe->piece ? pipe->piece : left;

    (void)err;
    if (pipe->cut_at > pipe->at) most = MIN(most, pipe->cut_at - pipe->at);
    *got_out = MIN(MIN(size, left), most);
    if (*got_out > 0) memcpy(buf, pipe->bytes.ptr + pipe->at, *got_out);
    pipe->at += *got_out;
    return true;
}

static bool pipe_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    Pipe *pipe = (Pipe *)base;

    if (pipe->bytes.len + len > pipe->write_most) return err_set(err, ERR_SOURCE, "the pipe broke");
    buf_append_bytes(&pipe->bytes, bytes, len);
    pipe->write_count++;
    return true;
}

UNUSED static bool pipe_write_parts(TdsTransport *base, struct iovec *parts, size_t count, Err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!pipe_write(base, parts[i].iov_base, parts[i].iov_len, err)) return false;
        parts[i].iov_len = 0; /* they may be changed, so they are */
    }
    return true;
}

UNUSED static Pipe pipe_new(Arena *arena)
{
    return (Pipe){.transport  = {.read = pipe_read, .write = pipe_write},
                  .arena      = arena,
                  .bytes      = buf_new(arena, 0),
                  .write_most = SIZE_MAX};
}

/* A writer and what came out of it. */
typedef struct Wire {
    Arena     *arena;
    Pipe       pipe;
    TdsWriter *writer;
} Wire;

UNUSED static void wire_begin(Wire *wire, TdsPacketType type, uint16_t spid)
{
    wire->arena  = arena_new();
    wire->pipe   = pipe_new(wire->arena);
    wire->writer = tds_writer_new(&wire->pipe.transport);
    tds_writer_begin(wire->writer, type, spid);
}

UNUSED static void wire_close(Wire *wire)
{
    tds_writer_close(wire->writer);
    arena_close(wire->arena);
}

/* What was put into `writer` since tds_writer_begin, as one message's body. */
UNUSED static Bytes pipe_finish(Pipe *pipe, TdsWriter *writer)
{
    TdsMessage message;
    Err        err = ERR_INIT;
    bool       is_end;

    assert_ok(tds_writer_end(writer, &err), &err);
    assert_ok(tds_read_message(&pipe->transport, pipe->arena, TDS_MAX_MESSAGE_BYTES, &message,
                               &is_end, &err),
              &err);
    assert_false(is_end);
    assert_int_equal(pipe->at, pipe->bytes.len);
    return message.body;
}

#endif
