#include "support/test_support.h"

#include "state/payload_chunks.h"
#include "unit/state/state_test.h"

#define S "0x0000002A000001000001"

static const char *const opens[] = {
    "{\"mode\": \"chunked\", \"kind\": \"bootstrap\", \"generation\": 0, \"lost_from_ts\": null, "
    "\"lost_to_ts\": null}",
    "{\"mode\": \"chunked\", \"kind\": \"bootstrap\", \"generation\": 0, \"lost_from_ts\": null, "
    "\"lost_to_ts\": null, \"keys\": [\"id\"], \"plan\": {\"kind\": \"int\", \"lo\": 1, \"hi\": 9, "
    "\"rows\": 9}}",
    "{\"mode\": \"chunked\", \"kind\": \"bootstrap\", \"generation\": 0, \"lost_from_ts\": null, "
    "\"lost_to_ts\": null, \"switch_batch_id\": 2}",
    "{\"mode\": \"chunked\", \"kind\": \"resnapshot\", \"generation\": 1, \"lost_from_ts\": "
    "\"2026-09-28T14:05:00.000\", \"lost_to_ts\": \"2026-09-28T15:05:00.000\"}",
    "{\"mode\": \"chunked\", \"kind\": \"bootstrap\", \"generation\": 0, \"lost_from_ts\": null, "
    "\"lost_to_ts\": null, \"switch_batch_id\": 2, \"keys\": [\"a\", \"gr\\u00f6\\u00dfe\"], "
    "\"plan\": {\"kind\": \"keyset\", \"max\": [null, \"\\u00e9\", 9223372036854775808]}}",
    "{\"mode\": \"chunked\", \"kind\": \"bootstrap\", \"generation\": 0, \"lost_from_ts\": null, "
    "\"lost_to_ts\": null, \"keys\": [], \"plan\": {\"kind\": \"keyset\", \"max\": null}}"};

static void an_open_reads_back_byte_for_byte(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(opens); i++) {
        ChunkedOpen open;

        assert_true(payload_parse_chunked_open(str_from_c(opens[i]), arena, &open));
        assert_str_is(payload_chunked_open(arena, &open, open.has_bounds), opens[i]);
    }
    arena_close(arena);
}

static void an_open_leaves_its_key_values_out_of_the_facts(void **state)
{
    Arena      *arena = arena_new();
    ChunkedOpen open;

    (void)state;
    assert_true(payload_parse_chunked_open(str_from_c(opens[1]), arena, &open));
    assert_str_is(payload_chunked_open(arena, &open, false), opens[0]);
    arena_close(arena);
}

static void an_open_of_an_older_release_takes_the_defaults(void **state)
{
    Arena      *arena = arena_new();
    ChunkedOpen open;

    (void)state;
    assert_true(payload_parse_chunked_open(STR("{\"generation\": 2}"), arena, &open));
    assert_true(open.is_resnapshot);
    assert_false(open.has_bounds);
    assert_true(payload_parse_chunked_open(STR("{}"), arena, &open));
    assert_false(open.is_resnapshot);
    assert_false(open.generation.is_set);
    assert_false(payload_parse_chunked_open(STR("{\"mode\": \"full\"}"), arena, &open));
    assert_false(payload_parse_chunked_open(STR("{\"keys\": [\"id\"]}"), arena, &open));
    assert_false(payload_parse_chunked_open(STR("[]"), arena, &open));
    assert_false(payload_parse_chunked_open(STR(""), arena, &open));
    arena_close(arena);
}

static void a_plan_reads_back_byte_for_byte(void **state)
{
    static const char whole[] = "{\"snapshot\": \"" S "\", \"kind\": \"int\", \"keys\": [\"id\"], "
                                "\"chunk_rows\": 3, \"chunks\": [[null, 5], [5, 8], [8, 10]], "
                                "\"chunk_count\": 3}";
    static const char bare[]  = "{\"snapshot\": \"" S "\", \"kind\": \"int\", \"keys\": [\"id\"], "
                                "\"chunk_rows\": 3, \"chunk_count\": 3}";
    Arena            *arena   = arena_new();
    ChunkPlanPayload  plan;

    (void)state;
    assert_true(payload_parse_chunk_plan(str_from_c(whole), arena, &plan));
    assert_true(plan.has_bounds);
    assert_int_equal(plan.chunk_count, 3);
    assert_str_is(plan.chunks[2].hi, "10");
    assert_str_is(payload_chunk_plan(arena, &plan, true), whole);
    assert_str_is(payload_chunk_plan(arena, &plan, false), bare);
    assert_true(payload_parse_chunk_plan(str_from_c(bare), arena, &plan));
    assert_false(plan.has_bounds);
    assert_int_equal(plan.chunk_count, 3);
    arena_close(arena);
}

