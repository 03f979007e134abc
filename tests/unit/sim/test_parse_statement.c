/* Statements: what each leaves in its fields (sim/parse/ast.h, sqlserver.md 2.10). */
#include "support/sim_tree.h"

static void assert_words(const NameList *words, const char *want)
{
    Arena *arena = arena_new();
    Buf    out   = buf_new(arena, 0);

    tree_names(&out, words, " ");
    assert_str_is(buf_str(&out), want);
    arena_close(arena);
}

static void assert_expr(const Expr *expr, const char *want)
{
    Arena *arena = arena_new();
    Buf    out   = buf_new(arena, 0);

    tree_expr(&out, expr);
    assert_str_is(buf_str(&out), want);
    arena_close(arena);
}

static void insert_takes_rows_queries_procedures_and_defaults(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(arena,
                                 "INSERT TOP (5) INTO s.t WITH (TABLOCK) (a, b) OUTPUT inserted.a, "
                                 "inserted.* INTO @o VALUES (1, DEFAULT), (2, N'x')");
    assert_int_equal(stmt->kind, STMT_INSERT);
    assert_str_is(stmt->object.schema, "s");
    assert_words(&stmt->columns, "a b");
    assert_words(&stmt->hints, "TABLOCK");
    assert_int_equal(stmt->rows.count, 2);
    assert_int_equal(stmt->rows.items[0].items[1]->kind, EXPR_DEFAULT);
    assert_int_equal(stmt->output.count, 2);
    assert_str_is(stmt->output_into.name, "@o");
    assert_expr(stmt->top, "5");
    assert_non_null(PARSE_ONE(arena, "INSERT t SELECT 1")->select);
    assert_non_null(PARSE_ONE(arena, "INSERT t (a) (SELECT 1)")->select);
    assert_int_equal(PARSE_ONE(arena, "INSERT t EXEC p 1")->exec->kind, STMT_EXEC);
    assert_int_equal(PARSE_ONE(arena, "INSERT t EXEC ('x')")->exec->kind, STMT_EXEC_TEXT);
    assert_true(PARSE_ONE(arena, "INSERT t DEFAULT VALUES")->default_values);
    assert_str_is(PARSE_ONE(arena, "INSERT INTO @t VALUES (1)")->object.name, "@t");
    assert_syntax("INSERT t VALUES (1), (2, 3)", 10709, 1, "must be the same");
    assert_syntax("INSERT t", 102, 1, "near 't'");
    arena_close(arena);
}

static void update_assigns_columns_and_variables(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(
        arena, "UPDATE x SET x.a = 1, b += 2, @v = 3, @w = c = 4, d = DEFAULT, @u += 5 OUTPUT "
               "deleted.a FROM t AS x JOIN u ON 1 = 1 WHERE a > 1");
    assert_int_equal(stmt->assignments.count, 6);
    assert_str_is(stmt->assignments.items[0].column, "a");
    assert_expr(stmt->assignments.items[1].expr, "(b + 2)");
    assert_str_is(stmt->assignments.items[2].variable, "@v");
    assert_str_is(stmt->assignments.items[2].column, "");
    assert_str_is(stmt->assignments.items[3].variable, "@w");
    assert_str_is(stmt->assignments.items[3].column, "c");
    assert_int_equal(stmt->assignments.items[4].expr->kind, EXPR_DEFAULT);
    assert_expr(stmt->assignments.items[5].expr, "(@u + 5)");
    assert_int_equal(stmt->from->kind, SOURCE_JOIN);
    assert_expr(stmt->where, "(a > 1)");
    stmt = PARSE_ONE(arena, "DELETE TOP (1) FROM t OUTPUT deleted.* FROM t JOIN u ON 1 = 1 WHERE b "
                            "= 1 OPTION (MAXDOP 1)");
    assert_int_equal(stmt->kind, STMT_DELETE);
    assert_non_null(stmt->from);
    assert_int_equal(PARSE_ONE(arena, "DELETE t")->kind, STMT_DELETE);
    assert_str_is(PARSE_ONE(arena, "TRUNCATE TABLE s.t")->object.name, "t");
    assert_syntax("DELETE t WHERE CURRENT OF c", 50001, 1, "CURRENT OF");
    assert_syntax("UPDATE t SET a", 102, 1, "near 'a'");
    assert_syntax("UPDATE t SET a = 1 = 2", 102, 1, "near '='");
    arena_close(arena);
}

