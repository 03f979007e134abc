-- what drivers ask the catalogue, as they ask it, and the procedures people call
CREATE DATABASE shop;
USE shop;
CREATE TABLE dbo.items (id int IDENTITY CONSTRAINT pk_items PRIMARY KEY, name nvarchar(20) NOT NULL CONSTRAINT df_name DEFAULT N'x', price decimal(10, 2), at datetime2(3), day date, clock time(0), moment datetimeoffset(7), old datetime, flag bit, raw varbinary(10), big nvarchar(max), doc xml, notes text, g uniqueidentifier, rv rowversion, cash money, ratio float, twice AS price * 2);
CREATE TABLE dbo.lines (item int NOT NULL CONSTRAINT fk_lines REFERENCES dbo.items (id), n int NOT NULL, CONSTRAINT pk_lines PRIMARY KEY (item, n));
CREATE INDEX ix_name ON dbo.items (name DESC, price);
EXEC ('CREATE VIEW dbo.cheap AS SELECT id, price FROM dbo.items');
EXEC ('CREATE PROCEDURE dbo.touch @id int, @n varchar(20) OUTPUT AS
SELECT @id AS id
SELECT 2');
EXEC ..sp_tables NULL, 'dbo', NULL, NULL;
--> # Changed database context to 'shop'.
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|TABLE_TYPE|REMARKS
--> shop|dbo|items|TABLE|NULL
--> shop|dbo|lines|TABLE|NULL
--> shop|dbo|cheap|VIEW|NULL
--> (3)
EXEC [sys].sp_tables N'%', N'dbo', NULL, N'''TABLE''', 1;
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|TABLE_TYPE|REMARKS
--> shop|dbo|items|TABLE|NULL
--> shop|dbo|lines|TABLE|NULL
--> (2)
EXEC shop..sp_tables @table_name = '', @table_owner = '%', @table_qualifier = '';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|TABLE_TYPE|REMARKS
--> NULL|db_accessadmin|NULL|NULL|NULL
--> NULL|db_backupoperator|NULL|NULL|NULL
--> NULL|db_datareader|NULL|NULL|NULL
--> NULL|db_datawriter|NULL|NULL|NULL
--> NULL|db_ddladmin|NULL|NULL|NULL
--> NULL|db_denydatareader|NULL|NULL|NULL
--> NULL|db_denydatawriter|NULL|NULL|NULL
--> NULL|db_owner|NULL|NULL|NULL
--> NULL|db_securityadmin|NULL|NULL|NULL
--> NULL|dbo|NULL|NULL|NULL
--> NULL|guest|NULL|NULL|NULL
--> NULL|INFORMATION_SCHEMA|NULL|NULL|NULL
--> NULL|sys|NULL|NULL|NULL
--> (13)
EXEC sp_tables '%', '', '', '%';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|TABLE_TYPE|REMARKS
--> (0)
EXEC sp_tables '', '', '', '%';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|TABLE_TYPE|REMARKS
--> NULL|NULL|NULL|SYSTEM TABLE|NULL
--> NULL|NULL|NULL|TABLE|NULL
--> NULL|NULL|NULL|VIEW|NULL
--> (3)
EXEC sp_tables @table_qualifier = 'master';
--> !15250 16 1 line 1: The database name component of the object qualifier must be the name of the current database.
EXEC sys.sp_columns 'items', 'dbo';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_DATA_TYPE
--> shop|dbo|items|id|4|int identity|10|4|0|10|0|NULL|NULL|4|NULL|NULL|1|NO|56
--> shop|dbo|items|name|-9|nvarchar|20|40|NULL|NULL|0|NULL|(N'x')|-9|NULL|40|2|NO|39
--> shop|dbo|items|price|3|decimal|10|12|2|10|1|NULL|NULL|3|NULL|NULL|3|YES|106
--> shop|dbo|items|at|-9|datetime2|23|46|3|NULL|1|NULL|NULL|-9|NULL|NULL|4|YES|42
--> shop|dbo|items|day|-9|date|10|20|0|NULL|1|NULL|NULL|-9|NULL|NULL|5|YES|40
--> shop|dbo|items|clock|-9|time|8|16|0|NULL|1|NULL|NULL|-9|NULL|NULL|6|YES|41
--> shop|dbo|items|moment|-9|datetimeoffset|34|68|7|NULL|1|NULL|NULL|-9|NULL|NULL|7|YES|43
--> shop|dbo|items|old|11|datetime|23|16|3|NULL|1|NULL|NULL|9|3|NULL|8|YES|111
--> shop|dbo|items|flag|-7|bit|1|1|NULL|NULL|1|NULL|NULL|-7|NULL|NULL|9|YES|50
--> shop|dbo|items|raw|-3|varbinary|10|10|NULL|NULL|1|NULL|NULL|-3|NULL|10|10|YES|37
--> shop|dbo|items|big|-9|nvarchar|0|0|NULL|NULL|1|NULL|NULL|-9|NULL|0|11|YES|39
--> shop|dbo|items|doc|-10|xml|0|0|NULL|NULL|1|NULL|NULL|-10|NULL|NULL|12|YES|241
--> shop|dbo|items|notes|-1|text|2147483647|2147483647|NULL|NULL|1|NULL|NULL|-1|NULL|2147483647|13|YES|35
--> shop|dbo|items|g|-11|uniqueidentifier|36|16|NULL|NULL|1|NULL|NULL|-11|NULL|NULL|14|YES|37
--> shop|dbo|items|rv|-2|timestamp|8|8|NULL|NULL|0|NULL|NULL|-2|NULL|8|15|NO|45
--> shop|dbo|items|cash|3|money|19|21|4|10|1|NULL|NULL|3|NULL|NULL|16|YES|110
--> shop|dbo|items|ratio|6|float|53|8|NULL|2|1|NULL|NULL|6|NULL|NULL|17|YES|109
--> shop|dbo|items|twice|3|decimal|12|14|2|10|1|NULL|NULL|3|NULL|NULL|18|YES|106
--> (18)
EXEC sp_columns_90 N'lines', N'dbo', N'shop', NULL, @ODBCVer = 3;
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_UDT_CATALOG_NAME|SS_UDT_SCHEMA_NAME|SS_UDT_ASSEMBLY_TYPE_NAME|SS_XML_SCHEMACOLLECTION_CATALOG_NAME|SS_XML_SCHEMACOLLECTION_SCHEMA_NAME|SS_XML_SCHEMACOLLECTION_NAME|SS_DATA_TYPE
--> shop|dbo|lines|item|4|int|10|4|0|10|0|NULL|NULL|4|NULL|NULL|1|NO|NULL|NULL|NULL|NULL|NULL|NULL|56
--> shop|dbo|lines|n|4|int|10|4|0|10|0|NULL|NULL|4|NULL|NULL|2|NO|NULL|NULL|NULL|NULL|NULL|NULL|56
--> (2)
EXEC [sys].sp_columns_100 N'items', N'dbo', NULL, NULL, @ODBCVer = 3, @fUsePattern = 1;
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_IS_SPARSE|SS_IS_COLUMN_SET|SS_IS_COMPUTED|SS_IS_IDENTITY|SS_UDT_CATALOG_NAME|SS_UDT_SCHEMA_NAME|SS_UDT_ASSEMBLY_TYPE_NAME|SS_XML_SCHEMACOLLECTION_CATALOG_NAME|SS_XML_SCHEMACOLLECTION_SCHEMA_NAME|SS_XML_SCHEMACOLLECTION_NAME|SS_DATA_TYPE
--> shop|dbo|items|id|4|int identity|10|4|0|10|0|NULL|NULL|4|NULL|NULL|1|NO|0|0|0|1|NULL|NULL|NULL|NULL|NULL|NULL|56
--> shop|dbo|items|name|-9|nvarchar|20|40|NULL|NULL|0|NULL|(N'x')|-9|NULL|40|2|NO|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|39
--> shop|dbo|items|price|3|decimal|10|12|2|10|1|NULL|NULL|3|NULL|NULL|3|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|106
--> shop|dbo|items|at|93|datetime2|23|16|3|NULL|1|NULL|NULL|9|3|NULL|4|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|42
--> shop|dbo|items|day|91|date|10|6|0|NULL|1|NULL|NULL|9|1|NULL|5|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|40
--> shop|dbo|items|clock|-154|time|8|12|0|NULL|1|NULL|NULL|-154|NULL|NULL|6|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|41
--> shop|dbo|items|moment|-155|datetimeoffset|34|20|7|NULL|1|NULL|NULL|-155|NULL|NULL|7|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|43
--> shop|dbo|items|old|93|datetime|23|16|3|NULL|1|NULL|NULL|9|3|NULL|8|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|111
--> shop|dbo|items|flag|-7|bit|1|1|NULL|NULL|1|NULL|NULL|-7|NULL|NULL|9|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|50
--> shop|dbo|items|raw|-3|varbinary|10|10|NULL|NULL|1|NULL|NULL|-3|NULL|10|10|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|37
--> shop|dbo|items|big|-9|nvarchar|0|0|NULL|NULL|1|NULL|NULL|-9|NULL|0|11|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|39
--> shop|dbo|items|doc|-152|xml|0|0|NULL|NULL|1|NULL|NULL|-152|NULL|NULL|12|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|241
--> shop|dbo|items|notes|-1|text|2147483647|2147483647|NULL|NULL|1|NULL|NULL|-1|NULL|2147483647|13|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|35
--> shop|dbo|items|g|-11|uniqueidentifier|36|16|NULL|NULL|1|NULL|NULL|-11|NULL|NULL|14|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|37
--> shop|dbo|items|rv|-2|timestamp|8|8|NULL|NULL|0|NULL|NULL|-2|NULL|8|15|NO|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|45
--> shop|dbo|items|cash|3|money|19|21|4|10|1|NULL|NULL|3|NULL|NULL|16|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|110
--> shop|dbo|items|ratio|6|float|53|8|NULL|2|1|NULL|NULL|6|NULL|NULL|17|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|109
--> shop|dbo|items|twice|3|decimal|12|14|2|10|1|NULL|NULL|3|NULL|NULL|18|YES|0|0|1|0|NULL|NULL|NULL|NULL|NULL|NULL|106
--> (18)
EXEC sp_columns_100 'it_ms', 'dbo', NULL, 'n%', NULL, 3, 0;
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_IS_SPARSE|SS_IS_COLUMN_SET|SS_IS_COMPUTED|SS_IS_IDENTITY|SS_UDT_CATALOG_NAME|SS_UDT_SCHEMA_NAME|SS_UDT_ASSEMBLY_TYPE_NAME|SS_XML_SCHEMACOLLECTION_CATALOG_NAME|SS_XML_SCHEMACOLLECTION_SCHEMA_NAME|SS_XML_SCHEMACOLLECTION_NAME|SS_DATA_TYPE
--> (0)
EXEC sp_columns_100 'cheap';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_IS_SPARSE|SS_IS_COLUMN_SET|SS_IS_COMPUTED|SS_IS_IDENTITY|SS_UDT_CATALOG_NAME|SS_UDT_SCHEMA_NAME|SS_UDT_ASSEMBLY_TYPE_NAME|SS_XML_SCHEMACOLLECTION_CATALOG_NAME|SS_XML_SCHEMACOLLECTION_SCHEMA_NAME|SS_XML_SCHEMACOLLECTION_NAME|SS_DATA_TYPE
--> shop|dbo|cheap|id|4|int|10|4|0|10|0|NULL|NULL|4|NULL|NULL|1|NO|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|56
--> shop|dbo|cheap|price|3|decimal|10|12|2|10|1|NULL|NULL|3|NULL|NULL|2|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|106
--> (2)
EXEC sp_columns_170 'items';
--> !2812 16 62 line 1: Could not find stored procedure 'sp_columns_170'.
EXEC sp_pkeys 'lines', 'dbo', 'shop';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|KEY_SEQ|PK_NAME
--> shop|dbo|lines|item|1|pk_lines
--> shop|dbo|lines|n|2|pk_lines
--> (2)
EXEC sp_fkeys 'items', 'dbo', NULL, NULL, NULL, NULL;
--> PKTABLE_QUALIFIER|PKTABLE_OWNER|PKTABLE_NAME|PKCOLUMN_NAME|FKTABLE_QUALIFIER|FKTABLE_OWNER|FKTABLE_NAME|FKCOLUMN_NAME|KEY_SEQ|UPDATE_RULE|DELETE_RULE|FK_NAME|PK_NAME|DEFERRABILITY
--> shop|dbo|items|id|shop|dbo|lines|item|1|1|1|fk_lines|pk_items|7
--> (1)
EXEC sp_fkeys @fktable_name = N'lines';
--> PKTABLE_QUALIFIER|PKTABLE_OWNER|PKTABLE_NAME|PKCOLUMN_NAME|FKTABLE_QUALIFIER|FKTABLE_OWNER|FKTABLE_NAME|FKCOLUMN_NAME|KEY_SEQ|UPDATE_RULE|DELETE_RULE|FK_NAME|PK_NAME|DEFERRABILITY
--> shop|dbo|items|id|shop|dbo|lines|item|1|1|1|fk_lines|pk_items|7
--> (1)
EXEC sp_fkeys;
--> !15252 16 1 line 1: The primary or foreign key table name must be given.
EXEC sp_statistics_100 N'items', N'dbo', NULL, N'%', N'N', N'Q';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|NON_UNIQUE|INDEX_QUALIFIER|INDEX_NAME|TYPE|SEQ_IN_INDEX|COLUMN_NAME|COLLATION|CARDINALITY|PAGES|FILTER_CONDITION
--> shop|dbo|items|NULL|NULL|NULL|0|NULL|NULL|NULL|0|1|NULL
--> shop|dbo|items|0|items|pk_items|1|1|id|A|0|1|NULL
--> shop|dbo|items|1|items|ix_name|3|1|name|D|0|1|NULL
--> shop|dbo|items|1|items|ix_name|3|2|price|A|0|1|NULL
--> (4)
EXEC sp_special_columns_100 N'lines', N'dbo', NULL, N'R', N'T', N'U', 3;
--> SCOPE|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|PSEUDO_COLUMN
--> 0|item|4|int|10|4|0|1
--> 0|n|4|int|10|4|0|1
--> (2)
EXEC sp_special_columns 'items', NULL, NULL, 'V';
--> SCOPE|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|PSEUDO_COLUMN
--> NULL|rv|-2|timestamp|8|8|NULL|1
--> (1)
EXEC sp_stored_procedures 'touch', 'dbo';
--> PROCEDURE_QUALIFIER|PROCEDURE_OWNER|PROCEDURE_NAME|NUM_INPUT_PARAMS|NUM_OUTPUT_PARAMS|NUM_RESULT_SETS|REMARKS|PROCEDURE_TYPE
--> shop|dbo|touch;1|-1|-1|-1|NULL|2
--> (1)
EXEC sp_sproc_columns_100 N'touch', N'dbo', N'shop', NULL, @ODBCVer = 3;
--> PROCEDURE_QUALIFIER|PROCEDURE_OWNER|PROCEDURE_NAME|COLUMN_NAME|COLUMN_TYPE|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_UDT_CATALOG_NAME|SS_UDT_SCHEMA_NAME|SS_UDT_ASSEMBLY_TYPE_NAME|SS_XML_SCHEMACOLLECTION_CATALOG_NAME|SS_XML_SCHEMACOLLECTION_SCHEMA_NAME|SS_XML_SCHEMACOLLECTION_NAME|SS_DATA_TYPE
--> shop|dbo|touch;1|@RETURN_VALUE|5|4|int|10|4|0|10|0|NULL|NULL|4|NULL|NULL|0|NO|NULL|NULL|NULL|NULL|NULL|NULL|56
--> shop|dbo|touch;1|@id|1|4|int|10|4|0|10|1|NULL|NULL|4|NULL|NULL|1|YES|NULL|NULL|NULL|NULL|NULL|NULL|38
--> shop|dbo|touch;1|@n|2|12|varchar|20|20|NULL|NULL|1|NULL|NULL|12|NULL|20|2|YES|NULL|NULL|NULL|NULL|NULL|NULL|39
--> (3)
EXEC sp_sproc_columns 'touch', NULL, NULL, '@n';
--> PROCEDURE_QUALIFIER|PROCEDURE_OWNER|PROCEDURE_NAME|COLUMN_NAME|COLUMN_TYPE|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_DATA_TYPE
--> shop|dbo|touch;1|@n|2|12|varchar|20|20|NULL|NULL|1|NULL|NULL|12|NULL|20|2|YES|39
--> (1)
EXEC sp_datatype_info_100 0, @ODBCVer = 3;
--> TYPE_NAME|DATA_TYPE|PRECISION|LITERAL_PREFIX|LITERAL_SUFFIX|CREATE_PARAMS|NULLABLE|CASE_SENSITIVE|SEARCHABLE|UNSIGNED_ATTRIBUTE|MONEY|AUTO_INCREMENT|LOCAL_TYPE_NAME|MINIMUM_SCALE|MAXIMUM_SCALE|SQL_DATA_TYPE|SQL_DATETIME_SUB|NUM_PREC_RADIX|INTERVAL_PRECISION|USERTYPE
--> datetimeoffset|-155|34|'|'|scale|1|0|3|NULL|0|NULL|datetimeoffset|0|7|-155|NULL|NULL|NULL|0
--> time|-154|16|'|'|scale|1|0|3|NULL|0|NULL|time|0|7|-154|NULL|NULL|NULL|0
--> xml|-152|0|N'|'|NULL|1|0|0|NULL|0|NULL|xml|NULL|NULL|-152|NULL|NULL|NULL|0
--> sql_variant|-150|8000|NULL|NULL|NULL|1|0|2|NULL|0|NULL|sql_variant|0|0|-150|NULL|10|NULL|39
--> uniqueidentifier|-11|36|'|'|NULL|1|0|2|NULL|0|NULL|uniqueidentifier|NULL|NULL|-11|NULL|NULL|NULL|37
--> ntext|-10|1073741823|N'|'|NULL|1|0|1|NULL|0|NULL|ntext|NULL|NULL|-10|NULL|NULL|NULL|0
--> nvarchar|-9|4000|N'|'|max length|1|0|3|NULL|0|NULL|nvarchar|NULL|NULL|-9|NULL|NULL|NULL|0
--> sysname|-9|128|N'|'|NULL|0|0|3|NULL|0|NULL|sysname|NULL|NULL|-9|NULL|NULL|NULL|18
--> nchar|-8|4000|N'|'|length|1|0|3|NULL|0|NULL|nchar|NULL|NULL|-8|NULL|NULL|NULL|0
--> bit|-7|1|NULL|NULL|NULL|1|0|2|NULL|0|NULL|bit|0|0|-7|NULL|NULL|NULL|16
--> tinyint|-6|3|NULL|NULL|NULL|1|0|2|1|0|0|tinyint|0|0|-6|NULL|10|NULL|5
--> tinyint identity|-6|3|NULL|NULL|NULL|0|0|2|1|0|1|tinyint identity|0|0|-6|NULL|10|NULL|5
--> bigint|-5|19|NULL|NULL|NULL|1|0|2|0|0|0|bigint|0|0|-5|NULL|10|NULL|0
--> bigint identity|-5|19|NULL|NULL|NULL|0|0|2|0|0|1|bigint identity|0|0|-5|NULL|10|NULL|0
--> image|-4|2147483647|0x|NULL|NULL|1|0|0|NULL|0|NULL|image|NULL|NULL|-4|NULL|NULL|NULL|20
--> varbinary|-3|8000|0x|NULL|max length|1|0|2|NULL|0|NULL|varbinary|NULL|NULL|-3|NULL|NULL|NULL|4
--> binary|-2|8000|0x|NULL|length|1|0|2|NULL|0|NULL|binary|NULL|NULL|-2|NULL|NULL|NULL|3
--> timestamp|-2|8|0x|NULL|NULL|0|0|2|NULL|0|NULL|timestamp|NULL|NULL|-2|NULL|NULL|NULL|80
--> text|-1|2147483647|'|'|NULL|1|0|1|NULL|0|NULL|text|NULL|NULL|-1|NULL|NULL|NULL|19
--> char|1|8000|'|'|length|1|0|3|NULL|0|NULL|char|NULL|NULL|1|NULL|NULL|NULL|1
--> numeric|2|38|NULL|NULL|precision,scale|1|0|2|0|0|0|numeric|0|38|2|NULL|10|NULL|10
--> numeric() identity|2|38|NULL|NULL|precision|0|0|2|0|0|1|numeric() identity|0|0|2|NULL|10|NULL|10
--> decimal|3|38|NULL|NULL|precision,scale|1|0|2|0|0|0|decimal|0|38|3|NULL|10|NULL|24
--> money|3|19|$|NULL|NULL|1|0|2|0|1|0|money|4|4|3|NULL|10|NULL|11
--> smallmoney|3|10|$|NULL|NULL|1|0|2|0|1|0|smallmoney|4|4|3|NULL|10|NULL|21
--> decimal() identity|3|38|NULL|NULL|precision|0|0|2|0|0|1|decimal() identity|0|0|3|NULL|10|NULL|24
--> int|4|10|NULL|NULL|NULL|1|0|2|0|0|0|int|0|0|4|NULL|10|NULL|7
--> int identity|4|10|NULL|NULL|NULL|0|0|2|0|0|1|int identity|0|0|4|NULL|10|NULL|7
--> smallint|5|5|NULL|NULL|NULL|1|0|2|0|0|0|smallint|0|0|5|NULL|10|NULL|6
--> smallint identity|5|5|NULL|NULL|NULL|0|0|2|0|0|1|smallint identity|0|0|5|NULL|10|NULL|6
--> float|6|53|NULL|NULL|NULL|1|0|2|0|0|0|float|NULL|NULL|6|NULL|2|NULL|8
--> real|7|24|NULL|NULL|NULL|1|0|2|0|0|0|real|NULL|NULL|7|NULL|2|NULL|23
--> varchar|12|8000|'|'|max length|1|0|3|NULL|0|NULL|varchar|NULL|NULL|12|NULL|NULL|NULL|2
--> date|91|10|'|'|NULL|1|0|3|NULL|0|NULL|date|NULL|0|9|1|NULL|NULL|0
--> datetime2|93|27|'|'|scale|1|0|3|NULL|0|NULL|datetime2|0|7|9|3|NULL|NULL|0
--> datetime|93|23|'|'|NULL|1|0|3|NULL|0|NULL|datetime|3|3|9|3|NULL|NULL|12
--> smalldatetime|93|16|'|'|NULL|1|0|3|NULL|0|NULL|smalldatetime|0|0|9|3|NULL|NULL|22
--> (37)
EXEC [sys].sp_datatype_info_90 -9, 2;
--> TYPE_NAME|DATA_TYPE|PRECISION|LITERAL_PREFIX|LITERAL_SUFFIX|CREATE_PARAMS|NULLABLE|CASE_SENSITIVE|SEARCHABLE|UNSIGNED_ATTRIBUTE|MONEY|AUTO_INCREMENT|LOCAL_TYPE_NAME|MINIMUM_SCALE|MAXIMUM_SCALE|SQL_DATA_TYPE|SQL_DATETIME_SUB|NUM_PREC_RADIX|INTERVAL_PRECISION|USERTYPE
--> datetimeoffset|-9|34|'|'|scale|1|0|3|NULL|0|NULL|datetimeoffset|0|7|-9|NULL|NULL|NULL|0
--> time|-9|16|'|'|scale|1|0|3|NULL|0|NULL|time|0|7|-9|NULL|NULL|NULL|0
--> nvarchar|-9|4000|N'|'|max length|1|0|3|NULL|0|NULL|nvarchar|NULL|NULL|-9|NULL|NULL|NULL|0
--> sysname|-9|128|N'|'|NULL|0|0|3|NULL|0|NULL|sysname|NULL|NULL|-9|NULL|NULL|NULL|18
--> date|-9|10|'|'|NULL|1|0|3|NULL|0|NULL|date|NULL|0|-9|NULL|NULL|NULL|0
--> datetime2|-9|27|'|'|scale|1|0|3|NULL|0|NULL|datetime2|0|7|-9|NULL|NULL|NULL|0
--> (6)
EXEC sp_table_privileges 'lines';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|GRANTOR|GRANTEE|PRIVILEGE|IS_GRANTABLE
--> shop|dbo|lines|dbo|dbo|DELETE|YES
--> shop|dbo|lines|dbo|dbo|INSERT|YES
--> shop|dbo|lines|dbo|dbo|REFERENCES|YES
--> shop|dbo|lines|dbo|dbo|SELECT|YES
--> shop|dbo|lines|dbo|dbo|UPDATE|YES
--> (5)
EXEC sp_column_privileges 'lines', 'dbo', NULL, 'n';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|GRANTOR|GRANTEE|PRIVILEGE|IS_GRANTABLE
--> shop|dbo|lines|n|dbo|dbo|INSERT|YES
--> shop|dbo|lines|n|dbo|dbo|REFERENCES|YES
--> shop|dbo|lines|n|dbo|dbo|SELECT|YES
--> shop|dbo|lines|n|dbo|dbo|UPDATE|YES
--> (4)
EXEC sp_server_info 500;
--> attribute_id|attribute_name|attribute_value
--> 500|SYS_SPROC_VERSION|16.0.4135.4
--> (1)
EXEC sp_databases;
--> DATABASE_NAME|DATABASE_SIZE|REMARKS
--> master|16384|NULL
--> model|16384|NULL
--> msdb|16384|NULL
--> shop|16384|NULL
--> tempdb|16384|NULL
--> (5)
CREATE TABLE dbo.pages (a int, b varchar(5), c nvarchar(3) COLLATE Greek_CI_AS);
EXEC sp_tablecollations_100 N'.[dbo].[pages]';
--> colid|name|tds_collation|collation
--> 1|a|NULL|NULL
--> 2|b|0x0904D00034|SQL_Latin1_General_CP1_CI_AS
--> 3|c|0x0804D00000|Greek_CI_AS
--> (3)
DROP TABLE dbo.pages;
EXEC sp_helpindex 'dbo.items';
--> index_name|index_description|index_keys
--> ix_name|nonclustered located on PRIMARY|name(-), price
--> pk_items|clustered, unique, primary key located on PRIMARY|id
--> (2)
EXEC sp_helpindex 'nothing';
--> !15009 16 1 line 1: The object 'nothing' does not exist in database 'shop' or is invalid for this operation.
EXEC sp_help lines;
--> Name|Owner|Type|Created_datetime
--> lines|dbo|user table|2026-03-01 12:00:00.000
--> (1)
--> Column_name|Type|Computed|Length|Prec|Scale|Nullable|TrimTrailingBlanks|FixedLenNullInSource|Collation
--> item|int|no|4|10   |0    |no|(n/a)|(n/a)|NULL
--> n|int|no|4|10   |0    |no|(n/a)|(n/a)|NULL
--> (2)
--> Identity|Seed|Increment|Not For Replication
--> No identity column defined.|NULL|NULL|NULL
--> (1)
--> RowGuidCol
--> No rowguidcol column defined.
--> (1)
--> Data_located_on_filegroup
--> PRIMARY
--> (1)
--> index_name|index_description|index_keys
--> pk_lines|clustered, unique, primary key located on PRIMARY|item, n
--> (1)
EXEC sp_helptext 'touch';
--> Text
--> CREATE PROCEDURE dbo.touch @id int, @n varchar(20) OUTPUT AS
--> 
--> SELECT @id AS id
--> 
--> SELECT 2
EXEC sp_helptext 'items';
--> !15197 16 1 line 1: There is no text for object 'items'.
EXEC sp_helptext 'df_name';
--> Text
--> (N'x')
SET FMTONLY ON SELECT id, name FROM dbo.items SET FMTONLY OFF;
--> id|name
--> (0)
-- PRECISION is no reserved word: drivers name a column so
DECLARE @t TABLE (PRECISION int, n int); INSERT INTO @t VALUES (1, 2); SELECT PRECISION, t.precision AS p FROM @t t;
--> (1)
--> PRECISION|p
--> 1|1
--> (1)
