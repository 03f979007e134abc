/* Queries: sources, joins, set operations, common tables (sqlserver.md 2.10). */
#include "support/sim_tree.h"

static void select_has_all_its_parts(void **state)
{
    (void)state;
    assert_select("SELECT DISTINCT TOP (5) WITH TIES a AS x, b y, z = c, 'w' = d, e AS 'v' INTO #t "
                  "FROM t WHERE a = 1 GROUP BY a, b HAVING COUNT(*) > 1 "
                  "ORDER BY a DESC, 2 OPTION (RECOMPILE, MAXDOP 1)",
                  "SELECT DISTINCT TOP 5 WITH TIES a AS x, b AS y, c AS z, d AS w, e AS v INTO #t "
                  "FROM t WHERE (a = 1) GROUP BY a, b "
                  "HAVING (COUNT(*) > 1) ORDER BY a DESC, 2 OPTION RECOMPILE MAXDOP 1");
    assert_select("SELECT ALL TOP 5 PERCENT a FROM t", "SELECT TOP 5 PERCENT a FROM t");
    assert_select("SELECT TOP @n a FROM t", "SELECT TOP @n a FROM t");
    assert_select("SELECT a FROM t ORDER BY a OFFSET @n ROWS FETCH NEXT 1 ROW ONLY",
                  "SELECT a FROM t ORDER BY a OFFSET @n FETCH 1");
    assert_select("SELECT a FROM t ORDER BY a OFFSET 5 ROWS",
                  "SELECT a FROM t ORDER BY a OFFSET 5");
    assert_select("SELECT @a = 1, @b += 2", "SELECT @a = 1, @b = (@b + 2)");
    assert_select("SELECT a FROM t FOR BROWSE", "SELECT a FROM t");
}

static void sources_come_in_many_kinds(void **state)
{
    (void)state;
    assert_select("SELECT 1 FROM d..t AS x WITH (NOLOCK, INDEX(1))",
                  "SELECT 1 FROM d..t x WITH NOLOCK,INDEX");
    assert_select("SELECT 1 FROM t (nolock), u (tablockx, holdlock) v",
                  "SELECT 1 FROM [t WITH NOLOCK CROSS JOIN u v WITH TABLOCKX,HOLDLOCK]");
    assert_select("SELECT 1 FROM @t x", "SELECT 1 FROM @t x");
    assert_select("SELECT 1 FROM GENERATE_SERIES(1, 10) g(n)",
                  "SELECT 1 FROM GENERATE_SERIES(1, 10) g(n)");
    assert_select("SELECT 1 FROM cdc.fn_x(@a, DEFAULT, N'all')",
                  "SELECT 1 FROM cdc.fn_x(@a, DEFAULT, N'all')");
    assert_select("SELECT 1 FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y)",
                  "SELECT 1 FROM (VALUES (1, 'a') (2, 'b')) v(x, y)");
    assert_select("SELECT 1 FROM (SELECT a FROM t) x(y)", "SELECT 1 FROM (SELECT a FROM t) x(y)");
    assert_select("SELECT 1 FROM ((SELECT 1 AS a) UNION (SELECT 2)) x",
                  "SELECT 1 FROM ({SELECT 1 AS a UNION SELECT 2}) x");
    assert_select("SELECT 1 FROM (t)", "SELECT 1 FROM t");
}