static void tables_have_columns_and_constraints(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(arena,
                                 "CREATE TABLE dbo.t (\n  id int IDENTITY(10, -2) NOT NULL "
                                 "CONSTRAINT pk PRIMARY KEY NONCLUSTERED,\n"
                                 "  name nvarchar(20) COLLATE Greek_CI_AS NULL DEFAULT N'x',\n  "
                                 "total AS (id * 2) PERSISTED NOT NULL,\n"
                                 "  price decimal(10,2) CONSTRAINT df DEFAULT 0 CHECK (price >= "
                                 "0),\n  v rowversion, timestamp,\n"
                                 "  CONSTRAINT uq UNIQUE CLUSTERED (name DESC, price), CHECK (id > "
                                 "0)\n) ON [PRIMARY] WITH (DATA_COMPRESSION = PAGE)");
    assert_int_equal(stmt->kind, STMT_CREATE_TABLE);
    assert_int_equal(stmt->column_defs.count, 6);
    const ColumnDef *columns = stmt->column_defs.items;
    assert_true(columns[0].is_identity);
    assert_int_equal(columns[0].identity_seed, 10);
    assert_int_equal(columns[0].identity_step, -2);
    assert_false(columns[0].is_nullable);
    assert_true(columns[1].is_nullable && columns[1].nullability_given);
    assert_str_is(columns[1].collation, "Greek_CI_AS");
    assert_expr(columns[1].default_value, "N'x'");
    assert_expr(columns[2].computed, "(id * 2)");
    assert_true(columns[2].is_persisted);
    assert_str_is(columns[3].default_name, "df");
    assert_int_equal(columns[5].type.kind, SIM_ROWVERSION);
    assert_int_equal(stmt->constraints.count, 4);
    assert_str_is(stmt->constraints.items[0].name, "pk");
    assert_str_is(stmt->constraints.items[0].columns.items[0].name, "id");
    assert_true(stmt->constraints.items[0].clustering_given &&
                !stmt->constraints.items[0].is_clustered);
    assert_int_equal(stmt->constraints.items[1].kind, CONSTRAINT_CHECK);
    assert_true(stmt->constraints.items[2].columns.items[0].descending);
    assert_expr(stmt->constraints.items[3].expr, "(id > 0)");
    assert_int_equal(columns[3].line, 5);
    assert_syntax("CREATE TABLE t (a int REFERENCES u (a) ON DELETE CASCADE)", 50001, 1, "CASCADE");
    assert_syntax("CREATE TABLE t (a foo)", 2715, 1, "foo");
    assert_syntax("CREATE TABLE t (a varchar(9000))", 131, 1, "9000");
    assert_syntax("CREATE TABLE t (a)", 102, 1, "near ')'");
    assert_syntax("CREATE TABLE t (a int) WITH (MEMORY_OPTIMIZED = ON)", 50001, 1,
                  "memory-optimized");
    arena_close(arena);
}

