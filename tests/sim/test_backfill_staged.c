/* A wave that was read and not committed: the next call takes it from where it is staged, or knows why not. */
#include "support/test_support.h"

#include "support/backfill.h"

#include <fcntl.h>
#include <unistd.h>

#define PURPOSE STR("backfill." APP_ID)

/* Chunks that this process read from the table so far. */
static int chunks_read(const Process *process)
{
    return sim_sql_driver_statements(process->sql, "[dbo].[orders] AS t");
}

/* A table of six rows, a snapshot of three chunks, planned. */
static World *open_planned(void **state, uint64_t seed)
{
    World          *world   = shop_open(state, seed);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 6);
    backfill_crash_at(world, &options, "sealed.json", 1, false);
    return world;
}

/* What would be read now is another thing than what was. */
static void change_the_table(World *world)
{
    world_pass_minutes(world, 600);
    world_commit(world, "INSERT INTO dbo.orders VALUES (-1, 'low')");
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 1");
    world_commit(world, "UPDATE dbo.orders SET note = 'new' WHERE id = 2");
}

static void assert_nothing_is_staged(World *world)
{
    assert_true(str_find(world_store_text(world), STR("_tidelake_staging"), 0) < 0);
}

static void assert_ends_as_the_source(World *world)
{
    ApplyOptions apply = shop_apply();

    (void)shop_run_chunked(world);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    assert_facts_once(world);
    assert_logs_readable(world);
    assert_nothing_is_staged(world);
}

/* A call of one wave that dies when it is read and sealed. */
static void die_with_a_wave(World *world, int64_t connections)
{
    BackfillOptions options = shop_backfill(2, connections);

    options.max_waves = OPT_I64(1);
    backfill_crash_at(world, &options, BRONZE "/part-", 1, false);
}

/* Runs the backfill to its end; how many chunks it read. */
static int finish(World *world, const BackfillOptions *options)
{
    Process       *process = process_open(world, "rerun");
    BackfillResult result;
    int            count;

    assert_ok(process_backfill(process, options, &result), &process->err);
    assert_int_equal(result.state, BACKFILL_DONE);
    count = chunks_read(process);
    process_close(process);
    return count;
}

