"""Tables with keys of every type that bounds can be made of, their rows in Python's own order, and a range of keys as the pieces that
the clients send: disjoint conditions that an index can seek.
"""
import datetime
import decimal
import random
import struct
import unicodedata
import uuid

DEC = decimal.Decimal


class Kind:
    """A column type: how a value is written, bound and ordered."""

    def __init__(self, declared, bound, text, order, literal, collate="", is_integer=False):
        self.declared, self.bound, self.text, self.order, self.literal, self.collate = declared, bound, text, order, literal, collate
        self.is_integer = is_integer  # as the only key column it is bound as a literal


def cast(declared):
    return f"CAST(? AS {declared})"


def quoted(text):
    return "N'" + text.replace("'", "''") + "'"


def guid_order(text):
    raw = uuid.UUID(text).bytes_le
    return bytes(raw[at] for at in (10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3))


def integer(declared):
    return Kind(declared, cast(declared), str, int, str, is_integer=True)


def decimals(declared):
    return Kind(declared, cast(declared), lambda value: format(value, "f"), lambda value: value, lambda value: format(value, "f"))


def folded(value):
    """The order of words without accents under a CI collation."""
    return value.rstrip(" ").casefold()


def unaccented(value):
    return "".join(letter for letter in unicodedata.normalize("NFD", folded(value)) if not unicodedata.combining(letter))


def text(declared, collation, order=folded):
    bound = cast(declared) if declared.startswith("n") else f"CAST(? COLLATE {collation} AS {declared})"
    return Kind(declared, bound, str, order, quoted, f" COLLATE {collation}")


def moment(declared, digits):
    """`digits` of a bound: datetime takes three and no more."""
    return Kind(declared, cast(declared), lambda value: value.isoformat(timespec="microseconds")[:20 + digits], lambda value: value,
                lambda value: f"'{value.isoformat(timespec='milliseconds')}'")


def zoned(value):
    """The same moment, written with some offset."""
    minutes = value.second * 13 % 1600 - 800
    local = value + datetime.timedelta(minutes=minutes)
    return f"'{local.isoformat(timespec='milliseconds')}{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}'"


def floating(declared):
    return Kind(declared, cast(declared), repr, lambda value: value, lambda value: f"CAST('{value!r}' AS {declared})")


DATE = Kind("date", cast("date"), str, lambda value: value, lambda value: f"'{value}'")
GUID = Kind("uniqueidentifier", cast("uniqueidentifier"), str, guid_order, lambda value: f"'{value}'")
BINARY = Kind("varbinary(8)", "CONVERT(varbinary(8), ?, 1)", lambda value: "0x" + value.hex(), lambda value: value.rstrip(b"\0"),
              lambda value: "0x" + value.hex())
BIT = Kind("bit", cast("bit"), lambda value: str(int(value)), int, lambda value: str(int(value)))
INT, BIG = integer("int"), integer("bigint")


class Table:
    """Rows are (key parts..., v), v a number of its own."""

    def __init__(self, name, columns, keys, nullable=False):
        self.name, self.kinds, self.nullable, self.every_way = f"key_{name}", columns, nullable, True
        self.keys = [f"k{at}" for at in range(1, len(columns) + 1)]
        self.rows = sorted(((*key, at) for at, key in enumerate(keys)), key=self.order)

    def order(self, row):
        return tuple((0,) if part is None else (1, kind.order(part)) for part, kind in zip(row, self.kinds))

    def script(self):
        columns = ", ".join(f"[{name}] {kind.declared}{kind.collate} {'NULL' if self.nullable else 'NOT NULL'}" for name, kind in zip(self.keys, self.kinds))
        keys = ", ".join(self.keys)
        lines = [f"CREATE TABLE dbo.{self.name} ({columns}, v int NULL" + ("" if self.nullable else f", PRIMARY KEY ({keys})") + ");"]
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


def words(rng, letters, count, order=folded, longest=6):
    made = {}
    while len(made) < count:
        word = "".join(rng.choices(letters, k=rng.randrange(1, longest + 1)))
        made.setdefault(order(word), word)
    return list(made.values())


