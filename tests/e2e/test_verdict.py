#!/usr/bin/env python3
"""`tidelake verdict`: what a scheduler, an alert and a person with a question see of it."""
import datetime

from lakes import *

CONFIG = """
source:
  connection: "{connection}"
lake:
  root: {root}
  facts: ops/facts
  control: ops/control
streams:
  - capture_instance: dbo_orders
    bronze: {{path: bronze/orders, label: main.bronze.orders}}
    silver: silver/orders
    app_id: orders-v1
    checkpoint: checkpoints/orders
    bootstrap: true
    trigger: available-now
    granularity: {granularity}
"""
KEYS = ["table_name", "finalized_until", "end_lsn", "end_commit_ts", "granularity", "updated_at", "verdict_age_s", "move_age_s", "open_snapshot_lsn"]


def plus(text, **by):
    return (datetime.datetime.fromisoformat(text) + datetime.timedelta(**by)).isoformat(timespec="milliseconds")


@test
def a_verdict_is_shown_asked_and_moved(folder):
    server = Server(folder, "--capture-interval", "manual", init=[ROOT / "demo" / "shop.sql"])
    lake = Lake(folder / "lake", server)

    def configure(granularity="minute"):
        (folder / "tidelake.yaml").write_text(CONFIG.format(connection=server.connection(), root=lake.folder, granularity=granularity))

    def verdict(*arguments, code=0):
        done = tidelake("verdict", *arguments, cwd=folder)
        equal(done.code, code, done.stderr)
        return done

    try:
        configure()
        # nothing is there: everything is null, nothing is created, and no period is final
        nothing = verdict("show", "silver/orders", "--json")
        equal(list(nothing.json()), KEYS)
        equal({key: value for key, value in nothing.json().items() if value is not None}, {"table_name": "silver/orders", "granularity": "minute"})
        holds(nothing.stderr, "WARN", "no control table yet")
        verdict("check", "silver/orders", "--until", "2026-01-01T00:00:00", code=6)
        equal(lake.folder.exists(), False, "the lake")

        server.scan()
        tidelake("stream", check=True, cwd=folder)
        tidelake("apply", check=True, cwd=folder)
        both = verdict("show", "--json").json()
        equal(both["failed"], {})
        equal(sorted(both["streams"]), ["main.bronze.orders", "silver/orders"])
        for table, found in both["streams"].items():
            equal(list(found), KEYS)
            equal(found["finalized_until"], found["end_commit_ts"][:17] + "00.000", f"{table}, whole minutes of {found['end_commit_ts']}")
            equal([found["granularity"], found["open_snapshot_lsn"]], ["minute", None])
            equal(0 <= found["move_age_s"] < 300 and found["move_age_s"] <= found["verdict_age_s"] < 400, True, f"ages of {found}")
        equal(both["streams"]["silver/orders"]["end_lsn"], both["streams"]["main.bronze.orders"]["end_lsn"])
        until = both["streams"]["silver/orders"]["finalized_until"]
        holds(verdict("show", "silver/orders").stdout, f"silver/orders: complete until {until}, ", " s ago; moved ")
        # a table by its label, its path, its capture instance
        for name in ("main.bronze.orders", "bronze/orders"):
            equal(verdict("show", name, "--json").json(), {**both["streams"]["main.bronze.orders"], "verdict_age_s": any_number, "move_age_s": any_number})
        equal(sorted(verdict("show", "dbo_orders", "--json").json()["streams"]), sorted(both["streams"]))

        # exactly at the verdict, an instant behind it, in another zone
        equal(verdict("check", "silver/orders", "--until", until, "--json").json()["final"], True)
        late = verdict("check", "silver/orders", "--until", plus(until, milliseconds=1), "--json", code=6)
        equal([late.json()[key] for key in ("until", "final", "finalized_until")], [plus(until, milliseconds=1), False, until])
        holds(late.last_error(), "silver/orders is not final at", f"complete until {until}")
        verdict("check", "silver/orders", "--until", plus(until, hours=2) + "+02:00")
        verdict("check", "silver/orders", "--until", until + "-00:01", code=6)
        verdict("check", "--until", until)
        verdict("check", "silver/orders", "nobody", "--until", until, code=6)
        holds(verdict("show", "nobody", "--json").stderr, "neither control nor the configuration has a table of this name")

        # wrong usage touches nothing
        for arguments, part in ((["check", "silver/orders"], "--until"), (["show", "--until", until], "no option --until"), (["shw"], "did you mean show"),
                                (["check", "--until", "yesterday"], "--until is"), (["advance", "nobody"], "no stream writes nobody"), ([], "usage")):
            holds(verdict(*arguments, code=2).last_error(), part)

        # by hand: under another name, from the checkpoint; nothing moves back, nor for a silver that is where it can be
        day = verdict("advance", "elsewhere", "--capture-instance", "dbo_orders", "--bronze", "elsewhere", "--granularity", "day", "--json").json()
        equal([day["table_name"], day["granularity"], day["finalized_until"]], ["elsewhere", "day", until[:11] + "00:00:00.000"])
        equal(verdict("advance", "--json").json()["streams"]["silver/orders"]["finalized_until"], until)
        # without a file: whatever control holds
        rows = tidelake("verdict", "show", "--control", str(lake.folder / "ops/control"), "--json", check=True, cwd="/").json()["streams"]
        equal(sorted(rows), ["elsewhere", "main.bronze.orders", "silver/orders"])
        equal(rows["elsewhere"]["granularity"], None)
        nowhere = tidelake("verdict", "show", "--control", str(folder / "nowhere"), cwd="/")
        equal(nowhere.code, 2, nowhere.stderr)
        holds(nowhere.last_error(), "no table is named", f"there is no control table at {folder / 'nowhere'}")
    finally:
        server.close()


