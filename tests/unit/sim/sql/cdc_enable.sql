-- sys.sp_cdc_enable_table and its neighbours: parameters, what each refuses and in which order.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL;
--> !22901 16 1 line 1: The database 'shop' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation. To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view.
EXEC sys.sp_cdc_enable_db;
-->
EXEC sys.sp_cdc_enable_db;
--> !22905 16 1 line 1: Database 'shop' is already enabled for Change Data Capture. Ensure that the correct database context is set, and retry the operation.
EXEC tidesim.capture_mode 'shop', 'manual';
-->
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, code varchar(10) NOT NULL, [a,b] int NULL, [c]]d] int NULL, n int NULL);
-->
CREATE UNIQUE INDEX by_code ON t (code); CREATE UNIQUE INDEX by_n ON t (n); CREATE INDEX plain ON t (n);
-->
CREATE TABLE dbo.heap (a int NULL, b int NULL);
-->
CREATE TABLE dbo.odd (id int NOT NULL PRIMARY KEY, __$operation int NULL);
-->
CREATE TABLE dbo.wide (a1 int NOT NULL, a2 int NOT NULL, a3 int NOT NULL, a4 int NOT NULL, a5 int NOT NULL, a6 int NOT NULL, a7 int NOT NULL, a8 int NOT NULL, a9 int NOT NULL, a10 int NOT NULL, a11 int NOT NULL, a12 int NOT NULL, a13 int NOT NULL, a14 int NOT NULL, a15 int NOT NULL, PRIMARY KEY (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15));
-->
-- parameters
EXEC sys.sp_cdc_enable_table 'dbo', 't';
--> !201 16 4 line 1: Procedure or function 'sp_cdc_enable_table' expects parameter '@role_name', which was not supplied.
EXEC sys.sp_cdc_enable_table @source_name = 't', @role_name = NULL;
--> !201 16 4 line 1: Procedure or function 'sp_cdc_enable_table' expects parameter '@source_schema', which was not supplied.
EXEC sys.sp_cdc_enable_table NULL, 't', NULL;
--> !22963 16 1 line 1: Parameter '@source_schema' cannot be null or empty. Specify a value for the named parameter and retry the operation.
EXEC sys.sp_cdc_enable_table 'dbo', '', NULL;
--> !22963 16 1 line 1: Parameter '@source_name' cannot be null or empty. Specify a value for the named parameter and retry the operation.
-- each refusal, where everything behind it would be refused too
EXEC sys.sp_cdc_enable_table 'dbo', 'nothing', N'', @capture_instance = N'x';
--> !22931 16 1 line 1: Source table 'dbo.nothing' does not exist in the current database. Ensure that the correct database context is set. Specify a valid schema and table name for the database.
EXEC sys.sp_cdc_enable_table 'cdc', 'lsn_time_mapping', N'';
--> !22974 16 1 line 1: Tables contained in the cdc schema cannot be enabled for Change Data Capture.
EXEC sys.sp_cdc_enable_table 'dbo', 't', N'', @capture_instance = N'a_name_of_more_than_a_hundred_characters_a_name_of_more_than_a_hundred_characters_a_name_of_more_than_a_hundred_characters';
--> !22907 16 1 line 1: Parameter @role_name cannot be empty. Specify a value for @role_name and retry the operation. Supply null as the value if no role is to be used to gate access to captured change data.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'a_name_of_more_than_a_hundred_characters_a_name_of_more_than_a_hundred_characters_a_name_of_more_than_a_hundred_characters', @index_name = N'none';
--> !22927 16 1 line 1: Capture instance name 'a_name_of_more_than_a_hundred_characters_a_name_of_more_than_a_hundred_characters_a_name_of_more_than_a_hundred_characters' exceeds the length limit of 100 characters. Specify a name that satisfies the length constraint.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'ci', @index_name = N'none', @captured_column_list = N'zzz';
--> !22928 16 1 line 1: Index name 'none' is not an index for table 'dbo.t'. Specify a valid index name for the table.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @index_name = N'plain', @captured_column_list = N'zzz';
--> !22929 16 1 line 1: Index 'plain' must be either a primary key or a unique index for table 'dbo.t'. Specify an index that meets at least one of these requirements.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @index_name = N'by_n', @captured_column_list = N'zzz';
--> !22838 16 1 line 1: All columns of a CDC unique index must be defined as NOT NULL. Index 'by_n' selected as the CDC unique index for source table 'dbo.t' does not meet this requirement. Define all columns of the selected index as NOT NULL or select another unique index as the CDC index and resubmit the request.
EXEC sys.sp_cdc_enable_table 'dbo', 'heap', NULL, @supports_net_changes = 1, @captured_column_list = N'zzz';
--> !22939 16 1 line 1: The parameter @supports_net_changes is set to 1, but the source table does not have a primary key defined and no alternate unique index has been specified.
EXEC sys.sp_cdc_enable_table 'dbo', 'wide', NULL;
--> !22865 16 1 line 1: The number of columns in the index 'PK__wide__0F8D72C295EC5854', used as the unique row identifier to support net changes for table 'dbo'.'wide', exceeds the limit of 14 columns. Set the parameter @supports_net_changes to 0 or use the @index_name parameter to identify a unique index with fewer than 15 columns as the unique row identifier and resubmit the request.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @captured_column_list = N'[a,b, id';
--> !22965 16 1 line 1: A quoted column in the column list is not properly terminated. Verify that columns are correctly delimited and retry the operation. For more information, see 'Delimited Identifiers' in Books Online.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @captured_column_list = N'zzz';
--> !22930 16 1 line 1: Could not locate 'zzz' as a column of source table 'dbo.t'. Specify a valid column name.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @captured_column_list = N'id, zzz';
--> !22942 16 1 line 1: Columns specified in the captured column list could not be mapped to columns in source table 'dbo.t'. Verify that the columns specified in the parameter @captured_column_list are delimited properly and match columns in the source table.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @captured_column_list = N'id, ID';
--> !22942 16 1 line 1: Columns specified in the captured column list could not be mapped to columns in source table 'dbo.t'. Verify that the columns specified in the parameter @captured_column_list are delimited properly and match columns in the source table.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @captured_column_list = N'code, n';
--> !22943 16 1 line 1: Columns used to uniquely identify a row for net change tracking must be included in the list of captured columns. Add either the primary key columns of the source table, or the columns defined for the index specified in the parameter @index_name to the list of captured columns and retry the operation.
EXEC sys.sp_cdc_enable_table 'dbo', 'odd', NULL;
--> !22975 16 1 line 1: Source table 'dbo.odd' contains one of the following reserved column names: __$start_lsn, __$end_lsn, __$seqval, __$operation, and __$update_mask. To enable Change Data Capture for this table, specify a captured column list and ensure that these columns are excluded from the list.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @filegroup_name = N'other';
--> !22973 16 1 line 1: The specified filegroup 'other' is not a valid filegroup for database 'shop'. Specify a valid existing filegroup or create the named filegroup, and retry the operation.
SELECT COUNT(*) AS instances FROM cdc.change_tables;
--> instances
--> 0
--> (1)
-- what is accepted
EXEC sys.sp_cdc_enable_table 'dbo', 't', N'gate', @capture_instance = N'ci', @index_name = N'by_code', @captured_column_list = N'[c]]d], "a,b" ,code,id', @filegroup_name = N'PRIMARY', @allow_partition_switch = 0;
--> # Warning: The @allow_partition_switch parameter must be 1 for tables that are not partitioned. The explicit setting of the parameter to 0 was ignored. Refer to books online for more information about partition switching behavior when using Change Data Capture.
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
EXEC sys.sp_cdc_enable_table 'dbo', 'odd', NULL, @captured_column_list = N'id', @supports_net_changes = 0;
-->
EXEC sys.sp_cdc_enable_table 'dbo', 'wide', NULL, @supports_net_changes = 0;
-->
SELECT capture_instance, version, end_lsn, supports_net_changes, has_drop_pending, role_name, index_name, filegroup_name, partition_switch FROM cdc.change_tables ORDER BY capture_instance;
--> capture_instance|version|end_lsn|supports_net_changes|has_drop_pending|role_name|index_name|filegroup_name|partition_switch
--> ci|0|NULL|1|NULL|gate|by_code|PRIMARY|1
--> dbo_odd|0|NULL|0|NULL|NULL|PK__odd__DF6E1CE3B6218C49|NULL|1
--> dbo_wide|0|NULL|0|NULL|NULL|PK__wide__0F8D72C295EC5854|NULL|1
--> (3)
SELECT column_name, column_id, column_type, column_ordinal, is_computed FROM cdc.captured_columns WHERE object_id = OBJECT_ID('cdc.ci_CT') ORDER BY column_ordinal;
--> column_name|column_id|column_type|column_ordinal|is_computed
--> id|1|int|1|0
--> code|2|varchar|2|0
--> a,b|3|int|3|0
--> c]d|4|int|4|0
--> (4)
SELECT column_name, index_ordinal, column_id FROM cdc.index_columns WHERE object_id = OBJECT_ID('cdc.ci_CT');
--> column_name|index_ordinal|column_id
--> code|1|2
--> (1)
SELECT IS_MEMBER('gate') AS gate_is_there;
--> gate_is_there
--> 0
--> (1)
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'CI';
--> !22926 16 1 line 1: Could not create a capture instance because the capture instance name 'CI' already exists in the current database. Specify an explicit unique name for the parameter @capture_instance.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL;
-->
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'third';
--> !22962 16 1 line 1: Two capture instances already exist for source table 'dbo.t'. A table can have at most two capture instances. If the current tracking options are not appropriate, disable change tracking for the obsolete instance by using sys.sp_cdc_disable_table and retry the operation.
-- help
EXEC sys.sp_cdc_help_change_data_capture @source_schema = N'dbo';
--> !22972 16 1 line 1: When calling stored procedure [sys].[sp_cdc_help_change_data_capture], if either @source_schema or @source_name is non-null and non-empty, the other parameter must also be non-null and non-empty.
EXEC sys.sp_cdc_help_change_data_capture N'', N't';
--> !22972 16 1 line 1: When calling stored procedure [sys].[sp_cdc_help_change_data_capture], if either @source_schema or @source_name is non-null and non-empty, the other parameter must also be non-null and non-empty.
-- wrapper functions: checked, and none made
EXEC sys.sp_cdc_generate_wrapper_function;
--> function_name|create_script
--> (0)
EXEC sys.sp_cdc_generate_wrapper_function N'ci', 1, N'code', N'id';
--> function_name|create_script
--> (0)
EXEC sys.sp_cdc_generate_wrapper_function N'none';
--> !22981 16 1 line 1: Object does not exist or access is denied.
EXEC sys.sp_cdc_generate_wrapper_function N'ci', @column_list = N'n';
--> !22918 16 1 line 1: One or more columns in the list of included columns was not a captured column of the change table ci_CT.
EXEC sys.sp_cdc_generate_wrapper_function N'ci', @update_flag_list = N'n';
--> !22919 16 1 line 1: One or more columns in the list of columns needing update flags was not a captured column of the change table ci_CT.
EXEC sys.sp_cdc_generate_wrapper_function NULL, @column_list = N'id';
--> !22921 16 1 line 1: Unable to generate scripts for all capture instances that the caller is authorized to access. To generate all such scripts, the parameters @column_list and @update_flag_list must both be null or empty.'
-- disabling
EXEC sys.sp_cdc_disable_table 'dbo', 'none', 'all';
--> !22931 16 1 line 1: Source table 'dbo.none' does not exist in the current database. Ensure that the correct database context is set. Specify a valid schema and table name for the database.
EXEC sys.sp_cdc_disable_table 'dbo', 'heap', 'all';
--> !22985 16 1 line 1: Change data capture has not been enabled for source table 'dbo.heap'. Specify the name of a table enabled for Change Data Capture. To report on the tables enabled for Change Data Capture, query the is_tracked_by_cdc column in the sys.tables catalog view.
EXEC sys.sp_cdc_disable_table 'dbo', 't', 'dbo_odd';
--> !22960 16 1 line 1: Change data capture instance 'dbo_odd' has not been enabled for the source table 'dbo.t'. Use sys.sp_cdc_help_change_data_capture to verify the capture instance name and retry the operation.
EXEC sys.sp_cdc_disable_table 'dbo', 't', NULL;
--> !22963 16 1 line 1: Parameter '@capture_instance' cannot be null or empty. Specify a value for the named parameter and retry the operation.
EXEC sys.sp_cdc_disable_table 'dbo', 't', 'ci';
-->
SELECT * FROM cdc.ci_CT;
--> !208 16 1 line 1: Invalid object name 'cdc.ci_CT'.
DECLARE @l binary(10) = 0x01; SELECT * FROM cdc.fn_cdc_get_all_changes_ci(@l, @l, N'all');
--> !208 16 1 line 1: Invalid object name 'cdc.fn_cdc_get_all_changes_ci'.
SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn('ci'), 1) AS min_lsn;
--> min_lsn
--> 0x00000000000000000000
--> (1)
EXEC sys.sp_cdc_get_captured_columns 'ci';
--> !22981 16 1 line 1: Object does not exist or access is denied.
EXEC sys.sp_cdc_disable_table 'dbo', 't', 'all';
-->
SELECT is_tracked_by_cdc FROM sys.tables WHERE name = 't';
--> is_tracked_by_cdc
--> 0
--> (1)
-- cleanup
EXEC sys.sp_cdc_cleanup_change_table N'none', NULL;
--> !22920 16 1 line 1: The named capture instance none does not exist for database shop.
EXEC sys.sp_cdc_cleanup_change_table N'dbo_odd', NULL, 0;
--> !22850 16 1 line 1: The threshold value specified for the Change Data Capture cleanup process must be greater than 0. When creating or modifying the cleanup job, specify a positive threshold value. If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, reset the threshold value associated with the job to a non-negative value by using the sp_cdc_change_job stored procedure.
EXEC sys.sp_cdc_cleanup_change_table N'dbo_odd', 0x00000000000000000000;
--> !22957 16 1 line 1: LSN 0x00000000000000000000, specified as the new low end point for the change table associated with capture instance 'dbo_odd', is not within the Change Data Capture timeline [0x0000002A000001A80003, 0x00000000000000000000].
EXEC sys.sp_cdc_cleanup_change_table N'dbo_odd';
--> !201 16 4 line 1: Procedure or function 'sp_cdc_cleanup_change_table' expects parameter '@low_water_mark', which was not supplied.
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|0
--> (1)
EXEC tidesim.clock_advance 1000;
-->
INSERT INTO odd VALUES (1, 1);
--> (1)
EXEC tidesim.clock_advance 1000;
-->
INSERT INTO odd VALUES (2, 1);
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|2
--> (1)
DECLARE @lsn binary(10) = sys.fn_cdc_increment_lsn(sys.fn_cdc_get_min_lsn('dbo_odd')); BEGIN TRY EXEC sys.sp_cdc_cleanup_change_table N'dbo_odd', @lsn; END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number; END CATCH;
--> number
--> 22964
--> (1)
DECLARE @lsn binary(10) = sys.fn_cdc_increment_lsn(sys.fn_cdc_get_max_lsn()); BEGIN TRY EXEC sys.sp_cdc_cleanup_change_table N'dbo_odd', @lsn; END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number; END CATCH;
--> number
--> 22957
--> (1)
DECLARE @lsn binary(10) = sys.fn_cdc_get_max_lsn(), @failed bit = 1; EXEC sys.sp_cdc_cleanup_change_table N'dbo_odd', @lsn, 1, @fCleanupFailed = @failed OUTPUT; SELECT @failed AS failed, COUNT(*) AS left_over FROM cdc.dbo_odd_CT;
--> failed|left_over
--> 0|1
--> (1)
SELECT CASE WHEN sys.fn_cdc_get_min_lsn('dbo_odd') = sys.fn_cdc_get_max_lsn() THEN 'moved' END AS mark;
--> mark
--> moved
--> (1)
-- the database
EXEC sys.sp_cdc_disable_db;
-->
EXEC sys.sp_cdc_disable_db;
-->
SELECT is_cdc_enabled FROM sys.databases WHERE name = 'shop';
--> is_cdc_enabled
--> 0
--> (1)
CREATE SCHEMA cdc;
-->
EXEC sys.sp_cdc_enable_db;
--> !22906 16 1 line 1: The database 'shop' cannot be enabled for Change Data Capture because a database user named 'cdc' or a schema named 'cdc' already exists in the current database. These objects are required exclusively by Change Data Capture. Drop or rename the user or schema and retry the operation.
USE master;
--> # Changed database context to 'master'.
EXEC sys.sp_cdc_enable_db;
--> !22989 16 1 line 1: Could not enable Change Data Capture for database 'master'. Change data capture is not supported on system databases, or on a distribution database.
-- enabling and disabling are part of a transaction
CREATE DATABASE two;
-->
USE two;
--> # Changed database context to 'two'.
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NULL);
-->
BEGIN TRAN; EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', N'gate'; ROLLBACK;
--> # Job 'cdc.two_capture' started successfully.
--> # Job 'cdc.two_cleanup' started successfully.
SELECT (SELECT is_cdc_enabled FROM sys.databases WHERE name = 'two') AS is_on, SCHEMA_ID('cdc') AS cdc_schema, (SELECT COUNT(*) FROM sys.database_principals WHERE name IN ('cdc', 'gate')) AS principals;
--> is_on|cdc_schema|principals
--> 0|NULL|0
--> (1)
BEGIN TRAN; EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', N'gate'; INSERT INTO t VALUES (1, 1); COMMIT;
--> # Job 'cdc.two_capture' started successfully.
--> # Job 'cdc.two_cleanup' started successfully.
--> (1)
EXEC tidesim.capture_mode 'two', 'manual';
-->
INSERT INTO t VALUES (2, 2);
--> (1)
BEGIN TRAN; EXEC sys.sp_cdc_disable_table 'dbo', 't', 'all'; INSERT INTO t VALUES (3, 3); ROLLBACK;
--> (1)
INSERT INTO t VALUES (4, 4);
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 3|3
--> (1)
SELECT id FROM cdc.dbo_t_CT WHERE id > 1 ORDER BY __$start_lsn;
--> id
--> 2
--> 4
--> (2)
BEGIN TRAN; EXEC sys.sp_cdc_disable_db; ROLLBACK;
-->
SELECT COUNT(*) AS instances FROM cdc.change_tables;
--> instances
--> 1
--> (1)
