/* schema.c - views of schema sys that are made of other views, and those that have no rows because nothing here makes any. */
#include "sim/catalog/catalog_internal.h"

#define OBJECT_COLUMNS                                                                     \
    "name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, " \
    "type char(2), type_desc nvarchar(60), create_date datetime, modify_date datetime, "   \
    "is_ms_shipped bit, is_published bit, is_schema_published bit"
#define OBJECT_SELECT                                                                      \
    "SELECT name, object_id, principal_id, schema_id, parent_object_id, type, type_desc, " \
    "create_date, modify_date, is_ms_shipped, is_published, is_schema_published"
#define MODULE_COLUMNS                                                               \
    "object_id int, definition nvarchar(max), uses_ansi_nulls bit, "                 \
    "uses_quoted_identifier bit, is_schema_bound bit, uses_database_collation bit, " \
    "is_recompiled bit, null_on_null_input bit, execute_as_principal_id int, "       \
    "uses_native_compilation bit, inline_type bit, is_inlineable bit"
#define PARAMETER_COLUMNS                                                                       \
    "object_id int, name sysname, parameter_id int, system_type_id tinyint, user_type_id int, " \
    "max_length smallint, precision tinyint, scale tinyint, is_output bit, "                    \
    "is_cursor_ref bit, has_default_value bit, is_xml_document bit, "                           \
    "default_value sql_variant, xml_collection_id int, is_readonly bit, is_nullable bit, "      \
    "encryption_type int, encryption_type_desc nvarchar(64), "                                  \
    "encryption_algorithm_name sysname, column_encryption_key_id int, "                         \
    "column_encryption_key_database_name sysname"
#define VIEW_COLUMNS                                                                         \
    OBJECT_COLUMNS                                                                           \
    ", is_replicated bit, has_replication_filter bit, has_opaque_metadata bit, "             \
    "has_unchecked_assembly_data bit, with_check_option bit, is_date_correlation_view bit, " \
    "is_tracked_by_cdc bit, has_snapshot bit, ledger_view_type tinyint, "                    \
    "ledger_view_type_desc nvarchar(60), is_dropped_ledger_view bit"
#define SPACE_COLUMNS                                                                         \
    "name sysname, data_space_id int, type char(2), type_desc nvarchar(60), is_default bit, " \
    "is_system bit"
#define FILE_COLUMNS                                                                        \
    "file_id int, file_guid uniqueidentifier, type tinyint, type_desc nvarchar(60), "       \
    "data_space_id int, name sysname, physical_name nvarchar(260), state tinyint, "         \
    "state_desc nvarchar(60), size int, max_size int, growth int, is_media_read_only bit, " \
    "is_read_only bit, is_sparse bit, is_percent_growth bit, is_name_reserved bit"