def other_tables(rng, at, ticks, offsets):
    money = [DEC(rng.randrange(-2**63, 2**63)) / 10**4 for _ in range(90)] + [DEC(n) / 10**4 for n in (-2**63, -1, 0, 1, 2**63 - 1)]
    floats = [rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300) for _ in range(90)] + [0.0, 0.1, 1e-300, -1.7976931348623157e308, 1.7976931348623157e308, 123456789.0]
    reals = sorted({struct.unpack("f", struct.pack("f", rng.uniform(-1, 1) * 10.0 ** rng.randrange(-30, 30)))[0] for _ in range(90)} | {0.10000000149011612, 0.0})
    ascii_letters = "abcXYZ019"
    bin2 = text("varchar(10)", "Latin1_General_BIN2", lambda value: value.encode("cp1252").ljust(10))
    return [
        Table("tiny", [integer("tinyint")], [(n,) for n in range(256)]),
        Table("small", [integer("smallint")], [(n * 655,) for n in range(-50, 51)]),
        Table("money", [Kind("money", cast("money"), lambda value: f"{value:.4f}", lambda value: value, lambda value: f"{value:.4f}")],
              [(value.quantize(DEC("1e-4"), context=decimal.Context(prec=40)),) for value in money]),
        Table("float", [floating("float")], [(value,) for value in set(floats)]),
        Table("real", [floating("real")], [(value,) for value in reals]),
        Table("datetime", [moment("datetime", 3)], [(value,) for value in ticks] + [(datetime.datetime(1753, 1, 1),), (datetime.datetime(9999, 12, 31, 23, 59, 59, 997000),)]),
        Table("minute", [moment("smalldatetime", 3)], [(at.replace(second=0) + datetime.timedelta(minutes=n * 997),) for n in range(-60, 60)]),
        Table("zoned", [offsets], [(value.replace(second=n % 60),) for n, value in enumerate(ticks)]),
        Table("char", [text("char(6)", "Latin1_General_CI_AS")], [(word.ljust(6),) for word in words(rng, ascii_letters, 120)]),
        Table("nchar", [text("nchar(6)", "Greek_CI_AS")], [(word.ljust(6),) for word in words(rng, "abΓΔδε09", 120)]),
        Table("russian", [text("varchar(12)", "Cyrillic_General_CI_AS")], [(word,) for word in words(rng, "абвЖзИкшЩьЯxY7", 150)]),
        Table("utf8", [text("varchar(30)", "Latin1_General_100_CI_AS_SC_UTF8")], [(word,) for word in words(rng, "abYz0αΒγдЖя", 150)]),
        Table("plain", [text("varchar(12)", "SQL_Latin1_General_CP1_CI_AI", unaccented)], [(word,) for word in words(rng, "aáÀbcçeÉêuüZ-05", 150, unaccented)]),
        Table("bin2", [bin2], [(word,) for word in words(rng, "aBcDéÉ~0!", 150, bin2.order)]),
        Table("nbin2", [text("nvarchar(10)", "Latin1_General_BIN2", lambda value: value.rstrip(" "))],
              [(word,) for word in words(rng, "aBéЖ日0!", 150, lambda value: value)]),
        Table("bytes", [Kind("binary(4)", "CONVERT(varbinary(4), ?, 1)", BINARY.text, BINARY.order, BINARY.literal)], [(rng.randbytes(4),) for _ in range(120)]),
        Table("four", [integer("smallint"), text("varchar(8)", "Cyrillic_General_CI_AS"), moment("datetime", 3), BIG],
              [(n // 60 - 2, "дЖЯx"[n // 20 % 3], ticks[n // 5 % 4], (n % 5 - 2) * 2**61) for n in range(300)])]


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
    ticks = [at + datetime.timedelta(milliseconds=n * 86_399_000 + (n % 100) * 10 + (0, 3, 7)[n % 3]) for n in range(-80, 80)]
    offsets = Kind("datetimeoffset(3)", cast("datetimeoffset(3)"), lambda value: value.isoformat(timespec="microseconds") + "+00:00", lambda value: value, zoned)
    others = other_tables(rng, at, ticks, offsets)
    for table in others:
        table.every_way = False  # one of the ways, by chance
    return others + [
        Table("int", [INT], [(n * 3 - 500,) for n in range(400)]),
        Table("big", [BIG], [(n,) for n in big]),
        Table("dec", [decimals("decimal(38,10)")], [(n.quantize(DEC("1e-10"), context=decimal.Context(prec=50)),) for n in numbers]),
        Table("greek", [text("varchar(20)", "Greek_CI_AS")], [(word,) for word in unique]),
        Table("nv", [text("nvarchar(20)", "SQL_Latin1_General_CP1_CI_AS")], [(f"{'Kk'[n % 2]}{n * 7919 % 1009}",) for n in range(200)]),
        Table("guid", [GUID], [(value,) for value in guids]),
        Table("dt2", [moment("datetime2(3)", 6)], [(at + datetime.timedelta(milliseconds=n * 86_399_001),) for n in range(-100, 100)]),
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
    if len(table.keys) == 1 and kind.is_integer:
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
