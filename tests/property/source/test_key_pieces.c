/* Laws of seekable pieces (sqlserver.md 1.5): whatever the bounds, pieces are disjoint, and those
 * of neighbouring ranges hold every row once. The server is an oracle whose values may be NULL and
 * whose equality may be coarser than that of texts ('n' = 'N'). */
#include "support/test_support.h"

#include "source/mssql_text.h"

#define COLUMNS_MAX 3

/* A value's text is a letter; its rank is the letter's place, ignoring case when the column does.
 * NULL has rank -1. */
typedef struct Table {
    size_t  column_count, row_count;
    bool    ignores_case[COLUMNS_MAX];
    KeyPart rows[64][COLUMNS_MAX];
} Table;

static int rank_of(const Table *table, size_t column, const KeyPart *part)
{
    if (part->is_null) return -1;
    char c = part->text.ptr[0];
    if (c >= 'a' && table->ignores_case[column]) c = (char)(c - 'a' + 'A');
    return c;
}

static KeyPart random_part(Rng *rng, bool may_be_null)
{
    static const char letters[] = "ABCabc";

    if (may_be_null && rng_below(rng, 6) == 0) return (KeyPart){.text = STR_EMPTY, .is_null = true};
    return (KeyPart){.text = {&letters[rng_below(rng, 6)], 1}};
}

static int compare_keys(const Table *table, const KeyPart *left, const KeyPart *right)
{
    for (size_t i = 0; i < table->column_count; i++) {
        int a = rank_of(table, i, &left[i]), b = rank_of(table, i, &right[i]);
        if (a != b) return a < b ? -1 : 1;
    }
    return 0;
}

/* The table of NULL-first rules. */
static bool term_holds(const Table *table, const KeyTerm *term, const KeyPart *row,
                       const KeyPart *lo, const KeyPart *hi)
{
    int k = rank_of(table, term->column, &row[term->column]);
    int v = rank_of(table, term->column, &(term->is_hi ? hi : lo)[term->column]);

    switch (term->op) {
    case KEY_EQ: return k == v;
    case KEY_GT: return k > v;
    case KEY_GE: return k >= v;
    case KEY_LT: return k < v;
    }
    return false;
}

static bool piece_holds(const Table *table, const KeyPiece *piece, const KeyPart *row,
                        const KeyPart *lo, const KeyPart *hi)
{
    for (size_t i = 0; i < piece->term_count; i++)
        if (!term_holds(table, &piece->terms[i], row, lo, hi)) return false;
    if (!piece->has_residual) return true;
    for (size_t j = piece->residual_from; j < table->column_count; j++) {
        bool holds = term_holds(table, &(KeyTerm){j, KEY_LT, true}, row, lo, hi);
        for (size_t i = piece->residual_from; i < j && holds; i++)
            holds = term_holds(table, &(KeyTerm){i, KEY_EQ, true}, row, lo, hi);
        if (holds) return true;
    }
    return false;
}

/* How many pieces of [lo, hi) hold the row. */
static int count_pieces(Arena *arena, const Table *table, const KeyPart *row, const KeyPart *lo,
                        const KeyPart *hi)
{
    KeyPieces pieces = key_pieces(arena, table->column_count, lo, hi);
    int       count  = 0;

    for (size_t i = 0; i < pieces.piece_count; i++)
        count += piece_holds(table, &pieces.pieces[i], row, lo, hi);
    return count;
}

static Table random_table(Rng *rng)
{
    Table table = {.column_count = 1 + rng_below(rng, COLUMNS_MAX), .row_count = 64};

    for (size_t c = 0; c < table.column_count; c++)
        table.ignores_case[c] = rng_below(rng, 2) == 0;
    for (size_t i = 0; i < table.row_count; i++)
        for (size_t c = 0; c < table.column_count; c++)
            table.rows[i][c] = random_part(rng, true);
    return table;
}

static void pieces_hold_exactly_the_range_each_row_once(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Arena         *arena = arena_new();
        Rng           *rng   = rng_new(seed);
        Table          table = random_table(rng);
        KeyPart        lo[COLUMNS_MAX], hi[COLUMNS_MAX];
        const KeyPart *from = rng_below(rng, 4) == 0 ? NULL : lo,
                      *to   = rng_below(rng, 4) == 0 ? NULL : hi;

        for (size_t c = 0; c < table.column_count; c++) {
            lo[c] = random_part(rng, true);
            hi[c] = rng_below(rng, 2) ? lo[c] : random_part(rng, true);
        }
        for (size_t i = 0; i < table.row_count; i++) {
            bool inside = (!from || compare_keys(&table, table.rows[i], from) >= 0) &&
                          (!to || compare_keys(&table, table.rows[i], to) < 0);
            assert_int_equal(count_pieces(arena, &table, table.rows[i], from, to), inside ? 1 : 0);
        }
        rng_close(rng);
        arena_close(arena);
    }
}