const ViewText catalog_schema_views[] = {
    /* --- objects --- */
    {"sys", "system_objects", OBJECT_COLUMNS,
     OBJECT_SELECT " FROM sys.all_objects WHERE object_id < 0"},
    {"sys", "views", VIEW_COLUMNS,
     OBJECT_SELECT
     ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 'NON_LEDGER_VIEW', 0 FROM sys.objects WHERE type = 'V'"},
    {"sys", "all_views", VIEW_COLUMNS,
     OBJECT_SELECT
     ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 'NON_LEDGER_VIEW', 0 FROM sys.all_objects WHERE type = 'V'"},
    {"sys", "system_views", VIEW_COLUMNS,
     OBJECT_SELECT ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 'NON_LEDGER_VIEW', 0 FROM sys.all_objects "
                   "WHERE type = 'V' AND object_id < 0"},
    {"sys", "procedures",
     OBJECT_COLUMNS
     ", is_auto_executed bit, is_execution_replicated bit, is_repl_serializable_only bit, "
     "skips_repl_constraints bit",
     OBJECT_SELECT ", 0, 0, 0, 0 FROM sys.objects WHERE type IN ('P', 'X', 'RF', 'PC')"},
    {"sys", "synonyms", OBJECT_COLUMNS ", base_object_name nvarchar(1035)", NULL},
    {"sys", "sequences",
     OBJECT_COLUMNS ", start_value sql_variant, increment sql_variant, minimum_value sql_variant, "
                    "maximum_value sql_variant, is_cycling bit, is_cached bit, cache_size int, "
                    "system_type_id tinyint, user_type_id int, precision tinyint, scale tinyint, "
                    "current_value sql_variant, is_exhausted bit, last_used_value sql_variant",
     NULL},
    {"sys", "external_tables",
     OBJECT_COLUMNS
     ", max_column_id_used int, uses_ansi_nulls bit, data_source_id int, "
     "file_format_id int, location nvarchar(4000), reject_type tinyint, "
     "reject_value float, reject_sample_value float, distribution_type int, "
     "distribution_desc nvarchar(120), sharding_col_id int, remote_schema_name sysname, "
     "remote_object_name sysname",
     NULL},
    {"sys", "internal_tables",
     OBJECT_COLUMNS ", internal_type tinyint, internal_type_desc nvarchar(60), parent_id int, "
                    "parent_minor_id int, lob_data_space_id int, filestream_data_space_id int",
     NULL},
    {"sys", "table_types",
     "name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id int, "
     "max_length smallint, precision tinyint, scale tinyint, collation_name sysname, "
     "is_nullable bit, is_user_defined bit, is_assembly_type bit, default_object_id int, "
     "rule_object_id int, is_table_type bit, type_table_object_id int, is_memory_optimized bit",
     NULL},
    {"sys", "assembly_types",
     "name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id int, "
     "max_length smallint, precision tinyint, scale tinyint, collation_name sysname, "
     "is_nullable bit, is_user_defined bit, is_assembly_type bit, default_object_id int, "
     "rule_object_id int, assembly_id int, assembly_class sysname, is_binary_ordered bit, "
     "is_fixed_length bit, prog_id nvarchar(40), assembly_qualified_name nvarchar(4000), "
     "is_table_type bit",
     NULL},

    /* --- columns --- */
    {"sys", "masked_columns",
     "object_id int, name sysname, column_id int, system_type_id tinyint, user_type_id int, "
     "max_length smallint, precision tinyint, scale tinyint, collation_name sysname, "
     "is_nullable bit, is_masked bit, masking_function nvarchar(4000)",
     NULL},
    {"sys", "periods",
     "name sysname, period_type tinyint, period_type_desc nvarchar(60), object_id int, "
     "start_column_id int, end_column_id int",
     NULL},
    {"sys", "column_type_usages", "object_id int, column_id int, user_type_id int", NULL},
    {"sys", "column_xml_schema_collection_usages",
     "object_id int, column_id int, xml_collection_id int", NULL},
    {"sys", "xml_schema_collections",
     "xml_collection_id int, schema_id int, principal_id int, name sysname, create_date datetime, "
     "modify_date datetime",
     NULL},

    /* --- constraints --- */
    {"sys", "edge_constraints",
     OBJECT_COLUMNS
     ", is_disabled bit, is_not_trusted bit, is_system_named bit, "
     "delete_referential_action tinyint, delete_referential_action_desc nvarchar(60)",
     NULL},

    /* --- modules --- */
    {"sys", "triggers",
     "name sysname, object_id int, parent_class tinyint, parent_class_desc nvarchar(60), "
     "parent_id int, type char(2), type_desc nvarchar(60), create_date datetime, "
     "modify_date datetime, is_ms_shipped bit, is_disabled bit, is_not_for_replication bit, "
     "is_instead_of_trigger bit",
     NULL},
    {"sys", "server_triggers",
     "name sysname, object_id int, parent_class tinyint, parent_class_desc nvarchar(60), "
     "parent_id int, type char(2), type_desc nvarchar(60), create_date datetime, "
     "modify_date datetime, is_ms_shipped bit, is_disabled bit",
     NULL},
    {"sys", "trigger_events",
     "object_id int, type int, type_desc nvarchar(60), is_first bit, is_last bit, "
     "event_group_type int, event_group_type_desc nvarchar(60), is_trigger_event bit",
     NULL},
    {"sys", "all_sql_modules", MODULE_COLUMNS, "SELECT * FROM sys.sql_modules"},
    {"sys", "system_sql_modules", MODULE_COLUMNS, NULL},
    {"sys", "all_parameters", PARAMETER_COLUMNS, "SELECT * FROM sys.parameters"},
    {"sys", "numbered_procedures",
     "object_id int, procedure_number smallint, definition nvarchar(max)", NULL},
    {"sys", "assembly_modules",
     "object_id int, assembly_id int, assembly_class sysname, assembly_method sysname, "
     "null_on_null_input bit, execute_as_principal_id int",
     NULL},
    {"sys", "assemblies",
     "name sysname, principal_id int, assembly_id int, clr_name nvarchar(4000), "
     "permission_set tinyint, permission_set_desc nvarchar(60), is_visible bit, "
     "create_date datetime, modify_date datetime, is_user_defined bit",
     NULL},
    {"sys", "sql_expression_dependencies",
     "referencing_id int, referencing_minor_id int, referencing_class tinyint, "
     "referencing_class_desc nvarchar(60), is_schema_bound_reference bit, "
     "referenced_class tinyint, referenced_class_desc nvarchar(60), "
     "referenced_server_name sysname, referenced_database_name sysname, "
     "referenced_schema_name sysname, referenced_entity_name sysname, referenced_id int, "
     "referenced_minor_id int, is_caller_dependent bit, is_ambiguous bit",
     NULL},
    {"sys", "extended_properties",
     "class tinyint, class_desc nvarchar(60), major_id int, minor_id int, name sysname, "
     "value sql_variant",
     NULL},

    /* --- indexes and statistics --- */
    {"sys", "stats",
     "object_id int, name sysname, stats_id int, auto_created bit, user_created bit, "
     "no_recompute bit, has_filter bit, filter_definition nvarchar(max), is_temporary bit, "
     "is_incremental bit, has_persisted_sample bit, stats_generation_method int, "
     "stats_generation_method_desc varchar(255), auto_drop bit",
     "SELECT object_id, name, index_id, 0, 0, 0, 0, NULL, 0, 0, 0, 0, "
     "'Sort based statistics', 0 FROM sys.indexes WHERE index_id > 0"},
    {"sys", "stats_columns", "object_id int, stats_id int, stats_column_id int, column_id int",
     "SELECT object_id, index_id, index_column_id, column_id FROM sys.index_columns "
     "WHERE key_ordinal > 0"},
    {"sys", "xml_indexes",
     "object_id int, name sysname, index_id int, type tinyint, type_desc nvarchar(60), "
     "is_unique bit, data_space_id int, ignore_dup_key bit, is_primary_key bit, "
     "is_unique_constraint bit, fill_factor tinyint, is_padded bit, is_disabled bit, "
     "is_hypothetical bit, allow_row_locks bit, allow_page_locks bit, using_xml_index_id int, "
     "secondary_type char(1), secondary_type_desc nvarchar(60), has_filter bit, "
     "filter_definition nvarchar(max), xml_index_type tinyint, "
     "xml_index_type_description nvarchar(60), path_id int",
     NULL},
    {"sys", "spatial_indexes",
     "object_id int, name sysname, index_id int, type tinyint, type_desc nvarchar(60), "
     "is_unique bit, data_space_id int, is_disabled bit, spatial_index_type tinyint, "
     "spatial_index_type_desc nvarchar(60), tessellation_scheme sysname",
     NULL},
    {"sys", "fulltext_catalogs",
     "fulltext_catalog_id int, name sysname, path nvarchar(260), is_default bit, "
     "is_accent_sensitivity_on bit, data_space_id int, file_id int, principal_id int, "
     "is_importing bit",
     NULL},
    {"sys", "fulltext_indexes",
     "object_id int, unique_index_id int, fulltext_catalog_id int, is_enabled bit, "
     "change_tracking_state char(1), change_tracking_state_desc nvarchar(60), "
     "has_crawl_completed bit, crawl_type char(1), crawl_type_desc nvarchar(60), "
     "crawl_start_date datetime, crawl_end_date datetime, incremental_timestamp binary(8), "
     "stoplist_id int, data_space_id int, property_list_id int",
     NULL},
    {"sys", "fulltext_index_columns",
     "object_id int, column_id int, type_column_id int, language_id int, "
     "statistical_semantics int",
     NULL},
    {"sys", "hash_indexes",
     "object_id int, name sysname, index_id int, type tinyint, type_desc nvarchar(60), "
     "is_unique bit, data_space_id int, bucket_count int",
     NULL},
    {"sys", "column_store_segments",
     "partition_id bigint, hobt_id bigint, column_id int, segment_id int, version int, "
     "encoding_type int, row_count int, has_nulls int, base_id bigint, magnitude float, "
     "primary_dictionary_id int, secondary_dictionary_id int, min_data_id bigint, "
     "max_data_id bigint, null_value bigint, on_disk_size bigint",
     NULL},

    /* --- storage --- */
    {"sys", "data_spaces", SPACE_COLUMNS, "SELECT 'PRIMARY', 1, 'FG', 'ROWS_FILEGROUP', 1, 0"},
    {"sys", "filegroups",
     SPACE_COLUMNS ", filegroup_guid uniqueidentifier, log_filegroup_id int, is_read_only bit, "
                   "is_autogrow_all_files bit",
     "SELECT name, data_space_id, type, type_desc, is_default, is_system, NULL, NULL, 0, 0 "
     "FROM sys.data_spaces"},
    {"sys", "database_files", FILE_COLUMNS,
     "SELECT f.id, NULL, f.type, f.kind, f.space, DB_NAME() + f.suffix, "
     "'/var/opt/mssql/data/' + DB_NAME() + f.ending, 0, 'ONLINE', f.size, f.most, 8192, 0, 0, 0, "
     "0, 0 "
     "FROM (VALUES (1, 0, 'ROWS', 1, '', '.mdf', 1024, -1), "
     "(2, 1, 'LOG', 0, '_log', '_log.ldf', 1024, 268435456)) "
     "f(id, type, kind, space, suffix, ending, size, most)"},
    {"sys", "master_files", "database_id int, " FILE_COLUMNS,
     "SELECT d.database_id, f.id, NULL, f.type, f.kind, f.space, d.name + f.suffix, "
     "'/var/opt/mssql/data/' + d.name + f.ending, 0, 'ONLINE', f.size, f.most, 8192, 0, 0, 0, 0, 0 "
     "FROM sys.databases d CROSS JOIN (VALUES (1, 0, 'ROWS', 1, '', '.mdf', 1024, -1), "
     "(2, 1, 'LOG', 0, '_log', '_log.ldf', 1024, 268435456)) "
     "f(id, type, kind, space, suffix, ending, size, most)"},
    {"sys", "allocation_units",
     "allocation_unit_id bigint, type tinyint, type_desc nvarchar(60), container_id bigint, "
     "data_space_id int, total_pages bigint, used_pages bigint, data_pages bigint",
     "SELECT partition_id, 1, 'IN_ROW_DATA', partition_id, 1, reserved_page_count, "
     "used_page_count, in_row_data_page_count FROM sys.dm_db_partition_stats"},
    {"sys", "partition_functions",
     "name sysname, function_id int, type char(2), type_desc nvarchar(60), fanout int, "
     "boundary_value_on_right bit, is_system bit, create_date datetime, modify_date datetime",
     NULL},
    {"sys", "partition_schemes", SPACE_COLUMNS ", function_id int", NULL},
    {"sys", "partition_range_values",
     "function_id int, boundary_id int, parameter_id int, value sql_variant", NULL},
    {"sys", "partition_parameters",
     "function_id int, parameter_id int, system_type_id tinyint, max_length smallint, "
     "precision tinyint, scale tinyint, collation_name sysname, user_type_id int",
     NULL},
    {"sys", "destination_data_spaces",
     "partition_scheme_id int, destination_id int, data_space_id int", NULL},

    /* --- what a table or a database may have on the server, and has not here --- */
    {"sys", "change_tracking_databases",
     "database_id int, is_auto_cleanup_on tinyint, retention_period int, "
     "retention_period_units tinyint, retention_period_units_desc nvarchar(60), "
     "max_cleanup_version bigint",
     NULL},
    {"sys", "change_tracking_tables",
     "object_id int, is_track_columns_updated_on bit, min_valid_version bigint, "
     "begin_version bigint, cleanup_version bigint",
     NULL},
    {"sys", "security_policies",
     OBJECT_COLUMNS ", is_enabled bit, is_not_for_replication bit, uses_database_collation bit, "
                    "is_schema_bound bit",
     NULL},
    {"sys", "security_predicates",
     "object_id int, security_predicate_id int, target_object_id int, "
     "predicate_definition nvarchar(max), predicate_type int, predicate_type_desc nvarchar(60), "
     "operation int, operation_desc nvarchar(60)",
     NULL},
    {"sys", "column_encryption_keys",
     "name sysname, column_encryption_key_id int, create_date datetime, modify_date datetime",
     NULL},
    {"sys", "column_master_keys",
     "name sysname, column_master_key_id int, create_date datetime, modify_date datetime, "
     "key_store_provider_name sysname, key_path nvarchar(4000), allow_enclave_computations int, "
     "signature varbinary(max)",
     NULL},
    {"sys", "certificates",
     "name sysname, certificate_id int, principal_id int, pvt_key_encryption_type char(2), "
     "pvt_key_encryption_type_desc nvarchar(60), is_active_for_begin_dialog bit, "
     "issuer_name nvarchar(442), cert_serial_number nvarchar(64), sid varbinary(85), "
     "string_sid nvarchar(128), subject nvarchar(4000), expiry_date datetime, "
     "start_date datetime, thumbprint varbinary(32), attested_by nvarchar(260), "
     "pvt_key_last_backup_date datetime, key_length int",
     NULL},
    {"sys", "symmetric_keys",
     "name sysname, principal_id int, symmetric_key_id int, key_length int, "
     "key_algorithm char(2), algorithm_desc nvarchar(60), create_date datetime, "
     "modify_date datetime, key_guid uniqueidentifier, key_thumbprint sql_variant, "
     "provider_type nvarchar(120), cryptographic_provider_guid uniqueidentifier, "
     "cryptographic_provider_algid sql_variant",
     NULL},
    {"sys", "asymmetric_keys",
     "name sysname, principal_id int, asymmetric_key_id int, pvt_key_encryption_type char(2), "
     "pvt_key_encryption_type_desc nvarchar(60), thumbprint varbinary(32), algorithm char(2), "
     "algorithm_desc nvarchar(60), key_length int, sid varbinary(85), string_sid nvarchar(128), "
     "public_key varbinary(max), attested_by nvarchar(260)",
     NULL},
    {"sys", "dm_hadr_database_replica_states",
     "database_id int, group_id uniqueidentifier, replica_id uniqueidentifier, "
     "group_database_id uniqueidentifier, is_local bit, is_primary_replica bit, "
     "synchronization_state tinyint, synchronization_state_desc nvarchar(60), "
     "is_commit_participant bit, synchronization_health tinyint, "
     "synchronization_health_desc nvarchar(60), database_state tinyint, "
     "database_state_desc nvarchar(60), is_suspended bit, suspend_reason tinyint, "
     "suspend_reason_desc nvarchar(60), recovery_lsn numeric(25,0), truncation_lsn numeric(25,0), "
     "last_sent_lsn numeric(25,0), last_sent_time datetime, last_received_lsn numeric(25,0), "
     "last_received_time datetime, last_hardened_lsn numeric(25,0), last_hardened_time datetime, "
     "last_redone_lsn numeric(25,0), last_redone_time datetime, log_send_queue_size bigint, "
     "log_send_rate bigint, redo_queue_size bigint, redo_rate bigint, filestream_send_rate bigint, "
     "end_of_log_lsn numeric(25,0), last_commit_lsn numeric(25,0), last_commit_time datetime, "
     "low_water_mark_for_ghosts bigint, secondary_lag_seconds bigint",
     NULL},
    {"sys", "availability_groups",
     "group_id uniqueidentifier, name sysname, resource_id nvarchar(40), "
     "resource_group_id nvarchar(40), failure_condition_level int, health_check_timeout int, "
     "automated_backup_preference tinyint, automated_backup_preference_desc nvarchar(60), "
     "version smallint, basic_features bit, dtc_support bit, db_failover bit, is_distributed bit, "
     "cluster_type tinyint, cluster_type_desc nvarchar(60), "
     "required_synchronized_secondaries_to_commit int, sequence_number bigint, is_contained bit",
     NULL},
    {"sys", "availability_replicas",
     "replica_id uniqueidentifier, group_id uniqueidentifier, replica_metadata_id int, "
     "replica_server_name nvarchar(256), owner_sid varbinary(85), endpoint_url nvarchar(128), "
     "availability_mode tinyint, availability_mode_desc nvarchar(60), failover_mode tinyint, "
     "failover_mode_desc nvarchar(60), session_timeout int, "
     "primary_role_allow_connections tinyint, primary_role_allow_connections_desc nvarchar(60), "
     "secondary_role_allow_connections tinyint, secondary_role_allow_connections_desc "
     "nvarchar(60), "
     "create_date datetime, modify_date datetime, backup_priority int, "
     "read_only_routing_url nvarchar(256), seeding_mode tinyint, seeding_mode_desc nvarchar(60), "
     "read_write_routing_url nvarchar(256)",
     NULL},
    {"sys", "database_mirroring",
     "database_id int, mirroring_guid uniqueidentifier, mirroring_state tinyint, "
     "mirroring_state_desc nvarchar(60), mirroring_role tinyint, mirroring_role_desc nvarchar(60), "
     "mirroring_role_sequence int, mirroring_safety_level tinyint, "
     "mirroring_safety_level_desc nvarchar(60), mirroring_safety_sequence int, "
     "mirroring_partner_name nvarchar(128), mirroring_partner_instance nvarchar(128), "
     "mirroring_witness_name nvarchar(128), mirroring_witness_state tinyint, "
     "mirroring_witness_state_desc nvarchar(60), mirroring_failover_lsn numeric(25,0), "
     "mirroring_connection_timeout int, mirroring_redo_queue int, "
     "mirroring_redo_queue_type nvarchar(60), mirroring_end_of_log_lsn numeric(25,0), "
     "mirroring_replication_lsn numeric(25,0)",
     "SELECT database_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
     "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM sys.databases"},
    {"sys", "linked_logins",
     "server_id int, local_principal_id int, uses_self_credential bit, remote_name sysname, "
     "modify_date datetime",
     NULL},
    {"sys", "servers",
     "server_id int, name sysname, product sysname, provider sysname, data_source nvarchar(4000), "
     "location nvarchar(4000), provider_string nvarchar(4000), catalog sysname, "
     "connect_timeout int, query_timeout int, is_linked bit, is_remote_login_enabled bit, "
     "is_rpc_out_enabled bit, is_data_access_enabled bit, is_collation_compatible bit, "
     "uses_remote_collation bit, collation_name sysname, lazy_schema_validation bit, "
     "is_system bit, is_publisher bit, is_subscriber bit, is_distributor bit, "
     "is_nonsql_subscriber bit, is_remote_proc_transaction_promotion_enabled bit, "
     "modify_date datetime",
     "SELECT 0, @@SERVERNAME, 'SQL Server', 'SQLNCLI', @@SERVERNAME, NULL, NULL, NULL, 0, 0, 0, 1, "
     "1, 0, 0, 1, NULL, 0, 0, 0, 0, 0, 0, 1, d.create_date FROM sys.databases d "
     "WHERE d.database_id = 1"},
    {"sys", "plan_guides",
     "plan_guide_id int, name sysname, create_date datetime, modify_date datetime, "
     "is_disabled bit, query_text nvarchar(max), scope_type tinyint, scope_type_desc nvarchar(60), "
     "scope_object_id int, scope_batch nvarchar(max), parameters nvarchar(max), hints "
     "nvarchar(max)",
     NULL},
    {"sys", "service_queues",
     OBJECT_COLUMNS
     ", max_readers smallint, activation_procedure nvarchar(776), "
     "execute_as_principal_id int, is_activation_enabled bit, is_receive_enabled bit, "
     "is_enqueue_enabled bit, is_retention_enabled bit, "
     "is_poison_message_handling_enabled bit",
     NULL},
    {.name = NULL},
};
