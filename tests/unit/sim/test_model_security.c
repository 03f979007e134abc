/* Logins, users, roles, grants; DENY wins (sqlserver.md 2.15). */
#include "support/test_support.h"

#include "support/sim_model.h"

typedef struct Shop {
    World       *world;
    Actor        actor;
    SimTable    *table;
    SimDatabase *database;
    SimError     error;
} Shop;

static void shop_open(Shop *shop)
{
    *shop = (Shop){.world = world_simulated(2)};
    actor_open(&shop->actor, shop->world, 51);
    shop->table    = make_table(&shop->actor, "t", (TestTable){0});
    shop->database = shop->world->database;
    assert_sim(
        sim_create_login(shop->world->server, STR("reader"), STR("secret"), false, &shop->error),
        &shop->error);
    assert_sim(sim_create_login(shop->world->server, STR("sa"), STR("root"), true, &shop->error),
               &shop->error);
    assert_sim(sim_create_user(shop->database, STR("reader_user"), STR("reader"), &shop->error),
               &shop->error);
}

static void shop_close(Shop *shop)
{
    actor_close(&shop->actor);
    world_close(shop->world);
}

static void grant(Shop *shop, const char *principal, uint32_t permissions, int32_t object_id,
                  const char *schema, const char *column, bool deny)
{
    assert_sim(sim_grant(shop->database, str_from_c(principal), permissions, object_id,
                         str_from_c(schema), str_from_c(column), !deny, deny, &shop->error),
               &shop->error);
}

static bool may(const Shop *shop, SimPermission permission)
{
    return sim_has_permission(shop->database, STR("reader_user"), permission, shop->table, NULL, 0,
                              false);
}

static void logins_need_their_password(void **state)
{
    Shop     shop;
    SimLogin login;
    (void)state;

    shop_open(&shop);
    SimServer *server = shop.world->server;
    assert_true(sim_check_login(server, STR("READER"), STR("secret"), &login));
    assert_str_is(login.name, "reader");
    assert_false(login.is_sysadmin);
    assert_false(sim_check_login(server, STR("reader"), STR("Secret"), &login));
    assert_false(sim_check_login(server, STR("reader"), STR("secret "), &login));
    assert_false(sim_check_login(server, STR("nobody"), STR("no such login"), &login));
    assert_sim_error(sim_create_login(server, STR("sa"), STR(""), true, &shop.error), &shop.error,
                     15025);
    shop_close(&shop);
}

static void a_login_reaches_a_database_through_its_user(void **state)
{
    Shop   shop;
    Str    user;
    Arena *arena;
    (void)state;

    shop_open(&shop);
    arena           = shop.world->arena;
    SimLogin reader = {.name = STR("reader")}, sa = {.name = STR("sa"), .is_sysadmin = true},
             other = {.name = STR("other")};
    assert_true(sim_find_user(shop.database, &reader, arena, &user));
    assert_str_is(user, "reader_user");
    assert_true(sim_find_user(shop.database, &sa, arena, &user));
    assert_str_is(user, "dbo");
    assert_false(sim_find_user(shop.database, &other, arena, &user));
    assert_true(sim_find_user(sim_server_find_database(shop.world->server, STR("master")), &other,
                              arena, &user));
    assert_str_is(user, "guest");
    assert_sim_error(sim_create_user(shop.database, STR("x"), STR("none"), &shop.error),
                     &shop.error, 15007);
    shop_close(&shop);
}

static void the_owner_may_everything_and_others_nothing(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop);
    assert_false(may(&shop, SIM_PERM_SELECT));
    assert_true(
        sim_has_permission(shop.database, STR("dbo"), SIM_PERM_DELETE, shop.table, NULL, 0, false));
    assert_true(sim_is_owner(shop.database, STR("dbo")));
    assert_sim(
        sim_role_add_member(shop.database, STR("db_owner"), STR("reader_user"), true, &shop.error),
        &shop.error);
    assert_true(may(&shop, SIM_PERM_DELETE));
    assert_true(sim_is_owner(shop.database, STR("reader_user")));
    assert_sim(
        sim_role_add_member(shop.database, STR("db_owner"), STR("reader_user"), false, &shop.error),
        &shop.error);
    assert_false(may(&shop, SIM_PERM_DELETE));
    shop_close(&shop);
}

static void grants_are_on_objects_schemas_and_the_database(void **state)
{
    Shop    shop;
    int32_t id;
    (void)state;

    shop_open(&shop);
    id = sim_table_info(shop.table)->object_id;
    grant(&shop, "reader_user", SIM_PERM_SELECT, id, "dbo", "", false);
    assert_true(may(&shop, SIM_PERM_SELECT));
    assert_false(may(&shop, SIM_PERM_INSERT));
    grant(&shop, "reader_user", SIM_PERM_INSERT, 0, "DBO", "", false);
    assert_true(may(&shop, SIM_PERM_INSERT));
    grant(&shop, "reader_user", SIM_PERM_UPDATE, 0, "", "", false);
    assert_true(may(&shop, SIM_PERM_UPDATE));
    grant(&shop, "reader_user", SIM_PERM_CONTROL, 0, "dbo", "", false);
    assert_true(may(&shop, SIM_PERM_DELETE));
    assert_sim_error(sim_grant(shop.database, STR("none"), SIM_PERM_SELECT, id, STR("dbo"), STR(""),
                               true, false, &shop.error),
                     &shop.error, 15151);
    shop_close(&shop);
}

