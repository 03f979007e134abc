"""Tables with keys of every type that bounds can be made of, their rows in Python's own order, and a range of keys as the pieces that
the clients send: disjoint conditions that an index can seek.
"""
import datetime
import decimal
import random
import uuid

DEC = decimal.Decimal


class Kind:
    """A column type: how a value is written, bound and ordered."""

    def __init__(self, declared, bound, text, order, literal, collate=""):
        self.declared, self.bound, self.text, self.order, self.literal, self.collate = declared, bound, text, order, literal, collate


def cast(declared):
    return f"CAST(? AS {declared})"


def quoted(text):
    return "N'" + text.replace("'", "''") + "'"


def guid_order(text):
    raw = uuid.UUID(text).bytes_le
    return bytes(raw[at] for at in (10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3))


def integer(declared):
    return Kind(declared, cast(declared), str, int, str)


def decimals(declared):
    return Kind(declared, cast(declared), lambda value: format(value, "f"), lambda value: value, lambda value: format(value, "f"))


def text(declared, collation):
    kind = Kind(declared, f"CAST(? COLLATE {collation} AS {declared})" if declared.startswith("varchar") else cast(declared), str,
                lambda value: value.rstrip(" ").casefold(), quoted, f" COLLATE {collation}")
    return kind


def moment(declared, digits):
    return Kind(declared, cast(declared), lambda value: value.isoformat(timespec="microseconds"), lambda value: value,
                lambda value: f"'{value.isoformat(timespec='microseconds')[:20 + digits]}'")


DATE = Kind("date", cast("date"), str, lambda value: value, lambda value: f"'{value}'")
GUID = Kind("uniqueidentifier", cast("uniqueidentifier"), str, guid_order, lambda value: f"'{value}'")
BINARY = Kind("varbinary(8)", "CONVERT(varbinary(8), ?, 1)", lambda value: "0x" + value.hex(), lambda value: value.rstrip(b"\0"),
              lambda value: "0x" + value.hex())
BIT = Kind("bit", cast("bit"), lambda value: str(int(value)), int, lambda value: str(int(value)))
INT, BIG = integer("int"), integer("bigint")


class Table:
    """Rows are (key parts..., v), v a number of its own."""

    def __init__(self, name, columns, keys, nullable=False):
        self.name, self.kinds, self.nullable = f"key_{name}", columns, nullable
        self.keys = [f"k{at}" for at in range(1, len(columns) + 1)]
        self.rows = sorted(((*key, at) for at, key in enumerate(keys)), key=self.order)

    def order(self, row):
        return tuple((0,) if part is None else (1, kind.order(part)) for part, kind in zip(row, self.kinds))

    def script(self):
        columns = ", ".join(f"[{name}] {kind.declared}{kind.collate} {'NULL' if self.nullable else 'NOT NULL'}" for name, kind in zip(self.keys, self.kinds))
        keys = ", ".join(self.keys)
        key = f"INDEX at_key CLUSTERED ({keys})" if self.nullable else f"PRIMARY KEY ({keys})"
        lines = [f"CREATE TABLE dbo.{self.name} ({columns}, v int NULL" + ("" if self.nullable else f", {key}") + ");"]
        if self.nullable:
            lines.append(f"CREATE UNIQUE CLUSTERED INDEX at_key ON dbo.{self.name} ({keys});")
        shuffled = random.Random(7).sample(self.rows, len(self.rows))
        for first in range(0, len(shuffled), 200):
            lines.append(f"INSERT dbo.{self.name} VALUES " + ", ".join(
                "(" + ", ".join("NULL" if part is None else kind.literal(part) for part, kind in zip(row, self.kinds)) + f", {row[-1]})"
                for row in shuffled[first:first + 200]) + ";")
        return "\n".join(lines) + "\nGO\n"

    def between(self, lo, hi):
        """The rows of [lo, hi), by Python's order of the values."""
        low, high = lo and self.order(lo), hi and self.order(hi)
        return [row for row in self.rows if (low is None or self.order(row) >= low) and (high is None or self.order(row) < high)]

    def select(self, columns, prefix="t."):
        return ", ".join(f"{prefix}[{name}]" for name in columns)


