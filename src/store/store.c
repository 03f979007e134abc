/* The calls of store.h: each goes to the implementation, after what is the same for all of them. */
#include "store/store.h"

#include "base/buf.h"
#include "base/checksum.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)256 << 10)

bool store_read(Store *store, Str path, size_t limit_bytes, Arena *arena, Bytes *out, Err *err)
{
    return store->read(store, path, limit_bytes, arena, out, err);
}

bool store_stat(Store *store, Str path, StoreEntry *out, Err *err)
{
    return store->stat(store, path, out, err);
}

bool store_put_new(Store *store, Str path, Bytes data, Err *err)
{
    return store->put_new(store, path, data, err);
}

bool store_replace(Store *store, Str path, Bytes data, Err *err)
{
    return store->replace(store, path, data, err);
}

bool store_list_after(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                      Err *err)
{
    return store->list_after(store, directory, after, arena, out, err);
}

bool store_remove(Store *store, Str path, Err *err)
{
    return store->remove(store, path, err);
}

bool store_list_children(Store *store, Str directory, Arena *arena, StoreChildren *out, Err *err)
{
    return store->list_children(store, directory, arena, out, err);
}

bool store_remove_directory(Store *store, Str path, bool *removed_out, Err *err)
{
    return store->remove_directory(store, path, removed_out, err);
}

bool store_fetch_local(Store *store, Str path, Arena *arena, Str *local_out, Err *err)
{
    return store->fetch_local(store, path, arena, local_out, err);
}

void store_close(Store *store)
{
    if (store) store->close(store);
}

Str store_join(Arena *arena, Str directory, Str name)
{
    while (name.len > 0 && name.ptr[0] == '/' && directory.len > 0)
        name = str_slice(name, 1, name.len);
    if (directory.len == 0) return str_copy(arena, name);
    if (name.len == 0) return str_copy(arena, directory);
    const char *separator = directory.ptr[directory.len - 1] == '/' ? "" : "/";
    return str_printf(arena, "%.*s%s%.*s", STR_ARG(directory), separator, STR_ARG(name));
}

static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

Str store_encode_component(Arena *arena, Str text)
{
    Buf buf = buf_new(arena, 0);
    for (size_t i = 0; i < text.len; i++) {
        if (is_unreserved(text.ptr[i]))
            buf_append_char(&buf, text.ptr[i]);
        else
            buf_printf(&buf, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
    }
    return buf_str(&buf);
}

bool store_staging_open(Store *store, Str table_path, Str purpose, Rng *rng, StoreStaging **out,
                        Err *err)
{
    Arena *scratch = arena_new();
    Str    encoded = store_encode_component(scratch, purpose);
    Str    run_id  = rng_uuid4(rng, scratch);
    bool   ok      = store->staging_open(store, table_path, encoded, run_id, out, err);

    arena_close(scratch);
    return ok || err_context(err, "staging for %.*s", STR_ARG(purpose));
}

bool store_staging_file(StoreStaging *staging, Str name, Arena *arena, Str *local_out, Err *err)
{
    assert(name.len > 0);
    assert(str_find_char(name, '/', 0) < 0);
    (void)atomic_fetch_add(&staging->unpublished, 1U);
    return staging->store->staging_file(staging, name, arena, local_out, err);
}

static bool write_all(int fd, Bytes data)
{
    size_t done = 0;

    while (done < data.len) {
        ssize_t count = write(fd, data.ptr + done, data.len - done);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) done += (size_t)count;
    }
    return true;
}