static void joins_nest_as_their_conditions_say(void **state)
{
    (void)state;
    assert_select("SELECT 1 FROM a JOIN b ON a.x = b.x LEFT OUTER JOIN c ON 1 = 1",
                  "SELECT 1 FROM [[a JOIN b ON (a.x = b.x)] LEFT JOIN c ON (1 = 1)]");
    assert_select("SELECT 1 FROM a LEFT JOIN b INNER JOIN c ON b.x = c.x ON a.x = b.x",
                  "SELECT 1 FROM [a LEFT JOIN [b JOIN c ON (b.x = c.x)] ON (a.x = b.x)]");
    assert_select(
        "SELECT 1 FROM a RIGHT JOIN b ON 1 = 1 FULL JOIN c ON 1 = 1 CROSS JOIN d",
        "SELECT 1 FROM [[[a RIGHT JOIN b ON (1 = 1)] FULL JOIN c ON (1 = 1)] CROSS JOIN d]");
    assert_select("SELECT 1 FROM a CROSS APPLY (SELECT a.x) b OUTER APPLY f(a.x) c",
                  "SELECT 1 FROM [[a CROSS APPLY (SELECT a.x) b] OUTER APPLY f(a.x) c]");
    assert_select(
        "SELECT 1 FROM (a JOIN b ON 1 = 1) JOIN ((SELECT 1 AS x) c JOIN d ON 2 = 2) ON 3 = 3",
        "SELECT 1 FROM [[a JOIN b ON (1 = 1)] JOIN [(SELECT 1 AS x) c JOIN d ON (2 = 2)] ON (3 = "
        "3)]");
    assert_select("SELECT 1 FROM a INNER HASH JOIN b ON 1 = 1",
                  "SELECT 1 FROM [a JOIN b ON (1 = 1)]");
    assert_select("SELECT 1 FROM a, b JOIN c ON 1 = 1",
                  "SELECT 1 FROM [a CROSS JOIN [b JOIN c ON (1 = 1)]]");
}

static void set_operations_go_from_left_to_right_intersect_first(void **state)
{
    (void)state;
    assert_select("SELECT 1 UNION SELECT 2 UNION ALL SELECT 3 ORDER BY 1",
                  "{{SELECT 1 UNION SELECT 2} UNION ALL SELECT 3} ORDER BY 1");
    assert_select("SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 3",
                  "{SELECT 1 EXCEPT {SELECT 2 INTERSECT SELECT 3}}");
    assert_select("(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3",
                  "{{SELECT 1 UNION SELECT 2} INTERSECT SELECT 3}");
    assert_select("SELECT * FROM (SELECT * FROM (SELECT TOP (2) k FROM t ORDER BY k) p UNION ALL "
                  "SELECT * FROM (SELECT TOP (2) k FROM t ORDER BY k) p) u "
                  "ORDER BY k OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY",
                  "SELECT * FROM ({SELECT * FROM (SELECT TOP 2 k FROM t ORDER BY k) p UNION ALL "
                  "SELECT * FROM (SELECT TOP 2 k FROM t ORDER BY k) p}) u "
                  "ORDER BY k OFFSET 1 FETCH 1");
}

static void common_tables_stand_in_front(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_select("WITH a AS (SELECT 1 AS x), b (y) AS (SELECT x FROM a) SELECT y FROM b",
                  "WITH a() AS (SELECT 1 AS x) WITH b(y) AS (SELECT x FROM a) SELECT y FROM b");
    assert_select("SELECT 1 FROM (SELECT 2) x WHERE 1 IN (SELECT 3)",
                  "SELECT 1 FROM (SELECT 2) x WHERE 1 IN (SELECT 3)");
    const Stmt *update = PARSE_ONE(arena, "WITH a AS (SELECT 1 AS x) UPDATE a SET x = 2");
    assert_int_equal(update->kind, STMT_UPDATE);
    assert_int_equal(update->with.count, 1);
    const Stmt *insert = PARSE_ONE(arena, "WITH a AS (SELECT 1 AS x) INSERT t SELECT x FROM a");
    assert_int_equal(insert->kind, STMT_INSERT);
    assert_str_is(insert->with.items[0].name, "a");
    arena_close(arena);
}