static void deny_wins_over_every_grant(void **state)
{
    Shop    shop;
    int32_t id;
    (void)state;

    shop_open(&shop);
    id = sim_table_info(shop.table)->object_id;
    assert_sim(sim_role_add_member(shop.database, STR("db_datareader"), STR("reader_user"), true,
                                   &shop.error),
               &shop.error);
    assert_true(may(&shop, SIM_PERM_SELECT));
    grant(&shop, "public", SIM_PERM_SELECT, id, "dbo", "", true);
    assert_false(may(&shop, SIM_PERM_SELECT));
    assert_sim(sim_grant(shop.database, STR("public"), SIM_PERM_SELECT, id, STR("dbo"), STR(""),
                         false, false, &shop.error),
               &shop.error); /* REVOKE */
    assert_true(may(&shop, SIM_PERM_SELECT));
    shop_close(&shop);
}

static void columns_are_granted_one_by_one(void **state)
{
    Shop             shop;
    int32_t          id;
    static const Str columns[] = {{"id", 2}, {"v", 1}};
    (void)state;

    shop_open(&shop);
    id = sim_table_info(shop.table)->object_id;
    grant(&shop, "reader_user", SIM_PERM_SELECT, id, "dbo", "ID", false);
    assert_true(sim_has_permission(shop.database, STR("reader_user"), SIM_PERM_SELECT, shop.table,
                                   columns, 1, false));
    assert_false(sim_has_permission(shop.database, STR("reader_user"), SIM_PERM_SELECT, shop.table,
                                    columns, 2, false));
    assert_false(may(&shop, SIM_PERM_SELECT));
    assert_true(sim_has_permission(shop.database, STR("reader_user"), SIM_PERM_SELECT, shop.table,
                                   NULL, 0, true));
    grant(&shop, "reader_user", SIM_PERM_SELECT, id, "dbo", "", false);
    grant(&shop, "reader_user", SIM_PERM_SELECT, id, "dbo", "v", true);
    assert_true(sim_has_permission(shop.database, STR("reader_user"), SIM_PERM_SELECT, shop.table,
                                   columns, 1, false));
    assert_false(sim_has_permission(shop.database, STR("reader_user"), SIM_PERM_SELECT, shop.table,
                                    columns, 2, false));
    shop_close(&shop);
}

static void roles_reach_through_roles(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop);
    assert_sim(sim_create_role(shop.database, STR("inner"), &shop.error), &shop.error);
    assert_sim(sim_create_role(shop.database, STR("outer"), &shop.error), &shop.error);
    assert_sim(sim_role_add_member(shop.database, STR("outer"), STR("inner"), true, &shop.error),
               &shop.error);
    assert_sim(sim_role_add_member(shop.database, STR("inner"), STR("outer"), true, &shop.error),
               &shop.error); /* a circle does no harm */
    assert_sim(
        sim_role_add_member(shop.database, STR("inner"), STR("reader_user"), true, &shop.error),
        &shop.error);
    assert_true(sim_is_member(shop.database, STR("reader_user"), STR("OUTER")));
    grant(&shop, "outer", SIM_PERM_SELECT, 0, "dbo", "", false);
    assert_true(may(&shop, SIM_PERM_SELECT));
    assert_sim(sim_drop_principal(shop.database, STR("outer"), &shop.error), &shop.error);
    assert_false(may(&shop, SIM_PERM_SELECT));
    assert_sim_error(sim_drop_principal(shop.database, STR("dbo"), &shop.error), &shop.error,
                     15151);
    assert_sim_error(
        sim_role_add_member(shop.database, STR("none"), STR("reader_user"), true, &shop.error),
        &shop.error, 15151);
    shop_close(&shop);
}

static void the_mapping_is_for_everyone_and_change_tables_for_nobody(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop);
    enable_cdc(&shop.actor);
    (void)enable_table(&shop.actor, "t", "ci");
    assert_true(sim_has_permission(shop.database, STR("reader_user"), SIM_PERM_SELECT,
                                   sim_cdc_mapping_table(shop.database), NULL, 0, false));
    assert_false(sim_has_permission(shop.database, STR("reader_user"), SIM_PERM_SELECT,
                                    change_table(shop.world, "ci"), NULL, 0, false));
    shop_close(&shop);
}

static void the_views_see_principals_and_grants(void **state)
{
    Shop         shop;
    SimPrincipal principal;
    SimGrantInfo info;
    size_t       count = 0, roles = 0;
    (void)state;

    shop_open(&shop);
    for (size_t at = 0;
         sim_database_next_principal(shop.database, &at, shop.world->arena, &principal); count++)
        roles += principal.is_role;
    assert_int_equal(count, 15);
    assert_int_equal(roles, 10);
    assert_str_is(principal.name, "reader_user");
    assert_int_equal(principal.id, 5);
    grant(&shop, "reader_user", SIM_PERM_SELECT, 0, "dbo", "", false);
    size_t at = 0;
    assert_true(sim_database_next_grant(shop.database, &at, shop.world->arena, &info));
    assert_int_equal(info.granted, SIM_PERM_SELECT);
    assert_false(sim_database_next_grant(shop.database, &at, shop.world->arena, &info));
    shop_close(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logins_need_their_password),
        cmocka_unit_test(a_login_reaches_a_database_through_its_user),
        cmocka_unit_test(the_owner_may_everything_and_others_nothing),
        cmocka_unit_test(grants_are_on_objects_schemas_and_the_database),
        cmocka_unit_test(deny_wins_over_every_grant),
        cmocka_unit_test(columns_are_granted_one_by_one),
        cmocka_unit_test(roles_reach_through_roles),
        cmocka_unit_test(the_mapping_is_for_everyone_and_change_tables_for_nobody),
        cmocka_unit_test(the_views_see_principals_and_grants),
    };
    return RUN_TESTS(tests);
}