static void a_wave_that_was_read_is_taken_as_it_was(void **state)
{
    World          *world   = open_planned(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    die_with_a_wave(world, 2);
    Str stamp = str_printf(world_arena(world), "%s|%s|false\n",
                           lsn_format(world_max_lsn(world)).text,
                           lsn_format(world_max_lsn(world)).text);
    change_the_table(world);
    options.stream.source.num_partitions = 3; /* a new wave would be wider */
    assert_int_equal(finish(world, &options), 1);
    assert_int_equal(world_line_count(world, "its staged files are taken"), 1);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
    /* stamped as it was read; the hours between are nobody's pace */
    assert_rows(world, str_c(world_arena(world), stamp),
                "SELECT DISTINCT min_lsn, max_lsn, duration_ms > 3600000 FROM {" FACTS
                "} WHERE event = 'snapshot_chunk' AND contains(detail, '\"wave\": 0')");
    assert_rows(world, "0\n1\n2\n3\n4\n5\n",
                "SELECT id FROM {" BRONZE "} WHERE _operation = 0 ORDER BY id");
    assert_ends_as_the_source(world);
    assert_int_equal(world_line_count(world, "low"), 0);
    world_close(world);
}

/* The steps of a call from the seal of its first wave to the wave's append. */
typedef struct Span {
    uint64_t sealed, appended;
} Span;

static void note_step(void *arg, uint64_t step, const char *operation, Str path)
{
    Span *span = arg;

    if (str_equal_c(str_from_c(operation), "staging_seal") && span->sealed == 0)
        span->sealed = step;
    if (str_find(path, STR(BRONZE_COMMIT(1)), 0) >= 0 && span->appended == 0) span->appended = step;
}

static Span find_span(void **state)
{
    World          *world   = open_planned(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "backfill");
    Span            span    = {0};
    BackfillResult  result;

    process->plan = (FaultPlan){.on_step = note_step, .on_step_arg = &span};
    assert_ok(process_backfill(process, &options, &result), &process->err);
    process_close(process);
    world_close(world);
    return span;
}

/* Between the seal and the append no death costs a read: files that were moved into the table already are found
 * there. Before the seal the wave is read again, after the append nothing is. */
static void no_death_behind_the_seal_costs_a_read(void **state)
{
    Span span = find_span(state);

    assert_true(span.sealed > 0);
    assert_true(span.appended > span.sealed + 2);
    for (uint64_t step = span.sealed; step <= span.appended; step++)
        for (int after = 0; after <= 1; after++) {
            World          *world   = open_planned(state, 1);
            BackfillOptions options = shop_backfill(2, 2);
            Process        *process = process_open(world, "dying");
            bool            was_sealed, was_appended;
            BackfillResult  result;

            process->plan = (FaultPlan){
                .fail_at_step = step, .after_effect = after == 1, .crash = true};
            assert_false(process_backfill(process, &options, &result));
            process_close(process);
            was_sealed   = step > span.sealed || after;
            was_appended = step == span.appended && after;
            change_the_table(world);
            /* the last chunk, too, may have been read and sealed while the first wave committed */
            int count = finish(world, &options);
            assert_in_range(count, was_sealed ? 0 : 3, was_sealed ? 1 : 3);
            assert_int_equal(world_line_count(world, "wave=0 chunks=2 rows=4"),
                             was_sealed && !was_appended);
            assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
            assert_ends_as_the_source(world);
            world_close(world);
        }
}

typedef enum Damage { CUT_SHORT, ONE_BIT, LOST, NO_SEAL, DAMAGED_SEAL, DAMAGES } Damage;

static void damage_file(const char *path, Damage how)
{
    char  byte;
    int   fd   = open(path, O_RDWR);
    off_t size = lseek(fd, 0, SEEK_END);

    assert_true(fd >= 0);
    if (how == LOST || how == NO_SEAL) assert_int_equal(ftruncate(fd, 0), 0);
    if (how == CUT_SHORT) assert_int_equal(ftruncate(fd, size - 1), 0);
    if (how == ONE_BIT || how == DAMAGED_SEAL) {
        assert_int_equal(pread(fd, &byte, 1, size / 2), 1);
        byte ^= 1;
        assert_int_equal(pwrite(fd, &byte, 1, size / 2), 1);
    }
    assert_int_equal(close(fd), 0);
}

/* In memory a staged file is a memfd, whose local path can be written to. */
static void damage_staged(World *world, Damage how)
{
    Arena        *arena   = world_arena(world);
    bool          is_seal = how == NO_SEAL || how == DAMAGED_SEAL;
    StoreStagings taken;
    StoreChildren children, files;
    Str           folder = store_join(arena, STR(BRONZE "/_tidelake_staging"), PURPOSE), local;
    Err           err    = ERR_INIT;
    int           done   = 0;

    assert_ok(store_staging_take(world_store(world), STR(BRONZE), PURPOSE, arena, &taken, &err),
              &err);
    assert_int_equal(taken.count, 1);
    assert_ok(store_list_children(world_store(world), folder, arena, &children, &err), &err);
    assert_int_equal(children.count, 1);
    folder = store_join(arena, folder, children.items[0].name);
    assert_ok(store_list_children(world_store(world), folder, arena, &files, &err), &err);
    for (size_t i = 0; i < files.count && done == 0; i++) {
        if (str_equal_c(files.items[i].name, "sealed.json") != is_seal) continue;
        assert_ok(store_staging_file(taken.items[0], files.items[i].name, arena, &local, &err),
                  &err);
        damage_file(str_c(arena, local), how);
        done++;
    }
    assert_int_equal(done, 1);
    store_staging_abandon(taken.items[0]);
}

static void what_is_not_whole_is_read_again(void **state)
{
    for (Damage how = CUT_SHORT; how < DAMAGES; how++) {
        World          *world   = open_planned(state, 1);
        BackfillOptions options = shop_backfill(2, 3); /* one wave */

        die_with_a_wave(world, 3);
        damage_staged(world, how);
        change_the_table(world);
        assert_int_equal(finish(world, &options), 3);
        assert_int_equal(world_line_count(world, "its staged files are taken"), 0);
        assert_int_equal(world_line_count(world, "a file is damaged or gone"),
                         how == CUT_SHORT || how == ONE_BIT || how == LOST);
        assert_ends_as_the_source(world);
        world_close(world);
    }
}

static Str find_published(World *world)
{
    StoreList list;
    Err       err = ERR_INIT;

    assert_ok(store_list_after(world_store(world), STR(BRONZE), STR_EMPTY, world_arena(world),
                               &list, &err),
              &err);
    for (size_t i = 0; i < list.count; i++)
        if (str_starts_with(list.entries[i].name, STR("part-")))
            return store_join(world_arena(world), STR(BRONZE), list.entries[i].name);
    fail_msg("nothing was moved into the table");
    return STR_EMPTY;
}

/* Files that were moved into the table and not committed: a vacuum may take them after a while, and what is there by
 * that name may be another thing. */
static void a_file_in_the_table_is_taken_while_it_is_young_and_as_long(void **state)
{
    for (int is_old = 0; is_old <= 1; is_old++) {
        World          *world   = open_planned(state, 1);
        BackfillOptions options = shop_backfill(2, 3); /* one wave */

        backfill_crash_at(world, &options, BRONZE_COMMIT(1), 1, false);
        if (is_old) {
            (void)find_published(world);
            world_pass_minutes(world, 25 * 60);
        } else {
            Err err = ERR_INIT;

            assert_ok(store_replace(world_store(world), find_published(world),
                                    str_bytes(STR("PAR1")), &err),
                      &err);
        }
        change_the_table(world);
        assert_int_equal(finish(world, &options), 3);
        assert_int_equal(world_line_count(world, "a file is damaged or gone"), 1);
        assert_ends_as_the_source(world);
        world_close(world);
    }
}

/* Where the file system knows no exclusive rename, a death may leave a file under both of its names. */
static void give_second_name(World *world)
{
    Arena        *arena  = world_arena(world);
    Str           folder = store_join(arena, STR(BRONZE "/_tidelake_staging"), PURPOSE);
    StoreStagings taken;
    StoreChildren children, files;
    Err           err  = ERR_INIT;
    int           done = 0;

    assert_ok(store_staging_take(world_store(world), STR(BRONZE), PURPOSE, arena, &taken, &err),
              &err);
    assert_int_equal(taken.count, 1);
    assert_ok(store_list_children(world_store(world), folder, arena, &children, &err), &err);
    folder = store_join(arena, folder, children.items[0].name);
    assert_ok(store_list_children(world_store(world), folder, arena, &files, &err), &err);
    for (size_t i = 0; i < files.count; i++) {
        Str   name = files.items[i].name;
        Bytes bytes;

        if (!str_starts_with(name, STR("part-"))) continue;
        assert_ok(store_staging_read(taken.items[0], name, (size_t)1 << 20, arena, &bytes, &err),
                  &err);
        assert_ok(
            store_put_new(world_store(world), store_join(arena, STR(BRONZE), name), bytes, &err),
            &err);
        done++;
    }
    assert_true(done > 0);
    store_staging_abandon(taken.items[0]);
}

static void a_file_of_two_names_is_taken_too(void **state)
{
    World          *world   = open_planned(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    die_with_a_wave(world, 2);
    give_second_name(world);
    assert_int_equal(finish(world, &options), 1);
    assert_int_equal(world_line_count(world, "its staged files are taken"), 1);
    assert_ends_as_the_source(world);
    world_close(world);
}

/* The very wave: rows of other columns are another thing. */
static void what_was_read_otherwise_is_read_again(void **state)
{
    World          *world   = open_planned(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    die_with_a_wave(world, 2);
    options.stream.source.include_command_id = false;
    assert_int_equal(finish(world, &options), 3);
    assert_int_equal(world_line_count(world, "they were read otherwise"), 1);
    assert_ends_as_the_source(world);
    world_close(world);
}

/* The call may end before it comes to the wave: it stays where it is. */
static void a_call_that_starts_no_wave_leaves_it(void **state)
{
    World          *world   = open_planned(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    die_with_a_wave(world, 2);
    options.max_waves = OPT_I64(0);
    (void)world_backfill(world, &options);
    options.max_waves = (OptI64){.is_set = false};
    assert_int_equal(finish(world, &options), 1);
    assert_ends_as_the_source(world);
    world_close(world);
}

typedef struct Rival {
    World          *world;
    BackfillOptions options;
    int             chunks_read;
} Rival;

static void overtake(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival *rival = arg;

    (void)step;
    if (rival->chunks_read > 0 || !str_equal_c(str_from_c(operation), "put_new") ||
        str_find(path, STR(BRONZE_COMMIT(1)), 0) < 0)
        return;
    rival->chunks_read = finish(rival->world, &rival->options);
}

/* What a call that lives has sealed is its own: another call reads for itself. One wave: nothing
 * is read ahead meanwhile. */
static void a_living_call_keeps_what_it_read(void **state)
{
    World         *world   = open_planned(state, 1);
    Rival          rival   = {.world = world, .options = shop_backfill(2, 3)};
    Process       *process = process_open(world, "overtaken");
    BackfillResult result;

    process->plan = (FaultPlan){.on_step = overtake, .on_step_arg = &rival};
    assert_ok(process_backfill(process, &rival.options, &result), &process->err);
    assert_int_equal(rival.chunks_read, 3);
    assert_int_equal(result.state, BACKFILL_DONE);
    process_close(process);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|0|4|6|2\n");
    assert_ends_as_the_source(world);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_that_was_read_is_taken_as_it_was),
        cmocka_unit_test(no_death_behind_the_seal_costs_a_read),
        cmocka_unit_test(what_is_not_whole_is_read_again),
        cmocka_unit_test(a_file_in_the_table_is_taken_while_it_is_young_and_as_long),
        cmocka_unit_test(a_file_of_two_names_is_taken_too),
        cmocka_unit_test(what_was_read_otherwise_is_read_again),
        cmocka_unit_test(a_call_that_starts_no_wave_leaves_it),
        cmocka_unit_test(a_living_call_keeps_what_it_read),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