/* Every shape of the catalogue (sqlserver.md 1.4) and of the library (B.2) is read. */
static void the_catalogue_is_read(void **state)
{
    static const char *const queries[] = {
        "SELECT CAST(SERVERPROPERTY('ProductMajorVersion') AS int) AS major_version, d.name FROM "
        "sys.databases AS d WHERE d.database_id = DB_ID();",
        "SELECT COALESCE(MAX(w.wait_time_ms), 0) AS ms FROM sys.dm_exec_session_wait_stats AS w "
        "WHERE w.session_id = @@SPID",
        "SELECT CAST(CURRENT_TIMEZONE_ID() AS nvarchar(128)) AS zone;",
        "SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS minutes_east;",
        "SELECT CONVERT(char(22), sys.fn_cdc_increment_lsn(CONVERT(binary(10), @P1, 1)), 1) AS "
        "lsn;",
        "SELECT TOP (1) m.start_lsn, m.tran_end_time FROM cdc.lsn_time_mapping AS m WHERE "
        "m.start_lsn <= CONVERT(binary(10), @P1, 1) ORDER BY m.start_lsn DESC;",
        "DECLARE @utc  datetime2(0) = CONVERT(datetime2(0), @P1, 126);\nDECLARE @here datetime2(0) "
        "= CONVERT(datetime2(0),\n  @utc AT TIME ZONE N'UTC' AT "
        "TIME ZONE N'E. South America Standard Time');\nSELECT CONVERT(char(22), "
        "sys.fn_cdc_map_time_to_lsn(N'largest less than or equal', IIF(@next < @here, "
        "@next, @here)), 1) AS lsn;",
        "SELECT CONVERT(char(22), COALESCE((SELECT TOP (1) m.start_lsn FROM cdc.lsn_time_mapping "
        "AS m WHERE m.tran_end_time <= DATEADD(hour, -3, "
        "CONVERT(datetime, @P1, 126)) ORDER BY m.tran_end_time DESC, m.start_lsn DESC), "
        "0x00000000000000000000), 1) AS below;",
        "WITH r AS (SELECT c.[__$start_lsn] AS l, NTILE(4) OVER (ORDER BY c.[__$start_lsn]) AS "
        "tile FROM cdc.[dbo_t_CT] AS c) SELECT "
        "CONVERT(char(22), MAX(r.l), 1) AS last_lsn, COUNT_BIG(*) AS row_count FROM r GROUP BY "
        "r.tile ORDER BY MAX(r.l);",
        "SELECT c.[__$start_lsn], m.tran_end_time, c.[a] FROM cdc.[dbo_t_CT] AS c INNER JOIN "
        "cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] WHERE "
        "c.[__$start_lsn] >= CONVERT(binary(10), @P1, 1) ORDER BY c.[__$start_lsn], "
        "c.[__$command_id];",
        "EXEC sys.sp_cdc_help_change_data_capture @source_schema = @P1, @source_name = @P2;",
        "SELECT HAS_PERMS_BY_NAME(N'cdc.' + QUOTENAME(@P1 + N'_CT'), N'OBJECT', N'SELECT') AS "
        "can_read;",
        "SELECT a.k AS key_min, z.k AS key_max FROM (SELECT TOP (1) t.[k] AS k FROM [s].[t] AS t "
        "WHERE t.[k] IS NOT NULL ORDER BY t.[k]) AS a CROSS JOIN (SELECT "
        "TOP (1) t.[k] AS k FROM [s].[t] AS t ORDER BY t.[k] DESC) AS z;",
        "SELECT x.b, COUNT_BIG(*) AS n, SUM(CAST(x.o AS decimal(38,0))) AS key_sum FROM (SELECT "
        "q.o, q.o / CAST(10 AS bigint) - IIF(q.o % CAST(10 AS bigint) < 0, "
        "1, 0) AS b FROM (SELECT CAST(DATEDIFF(day, CAST('19700101' AS date), t.[k]) AS bigint) AS "
        "o FROM [s].[t] AS t WHERE t.[k] IS NOT NULL) AS q) AS x GROUP "
        "BY x.b;",
        "SET LOCK_TIMEOUT 5000; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT a FROM [s].[t] AS "
        "t WHERE a = CAST(@P1 COLLATE Greek_CI_AS AS varchar(5)) UNION "
        "ALL SELECT a FROM [s].[t] AS t WHERE (a < CONVERT(varbinary(5), @P2, 1) OR a IS NULL) AND "
        "1 = 0",
        "SELECT CASE WHEN DATEDIFF(day, MIN(t), MAX(t)) < 7 AND DATEPART(TZOFFSET, DATEADD(hour, "
        "-3, MIN(t)) AT TIME ZONE N'z') = 0 THEN 1 END FROM m WHERE "
        "start_lsn BETWEEN @P1 AND @P2",
        "SELECT x.l FROM (SELECT MIN(t) AS t0 FROM m HAVING MIN(t) IS NOT NULL) r CROSS APPLY "
        "(SELECT d.start_lsn AS l FROM (SELECT r.t0 AS lo) b CROSS APPLY "
        "(SELECT start_lsn, LAG(t) OVER (ORDER BY start_lsn) AS prev FROM m WHERE start_lsn > "
        "b.lo) d WHERE d.t < DATEADD(minute, -1, d.prev)) x",
        "SELECT * FROM (VALUES (CONVERT(binary(10), @P1, 1), CONVERT(datetime, @P2, 126))) "
        "v(start_lsn, t)",
        "SELECT CASE WHEN sys.fn_cdc_get_min_lsn(@P1) > 0x00000000000000000000 THEN "
        "HAS_PERMS_BY_NAME(@P2, 'OBJECT', 'SELECT') END",
        "SELECT (SELECT MIN(k) FROM t WHERE k >= 1 AND k < 9) AS lo, (SELECT MAX(k) FROM t) AS hi",
        "SELECT [db].sys.fn_cdc_get_max_lsn()",
        "SELECT TOP (@P0 + 1) start_lsn FROM [db].cdc.lsn_time_mapping WHERE tran_id <> 0x00 ORDER "
        "BY start_lsn",
        "SELECT CASE WHEN s.[status]=4 THEN 1 ELSE 0 END AS [on] FROM [db].sys.dm_server_services "
        "s WHERE s.[servicename] LIKE N'SQL Server Agent (%';",
        "SELECT TOP(0) * FROM [db].[s].[t] WITH (TABLOCKX)",
        "DECLARE @t TABLE (a int NULL, b nvarchar(128)); INSERT INTO @t EXEC sp_columns_100 @P0, "
        "@P1; SELECT a FROM @t ORDER BY b",
        "use [db]",
        "IF @@TRANCOUNT = 0 BEGIN BEGIN TRAN IF @@TRANCOUNT = 2 COMMIT TRAN END SAVE TRAN x",
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(queries); i++)
        assert_true(PARSE(arena, queries[i]).count > 0);
    arena_close(arena);
}

