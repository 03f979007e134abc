#!/usr/bin/env python3
"""What the documentation shows, tried on the built programs: options, man pages, the examples."""
import re
import shlex
from lib import *

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page, language=""):
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block for name, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if name == language]


def commands_shown():
    """(page, words) of every tidelake and tidesim command in a block without a language."""
    for page in PAGES:
        for block in blocks_of(page):
            for line in re.sub(r"\\\n", " ", block).splitlines():
                found = re.search(r"(?:^|\| )((?:tidelake|tidesim) \w.*)$", line)
                if found:
                    yield str(page.relative_to(ROOT)), found.group(1)


@test
def the_man_pages_hold_the_options_of_the_programs(folder):
    done = subprocess.run([ROOT / "tools" / "make-man", "--check", BUILD], capture_output=True, text=True)
    equal(done.returncode, 0, done.stderr)


@test
def the_man_pages_format_without_a_complaint(folder):
    if not shutil.which("groff"):
        raise Skip("groff is not installed")
    for page in sorted((ROOT / "docs" / "man").glob("*.1")):
        done = subprocess.run(["groff", "-mdoc", "-Tutf8", "-ww", page], capture_output=True, text=True)
        if "cannot load" in done.stderr or "can't open macro file" in done.stderr or "can't find macro file" in done.stderr:
            raise Skip("groff has no mdoc macros here")
        equal((done.returncode, done.stderr), (0, ""), page.name)
        holds(re.sub(".\x08", "", done.stdout), "EXIT STATUS", "EXAMPLES")


@test
def every_option_that_is_shown_exists(folder):
    known, wrong, count = {}, [], 0
    for page, line in commands_shown():
        words = [word for word in re.sub(r"\s{2,}.*", "", line).split()]
        command = tuple(words[:2])
        if command[1].startswith("-"):
            continue
        if command not in known:
            done = subprocess.run([program(command[0]), command[1], "--help"], capture_output=True, text=True)
            known[command] = done.stdout if done.returncode == 0 else ""
        if not known[command]:
            wrong.append(f"{page}: there is no command {' '.join(command)}")
        for option in re.findall(r"(?<![\w-])(--[a-z][\w-]*)", line):
            count += 1
            if option != "--help" and not re.search(rf"^  {option}\b(?!-)", known[command], re.MULTILINE):
                wrong.append(f"{page}: {' '.join(command)} has no option {option}")
    equal(wrong, [])
    equal(count > 10, True, f"only {count} options found")


@test
def the_quick_start_of_tidesim_works(folder):
    setup, controls = blocks_of("docs/tidesim.md", "sql")[:2]
    (folder / "shop.sql").write_text(setup)
    server = Server(folder, init=[folder / "shop.sql"])
    try:
        holds(server.sql("SELECT * FROM dbo.orders"), "paid", "120.00")
        server.sql("UPDATE dbo.orders SET status = N'sent' WHERE id = 2; EXEC tidesim.scan_now;")
        holds(server.sql("SELECT __$operation, id, status FROM cdc.dbo_orders_CT ORDER BY __$start_lsn, __$operation"), "3   2  paid", "4   2  sent")
        server.sql(controls)
        holds(server.sql("SELECT count(*) AS n FROM dbo.orders"), "\n1\n")
        server.sql("SELECT id FROM cdc.dbo_orders_CT")
        done = subprocess.run([program("tidesim"), "exec", "--server", server.address, "--database", "shop", "-"], input="SELECT id FROM cdc.dbo_orders_CT",
                              capture_output=True, text=True)
        equal(done.returncode, 1, "the second statement meets the fault")
        holds(done.stderr, "1205")
    finally:
        server.close()


@test
def the_configuration_example_works(folder):
    server = Server(folder, "--capture-interval", "manual")
    try:
        grants = blocks_of("README.md", "sql")[0]
        server.sql("""
            CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, status nvarchar(20) NOT NULL);
            CREATE TABLE dbo.order_items (id int NOT NULL PRIMARY KEY, order_id int NOT NULL);
            INSERT INTO dbo.orders VALUES (1, N'new'), (2, N'paid'); INSERT INTO dbo.order_items VALUES (10, 1);
            CREATE LOGIN cdc_reader WITH PASSWORD = 'Tide.Sim.1'; CREATE USER cdc_reader FOR LOGIN cdc_reader;
            GO
            EXEC sys.sp_cdc_enable_db;
            GO
            EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
            EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'order_items', @role_name = NULL;
            GO
            """.replace("            GO", "GO") + grants + grants.replace("orders", "order_items"))
        server.scan()
        shown = blocks_of("docs/configuration.md", "yaml")[0]
        (folder / "tidelake.yaml").write_text(shown.replace("db.example,1433", server.address.replace(":", ",")).replace("/data/lake", str(folder / "lake")))
        environment = {**os.environ, "SHOP_PASSWORD": PASSWORD}
        for arguments in (["stream", "--trigger", "available-now"], ["apply", "dbo_orders"]):
            done = tidelake(*arguments, cwd=folder, env=environment)
            equal(done.code, 0, done.stderr[-3000:])
        watch = next(block for block in blocks_of("docs/operations.md") if "table sql" in block)
        shown = [shlex.split(watch)] + [shlex.split(line) for line in blocks_of("README.md")[-1].splitlines() if line.startswith("tidelake table")]
        equal(len(shown), 3, "commands found")
        for words in shown:
            words[3] = words[3].replace("ops/facts", "ops/ingestion_facts")
            done = tidelake(*words[1:], cwd=folder, env=environment)
            equal(done.code, 0, f"{words}: {done.stderr[-2000:]}")
        holds(done.stdout, "paid", "1")
    finally:
        server.close()


if __name__ == "__main__":
    main()
