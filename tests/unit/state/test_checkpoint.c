#include "support/test_support.h"

#include "unit/state/state_test.h"

#define DIR "cp"

static Checkpoint *open_checkpoint(Lake *lake)
{
    Checkpoint *checkpoint = NULL;

    assert_ok(
        checkpoint_open(lake->store, lake->clock, lake->rng, STR(DIR), &checkpoint, &lake->err),
        &lake->err);
    return checkpoint;
}

static void refuse_checkpoint(Lake *lake, ErrCode code, const char *text)
{
    Checkpoint *checkpoint = NULL;

    lake->err = ERR_INIT;
    assert_false(
        checkpoint_open(lake->store, lake->clock, lake->rng, STR(DIR), &checkpoint, &lake->err));
    assert_err(&lake->err, code, text);
    assert_null(checkpoint);
}

static void run_batch(Lake *lake, Checkpoint *checkpoint, int64_t id, const Offset *end)
{
    assert_ok(checkpoint_plan(checkpoint, id, end, &lake->err), &lake->err);
    assert_ok(checkpoint_commit(checkpoint, id, &lake->err), &lake->err);
}

static void a_new_directory_has_no_position(void **state)
{
    Lake       *lake       = lake_open(NULL);
    Checkpoint *checkpoint = open_checkpoint(lake);
    int64_t     id;
    Offset      end;

    (void)state;
    assert_false(checkpoint_has_metadata(checkpoint));
    assert_int_equal(checkpoint_get_generation(checkpoint), 0);
    assert_false(checkpoint_find_committed(checkpoint, &id, &end));
    assert_false(checkpoint_find_planned(checkpoint, &id, &end));
    assert_false(checkpoint_find_start(checkpoint, &end));
    assert_str_is(read_text(lake, DIR "/metadata"), "(none)"); /* opening writes nothing */
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void files_are_sparks_byte_for_byte(void **state) /* state.md 17.1 to 17.3, 17.6 */
{
    Lake       *lake       = lake_open(NULL);
    Checkpoint *checkpoint = open_checkpoint(lake);
    Offset      start      = offset_of(1, NULL);
    Offset      end        = offset_of(0x51, "2026-09-28T13:55:00.0009");

    (void)state;
    assert_ok(checkpoint_begin(checkpoint, &start, &lake->err), &lake->err);
    run_batch(lake, checkpoint, 0, &end);
    assert_str_is(read_text(lake, DIR "/offsets/0"),
                  "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1796008191067,\"conf\":{}}\n"
                  "{\"lsn\": \"0x0000002A000000000051\", \"commit_ts\": "
                  "\"2026-09-28T13:55:00.000\"}");
    assert_str_is(read_text(lake, DIR "/commits/0"), "v1\n{\"nextBatchWatermarkMs\":0}");
    assert_int_equal(read_text(lake, DIR "/commits/0").len, 29);
    Str metadata = read_text(lake, DIR "/metadata");
    assert_int_equal(metadata.len, strlen("{\"id\":\"3300a422-26e2-43f4-8821-8975809283f2\"}"));
    assert_true(str_starts_with(metadata, STR("{\"id\":\"")));
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void an_unknown_commit_time_is_an_empty_text(void **state) /* state.md 1 */
{
    Lake       *lake       = lake_open(NULL);
    Checkpoint *checkpoint = open_checkpoint(lake);
    Offset      end        = offset_of(2, NULL);

    (void)state;
    run_batch(lake, checkpoint, 0, &end);
    assert_true(str_find(read_text(lake, DIR "/offsets/0"), STR("\"commit_ts\": \"\"}"), 0) > 0);
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void a_planned_batch_is_found_again_with_its_start_and_end(void **state)
{
    Lake       *lake       = lake_open(NULL);
    Checkpoint *checkpoint = open_checkpoint(lake);
    Offset      start      = offset_of(1, NULL);
    Offset      end        = offset_of(9, "2026-09-28T13:55:00"), got;
    int64_t     id;

    (void)state;
    assert_ok(checkpoint_begin(checkpoint, &start, &lake->err), &lake->err);
    assert_ok(checkpoint_plan(checkpoint, 0, &end, &lake->err), &lake->err);
    checkpoint_close(checkpoint);

    checkpoint = open_checkpoint(lake);
    assert_true(checkpoint_find_planned(checkpoint, &id, &got));
    assert_int_equal(id, 0);
    assert_true(lsn_equal(got.lsn, end.lsn));
    assert_true(checkpoint_find_start(checkpoint, &got));
    assert_true(lsn_equal(got.lsn, start.lsn));
    assert_ok(checkpoint_commit(checkpoint, 0, &lake->err), &lake->err);
    assert_true(checkpoint_find_committed(checkpoint, &id, &got));
    assert_true(lsn_equal(got.lsn, end.lsn));
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void a_start_counts_only_for_the_run_that_planned_batch_0(void **state)
{
    Lake       *lake  = lake_open(NULL);
    Checkpoint *left  = open_checkpoint(lake);
    Checkpoint *right = open_checkpoint(lake);
    Offset      first = offset_of(1, NULL), second = offset_of(5, NULL), end = offset_of(9, NULL);
    Offset      got;

    (void)state;
    assert_ok(checkpoint_begin(left, &first, &lake->err), &lake->err);
    assert_ok(checkpoint_begin(right, &second, &lake->err), &lake->err);
    assert_ok(checkpoint_plan(left, 0, &end, &lake->err), &lake->err);
    assert_false(checkpoint_plan(right, 0, &end, &lake->err));
    assert_err(&lake->err, ERR_STATE, "another run planned batch 0");
    checkpoint_close(left);
    checkpoint_close(right);

    left = open_checkpoint(lake);
    assert_true(checkpoint_find_start(left, &got));
    assert_true(lsn_equal(got.lsn, first.lsn));
    checkpoint_close(left);
    lake_close(lake);
}

static void a_start_that_no_plan_followed_is_forgotten(void **state)
{
    Lake       *lake       = lake_open(NULL);
    Checkpoint *checkpoint = open_checkpoint(lake);
    Offset      start      = offset_of(1, NULL);

    (void)state;
    assert_ok(checkpoint_begin(checkpoint, &start, &lake->err), &lake->err);
    checkpoint_close(checkpoint);
    checkpoint = open_checkpoint(lake);
    assert_false(checkpoint_find_start(checkpoint, &start));
    assert_false(checkpoint_find_planned(checkpoint, &(int64_t){0}, &start));
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void sparks_conf_is_carried_on(void **state) /* state.md 17.6 */
{
    Lake       *lake = lake_open(NULL);
    Checkpoint *checkpoint;
    Offset      end = offset_of(3, NULL);

    (void)state;
    put_text(lake, DIR "/metadata", "{\"id\":\"x\"}");
    put_text(lake, DIR "/offsets/0",
             "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":5,\"conf\":{\"a.b\":\"c\",\"d\":"
             "\"e\"}}\n{\"lsn\": \"0x0000002A000000000002\", \"commit_ts\": \"\"}");
    put_text(lake, DIR "/commits/0", "v1\n{\"nextBatchWatermarkMs\":0}");
    put_text(lake, DIR "/offsets/.1.crc", "stale");
    checkpoint = open_checkpoint(lake);
    assert_ok(checkpoint_plan(checkpoint, 1, &end, &lake->err), &lake->err);
    assert_true(str_find(read_text(lake, DIR "/offsets/1"),
                         STR(",\"conf\":{\"a.b\":\"c\",\"d\":\"e\"}}\n"), 0) > 0);
    assert_str_is(read_text(lake, DIR "/metadata"), "{\"id\":\"x\"}");
    assert_str_is(read_text(lake, DIR "/offsets/.1.crc"), "(none)");
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void another_run_on_the_checkpoint_fails_at_its_first_batch(void **state) /* 2.1 */
{
    Lake       *lake  = lake_open(NULL);
    Checkpoint *left  = open_checkpoint(lake);
    Checkpoint *right = open_checkpoint(lake);
    Offset      end   = offset_of(3, NULL);

    (void)state;
    run_batch(lake, left, 0, &end);
    assert_false(checkpoint_plan(right, 0, &end, &lake->err));
    assert_err(&lake->err, ERR_STATE, DIR);
    checkpoint_close(left);
    checkpoint_close(right);
    lake_close(lake);
}

static void old_batches_are_removed_as_spark_does(void **state)
{
    Lake       *lake       = lake_open(NULL);
    Checkpoint *checkpoint = open_checkpoint(lake);
    int64_t     id;
    Offset      end;

    (void)state;
    for (unsigned i = 0; i <= 150; i++) {
        end = offset_of(i + 1, NULL);
        run_batch(lake, checkpoint, i, &end);
    }
    assert_str_is(read_text(lake, DIR "/offsets/50"), "(none)");
    assert_str_is(read_text(lake, DIR "/commits/50"), "(none)");
    assert_true(read_text(lake, DIR "/offsets/51").len > 10);
    checkpoint_close(checkpoint);
    checkpoint = open_checkpoint(lake);
    assert_true(checkpoint_find_committed(checkpoint, &id, &end));
    assert_int_equal(id, 150);
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void a_later_generation_lives_in_its_own_folder(void **state) /* state.md 3, 17.4 */
{
    Lake       *lake = lake_open(NULL);
    Checkpoint *checkpoint;
    Offset      start, end = offset_of(9, NULL);

    (void)state;
    put_text(lake, DIR "/_mssql_cdc_generation.json",
             "{\"generation\": 2, \"snapshot_lsn\": \"0x0000002A000001000081\", \"commit_ts\": "
             "\"2026-09-28T13:58:00.000\", \"at\": \"2026-10-10T03:45:24+00:00\"}");
    checkpoint = open_checkpoint(lake);
    assert_int_equal(checkpoint_get_generation(checkpoint), 2);
    assert_true(checkpoint_has_generation_start(checkpoint, &start));
    assert_true(lsn_equal(start.lsn, lsn_of("0x0000002A000001000081")));
    assert_int_equal(start.commit_ts.utc_us, time_of("2026-09-28T13:58:00"));
    run_batch(lake, checkpoint, 0, &end);
    assert_true(read_text(lake, DIR "/_generations/2/commits/0").len == 29);
    checkpoint_close(checkpoint);
    lake_close(lake);
}

static void damage_is_named_and_nothing_is_guessed(void **state)
{
    static const struct {
        const char *path, *text;
        ErrCode     code;
        const char *message;
    } cases[] = {
        {DIR "/offsets/0", "v2\n{}\n{\"lsn\": \"0x01\", \"commit_ts\": \"\"}", ERR_STATE, "v2"},
        {DIR "/offsets/0", "v1\n{}", ERR_STATE, "offsets/0"},
        {DIR "/offsets/0", "v1\n{}\n{\"commit_ts\": \"\"}", ERR_DAMAGED, "offsets/0"},
        {DIR "/offsets/0", "v1\n{}\nnonsense", ERR_DAMAGED, "offsets/0"},
        {DIR "/offsets/0", "", ERR_STATE, "offsets/0"},
        {DIR "/commits/0", "v1", ERR_STATE, "offsets/0"},
        {DIR "/offsets/4", "v1\n{}\n{\"lsn\": \"0x01\", \"commit_ts\": \"\"}", ERR_STATE,
         "offsets/4"},
        {DIR "/_mssql_cdc_generation.json", "{}", ERR_STATE, "generation"},
        {DIR "/_mssql_cdc_generation.json", "{\"generation\": 1}", ERR_STATE, "snapshot_lsn"},
        {DIR "/_mssql_cdc_generation.json", "{\"gen", ERR_STATE, "generation"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Lake *lake = lake_open(NULL);
        put_text(lake, cases[i].path, cases[i].text);
        refuse_checkpoint(lake, cases[i].code, cases[i].message);
        lake_close(lake);
    }
}

static void range_files_of_the_peer_library_do_not_matter(void **state) /* state.md 17.5 */
{
    Lake *lake = lake_open(NULL);

    (void)state;
    put_text(lake, DIR "/_mssql_cdc_metrics/0x01-0x02.json", "{}");
    put_text(lake, DIR "/_mssql_cdc_metrics/nonsense.json", "{}");
    checkpoint_close(open_checkpoint(lake));
    lake_close(lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_directory_has_no_position),
        cmocka_unit_test(files_are_sparks_byte_for_byte),
        cmocka_unit_test(an_unknown_commit_time_is_an_empty_text),
        cmocka_unit_test(a_planned_batch_is_found_again_with_its_start_and_end),
        cmocka_unit_test(a_start_counts_only_for_the_run_that_planned_batch_0),
        cmocka_unit_test(a_start_that_no_plan_followed_is_forgotten),
        cmocka_unit_test(sparks_conf_is_carried_on),
        cmocka_unit_test(another_run_on_the_checkpoint_fails_at_its_first_batch),
        cmocka_unit_test(old_batches_are_removed_as_spark_does),
        cmocka_unit_test(a_later_generation_lives_in_its_own_folder),
        cmocka_unit_test(damage_is_named_and_nothing_is_guessed),
        cmocka_unit_test(range_files_of_the_peer_library_do_not_matter),
    };
    return RUN_TESTS(tests);
}
