/* What a commit makes of each thing that one before it did: every pair of the table in delta.md
 * 2.11, committed. */
#include "support/test_support.h"

#include "delta/conflict.h"
#include "unit/delta/delta_test.h"

/* --- ours --- */

typedef enum Ours {
    APPEND,      /* blind, with a txn */
    CHANGE,      /* a merge: a file removed, the whole table read */
    FILES,       /* a file removed, nothing else read */
    VECTOR,      /* rows of a file deleted by vector, the whole table read */
    REARRANGE,   /* a file put into another */
    METADATA,    /* a column added */
    PROTOCOL,    /* a property that needs a feature */
    FROM_HEADER, /* a property computed from the others */
    DOMAIN,
    ENTRY,
    OURS_COUNT
} Ours;

typedef struct Attempt {
    Ours             ours;
    DeltaCommit      commit;
    DeltaWriter     *writer;
    DeltaAdd         add;
    DeltaDeletion    deletion;
    const DeltaFile *file;
} Attempt;

static const DeltaFile *nth_file(const DeltaTable *table, size_t n)
{
    const DeltaFile *file = NULL;
    size_t           at   = 0;
    for (size_t i = 0; i <= n; i++)
        assert_true(delta_table_next_file(table, &at, &file));
    return file;
}

static void write_file(World *world, Attempt *attempt)
{
    assert_ok(delta_writer_write(attempt->writer, test_rows(world->arena, 0, 10), world->arena,
                                 &attempt->add, &world->err),
              &world->err);
    attempt->commit.adds      = &attempt->add;
    attempt->commit.add_count = 1;
}

static void remove_file(Attempt *attempt)
{
    attempt->commit.removes      = &attempt->file;
    attempt->commit.remove_count = 1;
}

static void delete_row(World *world, Attempt *attempt)
{
    RowSet *rows = ARENA_NEW(world->arena, RowSet);

    *rows = row_set_begin(world->arena);
    row_set_add(rows, 4, 4);
    row_set_end(rows);
    attempt->deletion = (DeltaDeletion){.file = attempt->file, .rows = rows};
    assert_ok(
        delta_writer_delete_rows(attempt->writer, &attempt->deletion, 1, world->arena, &world->err),
        &world->err);
    attempt->commit.deletions      = &attempt->deletion;
    attempt->commit.deletion_count = 1;
}

/* Computed, written and published: what is left is to commit it. */
static void prepare(World *world, DeltaTable *table, Attempt *attempt)
{
    static const DeltaTxn      txn      = {{"orders-v1", 9}, 7};
    static const Column        column   = {.name = {"more", 4}, .type = {.kind = TYPE_DATE}};
    static const Schema        schema   = {.columns = &column, .column_count = 1};
    static const DeltaProperty feature  = {{"delta.enableInCommitTimestamps", 30}, {"true", 4}};
    static const DeltaProperty property = {{"mine", 4}, {"2", 1}};
    static const DeltaDomain   domain   = {{"owner.notes", 11}, {"{}", 2}, false};
    DeltaCommit               *commit   = &attempt->commit;

    attempt->file = nth_file(table, 0);
    *commit       = (DeltaCommit){.operation = STR("TEST")};
    assert_ok(delta_writer_open(table, STR("test"), NULL, &attempt->writer, &world->err),
              &world->err);
    switch (attempt->ours) {
    case APPEND:
        write_file(world, attempt);
        commit->txn             = &txn;
        commit->is_blind_append = true;
        break;
    case CHANGE:
        write_file(world, attempt);
        remove_file(attempt);
        commit->read_whole_table = true;
        break;
    case FILES: remove_file(attempt); break;
    case VECTOR:
        delete_row(world, attempt);
        commit->read_whole_table = true;
        break;
    case REARRANGE:
        write_file(world, attempt);
        remove_file(attempt);
        commit->rearranges = true;
        break;
    case METADATA: commit->schema = &schema; break;
    case PROTOCOL:
        commit->set_properties     = &feature;
        commit->set_property_count = 1;
        break;
    case FROM_HEADER:
        commit->set_properties     = &property;
        commit->set_property_count = 1;
        commit->read_header        = true;
        break;
    case DOMAIN:
        commit->domains      = &domain;
        commit->domain_count = 1;
        break;
    case ENTRY: commit->is_log_entry = true; break;
    case OURS_COUNT: break;
    }
    assert_ok(delta_writer_publish(attempt->writer, commit->adds, commit->add_count, &world->err),
              &world->err);
}

/* --- theirs --- */

#define ADD(path, change)        \
    "{\"add\":{\"path\":\"" path \
    "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":" change "}}\n"
#define REMOVE(path, change) \
    "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":1,\"dataChange\":" change "}}\n"
#define FIELD(name, type)                                   \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"" type \
    "\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}"
#define METADATA_OF(fields)                                                                       \
    "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},"           \
    "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" fields                     \
    "]}\",\"partitionColumns\":[],\"configuration\":{\"delta.enableDeletionVectors\":\"true\"}}}" \
    "\n"