static void a_damaged_plan_is_no_plan(void **state)
{
    static const char *const texts[] = {
        "{\"snapshot\": \"" S "\", \"keys\": [\"id\"], \"chunk_rows\": 3, \"chunks\": [[null]]}",
        "{\"snapshot\": \"" S "\", \"keys\": [\"id\"], \"chunk_rows\": 3, \"chunks\": [[1, 2, 3]]}",
        "{\"snapshot\": \"" S "\", \"keys\": [\"id\"], \"chunk_rows\": 3, \"chunks\": [5]}",
        "{\"snapshot\": \"" S "\", \"keys\": [\"id\"], \"chunk_rows\": 3, \"chunks\": []}",
        "{\"snapshot\": \"" S "\", \"keys\": [\"id\"], \"chunk_rows\": 3}",
        "{\"snapshot\": \"" S "\", \"keys\": [7], \"chunk_rows\": 3, \"chunk_count\": 1}",
        "{\"snapshot\": \"x\", \"keys\": [\"id\"], \"chunk_rows\": 3, \"chunk_count\": 1}",
        "{"};
    Arena           *arena = arena_new();
    ChunkPlanPayload plan;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_false(payload_parse_chunk_plan(str_from_c(texts[i]), arena, &plan));
    arena_close(arena);
}

static void a_chunk_reads_back_byte_for_byte(void **state)
{
    static const char whole[] =
        "{\"snapshot\": \"" S
        "\", \"wave\": 1, \"chunk\": 2, \"lo\": 8, \"hi\": null, \"last\": true}";
    static const char bare[] = "{\"snapshot\": \"" S
                               "\", \"wave\": 1, \"chunk\": 2, \"last\": true}";
    Arena       *arena = arena_new();
    ChunkPayload chunk;

    (void)state;
    assert_true(payload_parse_chunk(str_from_c(whole), arena, &chunk));
    assert_true(chunk.has_bounds && chunk.is_last);
    assert_str_is(payload_chunk(arena, &chunk, true), whole);
    assert_str_is(payload_chunk(arena, &chunk, false), bare);
    assert_true(payload_parse_chunk(str_from_c(bare), arena, &chunk));
    assert_false(chunk.has_bounds);
    /* one bound without the other: never read as an open end */
    assert_false(payload_parse_chunk(
        STR("{\"snapshot\": \"" S "\", \"wave\": 1, \"chunk\": 2, \"lo\": 8}"), arena, &chunk));
    arena_close(arena);
}

static void a_completion_is_the_sample_byte_for_byte(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(payload_chunks_done(arena, lsn_of(S), 3, 8, lsn_of("0x0000002A000001000031")),
                  "{\"snapshot\": \"" S "\", \"chunks\": 3, \"rows\": 8, \"last_lsn\": "
                  "\"0x0000002A000001000031\"}");
    arena_close(arena);
}

static void a_waves_tag_reads_back_byte_for_byte(void **state)
{
    static const char text[] =
        "{\"backfill\": \"shop#snap." S "\", \"wave\": 0, \"lsn\": \"0x0000002A000001000031\", "
        "\"attempt\": \"620e44af49294b5698320813906a3c16\", \"chunks\": [{\"chunk\": 0, \"lo\": "
        "null, "
        "\"hi\": 5, \"last\": false, \"rows\": 3, \"high_lsn\": \"0x0000002A000001000031\", "
        "\"read_seconds\": 0.34479890299996896, \"read_mb\": 0.000278}, {\"chunk\": 1, \"lo\": 5, "
        "\"hi\": [8, \"a\"], \"last\": true, \"rows\": null, \"high_lsn\": null, \"read_seconds\": "
        "null, \"read_mb\": null}]}";
    Arena  *arena = arena_new();
    WaveTag tag;

    (void)state;
    assert_true(payload_parse_wave_tag(str_from_c(text), arena, &tag));
    assert_int_equal(tag.chunk_count, 2);
    assert_false(tag.chunks[1].rows.is_set);
    assert_str_is(payload_wave_tag(arena, &tag), text);
    assert_false(payload_parse_wave_tag(STR("{\"rows\":4,\"batch_id\":1}"), arena, &tag));
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(an_open_reads_back_byte_for_byte),
        cmocka_unit_test(an_open_leaves_its_key_values_out_of_the_facts),
        cmocka_unit_test(an_open_of_an_older_release_takes_the_defaults),
        cmocka_unit_test(a_plan_reads_back_byte_for_byte),
        cmocka_unit_test(a_damaged_plan_is_no_plan),
        cmocka_unit_test(a_chunk_reads_back_byte_for_byte),
        cmocka_unit_test(a_completion_is_the_sample_byte_for_byte),
        cmocka_unit_test(a_waves_tag_reads_back_byte_for_byte)};

    return RUN_TESTS(cases);
}
