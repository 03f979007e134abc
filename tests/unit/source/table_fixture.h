/* table_fixture.h - a captured table for tests of its key and its rows. */
#ifndef TIDELAKE_TABLE_FIXTURE_H
#define TIDELAKE_TABLE_FIXTURE_H

#include "source/mssql_cut.h"
#include "source_test.h"

UNUSED static CapturedColumn int_column(const char *name, int32_t id)
{
    return (CapturedColumn){.name          = str_from_c(name),
                            .column_id     = id,
                            .sql_type      = SQL_TYPE_INT,
                            .sql_type_name = STR("int"),
                            .has_type      = true,
                            .type          = COLUMN_TYPE(TYPE_INTEGER),
                            .is_in_source  = true,
                            .collation     = STR_EMPTY};
}

UNUSED static CapturedColumn text_column(const char *name, int32_t id)
{
    return (CapturedColumn){.name          = str_from_c(name),
                            .column_id     = id,
                            .sql_type      = SQL_TYPE_VARCHAR,
                            .sql_type_name = STR("varchar(9)"),
                            .has_type      = true,
                            .type          = COLUMN_TYPE(TYPE_STRING),
                            .is_in_source  = true,
                            .collation     = STR("Greek_CI_AS")};
}

typedef struct TableFixture {
    CapturedColumn  columns[4];
    Str             keys[2];
    CaptureInstance instance;
    CaptureTable    table;
} TableFixture;

/* dbo.or]ders(id int key, code varchar key, note varchar, gone int) */
UNUSED static void table_begin(TableFixture *fixture, size_t key_count)
{
    *fixture = (TableFixture){.columns = {int_column("id", 1), text_column("code", 2),
                                          text_column("note", 3), int_column("gone", 4)},
                              .keys    = {STR("id"), STR("code")}};
    fixture->columns[3].is_in_source = false;
    fixture->instance                = (CaptureInstance){.name             = STR("dbo_orders"),
                                                         .source_schema    = STR("dbo"),
                                                         .source_table     = STR("or]ders"),
                                                         .columns          = fixture->columns,
                                                         .column_count     = 4,
                                                         .key_columns      = fixture->keys,
                                                         .key_column_count = key_count};
    fixture->table = (CaptureTable){.instances = &fixture->instance, .instance_count = 1};
}

#endif