#define OLD_FIELDS FIELD("id", "long") "," FIELD("name", "string") "," FIELD("at", "timestamp_ntz")
#define PROTOCOL_OF(readers, writers)                                                   \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[" \
    "\"timestampNtz\"" readers "],\"writerFeatures\":[\"timestampNtz\",\"invariants\"," \
    "\"appendOnly\"" writers "]}}\n"
#define VECTORS ",\"deletionVectors\""

/* `%1` and `%2` stand for the first and second file. By kind of ours: '+' written behind it, 'x'
 * to be computed again, '-' nothing left to do, '!' refused. */
typedef struct Winner {
    const char *what, *lines, *outcomes;
} Winner;

static const Winner winners[] = {
    /*                                                        append, change, files, vector,
     *                                       rearrange, metadata, protocol, from header, domain, entry */
    {"rows", ADD("new", "true"), "+x+x++++++"},
    {"rows, blindly", "{\"commitInfo\":{\"isBlindAppend\":true}}\n" ADD("new", "true"),
     "+x+x++++++"},
    {"our file removed", REMOVE("%1", "true"), "+xxxx+++++"},
    {"rows of our file",
     REMOVE("%1", "true") "{\"add\":{\"path\":\"%1\",\"partitionValues\":{},\"size\":1,"
                          "\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords"
                          "\\\":10}\",\"deletionVector\":{\"storageType\":\"i\",\"pathOrInlineDv\":"
                          "\"^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L\","
                          "\"sizeInBytes\":44,\"cardinality\":6}}}\n",
     "+xxxx+++++"},
    {"our file moved", REMOVE("%1", "false") ADD("new", "false"), "+xxxx+++++"},
    {"another file removed", REMOVE("%2", "true"), "+x+x++++++"},
    {"another file moved", REMOVE("%2", "false") ADD("new", "false"), "++++++++++"},
    {"a column", METADATA_OF(OLD_FIELDS "," FIELD("other", "date")), "+xxxx++x++"},
    {"our column", METADATA_OF(OLD_FIELDS "," FIELD("MORE", "date")), "+xxxx-+x++"},
    {"a column of another type",
     METADATA_OF(
         FIELD("id", "string") "," FIELD("name", "string") "," FIELD("at", "timestamp_ntz")),
     "xxxxx++x++"},
    {"a column less", METADATA_OF(FIELD("id", "long") "," FIELD("name", "string")), "xxxxx++x++"},
    {"a feature", PROTOCOL_OF(VECTORS, VECTORS ",\"inCommitTimestamp\""), "+xxxx++x++"},
    {"a feature that is not known", PROTOCOL_OF(VECTORS, VECTORS ",\"fromTheFuture\""),
     "!xxxx!!x!!"},
    {"a feature dropped", PROTOCOL_OF("", ""), "xxxxxxxxxx"},
    {"our domain",
     "{\"domainMetadata\":{\"domain\":\"owner.notes\",\"configuration\":\"theirs\",\"removed\":"
     "false}}\n",
     "++++++++x+"},
    {"another domain",
     "{\"domainMetadata\":{\"domain\":\"owner.other\",\"configuration\":\"theirs\",\"removed\":"
     "false}}\n",
     "++++++++++"},
    {"the table clustered",
     "{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":\"{}\",\"removed\":"
     "false}}\n",
     "xx++x+++++"},
    {"our txn below ours", "{\"txn\":{\"appId\":\"orders-v1\",\"version\":6}}\n", "++++++++++"},
    {"our txn", "{\"txn\":{\"appId\":\"orders-v1\",\"version\":7}}\n", "-+++++++++"},
    {"our txn above ours", "{\"txn\":{\"appId\":\"orders-v1\",\"version\":8}}\n", "-+++++++++"},
    {"another txn", "{\"txn\":{\"appId\":\"orders-v2\",\"version\":9}}\n", "++++++++++"},
    {"an entry", "{\"commitInfo\":{\"operation\":\"VACUUM END\"}}\n", "++++++++++"},
};

static Str lines_of(World *world, DeltaTable *table, const Winner *winner)
{
    Buf lines = buf_new(world->arena, 0);

    for (const char *at = winner->lines; *at; at++) {
        if (at[0] == '%' && (at[1] == '1' || at[1] == '2'))
            buf_append(&lines, nth_file(table, (size_t)(*++at - '1'))->path);
        else
            buf_append_char(&lines, *at);
    }
    return buf_str(&lines);
}

static char outcome_of(World *world, DeltaTable *table, const Attempt *attempt)
{
    DeltaOutcome outcome;

    if (delta_table_commit(table, &attempt->commit, &outcome, NULL, &world->err))
        return outcome == DELTA_WRITTEN ? '+' : '-';
    return world->err.code == ERR_CONFLICT ? 'x' : world->err.code == ERR_UNSUPPORTED ? '!' : '?';
}

