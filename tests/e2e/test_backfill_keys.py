#!/usr/bin/env python3
"""Chunked snapshots of tables with a key of each kind, and of heaps cut on a column that repeats, next to a stream, apply and a writer; all but
the writer killed while the snapshot is read. Small tables in many small chunks.
"""
import datetime
import uuid

from chunked import *

SHORT = bool(os.environ.get("TIDELAKE_E2E_SHORT"))
ROWS, SPARE = (600, 300) if SHORT else (2000, 1000)  # keys there are at first, and more for what comes new
CHUNK_ROWS, KILLS = (30, 1) if SHORT else (60, 2)
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя"


def a_word(n):
    """Three letters of another code page, in mixed case; no two are equal when case is ignored."""
    word = "".join(CYRILLIC[n // 32**power % 32] for power in (2, 1, 0)) + str(n % 7)
    return "N'" + (word.upper() if n % 3 == 0 else word.capitalize() if n % 3 == 1 else word) + "'"


def a_moment(n):
    at = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=n * 137, microseconds=n * 7919 % 1000000)
    return f"'{at.isoformat(timespec='microseconds')}{n % 10}'"


KEYS = {  # name: (columns of the key, with their types; the n-th key as literals)
    "composite": ({"region": "varchar(12) COLLATE Latin1_General_CI_AS", "n": "int", "day": "date"},
                  lambda n: (f"'{('North', 'south', 'EAST', 'west')[n % 4]}'", str(n // 4 % 50 - 25), f"'{datetime.date(2020, 1, 1) + datetime.timedelta(n // 200)}'")),
    "word": ({"word": "varchar(20) COLLATE Cyrillic_General_CI_AS"}, lambda n: (a_word(n * 10007 % 32768),)),
    "guid": ({"id": "uniqueidentifier"}, lambda n: (f"'{uuid.UUID(int=random.Random(n).getrandbits(128))}'",)),
    "moment": ({"moment": "datetime2(7)"}, lambda n: (a_moment(n),)),
    "amount": ({"amount": "decimal(20,4)"}, lambda n: (f"{(n - 1500) * 1234567}.{n:04d}",)),
    "day": ({"day": "date"}, lambda n: (f"'{datetime.date(1700, 1, 1) + datetime.timedelta(n * 37)}'",)),
    "code": ({"code": "binary(8)"}, lambda n: (f"0x{n * 0x9E3779B97F4A7C15 % 2**64:016X}",)),
}


def changes_by_key(table, columns, key):
    """A transaction of the writer: rows come, change, go and move to another key."""
    def where(n):
        return " AND ".join(f"{column} = {value}" for column, value in zip(columns, key(n)))

    def change(rng):
        statements = []
        for _ in range(rng.randrange(1, 4)):
            old, new, v = rng.randrange(ROWS + SPARE), rng.randrange(ROWS + SPARE), rng.randrange(10**6)
            kinds = [f"INSERT dbo.{table} SELECT {', '.join(key(new))}, {v}, 'new' WHERE NOT EXISTS (SELECT 1 FROM dbo.{table} WHERE {where(new)});",
                     f"UPDATE dbo.{table} SET v = {v} WHERE {where(old)};", f"DELETE FROM dbo.{table} WHERE {where(old)};",
                     f"UPDATE dbo.{table} SET {', '.join(f'{column} = {value}' for column, value in zip(columns, key(new)))}, v = {v} "
                     f"WHERE {where(old)} AND NOT EXISTS (SELECT 1 FROM dbo.{table} WHERE {where(new)});"]
            if table == "word":  # another spelling of the same key
                kinds.append(f"UPDATE dbo.word SET word = {rng.choice(['UPPER', 'LOWER'])}(word) WHERE {where(old)};")
            statements.append(rng.choice(kinds))
        return " ".join(statements)

    return change


def read_with_kills(folder, name):
    columns, key = KEYS[name]
    seed = int(os.environ.get("TIDELAKE_SEED", random.randrange(1 << 30)))
    print(f"# seed {seed}", flush=True)
    server = SimServer(folder, "--seed", str(seed))
    try:
        declared = ", ".join(f"{column} {kind} NOT NULL" for column, kind in columns.items())
        table = make_table(server, name, f"{declared}, v int NOT NULL, label varchar(20) NULL, PRIMARY KEY ({', '.join(columns)})",
                           [f"({', '.join(key(n))}, 0, 'first')" for n in range(ROWS)])
        chunked = Chunked(Lake(folder / "lake", server), table, CHUNK_ROWS)
        writer = Changes(server, changes_by_key(table, columns, key), seed)
        tidelake(*chunked.stream("--trigger", "available-now"), check=True)
        marks, _, _ = kill_again_and_again(chunked, random.Random(seed), KILLS, folder, ROWS // CHUNK_ROWS // 2, early=0)
        finish(chunked, folder)
        committed = writer.stop()
        server.scan()
        check_silver(chunked)
        chunks = check_snapshot(chunked, "lower(word)" if name == "word" else ", ".join(columns))
        equal(chunks > ROWS // CHUNK_ROWS // 2, True, f"chunks with rows ({chunks})")
        check_changes(chunked, server)
        print(f"# the writer committed {committed} transactions; kills of backfill: {name_steps(marks, chunked.marks())}", flush=True)
    finally:
        server.close()


@test
def a_composite_key_is_read_in_chunks_with_kills(folder):
    read_with_kills(folder, "composite")


@test
def a_text_key_of_another_code_page_is_read_in_chunks_with_kills(folder):
    read_with_kills(folder, "word")


@test
def a_uniqueidentifier_key_is_read_in_chunks_with_kills(folder):
    read_with_kills(folder, "guid")


@test
def a_datetime2_key_is_read_in_chunks_with_kills(folder):
    read_with_kills(folder, "moment")


@test
def a_decimal_key_is_read_in_chunks_with_kills(folder):
    read_with_kills(folder, "amount")


@test
def a_date_key_is_read_in_chunks_with_kills(folder):
    read_with_kills(folder, "day")


@test
def a_binary_key_is_read_in_chunks_with_kills(folder):
    read_with_kills(folder, "code")


# --- heaps ---

WORDS = ("ash", "Ash", "ASH", "birch", "Birch", "cedar", "elm", "Elm", "fir", "larch", "Maple", "mapLe", "oak", "Oak", "OAK", "pine", "Rowan", "yew", "Yew")
HEAPS = {"text": ("varchar(20) COLLATE Latin1_General_CI_AS", lambda n: f"'{WORDS[n * 31 % len(WORDS)]} {n % 5}'"), "number": ("int", lambda n: str(n * 7919 % 97 - 40))}


def heap_is_read_once(folder, server, kind):
    """`n` numbers the rows; no index knows it. The writer deletes only those whose n divides by 5."""
    declared, value = HEAPS[kind]
    seed = int(os.environ.get("TIDELAKE_SEED", random.randrange(1 << 30)))
    print(f"# seed {seed}", flush=True)
    cut_value = lambda n: "NULL" if n % 23 == 0 else value(n)
    table = make_table(server, "heap", f"n int NOT NULL, cut {declared} NULL, v int NOT NULL", [f"({n}, {cut_value(n)}, 0)" for n in range(ROWS)])
    chunked = Chunked(Lake(folder / "lake", server), table, CHUNK_ROWS, "--snapshot-keys", "cut")
    last = [ROWS]

    def change(rng):
        last[0] += 1
        old = rng.randrange(last[0])
        return (f"INSERT dbo.{table} VALUES ({last[0]}, {cut_value(rng.randrange(ROWS))}, {rng.randrange(10**6)}); "
                f"UPDATE dbo.{table} SET v = v + 1 WHERE n = {old}; DELETE FROM dbo.{table} WHERE n = {old // 5 * 5};")

    writer = Changes(server, change, seed)
    tidelake(*chunked.stream("--trigger", "available-now"), check=True)
    chunked.more = ()
    refused = tidelake(*chunked.backfill())
    equal(refused.code, 1, "a backfill that names no columns")
    holds(refused.last_error(), "was opened cut on cut, and this run would cut on none: set snapshot_keys")
    equal(chunked.marks()["plan in plans"], False, "a plan by a backfill that was refused")
    chunked.more = ("--snapshot-keys", "cut")
    kill_again_and_again(chunked, random.Random(seed), KILLS, folder, ROWS // CHUNK_ROWS // 2, early=0, with_silver=False)
    finish(chunked, folder)
    writer.stop()
    server.scan()
    tidelake(*chunked.stream("--trigger", "available-now"), check=True)
    chunks = check_snapshot(chunked, "n")
    equal(chunks > 8, True, f"chunks with rows ({chunks})")
    check_changes(chunked, server)
    bronze = f"bronze/{table}"
    kept = ROWS - len(range(0, ROWS, 5))
    equal(chunked.lake.query(bronze, f"SELECT count(*), count(DISTINCT n) FROM t WHERE _operation = 0 AND n < {ROWS} AND n % 5 <> 0"), [[kept, kept]], "rows there all along")
    equal(chunked.lake.query(bronze, "SELECT count(*) FROM (SELECT lower(cut::VARCHAR) FROM t WHERE _operation = 0 AND cut IS NOT NULL GROUP BY 1 HAVING count(DISTINCT _chunk) > 1)"),
          [[0]], "values in two chunks")
    equal(chunked.lake.query(bronze, "SELECT count(DISTINCT _chunk), max(_chunk) FROM t WHERE _operation = 0 AND cut IS NULL"), [[1, 0]], "chunks with NULLs")


@on_each_source
def a_heap_cut_on_a_text_that_repeats_is_read_once(folder, server):  # T4.48
    heap_is_read_once(folder, server, "text")


@on_each_source
def a_heap_cut_on_a_number_that_repeats_is_read_once(folder, server):  # T4.48
    heap_is_read_once(folder, server, "number")


if __name__ == "__main__":
    main()