@test
def an_open_snapshot_holds_silvers_verdict_and_shows(folder):
    server = Server(folder, "--capture-interval", "manual", init=[ROOT / "demo" / "shop.sql"])
    lake = Lake(folder / "lake", server)
    tables = lake.options("dbo_orders", "orders", "--app-id", "orders-v1", "--checkpoint", "checkpoints/orders")
    stream = ["stream", *tables, "--bootstrap", "--snapshot", "chunked", "--trigger", "available-now", "--granularity", "minute"]
    show = ["verdict", "show", "--root", str(lake.folder), "--control", "ops/control", "--json"]
    try:
        server.scan()
        tidelake(*stream, check=True)
        server.sql("UPDATE dbo.orders SET note = 'seen' WHERE order_id = 1")
        server.scan()
        tidelake(*stream, check=True)
        lake.apply("dbo_orders", "orders", "--granularity", "minute", check=True)
        found = tidelake(*show, "silver/orders", check=True).json()
        equal([found["finalized_until"], found["open_snapshot_lsn"] is None], [None, False], found)
        held = tidelake("verdict", "check", "silver/orders", "--root", str(lake.folder), "--control", "ops/control", "--until", "2026-01-01T00:00:00")
        equal(held.code, 6, held.stderr)
        holds(held.last_error(), "held by the open snapshot " + found["open_snapshot_lsn"])
        stays = tidelake("verdict", "advance", "silver/orders", *lake.options("dbo_orders", "orders", "--silver", "silver/orders", "--json")[2:])
        equal([stays.code, stays.json()["finalized_until"]], [0, None], stays.stderr)
        holds(stays.stderr, "verdict stays where it is", "a chunked snapshot is open")
    finally:
        server.close()


@test
def verdicts_that_the_library_left_are_shown_and_moved_from_its_checkpoint(folder):
    lake = unpack("silver-open", folder)
    control = ["--root", str(lake), "--control", CONTROL]
    rows = json.loads(tidelake("table", "sql", str(lake / CONTROL), "SELECT table_name, finalized_until, end_lsn, open_snapshot_lsn FROM t ORDER BY 1", "--json",
                               check=True).stdout)["rows"]
    shown = tidelake("verdict", "show", *control, "--json", check=True).json()["streams"]
    equal([[found[key] for key in ("table_name", "finalized_until", "end_lsn", "open_snapshot_lsn")] for _, found in sorted(shown.items())],
          [[name, until and plus(until), lsn, held] for name, until, lsn, held in rows])
    bronze, silver = (next(name for name, *_ in rows if part in name) for part in ("bronze", "silver"))
    equal([shown[bronze]["open_snapshot_lsn"], shown[silver]["finalized_until"]], [None, None])
    asked = ["verdict", "check", bronze, *control, "--until"]
    equal([tidelake(*asked, shown[bronze]["finalized_until"]).code, tidelake(*asked, plus(shown[bronze]["finalized_until"], seconds=1)).code], [0, 6])
    moved = tidelake("verdict", "advance", "copy", *control, "--bronze", "copy", "--checkpoint", "checkpoint/shipment", "--json", check=True).json()
    equal([moved["finalized_until"], moved["end_lsn"]], [shown[bronze]["finalized_until"], shown[bronze]["end_lsn"]])


class AnyNumber:
    def __eq__(self, other):
        return isinstance(other, int)


any_number = AnyNumber()

if __name__ == "__main__":
    main()