def all_tables():
    rng = random.Random(3)
    big = [-2**63, -2**63 + 1, -1, 0, 1, 2**31, 2**63 - 2, 2**63 - 1] + [5_000_000_000 + n for n in range(120)] + [-9 * 10**18 + n * 10**15 for n in range(60)]
    greek = sorted({rng.choice("αβγδΕΖΗθΙκΛμνΞοπΡΣτΥφΧψΩABcdz") + "".join(rng.choices("αβΓδελμνΠρστabC19", k=rng.randrange(5))) for _ in range(320)}, key=str.casefold)
    unique = list({word.casefold(): word for word in greek}.values())
    day = datetime.date(2024, 2, 27)
    at = datetime.datetime(2024, 2, 29, 23, 59, 59)
    guids = [str(uuid.UUID(int=rng.getrandbits(128))).upper() for _ in range(190)] + ["01000000-0000-0000-0000-000000000000", "00010000-0000-0000-0000-000000000000",
                                                                                     "00000000-0000-0000-0000-000000000001", "FFFFFFFF-0000-0000-0000-000000000000"]
    raw = {rng.randbytes(rng.randrange(9)).rstrip(b"\0") for _ in range(220)}
    numbers = [DEC(rng.randrange(-10**30, 10**30)) / 10**10 for _ in range(150)] + [DEC("0.0000000000"), DEC("-0.0000000001"), DEC("9999999999999999999999999999.9999999999")]
    return [
        Table("int", [INT], [(n * 3 - 500,) for n in range(400)]),
        Table("big", [BIG], [(n,) for n in big]),
        Table("dec", [decimals("decimal(38,10)")], [(n.quantize(DEC("1e-10"), context=decimal.Context(prec=50)),) for n in numbers]),
        Table("greek", [text("varchar(20)", "Greek_CI_AS")], [(word,) for word in unique]),
        Table("nv", [text("nvarchar(20)", "SQL_Latin1_General_CP1_CI_AS")], [(f"{'Kk'[n % 2]}{n * 7919 % 1009}",) for n in range(200)]),
        Table("guid", [GUID], [(value,) for value in guids]),
        Table("dt2", [moment("datetime2(3)", 3)], [(at + datetime.timedelta(milliseconds=n * 86_399_001),) for n in range(-100, 100)]),
        Table("date", [DATE], [(day + datetime.timedelta(days=n),) for n in (*range(-150, 50), -25_000, 2_000_000, -700_000)]),
        Table("bin", [BINARY], [(value,) for value in sorted(raw)]),
        Table("two", [INT, text("varchar(12)", "Latin1_General_CI_AS")], [(n // 40, f"{'nN'[n % 2]}{n * 37 % 101}") for n in range(300)]),
        Table("three", [DATE, GUID, decimals("decimal(9,2)")],
              [(day + datetime.timedelta(days=n // 60), guids[n // 6 % 10], DEC(n % 6) - DEC("2.50")) for n in range(300)]),
        Table("bit", [BIT, BIG], [(n % 2 == 1, n * 10**12) for n in range(-60, 120)]),
        Table("null", [INT, text("nvarchar(10)", "Latin1_General_CI_AS")],
              [(a, b) for a in (None, -5, 0, 1, 2, 7) for b in (None, *(f"{'xX'[n % 2]}{n}" for n in range(30)))], nullable=True),
    ]


class Piece:
    """A condition and the texts of its marks, in their order. Both are lists, so that the terms can be told in another order."""

    def __init__(self):
        self.terms = []

    def add(self, sql, *values):
        self.terms.append((sql, list(values)))

    def where(self, backwards=False):
        terms = self.terms[::-1] if backwards else self.terms
        return " AND ".join(term for term, _ in terms), [value for _, values in terms for value in values]


def bound_text(table, at, bound):
    return None if bound[at] is None else table.kinds[at].text(bound[at])


def one(table, at, sign, value, style, prefix):
    """Column `at` of the key against a value, NULL lowest: (condition, texts)."""
    kind, name = table.kinds[at], f"{prefix}[{table.keys[at]}]"
    if value is None:
        return {"=": f"{name} IS NULL", ">": f"{name} IS NOT NULL", ">=": "1 = 1", "<": "1 = 0"}[sign], []
    if len(table.keys) == 1 and kind in (INT, BIG):
        bound, values = str(value), []
    else:
        bound, values = kind.bound, [kind.text(value)]
    if sign == "<" and (style == "library" or table.nullable):
        return f"({name} < {bound} OR {name} IS NULL)", values
    return f"{name} {sign} {bound}", values


def below(table, first, hi, style, prefix):
    """(k_first ... k_n) < hi, row by row."""
    arms, values = [], []
    for at in range(first, len(table.keys)):
        terms = [one(table, before, "=", hi[before], style, prefix) for before in range(first, at)] + [one(table, at, "<", hi[at], style, prefix)]
        arms.append("(" + " AND ".join(sql for sql, _ in terms) + ")")
        values += [value for _, own in terms for value in own]
    return "(" + " OR ".join(arms) + ")", values


def pieces(table, lo, hi, style="tidelake"):
    """[lo, hi) as conditions; no piece has a term when both bounds are open."""
    prefix, last = ("t." if style == "tidelake" else ""), len(table.keys) - 1
    common = 0
    while lo and hi and common < last and bound_text(table, common, lo) == bound_text(table, common, hi):
        common += 1

    def term(piece, at, sign, bound):
        sql, values = one(table, at, sign, bound[at], style, prefix)
        piece.add(sql, *values)

    def begun(upto, bound):
        piece = Piece()
        for at in range(common):
            term(piece, at, "=", lo)
        for at in range(common, upto):
            term(piece, at, "=", bound)
        return piece

    made = []
    for at in range(last, common, -1) if lo else ():
        piece = begun(at, lo)
        term(piece, at, ">=" if at == last else ">", lo)
        if hi:
            sql, values = below(table, common, hi, style, prefix)
            piece.add(sql, *values)
        made.append(piece)
    middle = begun(common, lo)
    if lo:
        term(middle, common, ">=" if common == last else ">", lo)
    if hi:
        term(middle, common, "<", hi)
    made.append(middle)
    for at in range(common + 1, last + 1) if hi else ():
        piece = begun(at, hi)
        term(piece, at, "<", hi)
        if lo:
            term(piece, common, ">", lo)
        made.append(piece)
    return made
