import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.List;

/** DatabaseMetaData, which the driver fills from catalog procedures and views. */
final class MetadataCases {
    private MetadataCases() {}

    private interface Query {
        List<String> run(DatabaseMetaData about) throws Exception;
    }

    private static List<String> sorted(List<String> rows) {
        java.util.Collections.sort(rows);
        return rows;
    }

    private static void check(String want, Query query) throws Exception {
        try (Connection connection = Suite.connect()) {
            Suite.equal(String.join("\n", query.run(connection.getMetaData())), want, "rows");
        }
    }

    public static void the_product_says_what_it_is() throws Exception {
        try (Connection connection = Suite.connect()) {
            DatabaseMetaData about = connection.getMetaData();
            Suite.equal(about.getDatabaseProductName() + " " + about.getDatabaseMajorVersion() + " " + about.getURL().startsWith("jdbc:sqlserver://"), "Microsoft SQL Server 16 true", "product");
            Suite.equal(about.getUserName(), "sa", "user");
            Suite.equal(connection.getCatalog() + " " + connection.getSchema(), "shop dbo", "where");
            Suite.equal(about.getMaxConnections() > 0, true, "connections");
        }
    }

    public static void catalogs_are_databases() throws Exception {
        check("[master]\n[model]\n[msdb]\n[other]\n[shop]\n[tempdb]", about -> Suite.rows(about.getCatalogs()));
    }

    public static void schemas_are_those_of_the_database() throws Exception {
        check("[cdc]\n[dbo]\n[sales]", about -> {
            List<String> all = Suite.rows(about.getSchemas(), "TABLE_SCHEM");
            all.retainAll(List.of("[cdc]", "[dbo]", "[sales]"));
            return sorted(all);
        });
        check("[sales, shop]", about -> Suite.rows(about.getSchemas("shop", "sal%"), "TABLE_SCHEM", "TABLE_CATALOG"));
    }

    public static void tables_and_views_are_found_by_pattern() throws Exception {
        check("[shop, dbo, customers, TABLE]\n[shop, sales, orders, TABLE]\n[shop, sales, open_orders, VIEW]", about -> {
            List<String> all = Suite.rows(about.getTables("shop", null, "customers", new String[] {"TABLE"}), "TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE");
            all.addAll(Suite.rows(about.getTables(null, "sales", "%", new String[] {"TABLE", "VIEW"}), "TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"));
            return all;
        });
        check("[other, dbo, elsewhere]", about -> Suite.rows(about.getTables("other", "dbo", "%", new String[] {"TABLE"}), "TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME"));
        check("[SYSTEM TABLE]\n[TABLE]\n[VIEW]", about -> sorted(Suite.rows(about.getTableTypes())));
        try (Connection connection = Suite.connect()) {
            Suite.rows(connection.getMetaData().getTables("other", "dbo", "%", null));
            Suite.equal(connection.getCatalog(), "shop", "the database afterwards");
            Suite.equal(Suite.value(connection, "SELECT DB_NAME()"), "shop", "and of the session");
        }
    }

    public static void columns_have_types_sizes_and_defaults() throws Exception {
        check("[customers, id, 4, int identity, 10, 0, 0, null, 1, NO, YES, NO]\n"
              + "[customers, name, -9, nvarchar, 50, null, 0, null, 2, NO, NO, NO]\n"
              + "[customers, email, 12, varchar, 100, null, 1, null, 3, YES, NO, NO]\n"
              + "[customers, credit, 3, decimal, 12, 2, 0, ((0)), 4, NO, NO, NO]\n"
              + "[customers, made, 93, datetime2, 23, 3, 0, (sysutcdatetime()), 5, NO, NO, NO]\n"
              + "[customers, doubled, 3, decimal, 14, 2, 1, null, 6, YES, NO, YES]\n"
              + "[customers, version, -2, timestamp, 8, null, 0, null, 7, NO, NO, NO]",
              about -> Suite.rows(about.getColumns(null, "dbo", "customers", "%"), "TABLE_NAME", "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS",
                                  "NULLABLE", "COLUMN_DEF", "ORDINAL_POSITION", "IS_NULLABLE", "IS_AUTOINCREMENT", "IS_GENERATEDCOLUMN"));
        check("[dbo, elsewhere, a]\n[dbo, elsewhere, b]", about -> Suite.rows(about.getColumns("other", "dbo", "else%", null), "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME"));
    }

    public static void columns_of_every_type_have_a_type_of_jdbc() throws Exception {
        try (Connection connection = Suite.connect()) {
            Suite.run(connection, "DROP TABLE IF EXISTS dbo.described; CREATE TABLE dbo.described (a bit, b tinyint, c smallint, d int, e bigint, f real, g float, h decimal(38,10), i money, j smallmoney,"
                      + " k date, l time(7), m datetime, n smalldatetime, o datetime2(7), p datetimeoffset(3), q char(5), r varchar(max), s nchar(5), t nvarchar(max), u binary(4), v varbinary(max),"
                      + " w uniqueidentifier, x xml, y sql_variant, z text, za ntext, zb image, zc numeric(9,2))");
            Suite.equal(String.join(" ", Suite.rows(connection.getMetaData().getColumns(null, null, "described", "%"), "COLUMN_NAME", "DATA_TYPE", "COLUMN_SIZE", "CHAR_OCTET_LENGTH")),
                        "[a, -7, 1, null] [b, -6, 3, null] [c, 5, 5, null] [d, 4, 10, null] [e, -5, 19, null] [f, 7, 24, null] [g, 8, 53, null] [h, 3, 38, null] [i, 3, 19, null] [j, 3, 10, null] "
                        + "[k, 91, 10, null] [l, 92, 16, null] [m, 93, 23, null] [n, 93, 16, null] [o, 93, 27, null] [p, -155, 30, null] [q, 1, 5, 5] [r, 12, 2147483647, 2147483647] "
                        + "[s, -15, 5, 10] [t, -9, 2147483647, 2147483647] [u, -2, 4, 4] [v, -3, 2147483647, 2147483647] [w, 1, 36, null] [x, -16, 2147483647, null] [y, -150, 8000, null] "
                        + "[z, -1, 2147483647, 2147483647] [za, -16, 1073741823, 2147483646] [zb, -4, 2147483647, 2147483647] [zc, 2, 9, null]", "columns");
        }
    }

