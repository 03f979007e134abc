#!/usr/bin/env python3
"""The documentation against the tree: links lead somewhere, and what is listed is what the code has. Prints TAP."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[3])
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = "src|sim|tests|tools|docs|demo|bench|third_party|\\.ci"

def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def page_name(page):
    return str(page.relative_to(ROOT))


def without_code(text):
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors_of(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def rows_of(name):
    """The text of the first cells of every table row."""
    return {cell.strip() for cell in re.findall(r"^\| ([^|]+) \|", text_of(name), re.MULTILINE)}


def names_in_cells(name):
    """Names in backticks in the first cells: `a`, `b`."""
    return {found for cell in rows_of(name) for found in re.findall(r"`([^`]+)`", cell)}


def lacks(page, wanted):
    there = text_of(page)
    return [f"{page} lacks {one}" for one in sorted(wanted) if one not in there]


def every_relative_link_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            place = (page.parent / path).resolve() if path else page
            if not place.exists():
                yield f"{page_name(page)} links to {target}, which is not there"
            elif anchor and anchor not in anchors_of(place):
                yield f"{page_name(page)} links to {target}, which has no such heading"


def every_file_that_is_named_exists():
    pattern = re.compile(rf"`((?:{FOLDERS})/[\w./-]+[\w/])`")
    for page in PAGES:
        for path in pattern.findall(page.read_text(encoding="utf-8")):
            if not (ROOT / path).exists() and not re.search(r"[A-Z]{3,}|log_json|unit/store/|tests/soak", path):
                yield f"{page_name(page)} names {path}, which is not there"


def every_page_can_be_reached():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)#\s]+)", without_code(page.read_text(encoding="utf-8"))):
            place = (page.parent / target).resolve()
            if place.is_dir():
                place = place / "README.md"
            if place.exists():
                waiting.append(place)
    for page in PAGES:
        if page not in reached:
            yield f"{page_name(page)} cannot be reached from README.md by links"


def every_code_of_a_delta_table_is_explained():
    codes = {code for path in (ROOT / "src").rglob("*.[ch]") for code in re.findall(r"\bDELTA-[A-Z]\d\d\b", path.read_text(encoding="utf-8"))}
    listed = set(re.findall(r"^\| `(DELTA-\w+)`", text_of("docs/errors.md"), re.MULTILINE))
    for code in sorted(codes - listed):
        yield f"docs/errors.md does not explain {code}"
    for code in sorted(listed - codes):
        yield f"docs/errors.md explains {code}, which src/ does not have"


def every_kind_of_error_is_listed_with_its_exit_status():
    listed = re.findall(r"^\| `(ERR_\w+)` \| ([\d, ]+?) \| (yes)? ?\|", text_of("docs/errors.md"), re.MULTILINE)
    page = {kind: (status.split(",")[0], bool(retry)) for kind, status, retry in listed}
    code = {kind: (status, retry == "true") for kind, status, retry in
            re.findall(r"X\((ERR_\w+), +(\d+), +(true|false),", text_of("src/base/err.h")) if kind != "ERR_NONE"}
    for kind in sorted(set(page) | set(code)):
        if page.get(kind) != code.get(kind):
            yield f"{kind} is {code.get(kind)} in src/base/err.h and {page.get(kind)} in docs/errors.md"


def every_column_we_write_is_described():
    listed = names_in_cells("docs/state.md")
    columns = set(re.findall(r'^    \{"(\w+)", TYPE_', text_of("src/state/facts.c"), re.MULTILINE))
    columns |= set(re.findall(r'^    \{"(\w+)", TYPE_', text_of("src/state/control.c"), re.MULTILINE))
    columns |= set(re.findall(r'METADATA\("(\w+)"', text_of("src/state/bronze.c"))) | {"_command_id"}
    if len(columns) < 40:
        yield "the columns were not found in src/state/"
    for column in sorted(columns - listed):
        yield f"docs/state.md does not describe {column}"
    versions = dict(re.findall(r"case KIND_(\w+): return (\d+);", text_of("src/state/table_ref.c")))
    for kind, version in versions.items():
        if f"\n| {kind.lower()} | {version} |\n" not in text_of("docs/state.md"):
            yield f"docs/state.md does not say that {kind.lower()} has schema version {version}"


def every_control_and_option_of_tidesim_is_described():
    listed = names_in_cells("docs/tidesim-reference.md")
    options = set(re.findall(r'= \{"(--[\w-]+)"', text_of("sim/cli/options.c")))
    table = text_of("sim/control/proc.c").split("const ProcEntry control_procs")[1]
    procedures = dict(re.findall(r'\{"(\w+)", \w+,\s+"([^"]*)"', table))
    if len(options) < 15 or len(procedures) < 10:
        yield "the options or the procedures were not found in sim/"
    for option in sorted(options):
        if not any(one == option or one.startswith(option + " ") for one in listed):
            yield f"docs/tidesim-reference.md does not describe {option}"
    for procedure in sorted(procedures):
        if "tidesim." + procedure not in listed:
            yield f"docs/tidesim-reference.md does not describe tidesim.{procedure}"
        if not re.search(rf"^\.It Li (?:.*, )?{procedure}(?:,|$)", text_of("docs/man/tidesim.1"), re.MULTILINE):
            yield f"docs/man/tidesim.1 does not name the control {procedure}"
    for one in sorted(listed):
        if one.startswith("tidesim.") and one[8:] not in procedures:
            yield f"docs/tidesim-reference.md describes {one}, which is not there"


def every_knob_and_fault_of_tidesim_is_described():
    rows = {name: line for line in text_of("docs/tidesim-reference.md").splitlines()
            for name in re.findall(r"`(\w+)`", line.split("|")[1] if line.startswith("| `") else "")}
    knobs = re.findall(r'= \{"(\w+)", "([^"]+)", (\d+),', text_of("sim/model/knob.c"))
    faults = re.findall(r'\[SIM_(?:FAULT|AT)_\w+\]\s*= "(\w+)"', text_of("sim/control/fault.c"))
    if len(knobs) < 8 or len(faults) < 20:
        yield "the knobs or the faults were not found in sim/"
    for name, values, initial in knobs:
        wanted = [initial] if ".." in values else [f"`{value}`" for value in values.split(",")]
        cells = rows.get(name, "||").split("|")[2]
        if not all(value in cells for value in wanted) or not cells.strip().startswith(wanted[0]):
            yield f"docs/tidesim-reference.md does not say that the knob {name} takes {values}, first the default"
    for name in faults:
        if name not in rows:
            yield f"docs/tidesim-reference.md does not describe the fault {name}"
    section = text_of("docs/tidesim-reference.md").split("### Knobs")[1].split("\n#")[0]
    for name in re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE):
        if name not in {knob[0] for knob in knobs}:
            yield f"docs/tidesim-reference.md describes the knob {name}, which is not there"


def claims_of_the_reference():
    """(area, column, claim) of the table "How true it is": in its cells claims are separated by semicolons."""
    table = text_of("docs/tidesim-reference.md").split("## How true it is")[1].split("\n#")[0]
    for line in re.findall(r"^\| .*\|$", table, re.MULTILINE):
        area, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        for column, cell in zip(("faithful", "simplified", "missing"), cells):
            for claim in filter(None, cell.split("; ")) if area else ():
                yield area, column, claim


def has_case(name):
    path, _, case = name.partition(":")
    return (ROOT / "tests" / path).exists() and re.search(rf"(?:void |TEST\(){case}\b", text_of("tests/" + path)) is not None


def every_claim_about_tidesim_is_shown():
    probes = text_of("tests/unit/sim/sql/truth.sql").split("\n-- truth: ")[1:]
    told, shown = list(claims_of_the_reference()), {}
    for probe in probes:
        head, _, body = probe.partition("\n")
        shown[tuple(part.strip() for part in head.split("|"))] = body
    if len(told) < 60 or len(shown) != len(probes) or len(set(told)) != len(told):
        yield "the claims were not found, or one stands there twice"
    for claim in [one for one in told if one not in shown]:
        yield f"tests/unit/sim/sql/truth.sql does not show: {' | '.join(claim)}"
    for claim, body in shown.items():
        name = " | ".join(claim)
        if claim not in told:
            yield f"docs/tidesim-reference.md does not say: {name}"
        cases = [case for line in re.findall(r"^-- shown by: (.*)$", body, re.MULTILINE) for case in line.split(", ")]
        errors = re.findall(r"^--> !(\d+)", body, re.MULTILINE)
        for case in cases:
            if not has_case(case):
                yield f"{name}: there is no test {case}"
        if not cases and not re.search(r"^--> \S", body, re.MULTILINE):
            yield f"{name}: nothing shows it"
        statements = len(re.findall(r"^(?!--).*;$\n-->", body, re.MULTILINE))
        if claim[1] == "missing" and not cases and (len(errors) < statements or not all(
                number == "50001" or f"({number})" in claim[2] for number in errors)):
            yield f"{name}: is not refused with 50001 or an error that it names"


def every_end_to_end_test_is_described():
    files = [*(ROOT / "tests" / "e2e").glob("test_*.py"), *(ROOT / "tests" / "interop" / "library" / name for name in ("test_continue.py", "chunks.py", "left.py", "test_seed.py"))]
    tests = {name for path in files
             for name in re.findall(r"^ *@(?:test|on_each_source|on_each_driver|with_server\(.*?\))\n *def (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)}
    listed = names_in_cells("docs/testing.md")
    if len(tests) < 5:
        yield "the tests were not found in tests/e2e/"
    for name in sorted(tests - listed):
        yield f"docs/testing.md does not say what {name} shows"
    for name in sorted(one for one in listed if re.fullmatch(r"[a-z]+(_\w+){4,}", one) and one not in tests):
        yield f"docs/testing.md describes {name}, which is not there"


def the_messages_in_operations_are_those_of_the_program():
    literals = []
    for path in sorted((ROOT / "src").rglob("*.c")):
        source = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))  # adjacent literals are one
        literals += [re.sub(r"%(?:\.\*s|lld|s|d)", "\0", literal) for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)]
    for cell in sorted(rows_of("docs/operations.md")):
        for quoted in re.findall(r'"([^"]+)"', cell):
            for part in re.split(r" \.\.\. ?|\.\.\.|\b[nm]\b", quoted):
                if part.strip() and not any(part.strip() in literal for literal in literals):
                    yield f'docs/operations.md quotes "{part.strip()}", which no message has'


def the_list_of_test_ids_is_current():
    done = subprocess.run([sys.executable, ROOT / "tools" / "list-test-ids", "--check"], capture_output=True, text=True)
    if done.returncode != 0:
        yield done.stderr.strip()


CASES = [every_relative_link_leads_somewhere, every_file_that_is_named_exists, every_page_can_be_reached,
         every_code_of_a_delta_table_is_explained, every_kind_of_error_is_listed_with_its_exit_status, every_column_we_write_is_described,
         every_control_and_option_of_tidesim_is_described, every_knob_and_fault_of_tidesim_is_described, every_claim_about_tidesim_is_shown, every_end_to_end_test_is_described,
         the_messages_in_operations_are_those_of_the_program, the_list_of_test_ids_is_current]


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, case in enumerate(CASES, 1):
        wrong = list(case())
        failed += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {number} - {case.__name__.replace('_', ' ')}")
        for line in wrong:
            print("# " + line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