static void what_is_recognised_and_missing_is_named(void **state)
{
    (void)state;
    assert_syntax("SELECT 1 FOR XML PATH", 50001, 1, "FOR XML");
    assert_syntax("SELECT 1 FROM t FOR JSON AUTO", 50001, 1, "FOR JSON");
    assert_syntax("SELECT 1 FROM t\nTABLESAMPLE (5 ROWS)", 50001, 2, "TABLESAMPLE");
    assert_syntax("SELECT 1 FROM t PIVOT (SUM(a) FOR b IN (c)) p", 50001, 1, "PIVOT");
    assert_syntax("SELECT 1 FROM OPENROWSET(BULK 'x', SINGLE_BLOB) x", 50001, 1, "OPENROWSET");
    assert_syntax("SELECT 1 GROUP BY GROUPING SETS (a, b)", 50001, 1, "GROUPING SETS");
    assert_syntax("SELECT a FROM t GROUP BY a WITH ROLLUP", 50001, 1, "ROLLUP");
    assert_syntax("SELECT 1 WHERE a IS NOT DISTINCT FROM b", 50001, 1, "DISTINCT FROM");
    assert_syntax("SELECT SUM(a) OVER w FROM t", 50001, 1, "named window");
    assert_syntax("SELECT a FROM s.d.x.t", 50001, 1, "linked server");
    assert_syntax("SELECT NEXT VALUE FOR s", 50001, 1, "NEXT VALUE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_has_all_its_parts),
        cmocka_unit_test(sources_come_in_many_kinds),
        cmocka_unit_test(joins_nest_as_their_conditions_say),
        cmocka_unit_test(set_operations_go_from_left_to_right_intersect_first),
        cmocka_unit_test(common_tables_stand_in_front),
        cmocka_unit_test(the_catalogue_is_read),
        cmocka_unit_test(what_is_recognised_and_missing_is_named),
    };
    return RUN_TESTS(tests);
}
