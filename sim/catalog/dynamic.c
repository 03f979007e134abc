/* dynamic.c - management views whose rows follow from other views, and the server's settings. */
#include "sim/catalog/catalog_internal.h"

const ViewText catalog_dynamic_views[] = {
    {"sys", "configurations",
     "configuration_id int, name nvarchar(35), value sql_variant, minimum sql_variant, "
     "maximum sql_variant, value_in_use sql_variant, description nvarchar(255), is_dynamic bit, "
     "is_advanced bit",
     "SELECT c.id, c.name, c.value, c.lowest, c.highest, c.value, c.text, c.is_dynamic, "
     "c.is_advanced "
     "FROM (VALUES "
     "(101, 'recovery interval (min)', 0, 0, 32767, 'Maximum recovery interval in minutes', 1, 1), "
     "(102, 'allow updates', 0, 0, 1, 'Allow updates to system tables', 1, 0), "
     "(103, 'user connections', 0, 0, 32767, 'Number of user connections allowed', 0, 1), "
     "(106, 'locks', 0, 5000, 2147483647, 'Number of locks for all users', 0, 1), "
     "(107, 'open objects', 0, 0, 2147483647, 'Number of open database objects', 0, 1), "
     "(109, 'fill factor (%)', 0, 0, 100, 'Default fill factor percentage', 0, 1), "
     "(115, 'nested triggers', 1, 0, 1, 'Allow triggers to be invoked within triggers', 1, 0), "
     "(116, 'server trigger recursion', 1, 0, 1, 'Allow recursion for server level triggers', 1, "
     "0), "
     "(117, 'remote access', 1, 0, 1, 'Allow remote access', 0, 0), "
     "(124, 'default language', 0, 0, 9999, 'default language', 1, 0), "
     "(400, 'cross db ownership chaining', 0, 0, 1, 'Allow cross db ownership chaining', 1, 0), "
     "(503, 'max worker threads', 0, 128, 65535, 'Maximum worker threads', 1, 1), "
     "(505, 'network packet size (B)', 4096, 512, 32767, 'Network packet size', 1, 1), "
     "(518, 'show advanced options', 0, 0, 1, 'show advanced options', 1, 0), "
     "(542, 'remote proc trans', 0, 0, 1, 'Create DTC transaction for remote procedures', 1, 0), "
     "(544, 'c2 audit mode', 0, 0, 1, 'c2 audit mode', 0, 1), "
     "(1127, 'two digit year cutoff', 2049, 1753, 9999, 'two digit year cutoff', 1, 1), "
     "(1505, 'index create memory (KB)', 0, 704, 2147483647, 'Memory for index create sorts "
     "(kBytes)', 1, 1), "
     "(1519, 'remote login timeout (s)', 10, 0, 2147483647, 'remote login timeout', 1, 0), "
     "(1520, 'remote query timeout (s)', 600, 0, 2147483647, 'remote query timeout', 1, 0), "
     "(1531, 'cursor threshold', -1, -1, 2147483647, 'cursor threshold', 1, 1), "
     "(1534, 'user options', 0, 0, 32767, 'user options', 1, 0), "
     "(1535, 'affinity mask', 0, -2147483648, 2147483647, 'affinity mask', 1, 1), "
     "(1536, 'max text repl size (B)', 65536, -1, 2147483647, 'Maximum size of a text field in "
     "replication.', 1, 0), "
     "(1537, 'media retention', 0, 0, 365, 'Tape retention period in days', 1, 1), "
     "(1538, 'cost threshold for parallelism', 5, 0, 32767, 'cost threshold for parallelism', 1, "
     "1), "
     "(1539, 'max degree of parallelism', 0, 0, 32767, 'maximum degree of parallelism', 1, 1), "
     "(1540, 'min memory per query (KB)', 1024, 512, 2147483647, 'minimum memory per query "
     "(kBytes)', 1, 1), "
     "(1541, 'query wait (s)', -1, -1, 2147483647, 'maximum time to wait for query memory (s)', 1, "
     "1), "
     "(1543, 'min server memory (MB)', 0, 0, 2147483647, 'Minimum size of server memory (MB)', 1, "
     "1), "
     "(1544, 'max server memory (MB)', 2147483647, 128, 2147483647, 'Maximum size of server memory "
     "(MB)', 1, 1), "
     "(1562, 'clr enabled', 0, 0, 1, 'CLR user code execution enabled in the server', 1, 0), "
     "(1568, 'default trace enabled', 1, 0, 1, 'Enable or disable the default trace', 1, 1), "
     "(1569, 'blocked process threshold (s)', 0, 0, 86400, 'Blocked process reporting threshold', "
     "1, 1), "
     "(1579, 'backup compression default', 0, 0, 1, 'Enable compression of backups by default', 1, "
     "0), "
     "(1581, 'optimize for ad hoc workloads', 0, 0, 1, 'When this option is set, plan cache size "
     "is further reduced', 1, 1), "
     "(16384, 'Agent XPs', 1, 0, 1, 'Enable or disable Agent XPs', 1, 1), "
     "(16386, 'Database Mail XPs', 0, 0, 1, 'Enable or disable Database Mail XPs', 1, 1), "
     "(16388, 'Ole Automation Procedures', 0, 0, 1, 'Enable or disable Ole Automation Procedures', "
     "1, 1), "
     "(16390, 'xp_cmdshell', 0, 0, 1, 'Enable or disable command shell', 1, 1), "
     "(16391, 'Ad Hoc Distributed Queries', 0, 0, 1, 'Enable or disable Ad Hoc Distributed "
     "Queries', 1, 1), "
     "(16392, 'Replication XPs', 0, 0, 1, 'Enable or disable Replication XPs', 1, 1), "
     "(16393, 'contained database authentication', 0, 0, 1, 'Enables contained databases and "
     "contained authentication', 1, 0)"
     ") c(id, name, value, lowest, highest, text, is_dynamic, is_advanced)"},
    {"sys", "database_scoped_configurations",
     "configuration_id int, name nvarchar(60), value sql_variant, value_for_secondary sql_variant, "
     "is_value_default bit",
     "SELECT c.id, c.name, c.value, NULL, 1 FROM (VALUES (1, 'MAXDOP', 0), "
     "(2, 'LEGACY_CARDINALITY_ESTIMATION', 0), (3, 'PARAMETER_SNIFFING', 1), "
     "(4, 'QUERY_OPTIMIZER_HOTFIXES', 0), (6, 'IDENTITY_CACHE', 1)) c(id, name, value)"},
    {"sys", "dm_tran_active_snapshot_database_transactions",
     "transaction_id bigint, transaction_sequence_num bigint, commit_sequence_num bigint, "
     "session_id int, is_snapshot int, first_snapshot_sequence_num bigint, "
     "max_version_chain_traversed int, average_version_chain_traversed float, "
     "elapsed_time_seconds bigint, is_user_transaction bit",
     NULL},
    /* plans are not kept */
    {"sys", "dm_exec_query_stats",
     "sql_handle varbinary(64), statement_start_offset int, statement_end_offset int, "
     "plan_generation_num bigint, plan_handle varbinary(64), creation_time datetime, "
     "last_execution_time datetime, execution_count bigint, total_worker_time bigint, "
     "last_worker_time bigint, min_worker_time bigint, max_worker_time bigint, "
     "total_physical_reads bigint, last_physical_reads bigint, min_physical_reads bigint, "
     "max_physical_reads bigint, total_logical_writes bigint, last_logical_writes bigint, "
     "min_logical_writes bigint, max_logical_writes bigint, total_logical_reads bigint, "
     "last_logical_reads bigint, min_logical_reads bigint, max_logical_reads bigint, "
     "total_clr_time bigint, last_clr_time bigint, min_clr_time bigint, max_clr_time bigint, "
     "total_elapsed_time bigint, last_elapsed_time bigint, min_elapsed_time bigint, "
     "max_elapsed_time bigint, query_hash binary(8), query_plan_hash binary(8), "
     "total_rows bigint, last_rows bigint, min_rows bigint, max_rows bigint, "
     "statement_sql_handle varbinary(64), statement_context_id bigint, total_dop bigint, "
     "last_dop bigint, min_dop bigint, max_dop bigint, total_grant_kb bigint, "
     "last_grant_kb bigint, min_grant_kb bigint, max_grant_kb bigint, "
     "total_used_grant_kb bigint, last_used_grant_kb bigint, min_used_grant_kb bigint, "
     "max_used_grant_kb bigint, total_ideal_grant_kb bigint, last_ideal_grant_kb bigint, "
     "min_ideal_grant_kb bigint, max_ideal_grant_kb bigint, total_reserved_threads bigint, "
     "last_reserved_threads bigint, min_reserved_threads bigint, "
     "max_reserved_threads bigint, total_used_threads bigint, last_used_threads bigint, "
     "min_used_threads bigint, max_used_threads bigint, "
     "total_columnstore_segment_reads bigint, last_columnstore_segment_reads bigint, "
     "min_columnstore_segment_reads bigint, max_columnstore_segment_reads bigint, "
     "total_columnstore_segment_skips bigint, last_columnstore_segment_skips bigint, "
     "min_columnstore_segment_skips bigint, max_columnstore_segment_skips bigint, "
     "total_spills bigint, last_spills bigint, min_spills bigint, max_spills bigint, "
     "total_num_physical_reads bigint, last_num_physical_reads bigint, "
     "min_num_physical_reads bigint, max_num_physical_reads bigint, "
     "total_page_server_reads bigint, last_page_server_reads bigint, "
     "min_page_server_reads bigint, max_page_server_reads bigint",
     NULL},
    {"sys", "dm_exec_cached_plans",
     "bucketid int, refcounts int, usecounts int, size_in_bytes int, memory_object_address "
     "varbinary(8), "
     "cacheobjtype nvarchar(34), objtype nvarchar(16), plan_handle varbinary(64), pool_id int, "
     "parent_plan_handle varbinary(64)",
     NULL},
    {"sys", "languages",
     "langid smallint, dateformat nchar(3), datefirst tinyint, upgrade int, name sysname, "
     "alias sysname, months nvarchar(372), shortmonths nvarchar(132), days nvarchar(217), lcid "
     "int, "
     "msglangid smallint",
     "SELECT 0, 'mdy', 7, 0, 'us_english', 'English', "
     "'January,February,March,April,May,June,July,August,September,October,November,December', "
     "'Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec', "
     "'Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday', 1033, 1033"},
    {"sys", "syslanguages",
     "langid smallint, dateformat nchar(3), datefirst tinyint, upgrade int, name sysname, "
     "alias sysname, months nvarchar(372), shortmonths nvarchar(132), days nvarchar(217), lcid "
     "int, "
     "msglangid smallint",
     "SELECT * FROM sys.languages"},
    {"sys", "endpoints",
     "name sysname, endpoint_id int, principal_id int, protocol tinyint, protocol_desc "
     "nvarchar(60), "
     "type tinyint, type_desc nvarchar(60), state tinyint, state_desc nvarchar(60), "
     "is_admin_endpoint bit",
     "SELECT 'TSQL Default TCP', 4, 1, 2, 'TCP', 2, 'TSQL', 0, 'STARTED', 0"},

    /* --- views of older servers --- */
    {"sys", "sysobjects",
     "name sysname, id int, xtype char(2), uid smallint, info smallint, status int, "
     "base_schema_ver int, replinfo int, parent_obj int, crdate datetime, ftcatid smallint, "
     "schema_ver int, stats_schema_ver int, type char(2), userstat smallint, sysstat smallint, "
     "indexdel smallint, refdate datetime, version int, deltrig int, instrig int, updtrig int, "
     "seltrig int, category int, cache smallint",
     "SELECT name, object_id, type, schema_id, 0, 0, 0, 0, parent_object_id, create_date, 0, 0, 0, "
     "CASE type WHEN 'PK' THEN 'K' WHEN 'UQ' THEN 'K' ELSE type END, 1, 3, 0, create_date, 0, 0, "
     "0, 0, 0, "
     "CASE is_ms_shipped WHEN 1 THEN 2 ELSE 0 END, 0 FROM sys.all_objects"},
    {"sys", "syscolumns",
     "name sysname, id int, xtype tinyint, typestat tinyint, xusertype smallint, length smallint, "
     "xprec tinyint, xscale tinyint, colid smallint, xoffset smallint, bitpos tinyint, "
     "reserved tinyint, colstat smallint, cdefault int, domain int, number smallint, "
     "colorder smallint, autoval varbinary(8000), offset smallint, collationid int, language int, "
     "status tinyint, type tinyint, usertype smallint, printfmt varchar(255), prec smallint, "
     "scale int, iscomputed int, isoutparam int, isnullable int, collation sysname",
     "SELECT name, object_id, system_type_id, 0, user_type_id, max_length, [precision], scale, "
     "column_id, "
     "0, 0, 0, CASE is_identity WHEN 1 THEN 1 ELSE 0 END, default_object_id, rule_object_id, 0, "
     "column_id, "
     "NULL, 0, NULL, NULL, CASE is_nullable WHEN 1 THEN 8 ELSE 0 END, system_type_id, "
     "user_type_id, NULL, "
     "CASE WHEN system_type_id IN (231, 239) AND max_length > 0 THEN max_length / 2 "
     "WHEN [precision] = 0 THEN max_length ELSE [precision] END, scale, is_computed, 0, "
     "is_nullable, "
     "collation_name FROM sys.all_columns"},
    {"sys", "sysusers",
     "uid smallint, status smallint, name sysname, sid varbinary(85), roles varbinary(2048), "
     "createdate datetime, updatedate datetime, altuid smallint, password varbinary(256), gid "
     "smallint, "
     "environ varchar(255), hasdbaccess int, islogin int, isntname int, isntgroup int, isntuser "
     "int, "
     "issqluser int, isaliased int, issqlrole int, isapprole int",
     "SELECT principal_id, 0, name, sid, NULL, create_date, modify_date, owning_principal_id, "
     "NULL, "
     "CASE type WHEN 'R' THEN principal_id ELSE 0 END, NULL, CASE type WHEN 'R' THEN 0 ELSE 1 END, "
     "CASE type WHEN 'R' THEN 0 ELSE 1 END, 0, 0, 0, CASE type WHEN 'R' THEN 0 ELSE 1 END, 0, "
     "CASE type WHEN 'R' THEN 1 ELSE 0 END, 0 FROM sys.database_principals"},
    {"sys", "systypes",
     "name sysname, xtype tinyint, status tinyint, xusertype smallint, length smallint, "
     "xprec tinyint, xscale tinyint, tdefault int, domain int, uid smallint, reserved smallint, "
     "collationid int, usertype smallint, variable bit, allownulls bit, type tinyint, "
     "printfmt varchar(255), prec smallint, scale tinyint, collation sysname",
     "SELECT name, system_type_id, 0, user_type_id, max_length, [precision], scale, "
     "default_object_id, "
     "rule_object_id, schema_id, 0, NULL, user_type_id, CASE WHEN system_type_id IN (165, 167, "
     "231) THEN 1 ELSE 0 END, "
     "is_nullable, system_type_id, NULL, [precision], scale, collation_name FROM sys.types"},
    {"sys", "sysdatabases",
     "name sysname, dbid smallint, sid varbinary(85), mode smallint, status int, status2 int, "
     "crdate datetime, reserved datetime, category int, cmptlevel tinyint, filename nvarchar(260), "
     "version smallint",
     "SELECT name, database_id, owner_sid, 0, 65536, 1090520064, create_date, '19000101', 0, "
     "compatibility_level, '/var/opt/mssql/data/' + name + '.mdf', 957 FROM sys.databases"},
    {"sys", "sysindexes",
     "id int, status int, first binary(6), indid smallint, root binary(6), minlen smallint, "
     "keycnt smallint, groupid smallint, dpages int, reserved int, used int, rowcnt bigint, "
     "rowmodctr int, xmaxlen smallint, maxirow smallint, OrigFillFactor tinyint, name sysname, "
     "rows int",
     "SELECT i.object_id, CASE i.is_unique WHEN 1 THEN 2 ELSE 0 END + CASE i.is_primary_key WHEN 1 "
     "THEN 2048 ELSE 0 END "
     "+ CASE i.is_unique_constraint WHEN 1 THEN 4096 ELSE 0 END, NULL, i.index_id, NULL, 0, 0, 1, "
     "p.in_row_data_page_count, p.reserved_page_count, p.used_page_count, p.row_count, 0, 0, 0, 0, "
     "i.name, p.row_count "
     "FROM sys.indexes i JOIN sys.dm_db_partition_stats p ON p.object_id = i.object_id AND "
     "p.index_id = i.index_id"},
    {"sys", "syslogins",
     "sid varbinary(85), status smallint, createdate datetime, updatedate datetime, accdate "
     "datetime, "
     "totcpu int, totio int, spacelimit int, timelimit int, resultlimit int, name sysname, "
     "dbname sysname, password nvarchar(128), language sysname, denylogin int, hasaccess int, "
     "isntname int, isntgroup int, isntuser int, sysadmin int, loginname nvarchar(128)",
     "SELECT sid, 9, create_date, modify_date, create_date, 0, 0, 0, 0, 0, name, "
     "default_database_name, "
     "NULL, default_language_name, 0, 1, 0, 0, 0, IS_SRVROLEMEMBER('sysadmin', name), name "
     "FROM sys.server_principals WHERE type = 'S'"},
    {"sys", "sysprocesses",
     "spid smallint, kpid smallint, blocked smallint, waittype binary(2), waittime bigint, "
     "lastwaittype nchar(32), waitresource nchar(256), dbid smallint, uid smallint, cpu int, "
     "physical_io bigint, memusage int, login_time datetime, last_batch datetime, ecid smallint, "
     "open_tran smallint, status nchar(30), sid binary(86), hostname nchar(128), "
     "program_name nchar(128), hostprocess nchar(10), cmd nchar(26), nt_domain nchar(128), "
     "nt_username nchar(128), net_address nchar(12), net_library nchar(12), loginame nchar(128)",
     "SELECT s.session_id, 0, ISNULL(r.blocking_session_id, 0), NULL, ISNULL(r.wait_time, 0), "
     "ISNULL(r.last_wait_type, 'MISCELLANEOUS'), '', s.database_id, 1, 0, 0, 0, s.login_time, "
     "s.last_request_start_time, 0, s.open_transaction_count, s.status, NULL, s.host_name, "
     "s.program_name, "
     "'', ISNULL(r.command, 'AWAITING COMMAND'), '', '', '', 'TCP/IP', s.login_name "
     "FROM sys.dm_exec_sessions s LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id"},
    {.name = NULL},
};
