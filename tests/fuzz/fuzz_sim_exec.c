/* T-SQL that runs: on a small database, in one session or, behind a line `--@2`, in another; batches are separated by lines GO.
 * Whatever a client sends, answers keep their form and the server can be asked again. Batches that would wait are left out. */
#include "sim_shop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_BYTES_MOST ((size_t)16 << 10)

static bool has_word(Str text, Str word)
{
    for (size_t at = 0; at + word.len <= text.len; at++)
        if (str_equal_ignoring_case(str_slice(text, at, at + word.len), word)) return true;
    return false;
}

/* A clock that nobody moves on, and long values that fill memory as they should, are not what is looked for. */
static bool is_left_out(Str batch)
{
    return has_word(batch, STR("WAITFOR")) || has_word(batch, STR("tidesim")) ||
           has_word(batch, STR("REPLICATE")) || has_word(batch, STR("SHUTDOWN"));
}

/* Of the session in use; opens it anew where the last batch ended it. */
static void run(Shop *shop, size_t session, Str batch)
{
    if (str_trim(batch).len == 0 || is_left_out(batch)) return;
    if (shop_batch(shop, shop->sessions[session], batch)) return;
    sim_session_close(shop->sessions[session]);
    shop->sessions[session] = shop_session(shop);
}

static void run_all(Shop *shop, Str text)
{
    Str    rest = text, line;
    size_t from = 0, session = 0;

    while (str_split_next(&rest, '\n', &line)) {
        size_t start  = (size_t)(line.ptr - text.ptr);
        bool   is_end = str_equal_ignoring_case(str_trim(line), STR("GO"));
        if (!is_end && !str_starts_with(line, STR("--@"))) continue;
        run(shop, session, str_slice(text, from, start));
        if (!is_end) session = str_ends_with(line, STR("2"));
        from = MIN(start + line.len + 1, text.len);
    }
    run(shop, session, str_slice(text, from, text.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str  text = {size > 0 ? (const char *)data : "", size};
    Shop shop;
    bool ok;

    if (size > INPUT_BYTES_MOST || !utf8_is_valid(text)) return 0;
    shop_open(&shop);
    run_all(&shop, text);
    for (size_t i = 0; i < COUNT_OF(shop.sessions); i++) {
        run(&shop, i, STR("WHILE @@TRANCOUNT > 0 ROLLBACK"));
        ok = shop_batch(&shop, shop.sessions[i], STR("SELECT 1"));
        assert(ok);
    }
    shop_close(&shop);
    return 0;
}