static void check_pair(void **state, const Winner *winner, Ours ours)
{
    World      *world   = world_new(state);
    DeltaTable *table   = create_vector_table(world, "t");
    Attempt     attempt = {.ours = ours};

    append_rows(world, table, 0, 10);
    append_rows(world, table, 10, 10);
    prepare(world, table, &attempt);
    put_commit_str(world, "t", 3, lines_of(world, table, winner));
    char got = outcome_of(world, table, &attempt);
    if (got != winner->outcomes[ours])
        fail_msg("%s before kind %d: '%c', not '%c' (%s)", winner->what, (int)ours, got,
                 winner->outcomes[ours], world->err.message);
    assert_int_equal(delta_table_get_version(table), got == '+' ? 4 : 3); /* up to date */
    assert_int_equal(file_exists(world, commit_path(world, "t", 4)), got == '+');
    delta_writer_close(attempt.writer);
    delta_table_close(table);
    world_close(world);
}

static void every_kind_of_commit_meets_every_kind_of_winner(void **state)
{
    for (size_t i = 0; i < COUNT_OF(winners); i++) {
        assert_int_equal(strlen(winners[i].outcomes), OURS_COUNT);
        for (int ours = 0; ours < OURS_COUNT; ours++)
            check_pair(state, &winners[i], (Ours)ours);
    }
}

/* Several winners are looked at together: the last may not hide the first. */
static void all_winners_are_looked_at(void **state)
{
    World      *world   = world_new(state);
    DeltaTable *table   = create_vector_table(world, "t");
    Attempt     attempt = {.ours = CHANGE};

    append_rows(world, table, 0, 10);
    append_rows(world, table, 10, 10);
    prepare(world, table, &attempt);
    put_commit(world, "t", 3, ADD("new", "true"));
    put_commit(world, "t", 4, "{\"commitInfo\":{}}\n");
    put_commit(world, "t", 5, "{\"txn\":{\"appId\":\"x\",\"version\":1}}\n");
    assert_int_equal(outcome_of(world, table, &attempt), 'x');
    assert_err(&world->err, ERR_CONFLICT, "and changed rows (version 5)");
    delta_writer_close(attempt.writer);
    delta_table_close(table);
    world_close(world);
}

/* A commit that is several things at once goes by the strictest rule of all of them. */
static void parts_of_a_commit_add_up(void **state)
{
    DeltaAdd    add     = {.path = STR_EMPTY};
    DeltaDomain domain  = {STR("a"), STR("b"), false};
    DeltaCommit commit  = {.adds = &add, .add_count = 1, .domains = &domain, .domain_count = 1};
    LogPlace    place   = {.path = STR("t")};
    LogChanges  changes = {.has_metadata = true, .may_have_any_domain = true};
    Str         none    = {NULL, 0};
    Err         err     = ERR_INIT;
    (void)state;

    assert_true(commit_has_part(&commit, OURS_APPEND));
    assert_true(commit_has_part(&commit, OURS_DOMAIN));
    assert_false(commit_has_part(&commit, OURS_METADATA));
    assert_int_equal(conflict_ruling(OURS_APPEND, THEIRS_METADATA), LOOK);
    assert_false(conflict_check(&place, 5, &commit, &changes, none, &err));
    assert_err(&err, ERR_CONFLICT,
               "table t: another writer came first, and set domain (version 5)");
    err_clear(&err);
    commit.domain_count = 0;
    assert_ok(conflict_check(&place, 5, &commit, &changes, none, &err), &err);
    commit.read_header = true;
    assert_false(conflict_check(&place, 5, &commit, &changes, none, &err));
    assert_err(&err, ERR_CONFLICT, "and changed the table's metadata");
}

static void a_domain_is_written_with_its_feature(void **state)
{
    World       *world     = world_new(state);
    DeltaTable  *table     = create_table(world, "t");
    DeltaDomain  domains[] = {{STR("owner.notes"), STR("{\"a\":1}"), false},
                              {STR("owner.old"), STR_EMPTY, true}};
    DeltaCommit  commit = {.operation = STR("SET DOMAIN"), .domains = domains, .domain_count = 2};
    DeltaOutcome outcome;

    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    Str text = read_text(world, commit_path(world, "t", 1));
    assert_true(str_find(text, STR("\"writerFeatures\":[\"domainMetadata\","), 0) > 0);
    assert_true(str_ends_with(
        text, STR("{\"domainMetadata\":{\"domain\":\"owner.notes\",\"configuration\":\"{\\\"a\\\":"
                  "1}\",\"removed\":false}}\n{\"domainMetadata\":{\"domain\":\"owner.old\","
                  "\"configuration\":\"\",\"removed\":true}}\n")));
    domains[0].name = STR("delta.rowTracking");
    assert_false(delta_table_commit(table, &commit, &outcome, NULL, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED, "domain delta.rowTracking is Delta's own");
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_commit_meets_every_kind_of_winner),
        cmocka_unit_test(all_winners_are_looked_at),
        cmocka_unit_test(parts_of_a_commit_add_up),
        cmocka_unit_test(a_domain_is_written_with_its_feature),
    };
    return RUN_DELTA_TESTS(tests);
}
