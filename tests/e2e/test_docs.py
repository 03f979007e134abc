#!/usr/bin/env python3
"""What the documentation shows, tried on the built programs: options, man pages, the examples."""
import re
import shlex
import socket
from lib import *

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_with_language(text):
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def blocks_of(page, language=""):
    return [block for name, block in blocks_with_language((ROOT / page).read_text(encoding="utf-8")) if name == language]


def help_of(name, *command):
    """What --help prints; empty for a command that there is not."""
    done = subprocess.run([program(name), *command, "--help"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def commands_shown():
    """(page, words) of every tidelake and tidesim command in a block of shell, or without a language, of a man page and of the help."""
    shown = [(str(page.relative_to(ROOT)), block) for page in PAGES for block in blocks_of(page) + blocks_of(page, "sh")]
    for page in sorted((ROOT / "docs" / "man").glob("*.1")):
        blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        shown += [(page.name, block.replace("\\e\n", "\\\n")) for block in blocks]
    for name in re.findall(r"^  ([a-z]+) ", help_of("tidelake"), re.MULTILINE):
        examples = help_of("tidelake", name).partition("\nExamples:\n")[2]
        equal(bool(examples), True, f"tidelake {name} --help has examples")
        shown.append((f"tidelake {name} --help", re.sub(r"^  (?=tidelake)", "", examples, flags=re.MULTILINE)))
    for page, block in shown:
        for line in re.sub(r"\\\n", " ", block).splitlines():
            found = re.search(r"(?:^|\| )((?:tidelake|tidesim) \w.*)$", line)
            if found:
                yield page, found.group(1)


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


def completed(*words):
    script = (f"source {ROOT}/tools/completion.bash; COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; "
              f"_tidelake_complete {shlex.quote(words[0])} {shlex.quote(words[-1])} {shlex.quote(words[-2])}; echo ${{COMPREPLY[@]}}")
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()


@test
def the_shell_completes_commands_options_and_choices(folder):
    tidelake_path, tidesim_path = program("tidelake"), program("tidesim")
    equal(completed(tidelake_path, "s"), ["stream", "snapshot", "seed"])
    equal(completed(tidesim_path, ""), ["serve", "exec", "--help", "--version"])
    equal(completed(tidelake_path, "stream", "--max"), ["--max-commits-per-batch", "--max-batches"])
    equal(completed(tidelake_path, "stream", "--trigger", ""), ["available-now", "interval", "continuous"])
    equal(completed(tidesim_path, "serve", "--clock", "v"), ["virtual"])
    equal(completed(tidesim_path, "serve", "--tls", ""), ["self-signed", "none"])
    equal(completed(tidesim_path, "serve", "--init", ""), [])
    actions = re.search(r"^tidelake table (\S+) PATH", subprocess.run([tidelake_path, "table", "--help"], capture_output=True, text=True).stdout)[1]
    equal(sorted(completed(tidelake_path, "table", "")), sorted([*actions.split("|"), "sql"]))
    equal(completed(tidelake_path, "stream", "--log-level", "w"), ["warn"])
    equal(completed(tidelake_path, "apply", "x"), [])


@test
def every_option_that_is_shown_exists(folder):
    known, wrong, count = {}, [], 0
    for page, line in commands_shown():
        words = [word for word in re.sub(r"\s{2,}.*", "", line).split()]
        command = tuple(words[:2])
        if command[1].startswith("-"):
            continue
        if command not in known:
            known[command] = help_of(*command)
        if not known[command]:
            wrong.append(f"{page}: there is no command {' '.join(command)}")
        for option in re.findall(r"(?<![\w-])(--[a-z][\w-]*)", line):
            count += 1
            if option != "--help" and not re.search(rf"^  {option}\b(?!-)", known[command], re.MULTILINE):
                wrong.append(f"{page}: {' '.join(command)} has no option {option}")
    equal(wrong, [])
    equal(count > 10, True, f"only {count} options found")


# --- pages that are run, block by block ---

TIDESIM_PAGES = ["docs/tidesim.md", "docs/tidesim-reference.md"]
WHOLE_PAGES = ["docs/first-steps.md"]  # in one folder, on one server
SHOP = blocks_of("docs/tidesim.md", "sql")[0]


class Recipe:
    """Runs the blocks under a heading in order, in one folder and on one server: that of its `tidesim serve`, or one as in the quick start.

    sh runs in bash; sql runs in `tidesim exec`, or becomes a file where it begins with `-- file: NAME`, as java does with // and yaml with #; python in the Python of build/py;
    text holds lines that the block before it printed, in this order; cells may be farther apart. A block without a text must succeed.
    """

    def __init__(self, folder):
        self.folder, self.process, self.went, self.output = folder, None, True, ""
        (folder / "shop.sql").write_text(SHOP)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        (folder / "bin").mkdir()
        for name in ("tidesim", "tidelake"):
            (folder / "bin" / name).symlink_to(program(name))
        self.environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}

    def serve(self, command):
        words = [*shlex.split(command), "--listen", "127.0.0.1:" + self.port]
        with open(self.folder / "serve.out", "w") as out, open(self.folder / "serve.err", "w") as err:
            self.process = subprocess.Popen([program("tidesim"), *words[1:]], stdout=out, stderr=err, cwd=self.folder)
        while "tidesim ready" not in (self.folder / "serve.out").read_text():
            if self.process.poll() is not None:
                raise AssertionError((self.folder / "serve.err").read_text())
            time.sleep(0.01)

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)

    def run(self, words, text=None):
        done = subprocess.run(words, input=text, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60)
        self.went, self.output = done.returncode == 0, done.stdout

    def block(self, language, text):
        text = text.replace("14330", self.port)
        if language == "text":
            return self.compare(text)
        if not self.went:
            raise AssertionError(self.output)
        named = re.match(r"(?:--|//|#) file: (\S+)\n", text)
        if language == "sh" and text.startswith("tidesim serve") and text.count("\n") == 1:
            return self.serve(text)
        if named:
            return (self.folder / named[1]).write_text(text)
        if "mssql-jdbc.jar" in text:
            self.use_jdbc()
        if not self.process and (language != "sh" or self.port in text):
            self.serve("tidesim serve --database shop --init shop.sql")
        if language == "sh":
            self.environment.update(re.findall(r"^export (\w+)=(\S+)$", text, re.MULTILINE))
            self.run(["bash", "-eu", "-c", text])
        elif language == "sql":
            self.run(["tidesim", "exec", "--keep-going", "--server", "127.0.0.1:" + self.port, "--database", "shop", "-"], text)
        elif language == "python":
            python = next((place for place in (BUILD / "py" / "bin" / "python3", ROOT / "build" / "py" / "bin" / "python3") if place.exists()), sys.executable)
            module = re.search(r"^(?:import|from) (\w+)", text, re.MULTILINE)[1]
            if subprocess.run([python, "-c", "import " + module], capture_output=True).returncode != 0:
                raise Skip(module + " is not installed")
            self.run([python, "-c", text])
        else:
            raise AssertionError(f"nobody runs a block of {language or 'no language'}: {text}")

    def use_jdbc(self):
        jars = [jar for build in (BUILD, ROOT / "build") for jar in sorted((build / "jars").glob("mssql-jdbc-*.jar"))]
        if not jars or not shutil.which("java"):
            raise Skip("Java or its driver is not installed")
        (self.folder / "mssql-jdbc.jar").symlink_to(jars[-1].resolve())

    def compare(self, wanted):
        lines, at = [" ".join(line.split()) for line in self.output.splitlines()], 0
        for want in (" ".join(line.split()) for line in wanted.splitlines()):
            while at < len(lines) and want not in lines[at]:
                at += 1
            if at == len(lines):
                raise AssertionError(f"no line (behind those before it) holds {want!r}: {self.output}")
            at += 1
        self.went = True


