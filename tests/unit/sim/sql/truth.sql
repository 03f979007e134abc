-- What docs/tidesim-reference.md claims in "How true it is", claim by claim: `truth: area | column | claim`, and below it the tests that
-- show it, or statements that do. tests/unit/docs reads both sides. Changing one means changing the other.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE t (id int NOT NULL PRIMARY KEY, v int NULL, s varchar(20) NULL);
-->
INSERT t VALUES (1, 10, 'a'), (2, 20, 'b');
--> (2)
-- truth: protocol | faithful | tokens
-- shown by: unit/tds/test_token.c:messages_with_every_part, unit/sim/test_server.c:a_login_is_answered_in_the_order_of_sql_server
-- truth: protocol | faithful | type encodings
-- shown by: unit/tds/test_value.c:the_bytes_of_some_values, unit/sim/test_server_bulk.c:every_type_survives
-- truth: protocol | faithful | error numbers and severities
-- shown by: unit/sim/test_server.c:errors_carry_number_state_severity_and_line
-- truth: protocol | faithful | what an attention leaves behind
-- shown by: unit/sim/test_server.c:an_attention_is_answered_once_whenever_it_comes, unit/sim/test_session.c:attentions_wake_lock_waits_sleeps_and_loops
-- truth: protocol | faithful | encryption
-- shown by: unit/sim/test_server_tls.c:clients_may_encrypt_where_it_is_offered, unit/sim/test_server_tls.c:a_client_can_verify_the_server
-- truth: protocol | simplified | no redirection and no read-only routing
-- shown by: unit/sim/test_versions.c:a_secondary_is_behind_and_read_only
-- truth: protocol | simplified | every server cursor is read-only, those that scroll are static
-- shown by: unit/sim/test_server_call.c:a_cursor_is_read_only_and_ends_when_closed, unit/sim/test_server_call.c:a_cursor_opens_without_rows_and_says_what_it_is
-- truth: protocol | simplified | TLS resumes no sessions and asks clients for no certificates
-- shown by: unit/sim/test_server_tls.c:nothing_is_negotiated_again
-- truth: protocol | missing | Windows and federated logins
CREATE LOGIN [shop\reader] FROM WINDOWS;
--> !50001 16 1 line 18: tidesim: a login from Windows or a certificate is not supported
-- truth: protocol | missing | MARS
-- shown by: unit/tds/test_login.c:an_answer_to_prelogin_has_mars_and_no_encryption
-- truth: protocol | missing | table-valued parameters
-- shown by: unit/sim/test_server_call.c:tables_and_user_types_are_refused_and_the_connection_stays
-- truth: protocol | missing | FIRE_TRIGGERS of a bulk load
INSERT BULK t (id int) WITH (FIRE_TRIGGERS);
--> !50001 16 1 line 6: tidesim: FIRE_TRIGGERS in a bulk load is not supported
-- truth: queries | faithful | meaning of expressions
-- shown by: unit/sim/test_exec.c:first_statements, unit/sim/test_parse_expr.c:operators_have_their_precedence
-- truth: queries | faithful | NULLs
SELECT COUNT(*) AS n FROM t WHERE NULL = NULL OR v NOT IN (10, NULL);
--> n
--> 0
--> (1)
-- truth: queries | faithful | collations
-- shown by: unit/sim/test_collation.c:case_and_accents_count_as_the_name_says, unit/sim/test_collation.c:alphabets_keep_their_order
-- truth: queries | faithful | conversions and their errors
-- shown by: unit/sim/test_convert.c:numbers_out_of_range_are_refused, unit/sim/test_convert_time.c:styles_say_how_times_are_shown
-- truth: queries | faithful | joins, groups, windows and subqueries
-- shown by: unit/sim/test_exec.c:joins_groups_windows_and_subqueries
-- truth: queries | faithful | names that nobody has (195, 208, 2812)
SELECT NO_SUCH_FUNCTION(1);
--> !195 15 10 line 8: 'NO_SUCH_FUNCTION' is not a recognized built-in function name.
SELECT UNISTR('a');
--> !195 15 10 line 1: 'UNISTR' is not a recognized built-in function name.
SELECT * FROM sys.no_such_function(1);
--> !208 16 1 line 1: Invalid object name 'sys.no_such_function'.
EXEC sp_no_such_procedure;
--> !2812 16 62 line 1: Could not find stored procedure 'sp_no_such_procedure'.
-- truth: queries | simplified | the planner takes seeks over scans by rule, without statistics
--stats
SELECT id FROM t WHERE id = 2;
--> id
--> 2
--> (1)
--> stats seeks=1 scans=0 examined=1 returned=1
-- truth: queries | simplified | hints about plans are accepted and ignored
SELECT id FROM t WITH (INDEX(1)) OPTION (RECOMPILE, MAXDOP 1, HASH JOIN);
--> id
--> 1
--> 2
--> (2)
-- truth: queries | simplified | aggregates do not warn of NULLs (8153)
SELECT SUM(x) AS n FROM (VALUES (1), (NULL)) AS a(x);
--> n
--> 1
--> (1)
-- truth: queries | simplified | xml keeps attributes in the order written
SELECT CAST('<a b="1" xmlns:x="u" a="2"/>' AS xml) AS x;
--> x
--> <a b="1" xmlns:x="u" a="2"/>
--> (1)
-- truth: queries | simplified | names are compared ignoring case, whatever the database's collation
CREATE DATABASE exacting COLLATE Latin1_General_CS_AS;
-->
USE exacting;
--> # Changed database context to 'exacting'.
CREATE TABLE dbo.Things (Id int);
-->
SELECT id FROM dbo.THINGS;
--> id
--> (0)
USE shop;
--> # Changed database context to 'shop'.
-- truth: queries | missing | PIVOT and UNPIVOT
SELECT * FROM (SELECT id, v FROM t) AS a PIVOT (SUM(v) FOR id IN ([1], [2])) AS p;
--> !50001 16 1 line 2: tidesim: PIVOT or UNPIVOT is not supported
-- truth: queries | missing | GROUPING SETS, ROLLUP and CUBE
SELECT v, COUNT(*) FROM t GROUP BY ROLLUP (v);
--> !50001 16 1 line 2: tidesim: GROUPING SETS, ROLLUP or CUBE is not supported
-- truth: queries | missing | TABLESAMPLE
SELECT * FROM t TABLESAMPLE (10 PERCENT);
--> !50001 16 1 line 2: tidesim: TABLESAMPLE is not supported
-- truth: queries | missing | FOR XML
SELECT * FROM t FOR XML AUTO;
--> !50001 16 1 line 2: tidesim: FOR XML is not supported
-- truth: queries | missing | FOR JSON
SELECT * FROM t FOR JSON AUTO;
--> !50001 16 1 line 2: tidesim: FOR JSON is not supported
-- truth: queries | missing | JSON functions
SELECT JSON_VALUE(N'{"a": 1}', '$.a');
--> !50001 16 1 line 2: tidesim: the function JSON_VALUE is not supported
SELECT * FROM OPENJSON(N'{"a": 1}');
--> !50001 16 1 line 1: tidesim: the function OPENJSON is not supported
-- truth: queries | missing | methods of xml
DECLARE @x xml = '<a>1</a>'; SELECT @x.value('(/a)[1]', 'int');
--> !50001 16 1 line 2: tidesim: a method of a variable is not supported
-- truth: queries | missing | FORMAT
SELECT FORMAT(1, 'N');
--> !50001 16 1 line 2: tidesim: the function FORMAT is not supported
-- truth: queries | missing | CHECKSUM
SELECT CHECKSUM(v) FROM t;
--> !50001 16 1 line 2: tidesim: the function CHECKSUM is not supported
-- truth: queries | missing | other functions and procedures that a server of that version has
SELECT CRYPT_GEN_RANDOM(4);
--> !50001 16 1 line 2: tidesim: the function CRYPT_GEN_RANDOM is not supported
SELECT BIT_COUNT(3);
--> !50001 16 1 line 1: tidesim: the function BIT_COUNT is not supported
SELECT * FROM sys.dm_db_index_physical_stats(1, NULL, NULL, NULL, NULL);
--> !50001 16 1 line 1: tidesim: the function dm_db_index_physical_stats is not supported
EXEC sys.sp_addlinkedserver 'x';
--> !50001 16 1 line 1: tidesim: the procedure sp_addlinkedserver is not supported
-- truth: queries | missing | full text
SELECT * FROM CONTAINSTABLE(t, s, 'a') AS c;
--> !50001 16 1 line 2: tidesim: CONTAINSTABLE is not supported
-- truth: queries | missing | other servers (OPENROWSET, linked servers)
SELECT * FROM OPENROWSET(BULK 'x', SINGLE_CLOB) AS a;
--> !50001 16 1 line 2: tidesim: OPENROWSET is not supported
SELECT * FROM elsewhere.shop.dbo.t;
--> !50001 16 1 line 1: tidesim: a linked server is not supported
-- truth: queries | missing | plans (SHOWPLAN)
SET SHOWPLAN_ALL ON;
--> !50001 16 1 line 2: tidesim: SET SHOWPLAN_ALL ON is not supported
-- truth: types | faithful | values at their extremes, on the wire and back
-- shown by: unit/tds/test_value.c:decimals_keep_38_digits, unit/sim/test_model_row.c:values_have_their_wire_form_and_come_back
-- truth: types | faithful | precedence
-- shown by: unit/sim/test_value.c:mixed_types_follow_precedence
-- truth: types | faithful | arithmetic
-- shown by: unit/sim/test_arithmetic.c:decimals_follow_the_rules_of_precision
-- truth: types | missing | geometry, geography and hierarchyid
DECLARE @g geography;
--> !50001 16 1 line 8: tidesim: the type geography is not supported
SELECT CAST(NULL AS hierarchyid);
--> !50001 16 1 line 1: tidesim: the type hierarchyid is not supported
CREATE TABLE places (id int, place geometry);
--> !50001 16 1 line 1: tidesim: the type geometry is not supported
-- truth: types | missing | types of one's own (CREATE TYPE)
CREATE TYPE phone FROM varchar(20);
--> !50001 16 1 line 2: tidesim: CREATE TYPE is not supported
-- truth: types | missing | json and vector, which a 2022 does not have either (2715)
DECLARE @j json;
--> !2715 16 6 line 2: Column, parameter, or variable #1: Cannot find data type json.
-- truth: objects | faithful | tables
-- shown by: unit/sim/test_model.c:ddl_changes_columns_and_rolls_back, unit/sim/test_exec.c:changes_and_what_their_errors_end
-- truth: objects | faithful | clustered and other indexes
-- shown by: unit/sim/test_model.c:indexes_come_and_go, unit/sim/test_model.c:duplicates_name_the_constraint_and_the_value
-- truth: objects | faithful | identity
-- shown by: unit/sim/test_model.c:identities_and_rowversions_count
-- truth: objects | faithful | defaults and computed columns
CREATE TABLE d (a int NULL, b int NOT NULL DEFAULT 5, c AS b * 2); INSERT d (a) VALUES (1); SELECT a, b, c FROM d;
--> (1)
--> a|b|c
--> 1|5|10
--> (1)
-- truth: objects | faithful | CHECK and FOREIGN KEY
-- shown by: unit/sim/test_exec.c:changes_and_what_their_errors_end
-- truth: objects | faithful | procedures with parameters and status
-- shown by: unit/sim/test_exec.c:merge_in_change_tables_procedures_and_keys_under_locks
-- truth: objects | faithful | views to read from
CREATE VIEW w AS SELECT id, v FROM t;
-->
SELECT v FROM w WHERE id = 1;
--> v
--> 10
--> (1)
-- truth: objects | simplified | object ids are its own
SELECT SIGN(OBJECT_ID('t')) AS some_id;
--> some_id
--> 1
--> (1)
-- truth: objects | simplified | definitions in the catalogue are written as SQL Server writes the usual ones
SELECT definition FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('d');
--> definition
--> ((5))
--> (1)
-- truth: objects | simplified | page counts are estimates
SELECT SIGN(SUM(used_page_count)) AS some_pages FROM sys.dm_db_partition_stats WHERE object_id = OBJECT_ID('t');
--> some_pages
--> 1
--> (1)
-- truth: objects | simplified | T-SQL cursors read all their rows when they open
DECLARE @id int; DECLARE c CURSOR LOCAL FOR SELECT v FROM t ORDER BY id; OPEN c; UPDATE t SET v = 21 WHERE id = 2;
FETCH c INTO @id; FETCH c INTO @id; SELECT @id AS v; UPDATE t SET v = 20 WHERE id = 2;
--> (1)
--> v
--> 20
--> (1)
--> (1)
-- truth: objects | simplified | changes of one MERGE are logged deletes first, then updates, then inserts
-- shown by: unit/sim/test_exec.c:merge_in_change_tables_procedures_and_keys_under_locks
-- truth: objects | missing | filtered, columnstore, XML and full-text indexes
CREATE INDEX filtered ON t (v) WHERE v > 1;
--> !50001 16 1 line 4: tidesim: a filtered index is not supported
CREATE COLUMNSTORE INDEX columns_of_t ON t (v);
--> !50001 16 1 line 1: tidesim: CREATE COLUMNSTORE is not supported
CREATE FULLTEXT INDEX ON t (s) KEY INDEX p;
--> !50001 16 1 line 1: tidesim: CREATE FULLTEXT is not supported
-- truth: objects | missing | FOREIGN KEY with CASCADE
CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t (id) ON DELETE CASCADE);
--> !50001 16 1 line 2: tidesim: a FOREIGN KEY with CASCADE, SET NULL or SET DEFAULT is not supported
-- truth: objects | missing | changes through views
UPDATE w SET v = 1;
--> !50001 16 1 line 2: tidesim: changing rows through a view is not supported
-- truth: objects | missing | DYNAMIC cursors
DECLARE dynamic_one CURSOR LOCAL DYNAMIC FOR SELECT v FROM t;
--> !50001 16 1 line 2: tidesim: a DYNAMIC cursor is not supported
-- truth: objects | missing | functions
CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN @a END;
--> !50001 16 1 line 2: tidesim: CREATE FUNCTION is not supported
-- truth: objects | missing | triggers
CREATE TRIGGER tr ON t AFTER INSERT AS SELECT 1;
--> !50001 16 1 line 2: tidesim: CREATE TRIGGER is not supported
-- truth: objects | missing | sequences
CREATE SEQUENCE q;
--> !50001 16 1 line 2: tidesim: CREATE SEQUENCE is not supported
-- truth: objects | missing | synonyms
CREATE SYNONYM y FOR t;
--> !50001 16 1 line 2: tidesim: CREATE SYNONYM is not supported
-- truth: objects | missing | partitions
CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (1);
--> !50001 16 1 line 2: tidesim: CREATE PARTITION is not supported
-- truth: objects | missing | SPARSE columns
CREATE TABLE sp (a int SPARSE NULL);
--> !50001 16 1 line 2: tidesim: a SPARSE column is not supported
-- truth: objects | missing | temporal tables
CREATE TABLE h (id int PRIMARY KEY, a datetime2 GENERATED ALWAYS AS ROW START, b datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b));
--> !50001 16 1 line 2: tidesim: a MASKED, ENCRYPTED, GENERATED or FILESTREAM column is not supported
-- truth: objects | missing | memory-optimized tables
CREATE TABLE m (id int PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON);
--> !50001 16 1 line 2: tidesim: a memory-optimized or temporal table is not supported
-- truth: transactions | faithful | locks of rows, key ranges and tables
-- shown by: unit/sim/test_isolation.c:serializable_locks_its_ranges, unit/sim/test_model_lock.c:table_locks_last_a_statement_or_a_transaction
-- truth: transactions | faithful | waits
-- shown by: unit/sim/test_isolation.c:read_committed_waits_at_rows_that_would_not_qualify
-- truth: transactions | faithful | deadlocks
-- shown by: unit/sim/test_isolation.c:a_deadlock_takes_the_lower_priority_then_the_lighter_one, unit/sim/test_model_lock.c:a_cycle_has_one_victim
-- truth: transactions | faithful | LOCK_TIMEOUT
-- shown by: unit/sim/test_model_lock.c:lock_timeout_ends_a_wait_with_1222
-- truth: transactions | faithful | savepoints
BEGIN TRAN; INSERT t (id) VALUES (7); SAVE TRAN s; INSERT t (id) VALUES (8); ROLLBACK TRAN s; SELECT MAX(id) AS id FROM t; ROLLBACK;
--> (1)
--> (1)
--> id
--> 7
--> (1)
-- truth: transactions | faithful | XACT_ABORT
-- shown by: unit/sim/test_isolation.c:xact_abort_ends_the_transaction_at_the_first_error
-- truth: transactions | faithful | all isolation levels
-- shown by: unit/sim/test_isolation_random.c:every_interleaving_keeps_what_its_level_promises
-- truth: transactions | faithful | SNAPSHOT and READ_COMMITTED_SNAPSHOT with their errors and the states in between
-- shown by: unit/sim/test_versions.c:allowing_waits_for_open_transactions, unit/sim/test_versions.c:writing_what_changed_since_is_an_update_conflict
-- truth: transactions | simplified | rows are locked by their key, pages never
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRAN; SELECT id FROM t;
SELECT resource_type, request_mode, COUNT(*) AS n FROM sys.dm_tran_locks WHERE resource_type IN ('KEY', 'RID', 'PAGE') GROUP BY resource_type, request_mode;
COMMIT; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
--> id
--> 1
--> 2
--> (2)
--> resource_type|request_mode|n
--> KEY|S|2
--> (1)
-- truth: transactions | simplified | lock escalation does not happen
CREATE TABLE many (id int PRIMARY KEY); INSERT many SELECT value FROM GENERATE_SERIES(1, 7000);
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRAN; SELECT COUNT(*) AS n FROM many;
SELECT resource_type, request_mode, COUNT(*) AS n FROM sys.dm_tran_locks WHERE resource_type IN ('KEY', 'OBJECT') GROUP BY resource_type, request_mode ORDER BY 1;
COMMIT; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
--> (7000)
--> n
--> 7000
--> (1)
--> resource_type|request_mode|n
--> KEY|S|7000
--> OBJECT|IS|1
--> (2)
-- truth: transactions | simplified | a range is locked as it was asked for, where SQL Server locks up to the next key
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRAN; SELECT id FROM t WHERE id BETWEEN 5 AND 6;
--> id
--> (0)
--@ 2
USE shop; SET LOCK_TIMEOUT 0; INSERT t (id) VALUES (9); DELETE t WHERE id = 9;
--> # Changed database context to 'shop'.
--> (1)
--> (1)
INSERT t (id) VALUES (5);
--> !1222 16 45 line 1: Lock request time out period exceeded.
--> # The statement has been terminated.
--@ 1
COMMIT; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-->
-- truth: transactions | simplified | each database has its own snapshot
-- shown by: unit/sim/test_versions.c:the_first_access_fixes_what_a_snapshot_sees
-- truth: transactions | simplified | `sys.dm_tran_locks` leaves out locks of inserted rows that nobody has waited for, and shows U beside X
BEGIN TRAN; INSERT t (id) VALUES (6); SELECT COUNT(*) AS n FROM sys.dm_tran_locks WHERE resource_type = 'KEY'; ROLLBACK;
--> (1)
--> n
--> 0
--> (1)
BEGIN TRAN; UPDATE t SET v = v WHERE id = 1; SELECT request_mode FROM sys.dm_tran_locks WHERE resource_type = 'KEY'; ROLLBACK;
--> (1)
--> request_mode
--> U
--> X
--> (2)
-- truth: transactions | simplified | a user or role cannot be dropped inside a transaction
CREATE ROLE r; BEGIN TRAN; DROP ROLE r;
--> !50001 16 1 line 2: tidesim: DROP of a user or role inside a transaction is not supported
IF @@TRANCOUNT > 0 ROLLBACK;
-->
-- truth: transactions | missing | distributed transactions
BEGIN DISTRIBUTED TRANSACTION;
--> !50001 16 1 line 2: tidesim: a distributed transaction is not supported
-- truth: CDC | faithful | operations
-- shown by: unit/sim/test_cdc_capture.c:one_transaction_gives_2_3_4_3_4_1_with_rising_command_ids
-- truth: CDC | faithful | update masks
-- shown by: unit/sim/test_exec.c:every_query_of_a_stream, unit/sim/test_cdc_session.c:values_in_change_rows
-- truth: CDC | faithful | order within a commit
-- shown by: unit/sim/test_cdc_session.c:the_order_of_change_rows
-- truth: CDC | faithful | key updates as delete and insert (trace flag 8207 keeps them updates)
-- shown by: unit/sim/test_cdc_capture.c:a_key_update_of_one_row_is_1_and_2, unit/sim/test_cdc_capture.c:trace_flag_8207_keeps_a_key_update_of_one_row_as_3_and_4
-- truth: CDC | faithful | two instances
-- shown by: unit/sim/test_cdc_instances.c:two_instances_share_commits_and_number_their_commands_in_turn
-- truth: CDC | faithful | net changes
-- shown by: unit/sim/test_cdc_session.c:net_changes
-- truth: CDC | faithful | DDL history
-- shown by: unit/sim/test_cdc_instances.c:ddl_is_recorded_when_capture_reads_it
-- truth: CDC | faithful | what DDL on a captured table is refused
-- shown by: unit/sim/test_cdc_session.c:ddl_on_captured_tables, unit/sim/test_cdc_instances.c:what_captured_tables_refuse
-- truth: CDC | faithful | a type change that stops capture
-- shown by: unit/sim/test_cdc_instances.c:a_narrowing_that_does_not_fit_old_changes_stops_capture
-- truth: CDC | faithful | scans in cycles of `maxtrans`
-- shown by: unit/sim/test_cdc_capture.c:more_transactions_than_a_cycle_holds_are_read_in_order
-- truth: CDC | faithful | scan sessions
-- shown by: unit/sim/test_cdc_session.c:jobs_and_scan_sessions, unit/sim/test_cdc_job.c:scans_that_find_nothing_share_a_row
-- truth: CDC | faithful | jobs
-- shown by: unit/sim/test_cdc_job.c:what_a_job_is_told_counts_from_its_next_start
-- truth: CDC | faithful | idle entries
-- shown by: unit/sim/test_cdc_capture.c:the_job_captures_after_its_interval_and_adds_idle_entries
-- truth: CDC | faithful | marks that move before rows go
-- shown by: unit/sim/test_cdc_cleanup.c:the_mark_moves_before_any_row_goes
-- truth: CDC | faithful | retention
-- shown by: unit/sim/test_cdc_cleanup.c:what_is_older_than_the_retention_goes
-- truth: CDC | faithful | long values (7139)
-- shown by: unit/sim/test_cdc_instances.c:lob_values_follow_their_rules
-- truth: CDC | faithful | the errors of every procedure and their order
-- shown by: unit/sim/test_cdc_instances.c:enable_refuses_in_the_servers_order, unit/sim/test_cdc_session.c:enabling_and_disabling
EXEC sys.sp_cdc_enable_db;
-->
EXEC sys.sp_cdc_enable_table 'dbo', 't', @role_name = NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
-- truth: CDC | simplified | `sp_cdc_generate_wrapper_function` checks its arguments and gives no scripts
EXEC sys.sp_cdc_generate_wrapper_function @capture_instance = 'dbo_t';
--> function_name|create_script
--> (0)
-- truth: CDC | simplified | SWITCH of a captured table is refused whatever `@allow_partition_switch` says
CREATE TABLE t2 (id int NOT NULL PRIMARY KEY, v int NULL, s varchar(20) NULL); ALTER TABLE t SWITCH TO t2;
--> !22843 16 1 line 2: ALTER TABLE SWITCH statement failed because the partitioned source table is enabled for Change Data Capture and does not have @allow_partition_switch set to 1.
-- truth: CDC | missing | the Agent: tables and procedures of `msdb`
SELECT * FROM msdb.dbo.cdc_jobs;
--> !50001 16 1 line 2: tidesim: the table msdb.dbo.cdc_jobs is not supported
EXEC msdb.dbo.sp_help_job;
--> !50001 16 1 line 1: tidesim: the procedure sp_help_job is not supported
-- truth: CDC | missing | the log's records (`fn_dblog`, `sp_replcmds`)
SELECT * FROM sys.fn_dblog(NULL, NULL);
--> !50001 16 1 line 2: tidesim: the function fn_dblog is not supported
EXEC sp_replcmds;
--> !50001 16 1 line 1: tidesim: the procedure sp_replcmds is not supported
-- truth: CDC | missing | change tracking
ALTER DATABASE shop SET CHANGE_TRACKING = ON;
--> !50001 16 1 line 2: tidesim: the database option CHANGE_TRACKING is not supported
SELECT * FROM CHANGETABLE(CHANGES dbo.t, 0) AS c;
--> !50001 16 1 line 1: tidesim: CHANGETABLE is not supported
-- truth: languages | faithful | 208, 229, 1205 and 1222 in Portuguese, for logins with that DEFAULT_LANGUAGE, who name it when they log in, or after SET LANGUAGE
-- shown by: unit/sim/test_cdc_session.c:rights_and_languages
-- truth: languages | simplified | a login's language changes messages alone
-- shown by: unit/sim/test_cdc_session.c:rights_and_languages
-- truth: languages | simplified | SET LANGUAGE brings the order of dates and the first day of the week too, names of months stay English
SET LANGUAGE Portuguese; SELECT MONTH('02/03/2026') AS month, DATENAME(month, '20260301') AS name; SET LANGUAGE us_english;
--> # Changed language setting to Português.
--> month|name
--> 3|March
--> (1)
--> # Changed language setting to us_english.
-- truth: languages | missing | other languages
SET LANGUAGE German;
--> !50001 16 1 line 2: tidesim: the language GERMAN is not supported
-- truth: rights | faithful | grants on tables, columns and schemas
-- shown by: unit/sim/test_model_security.c:grants_are_on_objects_schemas_and_the_database, unit/sim/test_model_security.c:columns_are_granted_one_by_one
-- truth: rights | faithful | DENY
-- shown by: unit/sim/test_model_security.c:deny_wins_over_every_grant
-- truth: rights | faithful | roles
-- shown by: unit/sim/test_model_security.c:roles_reach_through_roles
-- truth: rights | faithful | gating roles of capture instances
-- shown by: unit/sim/test_exec.c:least_privilege
-- truth: rights | faithful | who sees which instance
-- shown by: unit/sim/test_cdc_self.c:self_test_help_and_min_lsn_under_each_grant
-- truth: rights | missing | other permissions (ALTER, IMPERSONATE)
GRANT ALTER ON t TO public;
--> !50001 16 1 line 12: tidesim: the permission ALTER is not supported
-- truth: rights | missing | WITH EXECUTE AS of procedures
CREATE PROCEDURE p WITH EXECUTE AS OWNER AS SELECT 1;
--> !50001 16 1 line 2: tidesim: a procedure WITH EXECUTE AS another than CALLER is not supported
-- truth: rights | missing | certificates
CREATE CERTIFICATE c WITH SUBJECT = 'x';
--> !50001 16 1 line 2: tidesim: CREATE CERTIFICATE is not supported
-- truth: time | faithful | time zones with daylight saving
-- shown by: unit/sim/test_time_zone.c:offsets_follow_the_rules, unit/sim/test_time_zone.c:a_time_in_the_gap_moves_forward
-- truth: time | faithful | virtual time
-- shown by: unit/sim/test_control.c:lock_timeouts_and_sleeps_follow_the_virtual_clock
-- truth: time | simplified | the rules of today hold for every year
SELECT CAST('1950-07-01' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time' AS summer;
--> summer
--> 1950-07-01 00:00:00 +02:00
--> (1)
-- truth: storage | faithful | the longest index keys (1946)
CREATE TABLE long (s varchar(2000) NOT NULL); CREATE INDEX i ON long (s); INSERT long VALUES (REPLICATE('x', 1701));
--> !1946 16 3 line 2: Operation failed. The index entry of length 1701 bytes for the index 'i' exceeds the maximum length of 1700 bytes for nonclustered indexes.
--> # The statement has been terminated.
-- truth: storage | simplified | everything in memory, so it is as large as memory, synthetic tables aside, and as durable as the process
EXEC tidesim.synthetic 'big', 1000000000, 'narrow'; SELECT MAX(id) AS id FROM big;
--> id
--> 1000000000
--> (1)
-- truth: storage | missing | backups
BACKUP DATABASE shop TO DISK = 'x';
--> !50001 16 1 line 2: tidesim: BACKUP is not supported
-- truth: storage | missing | files (BULK INSERT, SHRINKFILE)
BULK INSERT t FROM 'x';
--> !50001 16 1 line 2: tidesim: BULK INSERT is not supported
DBCC SHRINKFILE (1);
--> !50001 16 1 line 1: tidesim: DBCC SHRINKFILE is not supported
