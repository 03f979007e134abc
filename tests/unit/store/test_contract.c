/* What store.h promises, against every store: local, memory, and memory behind a fault store
 * without faults. */
#include "store_test.h"

#include "base/buf.h"

/* --- files --- */

static void put_new_makes_a_file_and_its_directories(void **state)
{
    StoreWorld *world = *state;
    put(world, "t/_delta_log/00.json", "first");
    assert_content(world, "t/_delta_log/00.json", "first");
    assert_listed(world, "t/_delta_log", "00.json ");
}

static void put_new_never_replaces(void **state)
{
    StoreWorld *world = *state;
    put(world, "a/b", "old");
    assert_false(store_put_new(world->store, STR("a/b"), str_bytes(STR("new")), &world->err));
    assert_err(&world->err, ERR_CONFLICT, "a/b");
    assert_content(world, "a/b", "old");
    assert_listed(world, "a", "b ");
}

static void put_new_keeps_an_empty_content_and_every_byte(void **state)
{
    StoreWorld *world = *state;
    uint8_t     all[512];
    Bytes       got;

    put(world, "empty", "");
    assert_content(world, "empty", "");
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (uint8_t)i;
    assert_ok(store_put_new(world->store, STR("all"), (Bytes){all, sizeof(all)}, &world->err),
              &world->err);
    assert_ok(store_read(world->store, STR("all"), READ_LIMIT, world->arena, &got, &world->err),
              &world->err);
    assert_int_equal(got.len, sizeof(all));
    assert_memory_equal(got.ptr, all, sizeof(all));
}

static void a_name_below_a_file_cannot_be_made(void **state)
{
    StoreWorld *world = *state;
    put(world, "a", "file");
    assert_false(store_put_new(world->store, STR("a/b"), str_bytes(STR("x")), &world->err));
    assert_err(&world->err, ERR_STORE, "a");
    assert_int_equal(world->err.native, ENOTDIR);
    assert_false(store_replace(world->store, STR("a/b"), str_bytes(STR("x")), &world->err));
    assert_err(&world->err, ERR_STORE, "a");
    assert_content(world, "a", "file");
}

static void a_directory_is_not_a_file(void **state)
{
    StoreWorld *world = *state;
    Bytes       bytes;
    StoreEntry  entry;
    Str         local;

    put(world, "d/f", "x");
    assert_false(store_read(world->store, STR("d"), READ_LIMIT, world->arena, &bytes, &world->err));
    assert_err(&world->err, ERR_STORE, "d");
    assert_int_equal(world->err.native, EISDIR);
    assert_false(store_stat(world->store, STR("d"), &entry, &world->err));
    assert_err(&world->err, ERR_STORE, "d");
    assert_false(store_fetch_local(world->store, STR("d"), world->arena, &local, &world->err));
    assert_err(&world->err, ERR_STORE, "d");
    assert_false(store_put_new(world->store, STR("d"), str_bytes(STR("x")), &world->err));
    assert_err(&world->err, ERR_CONFLICT, "d");
    assert_false(store_replace(world->store, STR("d"), str_bytes(STR("x")), &world->err));
    assert_err(&world->err, ERR_STORE, "d");
    assert_listed(world, "d", "f ");
    assert_listed(world, ".", "");
}

static void an_impossible_path_is_refused(void **state)
{
    StoreWorld *world = *state;
    char        text[8192];
    Bytes       data = str_bytes(STR("x"));

    memset(text, 'a', sizeof(text));
    assert_false(store_put_new(world->store, STR(""), data, &world->err));
    assert_err(&world->err, ERR_STORE, "empty path");
    assert_false(store_put_new(world->store, STR("a\0b"), data, &world->err));
    assert_err(&world->err, ERR_STORE, "NUL");
    assert_false(store_put_new(world->store, (Str){text, sizeof(text)}, data, &world->err));
    assert_err(&world->err, ERR_STORE, "aaa");
    assert_int_equal(world->err.native, ENAMETOOLONG);
}

static void replace_takes_the_place_of_the_old_content(void **state)
{
    StoreWorld *world = *state;
    replace(world, "s/_last_checkpoint", "one");
    assert_content(world, "s/_last_checkpoint", "one");
    replace(world, "s/_last_checkpoint", "two, and longer");
    assert_content(world, "s/_last_checkpoint", "two, and longer");
    assert_listed(world, "s", "_last_checkpoint ");
}