def recipes():
    for page in TIDESIM_PAGES:
        for section in re.split(r"^(?=##)", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE):
            blocks = blocks_with_language(section)
            if blocks:
                yield f"{page}, {section.splitlines()[0].strip('# ')}", blocks
    for page in WHOLE_PAGES:
        yield page, blocks_with_language((ROOT / page).read_text(encoding="utf-8"))


def follows_recipe(blocks):
    def run(folder):
        recipe = Recipe(folder)
        try:
            for language, text in blocks:
                recipe.block(language, text)
            equal(recipe.went, True, recipe.output)
        finally:
            recipe.close()
    return run


for title, blocks in recipes():
    follow = follows_recipe(blocks)
    follow.__name__ = "what is shown works: " + title
    test(follow)


@test
def there_are_recipes(folder):
    equal(len(list(recipes())) >= 15, True, "headings with something to run")


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
        for arguments in (["stream", "--trigger", "available-now"], ["apply"]):
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


TYPES = [  # SQL Server's type, the page's word for Delta's, a value, what a query of bronze gives for it
    ("bit", "boolean", "1", True), ("tinyint", "short", "255", 255), ("smallint", "short", "-32768", -32768), ("int", "integer", "7", 7),
    ("bigint", "long", "9007199254740993", 9007199254740993), ("real", "float", "1.5", 1.5), ("float", "double", "0.1", 0.1),
    ("decimal(10,2)", "decimal", "1.10", "1.10"), ("numeric(38,5)", "decimal", "-2", "-2.00000"), ("money", "decimal(19,4)", "1.2345", "1.2345"),
    ("smallmoney", "decimal(10,4)", "-1", "-1.0000"), ("date", "date", "'0001-01-01'", "0001-01-01"),
    ("datetime", "timestamp_ntz", "'2020-01-01T00:00:00.003'", "2020-01-01T00:00:00.003000"),
    ("smalldatetime", "timestamp_ntz", "'2020-01-01T00:01:00'", "2020-01-01T00:01:00.000000"),
    ("datetime2(7)", "timestamp_ntz", "'2020-01-01T00:00:00.1234567'", "2020-01-01T00:00:00.123456"),
    ("datetimeoffset(7)", "timestamp", "'2020-06-01T00:00:00.1234567-05:30'", "2020-06-01T05:30:00.123456+00:00"),
    ("time(3)", "string", "'10:11:12.345'", "10:11:12.345000000"), ("char(3)", "string", "'a'", "a  "), ("varchar(9)", "string", "''", ""),
    ("nchar(2)", "string", "N'\u2615'", "\u2615 "), ("nvarchar(9)", "string", "N'\u2615'", "\u2615"), ("varchar(max)", "string", "'long'", "long"),
    ("nvarchar(max)", "string", "N'\u2615'", "\u2615"), ("text", "string", "'t'", "t"), ("ntext", "string", "N't'", "t"), ("xml", "string", "'<a>1</a>'", "<a>1</a>"),
    ("uniqueidentifier", "string", "'6f9619ff-8b86-d011-b42d-00c04fc964ff'", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
    ("binary(2)", "binary", "0x61", None), ("varbinary(9)", "binary", "0x61", None), ("varbinary(max)", "binary", "0x61", None), ("image", "binary", "0x61", None)]
STORED = {"boolean": "BOOLEAN", "short": "SMALLINT", "integer": "INT", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "date": "DATE", "string": "STRING",
          "timestamp_ntz": "TIMESTAMP_NTZ", "timestamp": "TIMESTAMP", "binary": "BINARY"}


@test
def every_type_arrives_as_the_types_page_says(folder):
    page = [[cell.strip() for cell in line.split("|")[1:3]] for line in (ROOT / "docs" / "types.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    server = Server(folder, "--capture-interval", "manual")
    try:
        columns = ", ".join(f"c{number} {kind}" for number, (kind, *_) in enumerate(TYPES))
        server.sql(f"CREATE TABLE dbo.kinds (id int NOT NULL PRIMARY KEY, {columns}); CREATE TABLE dbo.odd (id int NOT NULL PRIMARY KEY, v sql_variant);\n"
                   f"INSERT INTO dbo.kinds VALUES (1, {', '.join(value for _, _, value, _ in TYPES)});\nGO\nEXEC sys.sp_cdc_enable_db;\nGO\n"
                   "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'kinds', @role_name = NULL;\n"
                   "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'odd', @role_name = NULL;")
        server.scan()
        lake = Lake(folder / "lake", server)
        lake.stream("dbo_kinds", "kinds", check=True)
        rows = json.loads(tidelake("table", "schema", str(folder / "lake/bronze/kinds"), "--json", check=True).stdout)["rows"]
        stored = {row[0]: row[1] for row in rows}
        row = lake.query("bronze/kinds", "SELECT " + ", ".join(f"c{number}" for number in range(len(TYPES))) + " FROM t")[0]
        for number, (kind, delta, _, want) in enumerate(TYPES):
            name = re.sub(r"\(\d.*", "", kind)
            lines = [right for left, right in page if re.search(rf"`{re.escape(name)}(\(\w(,\w)?\))?`", left)]
            equal(len(lines), 1, f"lines of {kind} in docs/types.md")
            holds(lines[0], delta)
            equal(stored[f"c{number}"], STORED.get(delta, stored[f"c{number}"]), kind)
            if want is not None:
                equal(row[number], want, kind)
        refused = lake.stream("dbo_odd", "odd")
        equal(refused.code, 1)
        holds(refused.last_error(), "dbo_odd", "column v", "sql_variant")
    finally:
        server.close()


if __name__ == "__main__":
    main()