static void alter_table_adds_drops_and_changes(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(
        arena, "ALTER TABLE t ADD a int NULL, b varchar(5) NOT NULL CONSTRAINT d DEFAULT ''");
    assert_int_equal(stmt->alter, ALTER_ADD_COLUMN);
    assert_int_equal(stmt->column_defs.count, 2);
    stmt = PARSE_ONE(arena, "ALTER TABLE t WITH NOCHECK ADD CONSTRAINT pk PRIMARY KEY (a)");
    assert_int_equal(stmt->alter, ALTER_ADD_CONSTRAINT);
    stmt = PARSE_ONE(arena, "ALTER TABLE t ADD CONSTRAINT d DEFAULT 5 FOR a WITH VALUES");
    assert_str_is(stmt->constraints.items[0].for_column, "a");
    stmt = PARSE_ONE(arena, "ALTER TABLE t DROP COLUMN IF EXISTS a, b");
    assert_int_equal(stmt->alter, ALTER_DROP_COLUMN);
    assert_true(stmt->if_exists);
    assert_words(&stmt->columns, "a b");
    stmt = PARSE_ONE(arena, "ALTER TABLE t DROP CONSTRAINT pk");
    assert_int_equal(stmt->alter, ALTER_DROP_CONSTRAINT);
    assert_str_is(stmt->name, "pk");
    assert_int_equal(PARSE_ONE(arena, "ALTER TABLE t DROP pk")->alter, ALTER_DROP_CONSTRAINT);
    stmt = PARSE_ONE(arena, "ALTER TABLE t ALTER COLUMN a bigint NOT NULL");
    assert_int_equal(stmt->alter, ALTER_ALTER_COLUMN);
    assert_int_equal(stmt->column_defs.items[0].type.kind, SIM_BIGINT);
    assert_false(stmt->column_defs.items[0].is_nullable);
    assert_syntax("ALTER TABLE t FROB", 102, 1, "near 'FROB'");
    arena_close(arena);
}

static void indexes_schemas_and_databases(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(arena,
                                 "CREATE UNIQUE CLUSTERED INDEX i ON s.t (a, b DESC) INCLUDE (c) "
                                 "WHERE a > 1 WITH (FILLFACTOR = 80) ON [PRIMARY]");
    assert_true(stmt->is_unique && stmt->is_clustered);
    assert_int_equal(stmt->keys.count, 2);
    assert_words(&stmt->columns, "c");
    assert_expr(stmt->where, "(a > 1)");
    stmt = PARSE_ONE(arena, "DROP INDEX IF EXISTS i ON s.t");
    assert_str_is(stmt->name, "i");
    assert_str_is(stmt->object.name, "t");
    stmt = PARSE_ONE(arena, "DROP INDEX s.t.i");
    assert_str_is(stmt->name, "i");
    assert_str_is(stmt->object.schema, "s");
    stmt = PARSE_ONE(arena, "DROP TABLE IF EXISTS a, s.b");
    assert_int_equal(stmt->kind, STMT_BLOCK);
    assert_int_equal(stmt->body.count, 2);
    assert_true(stmt->body.items[1]->if_exists);
    assert_int_equal(PARSE_ONE(arena, "DROP TABLE a")->kind, STMT_DROP_TABLE);
    assert_str_is(PARSE_ONE(arena, "CREATE SCHEMA s AUTHORIZATION dbo")->object.name, "s");
    assert_str_is(PARSE_ONE(arena, "CREATE DATABASE d ON (NAME = x) COLLATE Greek_CI_AS")->name,
                  "Greek_CI_AS");
    stmt = PARSE_ONE(
        arena, "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE");
    assert_words(&stmt->words, "READ_COMMITTED_SNAPSHOT ON");
    assert_str_is(stmt->object.name, "CURRENT");
    StmtList two = PARSE(arena, "ALTER DATABASE d SET SINGLE_USER USE d");
    assert_int_equal(two.count, 2);
    assert_words(&two.items[0]->words, "SINGLE_USER");
    assert_str_is(two.items[1]->name, "d");
    assert_syntax("SELECT 1; CREATE VIEW v AS SELECT 1", 111, 1, "VIEW");
    assert_syntax("IF 1 = 1 CREATE PROCEDURE p AS SELECT 1", 156, 1, "PROCEDURE");
    assert_syntax("DROP FROB x", 102, 1, "near 'FROB'");
    arena_close(arena);
}

