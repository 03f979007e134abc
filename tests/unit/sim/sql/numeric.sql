-- decimal and numeric: two names of one type, told apart wherever a type is told
CREATE DATABASE shop;
USE shop;
CREATE TABLE dbo.t (id numeric(9, 0) IDENTITY CONSTRAINT pk_t PRIMARY KEY, d decimal(10, 2) NOT NULL, n numeric(10, 2) NOT NULL, x dec(5), s sql_variant, dd AS d + d, dn AS d + n, di AS d * 2, dl AS d * 1.5);
SELECT c.name, c.system_type_id, c.user_type_id, TYPE_NAME(c.user_type_id), t.name, c.precision, c.scale, c.max_length FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('dbo.t') ORDER BY c.column_id;
--> # Changed database context to 'shop'.
--> name|system_type_id|user_type_id||name|precision|scale|max_length
--> id|108|108|numeric|numeric|9|0|5
--> d|106|106|decimal|decimal|10|2|9
--> n|108|108|numeric|numeric|10|2|9
--> x|106|106|decimal|decimal|5|0|5
--> s|98|98|sql_variant|sql_variant|0|0|8016
--> dd|106|106|decimal|decimal|11|2|9
--> dn|108|108|numeric|numeric|11|2|9
--> di|106|106|decimal|decimal|12|2|9
--> dl|108|108|numeric|numeric|13|3|9
--> (9)
SELECT COLUMN_NAME, DATA_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 't' ORDER BY ORDINAL_POSITION;
--> COLUMN_NAME|DATA_TYPE|NUMERIC_PRECISION|NUMERIC_SCALE
--> id|numeric|9|0
--> d|decimal|10|2
--> n|numeric|10|2
--> x|decimal|5|0
--> s|sql_variant|NULL|NULL
--> dd|decimal|11|2
--> dn|numeric|11|2
--> di|decimal|12|2
--> dl|numeric|13|3
--> (9)
SELECT name, system_type_id, user_type_id, max_length, precision, scale FROM sys.types WHERE name IN ('decimal', 'numeric') ORDER BY name;
--> name|system_type_id|user_type_id|max_length|precision|scale
--> decimal|106|106|17|38|38
--> numeric|108|108|17|38|38
--> (2)
SELECT TYPE_ID('decimal'), TYPE_ID('numeric'), TYPE_NAME(106), TYPE_NAME(108), TYPEPROPERTY('numeric', 'Precision');
--> ||||
--> 106|108|decimal|numeric|38
--> (1)
EXEC sp_columns 't', 'dbo';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_DATA_TYPE
--> shop|dbo|t|id|2|numeric() identity|9|11|0|10|0|NULL|NULL|2|NULL|NULL|1|NO|108
--> shop|dbo|t|d|3|decimal|10|12|2|10|0|NULL|NULL|3|NULL|NULL|2|NO|106
--> shop|dbo|t|n|2|numeric|10|12|2|10|0|NULL|NULL|2|NULL|NULL|3|NO|108
--> shop|dbo|t|x|3|decimal|5|7|0|10|1|NULL|NULL|3|NULL|NULL|4|YES|106
--> shop|dbo|t|s|-150|sql_variant|8000|8000|NULL|NULL|1|NULL|NULL|-150|NULL|NULL|5|YES|98
--> shop|dbo|t|dd|3|decimal|11|13|2|10|1|NULL|NULL|3|NULL|NULL|6|YES|106
--> shop|dbo|t|dn|2|numeric|11|13|2|10|1|NULL|NULL|2|NULL|NULL|7|YES|108
--> shop|dbo|t|di|3|decimal|12|14|2|10|1|NULL|NULL|3|NULL|NULL|8|YES|106
--> shop|dbo|t|dl|2|numeric|13|15|3|10|1|NULL|NULL|2|NULL|NULL|9|YES|108
--> (9)
-- a value takes the name of where it is put
INSERT INTO dbo.t (d, n, x, s) VALUES (1.5, CAST(1.5 AS decimal(5, 1)), 3, 1.5), (2, 2, 4, CAST(2 AS decimal(9, 3))), (3, 3, 5, CAST(3 AS numeric(9, 3)));
SELECT id, s, SQL_VARIANT_PROPERTY(s, 'BaseType'), SQL_VARIANT_PROPERTY(s, 'Precision'), SQL_VARIANT_PROPERTY(d, 'BaseType'), SQL_VARIANT_PROPERTY(n, 'BaseType') FROM dbo.t;
--> (3)
--> id|s||||
--> 1|1.500|numeric|9|decimal|numeric
--> 2|2.000|numeric|9|decimal|numeric
--> 3|3.000|numeric|9|decimal|numeric
--> (3)
SELECT COUNT(*) FROM dbo.t WHERE d = n AND s >= CAST(1 AS decimal(5, 0));
--> 
--> 3
--> (1)
-- literals are numeric, whole numbers beyond int too; what a decimal and an integer make is decimal, what meets a numeric is numeric
DECLARE @d decimal(5, 2) = 1.5, @n numeric(5, 2) = 2.5;
SELECT SQL_VARIANT_PROPERTY(1.5, 'BaseType') a, SQL_VARIANT_PROPERTY(3000000000, 'BaseType') b, SQL_VARIANT_PROPERTY(@d, 'BaseType') c, SQL_VARIANT_PROPERTY(@n, 'BaseType') d, SQL_VARIANT_PROPERTY(@d + @d, 'BaseType') e, SQL_VARIANT_PROPERTY(@d + 1, 'BaseType') f, SQL_VARIANT_PROPERTY(@d * @n, 'BaseType') g, SQL_VARIANT_PROPERTY(-@n, 'BaseType') h, SQL_VARIANT_PROPERTY(ROUND(@d, 1), 'BaseType') i, SQL_VARIANT_PROPERTY(FLOOR(@n), 'BaseType') j, SQL_VARIANT_PROPERTY(POWER(@n, 2), 'BaseType') k, SQL_VARIANT_PROPERTY(POWER(@d, 2), 'BaseType') l, SQL_VARIANT_PROPERTY(SUM(@d), 'BaseType') m, SQL_VARIANT_PROPERTY(AVG(@n), 'BaseType') n, SQL_VARIANT_PROPERTY(CASE WHEN 1 = 1 THEN @d ELSE @n END, 'BaseType') o, SQL_VARIANT_PROPERTY(COALESCE(@d, 1), 'BaseType') p, SQL_VARIANT_PROPERTY(MAX(@n), 'BaseType') q, SQL_VARIANT_PROPERTY(CONVERT(decimal(5, 1), @n), 'BaseType') r;
SET @d = @n;
SELECT @d, SQL_VARIANT_PROPERTY(@d, 'BaseType');
--> a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r
--> numeric|numeric|decimal|numeric|decimal|decimal|numeric|numeric|decimal|numeric|numeric|decimal|decimal|numeric|numeric|decimal|numeric|decimal
--> (1)
--> |
--> 2.50|decimal
--> (1)
SELECT SQL_VARIANT_PROPERTY(SCOPE_IDENTITY(), 'BaseType'), SQL_VARIANT_PROPERTY(@@IDENTITY, 'BaseType'), SQL_VARIANT_PROPERTY(IDENT_CURRENT('dbo.t'), 'BaseType');
--> ||
--> numeric|numeric|numeric
--> (1)
-- results and parameters as they are described
EXEC sp_describe_first_result_set N'SELECT d, n, d + d AS dd, d + n AS dn, 1.5 AS l, SUM(d) OVER () AS s, @p AS p, @q AS q FROM dbo.t', N'@p numeric(7,1), @q decimal(7,1)';
--> is_hidden|column_ordinal|name|is_nullable|system_type_id|system_type_name|max_length|precision|scale|collation_name|user_type_id|user_type_database|user_type_schema|user_type_name|assembly_qualified_type_name|xml_collection_id|xml_collection_database|xml_collection_schema|xml_collection_name|is_xml_document|is_case_sensitive|is_fixed_length_clr_type|source_server|source_database|source_schema|source_table|source_column|is_identity_column|is_part_of_unique_key|is_updateable|is_computed_column|is_sparse_column_set|ordinal_in_order_by_list|order_by_is_descending|order_by_list_length|tds_type_id|tds_length|tds_collation_id|tds_collation_sort_id
--> 0|1|d|0|106|decimal(10,2)|9|10|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|2|n|0|108|numeric(10,2)|9|10|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|3|dd|0|106|decimal(11,2)|9|11|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|4|dn|0|108|numeric(11,2)|9|11|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|5|l|0|108|numeric(2,1)|5|2|1|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|6|s|1|106|decimal(38,2)|17|38|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|7|p|1|108|numeric(7,1)|5|7|1|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|8|q|1|106|decimal(7,1)|5|7|1|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> (8)
EXEC sp_describe_undeclared_parameters N'SELECT 1 FROM dbo.t WHERE d = @a AND n = @b';
--> parameter_ordinal|name|suggested_system_type_id|suggested_system_type_name|suggested_max_length|suggested_precision|suggested_scale|suggested_user_type_id|suggested_user_type_database|suggested_user_type_schema|suggested_user_type_name|suggested_assembly_qualified_type_name|suggested_xml_collection_id|suggested_xml_collection_database|suggested_xml_collection_schema|suggested_xml_collection_name|suggested_is_xml_document|suggested_is_case_sensitive|suggested_is_fixed_length_clr_type|suggested_is_input|suggested_is_output|formal_parameter_name|suggested_tds_type_id|suggested_tds_length
--> 1|@a|106|decimal(10,2)|9|10|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|1|0|NULL|106|9
--> 2|@b|108|numeric(10,2)|9|10|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|1|0|NULL|108|9
--> (2)
-- what is made from a column keeps its name
SELECT d, n, d AS again, n + 1 AS more INTO #u FROM dbo.t; SELECT d, n, d AS again, n + 1 AS more INTO dbo.u FROM #u;
--> (3)
--> (3)
SELECT DISTINCT SQL_VARIANT_PROPERTY(d, 'BaseType') d, SQL_VARIANT_PROPERTY(n, 'BaseType') n, SQL_VARIANT_PROPERTY(again, 'BaseType') again, SQL_VARIANT_PROPERTY(more, 'BaseType') more FROM #u;
--> d|n|again|more
--> decimal|numeric|decimal|numeric
--> (1)
SELECT name, system_type_id FROM sys.columns WHERE object_id = OBJECT_ID('dbo.u') ORDER BY column_id;
--> name|system_type_id
--> d|106
--> n|108
--> again|106
--> more|108
--> (4)
DECLARE @t TABLE (d decimal(3, 1), n numeric(3, 1));
INSERT INTO @t VALUES (1, 2), (1, 3);
WITH c (d, n) AS (SELECT d, n FROM @t) SELECT SQL_VARIANT_PROPERTY(MAX(d), 'BaseType') d, SQL_VARIANT_PROPERTY(n, 'BaseType') n, SQL_VARIANT_PROPERTY(d, 'BaseType') both FROM (SELECT d, n FROM c UNION ALL SELECT n, n FROM c) x GROUP BY d, n;
--> (2)
--> d|n|both
--> numeric|numeric|numeric
--> numeric|numeric|numeric
--> numeric|numeric|numeric
--> numeric|numeric|numeric
--> (4)
EXEC ('CREATE VIEW dbo.v AS SELECT n, d, n AS m FROM dbo.t UNION ALL SELECT d, d, n FROM dbo.t');
-->
EXEC ('CREATE PROCEDURE dbo.p @d decimal(5, 1), @n numeric(5, 1) AS SELECT @d AS d, @n AS n');
-->
EXEC ('CREATE TABLE dbo.w (c int CONSTRAINT df_w DEFAULT (CONVERT(numeric(5, 2), 1)), e int CONSTRAINT df_e DEFAULT (CONVERT(decimal(5, 2), 1)))');
-->
SELECT OBJECT_NAME(object_id), name, system_type_id FROM sys.columns WHERE object_id = OBJECT_ID('dbo.v') ORDER BY column_id;
--> |name|system_type_id
--> v|n|108
--> v|d|106
--> v|m|108
--> (3)
SELECT name, system_type_id, user_type_id FROM sys.parameters WHERE object_id = OBJECT_ID('dbo.p') ORDER BY parameter_id;
--> name|system_type_id|user_type_id
--> @d|106|106
--> @n|108|108
--> (2)
SELECT PARAMETER_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.PARAMETERS WHERE SPECIFIC_NAME = 'p' ORDER BY ORDINAL_POSITION;
--> PARAMETER_NAME|DATA_TYPE
--> @d|decimal
--> @n|numeric
--> (2)
SELECT definition FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('dbo.w');
--> definition
--> (CONVERT([numeric](5,2),(1)))
--> (CONVERT([decimal](5,2),(1)))
--> (2)
-- captured columns and change tables
EXEC sys.sp_cdc_enable_db;
-->
EXEC sys.sp_cdc_enable_table 'dbo', 't', @role_name = NULL, @captured_column_list = 'id, d, n, x';
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
SELECT name, system_type_id FROM sys.columns WHERE object_id = OBJECT_ID('cdc.dbo_t_CT') AND column_id > 5 ORDER BY column_id;
--> name|system_type_id
--> id|127
--> d|106
--> n|108
--> x|106
--> __$command_id|56
--> (5)
SELECT column_name, column_type FROM cdc.captured_columns ORDER BY column_ordinal;
--> column_name|column_type
--> id|bigint
--> d|decimal
--> n|numeric
--> x|decimal
--> (4)
EXEC sys.sp_cdc_get_captured_columns 'dbo_t';
--> source_schema|source_table|capture_instance|column_name|column_id|column_ordinal|data_type|character_maximum_length|numeric_precision|numeric_precision_radix|numeric_scale|datetime_precision
--> dbo|t|dbo_t|id|1|1|bigint|NULL|19|10|0|NULL
--> dbo|t|dbo_t|d|2|2|decimal|NULL|10|10|2|NULL
--> dbo|t|dbo_t|n|3|3|numeric|NULL|10|10|2|NULL
--> dbo|t|dbo_t|x|4|4|decimal|NULL|5|10|0|NULL
--> (4)
-- the name alone may change
ALTER TABLE dbo.t DROP COLUMN dd, dn, di, dl;
ALTER TABLE dbo.t ALTER COLUMN d numeric(10, 2) NOT NULL;
SELECT d, SQL_VARIANT_PROPERTY(d, 'BaseType'), COL_NAME(OBJECT_ID('dbo.t'), 2) FROM dbo.t;
--> d||
--> 1.50|numeric|d
--> 2.00|numeric|d
--> 3.00|numeric|d
--> (3)
SELECT name, system_type_id FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t') AND name = 'd';
--> name|system_type_id
--> d|108
--> (1)
-- clashes are told in the name declared
SELECT CAST('20200101' AS date) + CAST(1 AS decimal(5, 0));
--> !206 16 2 line 2: Operand type clash: date is incompatible with decimal
SELECT CAST(1.5 AS date);
--> !529 16 2 line 1: Explicit conversion from data type numeric to date is not allowed.
SELECT CAST(CAST(1 AS decimal(5, 0)) AS date);
--> !529 16 2 line 1: Explicit conversion from data type decimal to date is not allowed.
SELECT CAST(1000 AS decimal(3, 0));
--> 
--> !8115 16 2 line 1: Arithmetic overflow error converting int to data type numeric.
-- a key is found by a literal of fewer digits
CREATE TABLE dbo.amounts (amount decimal(20,4) NOT NULL PRIMARY KEY, other numeric(9,2) NULL UNIQUE);
-->
INSERT INTO dbo.amounts VALUES (-913579580.0760, 1.25), (-1.2345, -7.75), (12.3456, 1234567.89);
--> (3)
SELECT amount FROM dbo.amounts WHERE amount = -913579580.0760 OR amount = 12.3456;
--> amount
--> -913579580.0760
--> 12.3456
--> (2)
SELECT amount FROM dbo.amounts WHERE amount >= -1.2345 AND amount < 12.3456;
--> amount
--> -1.2345
--> (1)
SELECT other FROM dbo.amounts WHERE other = -7.75;
--> other
--> -7.75
--> (1)
SELECT other FROM dbo.amounts WHERE other = 1.25000 OR other = 1234567.89;
--> other
--> 1.25
--> 1234567.89
--> (2)
DROP TABLE dbo.amounts;
-->