    public static void keys_name_their_columns_in_order() throws Exception {
        check("[shop, sales, orders, customer, 1, pk_orders]\n[shop, sales, orders, line, 2, pk_orders]",
              about -> Suite.rows(about.getPrimaryKeys(null, "sales", "orders"), "TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
        String reference = "[shop, dbo, customers, id, shop, sales, orders, customer, 1, 1, 1, fk_orders_customers, pk_customers, 7]";
        String[] columns = {"PKTABLE_CAT", "PKTABLE_SCHEM", "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_CAT", "FKTABLE_SCHEM", "FKTABLE_NAME", "FKCOLUMN_NAME", "KEY_SEQ", "UPDATE_RULE",
                            "DELETE_RULE", "FK_NAME", "PK_NAME", "DEFERRABILITY"};
        reference = reference.replace(", 1, 1, 1, fk", ", 1, 3, 3, fk"); // importedKeyNoAction
        check(reference, about -> Suite.rows(about.getImportedKeys(null, "sales", "orders"), columns));
        check(reference, about -> Suite.rows(about.getExportedKeys(null, "dbo", "customers"), columns));
        check(reference, about -> Suite.rows(about.getCrossReference("shop", "dbo", "customers", "shop", "sales", "orders"), columns));
    }

    public static void indexes_say_what_is_unique() throws Exception {
        check("[false, pk_orders, 1, 1, customer, A]\n[false, pk_orders, 1, 2, line, A]\n[true, ix_orders_status, 3, 1, status, A]\n[true, ix_orders_status, 3, 2, line, A]", about -> {
            List<String> all = Suite.rows(about.getIndexInfo(null, "sales", "orders", false, true), "NON_UNIQUE", "INDEX_NAME", "TYPE", "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC");
            all.removeIf(row -> row.startsWith("[null"));
            all.replaceAll(row -> row.replaceFirst("^.0,", "[false,").replaceFirst("^.1,", "[true,"));
            java.util.Collections.sort(all);
            return all;
        });
        check("2", about -> List.of(String.valueOf(Suite.rows(about.getIndexInfo("shop", "dbo", "customers", true, true), "INDEX_NAME").stream().filter(row -> !row.contains("null")).count())));
    }

    public static void rows_are_told_apart_by_key_and_version() throws Exception {
        check("[0, customer, 4]\n[0, line, 5]", about -> Suite.rows(about.getBestRowIdentifier(null, "sales", "orders", DatabaseMetaData.bestRowTemporary, true), "SCOPE", "COLUMN_NAME", "DATA_TYPE"));
        check("[version, -2]", about -> Suite.rows(about.getVersionColumns(null, "dbo", "customers"), "COLUMN_NAME", "DATA_TYPE"));
    }

    public static void types_are_all_of_the_servers() throws Exception {
        try (Connection connection = Suite.connect()) {
            List<String> all = Suite.rows(connection.getMetaData().getTypeInfo(), "TYPE_NAME", "DATA_TYPE", "PRECISION");
            for (String want : new String[] {"[int, 4, 10]", "[bigint, -5, 19]", "[nvarchar, -9, 4000]", "[datetime2, 93, 27]", "[datetimeoffset, -155, 34]", "[uniqueidentifier, 1, 36]", "[bit, -7, 1]", "[decimal() identity, 3, 38]",
                                             "[xml, -16, 0]", "[sql_variant, -150, 8000]", "[time, 92, 16]", "[varbinary, -3, 8000]"}) {
                Suite.equal(all.contains(want), true, want + " in " + all);
            }
        }
    }

    public static void procedures_and_their_parameters_are_found() throws Exception {
        try (Connection connection = Suite.connect()) {
            DatabaseMetaData about = connection.getMetaData();
            Suite.equal(Suite.rows(about.getProcedures(null, "dbo", "add%"), "PROCEDURE_SCHEM", "PROCEDURE_NAME", "PROCEDURE_TYPE").toString(), "[[dbo, add_customer;1, 2]]", "procedures");
            Suite.equal(String.join(" ", Suite.rows(about.getProcedureColumns(null, "dbo", "add_customer", "%"), "COLUMN_NAME", "COLUMN_TYPE", "DATA_TYPE", "TYPE_NAME", "PRECISION")),
                        "[@RETURN_VALUE, 5, 4, int, 10] [@name, 1, -9, nvarchar, 50] [@credit, 1, 3, decimal, 12] [@id, 2, 4, int, 10]", "parameters");
        }
    }

    public static void grants_are_listed() throws Exception {
        check("[customers, clerk, SELECT, NO]", about -> {
            List<String> all = Suite.rows(about.getTablePrivileges(null, "dbo", "customers"), "TABLE_NAME", "GRANTEE", "PRIVILEGE", "IS_GRANTABLE");
            all.removeIf(row -> !row.contains("clerk"));
            return all;
        });
    }
}