/* delta.md 2.10: Spark would refuse the new content because of the old checksum. */
static void replace_removes_the_stale_checksum(void **state)
{
    StoreWorld *world = *state;
    put(world, "s/._last_checkpoint.crc", "crc of Hadoop");
    put(world, "s/.other.crc", "stays");
    replace(world, "s/_last_checkpoint", "new");
    assert_absent(world, "s/._last_checkpoint.crc");
    assert_content(world, "s/.other.crc", "stays");
}

static void read_refuses_more_than_its_limit(void **state)
{
    StoreWorld *world = *state;
    Bytes       bytes;

    put(world, "five", "12345");
    assert_false(store_read(world->store, STR("five"), 4, world->arena, &bytes, &world->err));
    assert_err(&world->err, ERR_LIMIT, "five");
    assert_ok(store_read(world->store, STR("five"), 5, world->arena, &bytes, &world->err),
              &world->err);
    assert_int_equal(bytes.len, 5);
}

static void what_is_not_there_is_not_found(void **state)
{
    StoreWorld *world = *state;
    Bytes       bytes;
    StoreEntry  entry;
    Str         local;

    assert_false(
        store_read(world->store, STR("no/f"), READ_LIMIT, world->arena, &bytes, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "no/f");
    assert_false(store_stat(world->store, STR("no/f"), &entry, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "no/f");
    assert_false(store_fetch_local(world->store, STR("no/f"), world->arena, &local, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "no/f");
}

static void stat_tells_size_and_time(void **state)
{
    StoreWorld *world  = *state;
    int64_t     before = clock_utc_us(world->clock);
    StoreEntry  entry;

    put(world, "f", "1234567");
    assert_ok(store_stat(world->store, STR("f"), &entry, &world->err), &world->err);
    assert_int_equal(entry.size_bytes, 7);
    assert_true(entry.modified_utc_us > before - 2000000); /* a disk's clock may be coarse */
    assert_true(entry.modified_utc_us < before + 60000000);
}

static void remove_takes_the_file_and_forgives_its_absence(void **state)
{
    StoreWorld *world = *state;
    put(world, "a/b", "x");
    put(world, "a/c", "y");
    assert_ok(store_remove(world->store, STR("a/b"), &world->err), &world->err);
    assert_ok(store_remove(world->store, STR("a/b"), &world->err), &world->err);
    assert_ok(store_remove(world->store, STR("nowhere/b"), &world->err), &world->err);
    assert_listed(world, "a", "c ");
    put(world, "a/b", "again");
    assert_content(world, "a/b", "again");
}

static void remove_refuses_a_directory(void **state)
{
    StoreWorld *world = *state;
    put(world, "a/b", "x");
    assert_false(store_remove(world->store, STR("a"), &world->err));
    assert_err(&world->err, ERR_STORE, "a");
    assert_content(world, "a/b", "x");
}

static void list_is_sorted_bytewise_and_starts_after(void **state)
{
    StoreWorld *world = *state;
    put(world, "l/b", "");
    put(world, "l/a", "");
    put(world, "l/B", "");
    put(world, "l/a0", "");
    put(world, "l/\xC3\xA9", "");
    put(world, "l/sub/x", "");
    put(world, "l2/x", "");
    assert_listed(world, "l", "B a a0 b \xC3\xA9 ");
    assert_listed(world, "l/", "B a a0 b \xC3\xA9 ");
    assert_listed_after(world, "l", "a", "a0 b \xC3\xA9 ");
    assert_listed_after(world, "l", "a1", "b \xC3\xA9 ");
    assert_listed_after(world, "l", "\xFF", "");
    assert_listed(world, "nowhere/at/all", "");
}

static void list_has_sizes_and_hides_nothing_of_others(void **state)
{
    StoreWorld *world = *state;
    StoreList   list;

    put(world, "l/.hidden", "12");
    put(world, "l/x.tmp", "123");
    assert_listed(world, "l", ".hidden x.tmp ");
    assert_ok(store_list_after(world->store, STR("l"), STR(""), world->arena, &list, &world->err),
              &world->err);
    assert_int_equal(list.entries[0].size_bytes, 2);
    assert_int_equal(list.entries[1].size_bytes, 3);
    assert_true(list.entries[1].modified_utc_us > 0);
}

static void list_refuses_a_file(void **state)
{
    StoreWorld *world = *state;
    StoreList   list;

    put(world, "l", "a file");
    assert_false(
        store_list_after(world->store, STR("l"), STR(""), world->arena, &list, &world->err));
    assert_err(&world->err, ERR_STORE, "l");
    assert_int_equal(world->err.native, ENOTDIR);
}

static void one_file_has_one_name(void **state)
{
    StoreWorld *world = *state;
    put(world, "a/b/c", "x");
    assert_content(world, "a//b/c", "x");
    assert_content(world, "./a/b/./c", "x");
}

static void names_may_hold_anything_but_a_slash(void **state)
{
    StoreWorld *world = *state;
    put(world, "d/it's [1]*?.%20 \"x\" \xF0\x9F\x98\x80", "odd");
    assert_content(world, "d/it's [1]*?.%20 \"x\" \xF0\x9F\x98\x80", "odd");
    assert_listed(world, "d", "it's [1]*?.%20 \"x\" \xF0\x9F\x98\x80 ");
    put(world, "~x", "no home");
    assert_content(world, "~x", "no home");
}

static void fetch_local_gives_a_path_to_read_at(void **state)
{
    StoreWorld *world = *state;
    Str         first, second;

    put(world, "t/data.parquet", "PAR1");
    assert_ok(
        store_fetch_local(world->store, STR("t/data.parquet"), world->arena, &first, &world->err),
        &world->err);
    assert_string_equal(read_local(world->arena, first), "PAR1");
    assert_ok(
        store_fetch_local(world->store, STR("t/data.parquet"), world->arena, &second, &world->err),
        &world->err);
    assert_true(str_equal(first, second));
    assert_int_equal(first.ptr[0], '/');
    assert_content(world, "t/data.parquet", "PAR1");
}

/* --- staging --- */

static StoreStaging *open_staging(StoreWorld *world, Str purpose)
{
    StoreStaging *staging = NULL;
    assert_ok(
        store_staging_open(world->store, STR("t"), purpose, world->rng, &staging, &world->err),
        &world->err);
    return staging;
}

static void stage(StoreWorld *world, StoreStaging *staging, Str name, const char *text)
{
    Str local;
    assert_ok(store_staging_file(staging, name, world->arena, &local, &world->err), &world->err);
    write_local(local, text);
}

static void a_staged_file_is_published_once(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = open_staging(world, STR("stream.orders-v1"));
    StoreEntry    entry;

    stage(world, staging, STR("p.parquet"), "data");
    assert_absent(world, "t/p.parquet");
    assert_ok(
        store_staging_publish(staging, STR("p.parquet"), STR("t/p.parquet"), &entry, &world->err),
        &world->err);
    assert_int_equal(entry.size_bytes, 4);
    assert_true(entry.modified_utc_us > 0);
    assert_ok(store_staging_sync(staging, &world->err), &world->err);
    assert_content(world, "t/p.parquet", "data");
    assert_false(
        store_staging_publish(staging, STR("p.parquet"), STR("t/q.parquet"), NULL, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "p.parquet");
    store_staging_close(staging);
    assert_content(world, "t/p.parquet", "data");
}

static void publish_never_replaces(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = open_staging(world, STR("apply"));

    put(world, "t/p.parquet", "old");
    stage(world, staging, STR("p.parquet"), "new");
    assert_false(
        store_staging_publish(staging, STR("p.parquet"), STR("t/p.parquet"), NULL, &world->err));
    assert_err(&world->err, ERR_CONFLICT, "t/p.parquet");
    assert_content(world, "t/p.parquet", "old");
    assert_ok(
        store_staging_publish(staging, STR("p.parquet"), STR("t/q.parquet"), NULL, &world->err),
        &world->err);
    assert_content(world, "t/q.parquet", "new");
    store_staging_close(staging);
}

static void publish_makes_missing_directories(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = open_staging(world, STR("checkpoint"));

    stage(world, staging, STR("c"), "checkpoint");
    assert_ok(store_staging_publish(staging, STR("c"), STR("t/_delta_log/10.checkpoint.parquet"),
                                    NULL, &world->err),
              &world->err);
    assert_content(world, "t/_delta_log/10.checkpoint.parquet", "checkpoint");
    store_staging_close(staging);
}

static void a_staged_name_does_not_create_anything(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = open_staging(world, STR("apply"));
    Str           local;

    assert_ok(store_staging_file(staging, STR("never"), world->arena, &local, &world->err),
              &world->err);
    assert_false(store_staging_publish(staging, STR("never"), STR("t/never"), NULL, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "never");
    store_staging_close(staging);
    assert_absent(world, "t/never");
}

static void two_runs_of_one_purpose_do_not_see_each_other(void **state)
{
    StoreWorld   *world  = *state;
    StoreStaging *first  = open_staging(world, STR("stream.x"));
    StoreStaging *second = open_staging(world, STR("stream.x"));

    stage(world, first, STR("p"), "of the first");
    stage(world, second, STR("p"), "of the second");
    assert_ok(store_staging_publish(first, STR("p"), STR("t/first"), NULL, &world->err),
              &world->err);
    store_staging_close(first);
    assert_ok(store_staging_publish(second, STR("p"), STR("t/second"), NULL, &world->err),
              &world->err);
    store_staging_close(second);
    assert_content(world, "t/first", "of the first");
    assert_content(world, "t/second", "of the second");
}

/* The run that died holds its lock no more; whoever has the same purpose next clears up. */
static void the_files_of_a_dead_run_go_with_the_next_of_its_purpose(void **state)
{
    StoreWorld   *world = *state;
    StoreStaging *dead  = open_staging(world, STR("stream.x"));
    StoreStaging *alive = open_staging(world, STR("stream.x"));
    StoreStaging *other = open_staging(world, STR("stream.y"));
    Str           dead_file, alive_file, other_file;

    assert_ok(store_staging_file(dead, STR("d"), world->arena, &dead_file, &world->err),
              &world->err);
    assert_ok(store_staging_file(alive, STR("a"), world->arena, &alive_file, &world->err),
              &world->err);
    assert_ok(store_staging_file(other, STR("o"), world->arena, &other_file, &world->err),
              &world->err);
    write_local(dead_file, "dead");
    write_local(alive_file, "alive");
    write_local(other_file, "other");
    store_staging_abandon(dead);
    store_staging_abandon(other);

    StoreStaging *next = open_staging(world, STR("stream.x"));
    if (world->dir) {
        assert_int_equal(access(str_c(world->arena, dead_file), F_OK), -1);
        assert_int_equal(access(str_c(world->arena, other_file), F_OK), 0);
    }
    assert_ok(store_staging_publish(alive, STR("a"), STR("t/a"), NULL, &world->err), &world->err);
    assert_content(world, "t/a", "alive");
    store_staging_close(alive);
    store_staging_close(next);
    store_staging_close(open_staging(world, STR("stream.y")));
    if (world->dir)
        assert_int_equal(
            access(str_printf(world->arena, "%s/t/_tidelake_staging", world->dir).ptr, F_OK), -1);
}

/* What a run sealed before it died, the next one takes over; a run that lives keeps its own. */
static void sealed_files_are_taken_over(void **state)
{
    StoreWorld   *world   = *state;
    Str           names[] = {STR("a"), STR("b")};
    StoreStaging *dead    = open_staging(world, STR("backfill.x"));
    StoreStaging *broken  = open_staging(world, STR("backfill.x"));
    StoreStaging *alive   = open_staging(world, STR("backfill.x"));
    StoreStaging *other   = open_staging(world, STR("backfill.y"));
    StoreStagings taken;
    StoreMeasure  before, after;
    StoreEntry    entry;
    Bytes         seal;

    stage(world, dead, STR("a"), "rows of a");
    stage(world, dead, STR("b"), "rows of b");
    stage(world, broken, STR("c"), "half a fi");
    assert_ok(store_staging_measure(dead, STR("a"), &before, &world->err), &world->err);
    assert_int_equal(before.size_bytes, 9);
    assert_ok(
        store_staging_seal(dead, names, 2, STR("seal"), str_bytes(STR("a and b")), &world->err),
        &world->err);
    assert_false(
        store_staging_seal(broken, names, 1, STR("seal"), str_bytes(STR("a")), &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "a");
    assert_ok(
        store_staging_seal(alive, NULL, 0, STR("seal"), str_bytes(STR("nothing")), &world->err),
        &world->err);
    store_staging_abandon(dead);
    store_staging_abandon(broken);
    store_staging_abandon(other);

    assert_ok(store_staging_take(world->store, STR("t"), STR("backfill.x"), world->arena, &taken,
                                 &world->err),
              &world->err);
    assert_int_equal(taken.count, 2);
    dead = NULL;
    for (size_t i = 0; i < taken.count; i++) {
        err_clear(&world->err);
        if (store_staging_read(taken.items[i], STR("seal"), 100, world->arena, &seal,
                               &world->err)) {
            dead = taken.items[i];
            assert_str_is(bytes_str(seal), "a and b");
        } else {
            assert_err(&world->err, ERR_NOT_FOUND, "seal");
            store_staging_close(taken.items[i]);
        }
    }
    assert_non_null(dead);
    assert_false(store_staging_read(dead, STR("seal"), 3, world->arena, &seal, &world->err));
    assert_err(&world->err, ERR_LIMIT, "seal");
    /* it is held now: neither a second taker nor the next run of the purpose has it */
    assert_ok(store_staging_take(world->store, STR("t"), STR("backfill.x"), world->arena, &taken,
                                 &world->err),
              &world->err);
    assert_int_equal(taken.count, 0);
    store_staging_close(open_staging(world, STR("backfill.x")));
    assert_ok(store_staging_measure(dead, STR("a"), &after, &world->err), &world->err);
    assert_true(before.checksum == after.checksum);
    stage(world, dead, STR("a"), "rows of A");
    assert_ok(store_staging_measure(dead, STR("a"), &after, &world->err), &world->err);
    assert_true(before.checksum != after.checksum);
    assert_ok(store_staging_publish(dead, STR("b"), STR("t/b"), &entry, &world->err), &world->err);
    assert_ok(store_staging_sync(dead, &world->err), &world->err);
    assert_content(world, "t/b", "rows of b");
    assert_false(store_staging_measure(dead, STR("b"), &after, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "b");
    store_staging_close(dead);
    store_staging_close(alive);
    store_staging_close(open_staging(world, STR("backfill.y")));
    if (world->dir)
        assert_int_equal(
            access(str_printf(world->arena, "%s/t/_tidelake_staging", world->dir).ptr, F_OK), -1);
    assert_ok(store_staging_take(world->store, STR("t"), STR("backfill.x"), world->arena, &taken,
                                 &world->err),
              &world->err);
    assert_int_equal(taken.count, 0);
}

static void closing_removes_what_was_not_published(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = open_staging(world, STR("apply"));

    stage(world, staging, STR("kept"), "kept");
    stage(world, staging, STR("dropped"), "dropped");
    assert_ok(store_staging_publish(staging, STR("kept"), STR("t/kept"), NULL, &world->err),
              &world->err);
    store_staging_close(staging);
    assert_listed(world, "t", "kept ");
}

static void a_staging_is_fresh_while_nothing_of_it_is_unpublished(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = open_staging(world, STR("facts"));
    StoreMeasure  measure;
    Str           name = STR("a");

    assert_true(store_staging_is_fresh(staging));
    stage(world, staging, STR("a"), "a");
    stage(world, staging, STR("b"), "b");
    assert_false(store_staging_is_fresh(staging));
    assert_ok(store_staging_publish(staging, STR("a"), STR("t/a"), NULL, &world->err), &world->err);
    assert_false(store_staging_is_fresh(staging));
    assert_false(store_staging_publish(staging, STR("b"), STR("t/a"), NULL, &world->err));
    assert_false(store_staging_is_fresh(staging));
    assert_ok(store_staging_publish(staging, STR("b"), STR("t/b"), NULL, &world->err), &world->err);
    assert_true(store_staging_is_fresh(staging));
    stage(world, staging, STR("c"), "c"); /* it serves again */
    assert_ok(store_staging_publish(staging, STR("c"), STR("t/c"), NULL, &world->err), &world->err);
    assert_content(world, "t/c", "c");
    assert_ok(store_staging_seal(staging, &name, 0, STR("seal"), str_bytes(STR("s")), &world->err),
              &world->err);
    assert_false(store_staging_is_fresh(staging));
    assert_ok(store_staging_measure(staging, STR("seal"), &measure, &world->err), &world->err);
    store_staging_close(staging);
    assert_listed(world, "t", "a b c ");
}

static void a_purpose_may_hold_any_character(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = open_staging(world, STR("stream.a/b\xC3\xA9 ..%2F"));

    stage(world, staging, STR("p"), "x");
    assert_ok(store_staging_publish(staging, STR("p"), STR("t/p"), NULL, &world->err), &world->err);
    store_staging_close(staging);
    assert_content(world, "t/p", "x");
}

static Str children_of(StoreWorld *world, Str directory)
{
    StoreChildren children;
    Buf           buf = buf_new(world->arena, 0);

    assert_ok(store_list_children(world->store, directory, world->arena, &children, &world->err),
              &world->err);
    for (size_t i = 0; i < children.count; i++) {
        buf_printf(&buf, "%.*s%s:%lld ", STR_ARG(children.items[i].name),
                   children.items[i].is_directory ? "/" : "",
                   children.items[i].is_directory ? 0LL : (long long)children.items[i].size_bytes);
        assert_true(children.items[i].modified_utc_us > 0);
    }
    return buf_str(&buf);
}

static void children_are_files_and_folders_in_order(void **state)
{
    StoreWorld *world = *state;

    assert_str_is(children_of(world, STR("nowhere")), "");
    put(world, "t/b", "22");
    put(world, "t/a/x/y", "1");
    put(world, "t/a/z", "1");
    put(world, "t/a-b", "333");
    put(world, "t/.hidden", "");
    assert_str_is(children_of(world, STR("t")), ".hidden:0 a/:0 a-b:3 b:2 ");
    assert_str_is(children_of(world, STR("t/a")), "x/:0 z:1 ");
}

static void only_an_empty_directory_is_removed(void **state)
{
    StoreWorld *world = *state;
    bool        removed;

    put(world, "t/a/x", "1");
    assert_ok(store_remove_directory(world->store, STR("t/a"), &removed, &world->err), &world->err);
    assert_false(removed);
    assert_content(world, "t/a/x", "1");
    assert_ok(store_remove(world->store, STR("t/a/x"), &world->err), &world->err);
    assert_ok(store_remove_directory(world->store, STR("t/a"), &removed, &world->err), &world->err);
    assert_str_is(children_of(world, STR("t")), "");
    assert_ok(store_remove_directory(world->store, STR("t/a"), &removed, &world->err), &world->err);
    assert_false(removed);
}

static void a_sweep_takes_what_dead_runs_left_and_nothing_else(void **state)
{
    StoreWorld   *world = *state;
    StoreStaging *dead  = open_staging(world, STR("stream.x"));
    StoreStaging *other = open_staging(world, STR("apply"));
    StoreStaging *alive = open_staging(world, STR("stream.x"));
    Str           alive_file;
    StoreDeadRuns runs;
    int64_t       held;

    stage(world, dead, STR("d"), "four");
    stage(world, other, STR("o"), "six!!!");
    stage(world, alive, STR("a"), "alive");
    assert_ok(store_staging_file(alive, STR("a"), world->arena, &alive_file, &world->err),
              &world->err);
    store_staging_abandon(dead);
    store_staging_abandon(other);
    for (int dry = 1; dry >= 0; dry--) {
        assert_ok(store_staging_sweep(world->store, STR("t"), dry, world->arena, &runs, &held,
                                      &world->err),
                  &world->err);
        assert_int_equal(runs.count, 2);
        assert_int_equal(runs.items[0].file_count + runs.items[1].file_count, 2);
        assert_int_equal(runs.items[0].size_bytes + runs.items[1].size_bytes, 10);
        assert_int_equal(held, 1);
    }
    assert_ok(
        store_staging_sweep(world->store, STR("t"), false, world->arena, &runs, NULL, &world->err),
        &world->err);
    assert_int_equal(runs.count, 0);
    assert_string_equal(read_local(world->arena, alive_file), "alive");
    store_staging_close(alive);
    assert_ok(store_staging_sweep(world->store, STR("nowhere"), false, world->arena, &runs, &held,
                                  &world->err),
              &world->err);
    assert_int_equal(runs.count + (size_t)held, 0);
}

static void staging_refuses_a_table_that_is_a_file(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = NULL;

    put(world, "t", "a file");
    assert_false(store_staging_open(world->store, STR("t"), STR("apply"), world->rng, &staging,
                                    &world->err));
    assert_err(&world->err, ERR_STORE, "staging for apply");
    assert_int_equal(world->err.native, ENOTDIR);
    assert_null(staging);
}

static void closing_nothing_is_allowed(void **state)
{
    (void)state;
    store_close(NULL);
    store_staging_close(NULL);
    store_staging_abandon(NULL);
}

static void paths_are_joined_and_components_encoded(void **state)
{
    StoreWorld *world = *state;
    assert_str_is(store_join(world->arena, STR("a"), STR("b")), "a/b");
    assert_str_is(store_join(world->arena, STR("a/"), STR("b")), "a/b");
    assert_str_is(store_join(world->arena, STR("a/"), STR("/b")), "a/b");
    assert_str_is(store_join(world->arena, STR("/"), STR("b")), "/b");
    assert_str_is(store_join(world->arena, STR(""), STR("b")), "b");
    assert_str_is(store_join(world->arena, STR(""), STR("/b")), "/b");
    assert_str_is(store_join(world->arena, STR("a"), STR("")), "a");
    assert_str_is(store_encode_component(world->arena, STR("azAZ09-._~")), "azAZ09-._~");
    assert_str_is(store_encode_component(world->arena, STR("a/b \xC3\xA9%")), "a%2Fb%20%C3%A9%25");
    assert_str_is(store_encode_component(world->arena, STR("")), "");
}

#define AGAINST_ALL(name)                                               \
    {#name ", local", name, world_open_local, world_close, NULL},       \
        {#name ", memory", name, world_open_memory, world_close, NULL}, \
    {                                                                   \
#name ", fault", name, world_open_fault, world_close, NULL      \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        AGAINST_ALL(put_new_makes_a_file_and_its_directories),
        AGAINST_ALL(put_new_never_replaces),
        AGAINST_ALL(put_new_keeps_an_empty_content_and_every_byte),
        AGAINST_ALL(a_name_below_a_file_cannot_be_made),
        AGAINST_ALL(a_directory_is_not_a_file),
        AGAINST_ALL(an_impossible_path_is_refused),
        AGAINST_ALL(replace_takes_the_place_of_the_old_content),
        AGAINST_ALL(replace_removes_the_stale_checksum),
        AGAINST_ALL(read_refuses_more_than_its_limit),
        AGAINST_ALL(what_is_not_there_is_not_found),
        AGAINST_ALL(stat_tells_size_and_time),
        AGAINST_ALL(remove_takes_the_file_and_forgives_its_absence),
        AGAINST_ALL(remove_refuses_a_directory),
        AGAINST_ALL(list_is_sorted_bytewise_and_starts_after),
        AGAINST_ALL(list_has_sizes_and_hides_nothing_of_others),
        AGAINST_ALL(list_refuses_a_file),
        AGAINST_ALL(one_file_has_one_name),
        AGAINST_ALL(names_may_hold_anything_but_a_slash),
        AGAINST_ALL(fetch_local_gives_a_path_to_read_at),
        AGAINST_ALL(a_staged_file_is_published_once),
        AGAINST_ALL(publish_never_replaces),
        AGAINST_ALL(publish_makes_missing_directories),
        AGAINST_ALL(a_staged_name_does_not_create_anything),
        AGAINST_ALL(two_runs_of_one_purpose_do_not_see_each_other),
        AGAINST_ALL(the_files_of_a_dead_run_go_with_the_next_of_its_purpose),
        AGAINST_ALL(sealed_files_are_taken_over),
        AGAINST_ALL(closing_removes_what_was_not_published),
        AGAINST_ALL(a_staging_is_fresh_while_nothing_of_it_is_unpublished),
        AGAINST_ALL(a_purpose_may_hold_any_character),
        AGAINST_ALL(children_are_files_and_folders_in_order),
        AGAINST_ALL(only_an_empty_directory_is_removed),
        AGAINST_ALL(a_sweep_takes_what_dead_runs_left_and_nothing_else),
        AGAINST_ALL(staging_refuses_a_table_that_is_a_file),
        AGAINST_ALL(closing_nothing_is_allowed),
        AGAINST_ALL(paths_are_joined_and_components_encoded),
    };
    return RUN_TESTS(tests);
}