static void set_has_options_and_variables(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_words(&PARSE_ONE(arena, "set nocount on")->words, "NOCOUNT ON");
    assert_words(&PARSE_ONE(arena, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")->words,
                 "TRANSACTION ISOLATION LEVEL READ COMMITTED");
    assert_words(&PARSE_ONE(arena, "SET TRANSACTION ISOLATION LEVEL snapshot")->words,
                 "TRANSACTION ISOLATION LEVEL SNAPSHOT");
    const Stmt *stmt = PARSE_ONE(arena, "SET LOCK_TIMEOUT -1");
    assert_words(&stmt->words, "LOCK_TIMEOUT");
    assert_expr(stmt->expr, "(-1)");
    assert_words(&PARSE_ONE(arena, "SET DEADLOCK_PRIORITY LOW")->words, "DEADLOCK_PRIORITY LOW");
    assert_words(&PARSE_ONE(arena, "SET LANGUAGE us_english")->words, "LANGUAGE US_ENGLISH");
    assert_expr(PARSE_ONE(arena, "SET LANGUAGE N'x'")->expr, "N'x'");
    stmt = PARSE_ONE(arena, "SET IDENTITY_INSERT s.t ON");
    assert_words(&stmt->words, "IDENTITY_INSERT ON");
    assert_str_is(stmt->object.name, "t");
    stmt = PARSE_ONE(arena, "SET ANSI_NULLS, ANSI_WARNINGS ON");
    assert_int_equal(stmt->kind, STMT_BLOCK);
    assert_words(&stmt->body.items[0]->words, "ANSI_NULLS ON");
    assert_words(&stmt->body.items[1]->words, "ANSI_WARNINGS ON");
    assert_words(&PARSE_ONE(arena, "SET STATISTICS XML ON")->words, "STATISTICS XML ON");
    stmt = PARSE_ONE(arena, "SET @a *= 2");
    assert_str_is(stmt->variable, "@a");
    assert_expr(stmt->expr, "(@a * 2)");
    assert_syntax("SET FROB ON", 195, 1, "'FROB' is not a recognized SET option");
    StmtList list = PARSE(
        arena, "SET QUOTED_IDENTIFIER OFF SELECT \"x\" SET QUOTED_IDENTIFIER ON SELECT \"x\"");
    assert_int_equal(list.items[1]->select->items.items[0].expr->kind, EXPR_LITERAL);
    assert_int_equal(list.items[3]->select->items.items[0].expr->kind, EXPR_COLUMN);
    arena_close(arena);
}

static void flow_nests(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(
        arena, "IF @a = 1 SELECT 1; ELSE IF @a = 2 BEGIN SELECT 2 SELECT 3 END ELSE PRINT 'x'");
    assert_int_equal(stmt->kind, STMT_IF);
    assert_int_equal(stmt->else_branch->kind, STMT_IF);
    assert_int_equal(stmt->else_branch->then_branch->body.count, 2);
    assert_int_equal(stmt->else_branch->else_branch->kind, STMT_PRINT);
    stmt = PARSE_ONE(arena, "WHILE @i < 3 BEGIN SET @i += 1 IF @i = 2 BREAK ELSE CONTINUE END");
    assert_int_equal(stmt->then_branch->body.count, 2);
    stmt = PARSE_ONE(arena, "BEGIN TRY SELECT 1/0; END TRY BEGIN CATCH END CATCH");
    assert_int_equal(stmt->kind, STMT_TRY);
    assert_int_equal(stmt->then_branch->body.count, 1);
    assert_int_equal(stmt->else_branch->body.count, 0);
    stmt = PARSE_ONE(arena, "RAISERROR (N'x %d', 16, 1, @a) WITH NOWAIT, LOG");
    assert_int_equal(stmt->args.count, 4);
    assert_words(&stmt->words, "NOWAIT LOG");
    stmt = PARSE_ONE(arena, "BEGIN TRY SELECT 1; END TRY BEGIN CATCH THROW END CATCH");
    assert_int_equal(stmt->else_branch->body.items[0]->args.count, 0);
    assert_syntax("THROW", 10704, 1, "THROW");
    assert_int_equal(PARSE_ONE(arena, "THROW 50001, 'x', 1;")->args.count, 3);
    stmt = PARSE_ONE(arena, "CREATE PROCEDURE p AS RETURN -1");
    assert_expr(stmt->then_branch->body.items[0]->expr, "(-1)");
    assert_syntax("RETURN -1", 178, 1, "RETURN");
    assert_syntax("BREAK", 135, 1, "BREAK");
    assert_syntax("IF 1 = 1 CONTINUE", 136, 1, "CONTINUE");
    assert_syntax("DECLARE @a int; DECLARE @A int", 134, 1, "@A");
    assert_syntax("SELECT * FROM (SELECT 1 AS a ORDER BY a) x", 1033, 1, "ORDER BY");
    StmtList list = PARSE(arena, "RETURN SELECT 1");
    assert_null(list.items[0]->expr);
    assert_words(&PARSE_ONE(arena, "WAITFOR DELAY '0:0:1'")->words, "DELAY");
    assert_syntax("BEGIN END", 156, 1, "'END'");
    assert_syntax("WAITFOR 5", 102, 1, "near '5'");
    assert_syntax("GOTO x", 50001, 1, "GOTO");
    assert_syntax("x: SELECT 1", 50001, 1, "label");
    arena_close(arena);
}

static void declare_takes_scalars_and_tables(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(
        arena,
        "DECLARE @a int = 1 + 2, @b AS nvarchar(max), @t TABLE (id int PRIMARY KEY, x varchar(5))");
    assert_int_equal(stmt->variables.count, 3);
    assert_expr(stmt->variables.items[0].value, "(1 + 2)");
    assert_int_equal(stmt->variables.items[1].type.length, -1);
    assert_true(stmt->variables.items[2].is_table);
    assert_int_equal(stmt->variables.items[2].columns.count, 2);
    assert_int_equal(stmt->variables.items[2].constraints.count, 1);
    assert_syntax("DECLARE @c CURSOR", 50001, 1, "cursor");
    assert_syntax("DECLARE @a", 102, 1, "near '@a'");
    arena_close(arena);
}

static void exec_takes_procedures_and_text(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(
        arena, "EXEC @rc = d.s.p 1, -2, N'x', @a OUTPUT, DEFAULT, NULL, word, @b = 5");
    assert_int_equal(stmt->kind, STMT_EXEC);
    assert_str_is(stmt->variable, "@rc");
    assert_str_is(stmt->object.database, "d");
    assert_int_equal(stmt->exec_args.count, 8);
    assert_expr(stmt->exec_args.items[1].value, "(-2)");
    assert_true(stmt->exec_args.items[3].is_output);
    assert_expr(stmt->exec_args.items[6].value, "N'word'");
    assert_str_is(stmt->exec_args.items[7].name, "@b");
    assert_int_equal(PARSE_ONE(arena, "sp_who")->kind, STMT_EXEC);
    assert_int_equal(PARSE_ONE(arena, "dbo.p 1")->exec_args.count, 1);
    assert_str_is(PARSE_ONE(arena, "EXEC ..sp_columns")->object.name, "sp_columns");
    assert_str_is(PARSE_ONE(arena, "EXEC @name 1")->object.name, "@name");
    stmt = PARSE_ONE(arena, "EXEC ('SELECT ' + @a)");
    assert_int_equal(stmt->kind, STMT_EXEC_TEXT);
    assert_expr(stmt->expr, "('SELECT ' + @a)");
    StmtList list = PARSE(arena, "EXEC p SELECT 1 EXEC q; EXEC r WITH RECOMPILE");
    assert_int_equal(list.count, 4);
    assert_str_is(list.items[0]->source, "EXEC p");
    assert_syntax("EXEC p @a = 1, 2", 119, 1, "parameter number 2");
    assert_syntax("SELECT 1 sp_who 2", 102, 1, "near '2'");
    assert_syntax("EXECUTE AS USER = 'x' WITH COOKIE INTO @c", 50001, 1, "COOKIE");
    arena_close(arena);
}

static void transactions_may_be_named(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(PARSE_ONE(arena, "BEGIN TRAN x WITH MARK 'y'")->name, "x");
    assert_str_is(PARSE_ONE(arena, "ROLLBACK TRANSACTION @n")->variable, "@n");
    assert_str_is(PARSE_ONE(arena, "SAVE TRAN s")->name, "s");
    assert_int_equal(PARSE(arena, "BEGIN TRAN INSERT t VALUES (1) COMMIT SELECT 1").count, 4);
    assert_int_equal(PARSE_ONE(arena, "COMMIT WORK")->kind, STMT_COMMIT);
    assert_syntax("BEGIN DISTRIBUTED TRAN", 50001, 1, "distributed");
    assert_syntax("SAVE TRAN", 102, 1, "near 'TRAN'");
    arena_close(arena);
}

static void principals_and_rights(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    const Stmt *stmt = PARSE_ONE(arena,
                                 "CREATE LOGIN joe WITH PASSWORD = N'secret', CHECK_POLICY = OFF");
    assert_str_is(stmt->name, "joe");
    assert_expr(stmt->args.items[0], "N'secret'");
    stmt = PARSE_ONE(arena, "CREATE USER u FOR LOGIN joe WITH DEFAULT_SCHEMA = dbo");
    assert_str_is(stmt->object.name, "joe");
    assert_words(&PARSE_ONE(arena, "CREATE USER u WITHOUT LOGIN")->words, "WITHOUT LOGIN");
    stmt = PARSE_ONE(arena, "ALTER ROLE r DROP MEMBER u");
    assert_str_is(stmt->object.name, "r");
    assert_words(&stmt->words, "DROP");
    assert_words(&PARSE_ONE(arena, "ALTER SERVER ROLE sysadmin ADD MEMBER joe")->words,
                 "ADD SERVER");
    stmt = PARSE_ONE(arena, "DROP USER IF EXISTS u");
    assert_words(&stmt->words, "USER");
    stmt = PARSE_ONE(arena,
                     "GRANT SELECT (a, b), EXEC ON OBJECT::s.t TO u, public WITH GRANT OPTION");
    assert_int_equal(stmt->grant, GRANT_GRANT);
    assert_words(&stmt->words, "SELECT EXECUTE");
    assert_words(&stmt->grant_columns, "a b");
    assert_str_is(stmt->grant_class, "OBJECT");
    assert_words(&stmt->principals, "u public");
    stmt = PARSE_ONE(arena, "REVOKE VIEW DATABASE STATE FROM u CASCADE");
    assert_int_equal(stmt->grant, GRANT_REVOKE);
    assert_str_is(stmt->words.items[0], "VIEW DATABASE STATE");
    stmt = PARSE_ONE(arena, "DENY SELECT ON SCHEMA::cdc TO u");
    assert_int_equal(stmt->grant, GRANT_DENY);
    assert_str_is(stmt->grant_class, "SCHEMA");
    assert_words(&PARSE_ONE(arena, "DBCC TRACEON (8207, -1) WITH NO_INFOMSGS")->words, "TRACEON");
    assert_expr(PARSE_ONE(arena, "KILL 55")->expr, "55");
    arena_close(arena);
}

static void statements_know_their_own_text(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    StmtList list = PARSE(arena, "  ALTER TABLE t\n  ADD x int ; -- comment\n SELECT 1");
    assert_str_is(list.items[0]->source, "ALTER TABLE t\n  ADD x int");
    assert_str_is(list.items[1]->source, "SELECT 1");
    assert_int_equal(PARSE(arena, " ;; -- nothing\n").count, 0);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insert_takes_rows_queries_procedures_and_defaults),
        cmocka_unit_test(update_assigns_columns_and_variables),
        cmocka_unit_test(tables_have_columns_and_constraints),
        cmocka_unit_test(alter_table_adds_drops_and_changes),
        cmocka_unit_test(indexes_schemas_and_databases),
        cmocka_unit_test(set_has_options_and_variables),
        cmocka_unit_test(flow_nests),
        cmocka_unit_test(declare_takes_scalars_and_tables),
        cmocka_unit_test(exec_takes_procedures_and_text),
        cmocka_unit_test(transactions_may_be_named),
        cmocka_unit_test(principals_and_rights),
        cmocka_unit_test(statements_know_their_own_text),
    };
    return RUN_TESTS(tests);
}