bool store_staging_put(StoreStaging *staging, Str name, Bytes data, Err *err)
{
    Arena *scratch = arena_new();
    Str    local;
    bool   ok = store_staging_file(staging, name, scratch, &local, err);

    if (ok) {
        int fd    = open(str_c(scratch, local), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        ok        = fd >= 0 && write_all(fd, data);
        int error = errno;
        if (fd >= 0 && close(fd) != 0 && ok) {
            ok    = false;
            error = errno;
        }
        if (!ok) err_set_errno(err, ERR_STORE, error, "%.*s: could not be written", STR_ARG(local));
    }
    arena_close(scratch);
    return ok;
}

bool store_staging_publish(StoreStaging *staging, Str name, Str path, StoreEntry *out, Err *err)
{
    if (!staging->store->staging_publish(staging, name, path, out, err)) return false;
    (void)atomic_fetch_sub(&staging->unpublished, 1U);
    return true;
}

bool store_staging_sync(StoreStaging *staging, Err *err)
{
    return staging->store->staging_sync(staging, err);
}

bool store_staging_is_fresh(StoreStaging *staging)
{
    return atomic_load(&staging->unpublished) == 0 && staging->store->staging_is_there(staging);
}

void store_staging_close(StoreStaging *staging)
{
    if (staging) staging->store->staging_close(staging);
}

void store_staging_abandon(StoreStaging *staging)
{
    if (staging) staging->store->staging_abandon(staging);
}

bool store_staging_seal(StoreStaging *staging, const Str *names, size_t count, Str seal, Bytes data,
                        Err *err)
{
    (void)atomic_fetch_add(&staging->unpublished, 1U); /* the seal */
    return staging->store->staging_seal(staging, names, count, seal, data, err);
}

bool store_staging_take(Store *store, Str table_path, Str purpose, Arena *arena, StoreStagings *out,
                        Err *err)
{
    Arena *scratch = arena_new();
    bool   ok = store->staging_take(store, table_path, store_encode_component(scratch, purpose),
                                    arena, out, err);

    arena_close(scratch);
    return ok || err_context(err, "staging for %.*s", STR_ARG(purpose));
}

/* Reads a staged file piece by piece; `data` NULL: only its measure is wanted. */
static bool read_staged(StoreStaging *staging, Str name, Buf *data, StoreMeasure *out, Err *err)
{
    Arena   *scratch = arena_new();
    Checksum sum     = checksum_begin();
    Str      local;
    uint8_t *piece;
    ssize_t  count = 0;
    int      fd;
    bool     ok = store_staging_file(staging, name, scratch, &local, err);

    *out = (StoreMeasure){0};
    if (!ok) goto done;
    fd = open(str_c(scratch, local), O_RDONLY | O_CLOEXEC);
    ok = fd >= 0 ||
         err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_STORE, errno,
                       "%.*s: could not be opened at %.*s", STR_ARG(name), STR_ARG(local));
    if (!ok) goto done;
    piece = arena_alloc(scratch, PIECE_BYTES);
    while (ok && (count = read(fd, piece, PIECE_BYTES)) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            ok = err_set_errno(err, ERR_STORE, errno, "%.*s: could not be read at %.*s",
                               STR_ARG(name), STR_ARG(local));
            break;
        }
        checksum_add(&sum, (Bytes){piece, (size_t)count});
        out->size_bytes += count;
        if (data) buf_append_bytes(data, piece, (size_t)count);
        if (data && data->overflow)
            ok = err_set(err, ERR_LIMIT, "%.*s: is larger than was ever written, at %.*s",
                         STR_ARG(name), STR_ARG(local));
    }
    (void)close(fd);
    out->checksum = checksum_end(&sum);
    ok            = ok && (out->size_bytes > 0 ||
                err_set(err, ERR_NOT_FOUND, "%.*s: is empty, or not there, at %.*s", STR_ARG(name),
                                   STR_ARG(local)));
done:
    arena_close(scratch);
    return ok;
}

bool store_staging_read(StoreStaging *staging, Str name, size_t limit_bytes, Arena *arena,
                        Bytes *out, Err *err)
{
    Buf          buf = buf_new(arena, limit_bytes);
    StoreMeasure ignored;

    if (!read_staged(staging, name, &buf, &ignored, err)) return false;
    *out = str_bytes(buf_str(&buf));
    return true;
}

bool store_staging_measure(StoreStaging *staging, Str name, StoreMeasure *out, Err *err)
{
    return read_staged(staging, name, NULL, out, err);
}

bool store_staging_sweep(Store *store, Str table_path, bool dry_run, Arena *arena,
                         StoreDeadRuns *out, int64_t *held_out, Err *err)
{
    int64_t ignored;
    return store->staging_sweep(store, table_path, dry_run, arena, out,
                                held_out ? held_out : &ignored, err);
}