/* Bounds that are only monotonic on the server: neighbours use complementary predicates. */
static void neighbouring_ranges_hold_every_row_once(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Arena  *arena = arena_new();
        Rng    *rng   = rng_new(seed);
        Table   table = random_table(rng);
        KeyPart bounds[4][COLUMNS_MAX];
        size_t  bound_count = rng_below(rng, 5);

        for (size_t b = 0; b < bound_count; b++) { /* in the server's order */
            for (size_t c = 0; c < table.column_count; c++)
                bounds[b][c] = random_part(rng, true);
            for (size_t at = b; at > 0 && compare_keys(&table, bounds[at - 1], bounds[at]) > 0;
                 at--) {
                KeyPart swap[COLUMNS_MAX];
                memcpy(swap, bounds[at], sizeof(swap));
                memcpy(bounds[at], bounds[at - 1], sizeof(swap));
                memcpy(bounds[at - 1], swap, sizeof(swap));
            }
        }
        for (size_t i = 0; i < table.row_count; i++) {
            int count = 0;
            for (size_t b = 0; b <= bound_count; b++)
                count += count_pieces(arena, &table, table.rows[i], b == 0 ? NULL : bounds[b - 1],
                                      b == bound_count ? NULL : bounds[b]);
            assert_int_equal(count, 1);
        }
        rng_close(rng);
        arena_close(arena);
    }
}

/* Every '?' has its parameter, in order: a bound's text names column and side, so the text tells
 * which was meant. */
static void parameters_stand_in_the_order_of_their_marks(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Arena    *arena = arena_new();
        Rng      *rng   = rng_new(seed);
        size_t    n     = 1 + rng_below(rng, COLUMNS_MAX);
        KeyColumn columns[COLUMNS_MAX];
        KeyPart   lo[COLUMNS_MAX], hi[COLUMNS_MAX];
        Err       err = ERR_INIT;

        for (size_t c = 0; c < n; c++) {
            Str name   = str_printf(arena, "k%zu", c);
            columns[c] = (KeyColumn){.name        = name,
                                     .bound       = STR("CAST(? AS int)"),
                                     .is_nullable = rng_below(rng, 2) == 0};
            lo[c]      = (KeyPart){.text    = str_printf(arena, "lo%zu", c),
                                   .is_null = rng_below(rng, 5) == 0};
            hi[c]      = (KeyPart){.text    = str_printf(arena, "hi%zu", c),
                                   .is_null = rng_below(rng, 5) == 0};
        }
        KeyPieces pieces = key_pieces(arena, n, rng_below(rng, 3) ? lo : NULL,
                                      rng_below(rng, 3) ? hi : NULL);
        for (size_t i = 0; i < pieces.piece_count; i++) {
            KeyParams params = {0};
            Buf       buf    = buf_new(arena, 0);
            size_t    mark   = 0;
            assert_ok(
                key_piece_where(arena, &pieces.pieces[i], columns, n, lo, hi, &buf, &params, &err),
                &err);
            Str text = buf_str(&buf);
            for (ptrdiff_t at = 0; (at = str_find(text, STR("CAST(?"), (size_t)at)) >= 0;
                 at++, mark++) {
                /* "t.[k2] < CAST(?": the column just before the mark is the parameter's */
                ptrdiff_t bracket = at;
                while (text.ptr[bracket] != '[')
                    bracket--;
                assert_true(mark < params.count);
                assert_int_equal(params.items[mark].text.ptr[2], text.ptr[bracket + 2]);
            }
            assert_int_equal(mark, params.count);
        }
        rng_close(rng);
        arena_close(arena);
    }
}

static size_t count_params(size_t n)
{
    Arena     *arena   = arena_new();
    KeyColumn *columns = ARENA_ARRAY(arena, KeyColumn, n);
    KeyPart   *lo = ARENA_ARRAY(arena, KeyPart, n), *hi = ARENA_ARRAY(arena, KeyPart, n);
    Buf        buf    = buf_new(arena, 0);
    KeyParams  params = {0};
    Err        err    = ERR_INIT;

    for (size_t c = 0; c < n; c++) {
        columns[c] = (KeyColumn){
            .name = str_printf(arena, "k%zu", c), .bound = STR("?"), .is_nullable = true};
        lo[c].text = STR("1");
        hi[c].text = STR("2");
    }
    KeyPieces pieces = key_pieces(arena, n, lo, hi);
    for (size_t i = 0; i < pieces.piece_count; i++)
        assert_ok(
            key_piece_where(arena, &pieces.pieces[i], columns, n, lo, hi, &buf, &params, &err),
            &err);
    size_t count = params.count;
    arena_close(arena);
    return count;
}

/* Of how many columns a key may be: mssql_cut_table refuses more. */
static void fifteen_columns_fit_into_a_statement(void **state)
{
    (void)state;
    assert_in_range(count_params(15), 1, 2100);
    assert_true(count_params(16) > 2100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifteen_columns_fit_into_a_statement),
        property_test(pieces_hold_exactly_the_range_each_row_once),
        property_test(neighbouring_ranges_hold_every_row_once),
        property_test(parameters_stand_in_the_order_of_their_marks),
    };
    return RUN_TESTS(tests);
}
