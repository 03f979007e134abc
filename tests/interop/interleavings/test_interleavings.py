"""Tables that PySpark with delta-spark, deltalake and tidelake write in turn: the same rows for each of them, and for DuckDB, after
every step; what the rows are is known from a model in this program.

A seed decides on the table (deletion vectors or not, a column with a blank in its name or not) and on the steps: appends, merges,
deletes, columns that are added, optimize, vacuum, checkpoints. tidelake's merges are its stream and apply on a tidesim whose table
changes; what its command line has no words for goes through its code for Delta tables (delta_steps.c). deltalake writes where it
can: not with deletion vectors or mapped columns.
"""
import os
import random
import sys

from engines import *  # noqa: E402,F403
from lib import *  # noqa: E402,F403
import spark_tables  # noqa: E402,F401 - registers its tests

STEPS_A_SEED = 7
WORDS = ("plain", "", "it's", "Łódź 大阪", "🚚", None, "a longer text, longer than an inlined string", "tab\there")


def quoted(value):
    return "NULL" if value is None else str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def national(value):
    return "N" + quoted(value) if isinstance(value, str) else quoted(value)


class Interleaving:
    """A silver table, and what must be in it: `rows` by id, without the two columns that tidelake adds."""

    def __init__(self, folder, seed):
        self.rng = random.Random(seed)
        self.vectors, self.mapped = bool(seed & 1), bool(seed & 2)
        self.note = "line note" if self.mapped else "note"
        self.extras = {}  # columns added later: type
        self.history, self.rows, self.next_id, self.next_foreign, self.pending = [], {}, 1, 1_000_000, {}
        self.server = Server(folder, "--capture-interval", "manual")
        self.lake = Lake(folder / "lake", self.server)
        self.silver, self.bronze = str(folder / "lake/silver/item"), str(folder / "lake/bronze/item")
        self.bronze_rows = 0

    def say(self, text):
        self.history.append(text)

    # --- the source ---

    def start(self):
        self.server.sql(f"""CREATE TABLE dbo.item (id int NOT NULL PRIMARY KEY, v int NULL, [{self.note}] nvarchar(60) NULL);
            GO
            EXEC sys.sp_cdc_enable_db;
            GO
            EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'item', @role_name = NULL;
            GO""")
        self.source = {}
        self.insert(12)
        self.replicate()
        engines.spark.sql(f"ALTER TABLE delta.`{self.silver}` SET TBLPROPERTIES ('delta.checkpointInterval' = '4')")
        self.say("spark: delta.checkpointInterval = 4")

    def value(self):
        return self.rng.choice((None, self.rng.randrange(-2**31, 2**31), self.rng.randrange(10)))

    def insert(self, count):
        for _ in range(count):
            key, self.next_id = self.next_id, self.next_id + 1
            row = {"v": self.value(), "note": self.rng.choice(WORDS)}
            self.server.sql(f"INSERT INTO dbo.item VALUES ({key}, {quoted(row['v'])}, {national(row['note'])});")
            self.source[key] = self.pending[key] = row
            self.bronze_rows += 1

    def change_source(self):
        for _ in range(self.rng.randrange(1, 5)):
            keys = sorted(self.source)
            what = self.rng.choice(("insert", "update", "update", "delete"))
            if what == "insert" or len(keys) < 4:
                self.insert(1)
                continue
            key = self.rng.choice(keys)
            if what == "delete":
                self.server.sql(f"DELETE dbo.item WHERE id = {key};")
                del self.source[key]
                self.pending[key] = None
                self.bronze_rows += 1
            else:
                row = {"v": self.value(), "note": self.rng.choice(WORDS)}
                if row == self.source[key]:
                    continue  # no change, no row
                self.server.sql(f"UPDATE dbo.item SET v = {quoted(row['v'])}, [{self.note}] = {national(row['note'])} WHERE id = {key};")
                self.source[key] = self.pending[key] = row
                self.bronze_rows += 2

    def replicate(self):
        self.server.scan()
        self.lake.stream("dbo_item", "item", check=True)
        self.lake.apply("dbo_item", "item", f"--deletion-vectors={'true' if self.vectors else 'false'}", check=True)
        for key, row in self.pending.items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = dict(dict.fromkeys(self.extras), **row)
        self.say(f"tidelake: stream and apply, changed keys {sorted(self.pending)}")
        self.pending = {}

    # --- rows that the source does not know ---

    def new_rows(self):
        rows = {}
        for _ in range(self.rng.randrange(1, 4)):
            row = {"v": self.value(), "note": self.rng.choice(WORDS)}
            for name, kind in self.extras.items():
                row[name] = self.rng.choice((None, self.rng.randrange(100) if kind == "INT" else self.rng.choice(WORDS)))
            rows[self.next_foreign] = row
            self.next_foreign += 1
        return rows

    def some_keys(self):
        return sorted(self.rng.sample(sorted(self.rows), min(len(self.rows), self.rng.randrange(1, 4))))

    def names(self):
        return ["id", "v", "note", *self.extras]

    def called(self, name):
        return self.note if name == "note" else name

    def literals(self, rows):
        """Rows for a VALUES list, in the order of names()."""
        return [[key, *(row[name] for name in self.names()[1:])] for key, row in rows.items()]

    def forget(self, keys):
        for key in keys:
            self.rows.pop(key, None)

    def merge_model(self):
        """New rows, and new values of v for some that are there."""
        rows = self.new_rows()
        for key in self.some_keys():
            rows[key] = dict(self.rows[key], v=self.value())
        return rows

    def add_to_model(self, name, kind):
        self.extras[name] = kind
        for row in self.rows.values():
            row[name] = None

    # --- Spark ---

    def spark_sql(self, text):
        self.say("spark: " + text.replace(f"delta.`{self.silver}`", "silver"))
        engines.spark.sql(text)

    def spark_values(self, rows):
        text = ", ".join("(" + ", ".join(spark_text(value) for value in row) + ")" for row in self.literals(rows))
        columns = ", ".join(f"`{self.called(name)}`" for name in self.names())
        casts = ", ".join(f"CAST(`{self.called(name)}` AS {self.extras.get(name, 'STRING' if name == 'note' else 'INT')}) AS `{self.called(name)}`" for name in self.names())
        return f"(SELECT {casts} FROM VALUES {text} AS s({columns}))"

    def spark_append(self):
        rows = self.new_rows()
        columns = ", ".join(f"`{self.called(name)}`" for name in self.names())
        self.spark_sql(f"INSERT INTO delta.`{self.silver}` ({columns}) SELECT * FROM {self.spark_values(rows)}")
        self.rows.update(rows)

    def spark_merge(self):
        rows = self.merge_model()
        columns = [f"`{self.called(name)}`" for name in self.names()]
        self.spark_sql(f"MERGE INTO delta.`{self.silver}` t USING {self.spark_values(rows)} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v "
                       f"WHEN NOT MATCHED THEN INSERT ({', '.join(columns)}) VALUES ({', '.join('s.' + column for column in columns)})")
        self.rows.update(rows)

    def spark_delete(self):
        keys = self.some_keys()
        self.spark_sql(f"DELETE FROM delta.`{self.silver}` WHERE id IN ({', '.join(map(str, keys))})")
        self.forget(keys)

    def spark_update(self):
        keys, value = self.some_keys(), self.value()
        self.spark_sql(f"UPDATE delta.`{self.silver}` SET v = {quoted(value)} WHERE id IN ({', '.join(map(str, keys))})")
        for key in keys:
            self.rows[key]["v"] = value

    def spark_optimize(self):
        self.spark_sql(f"OPTIMIZE delta.`{self.silver}`")

    def spark_vacuum(self):
        self.spark_sql(f"VACUUM delta.`{self.silver}` RETAIN 0 HOURS")

    def spark_add_column(self):
        name, kind = f"x{len(self.extras) + 1}", self.rng.choice(("INT", "STRING"))
        self.spark_sql(f"ALTER TABLE delta.`{self.silver}` ADD COLUMNS ({name} {kind})")
        self.add_to_model(name, kind)

    # --- deltalake ---

    def rs(self):
        return deltalake.DeltaTable(self.silver)

    def rs_table(self, rows):
        import pyarrow
        kinds = {"INT": pyarrow.int32(), "STRING": pyarrow.string()}
        fields = [("id", kinds["INT"]), ("v", kinds["INT"]), (self.note, kinds["STRING"]), ("_start_lsn", kinds["STRING"]), ("_commit_ts", pyarrow.timestamp("us")),
                  *((name, kinds[kind]) for name, kind in self.extras.items())]
        data = [{"id": key, "v": row["v"], self.note: row["note"], **{name: row[name] for name in self.extras}} for key, row in rows.items()]
        return pyarrow.Table.from_pylist(data, schema=pyarrow.schema(fields))

    def rs_append(self):
        rows = self.new_rows()
        self.say(f"deltalake: append {rows}")
        deltalake.write_deltalake(self.silver, self.rs_table(rows), mode="append")
        self.rows.update(rows)

    def rs_merge(self):
        rows = self.merge_model()
        self.say(f"deltalake: merge {rows}")
        (self.rs().merge(self.rs_table(rows), predicate="t.id = s.id", source_alias="s", target_alias="t")
         .when_matched_update({"v": "s.v"}).when_not_matched_insert_all().execute())
        self.rows.update(rows)

    def rs_delete(self):
        keys = self.some_keys()
        self.say(f"deltalake: delete {keys}")
        self.rs().delete(f"id IN ({', '.join(map(str, keys))})")
        self.forget(keys)

    def rs_optimize(self):
        self.say("deltalake: optimize")
        self.rs().optimize.compact()

    def rs_vacuum(self):
        self.say("deltalake: vacuum")
        self.rs().vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)

    def rs_checkpoint(self):
        self.say("deltalake: checkpoint")
        self.rs().create_checkpoint()

    def rs_add_column(self):
        name, kind = f"x{len(self.extras) + 1}", self.rng.choice(("INT", "STRING"))
        self.say(f"deltalake: add column {name} {kind}")
        self.rs().alter.add_columns([deltalake.Field(name, deltalake.schema.PrimitiveType("integer" if kind == "INT" else "string"), nullable=True)])
        self.add_to_model(name, kind)

    # --- tidelake ---

    def own_apply(self):
        self.change_source()
        self.replicate()

    def own_select(self, rows):
        """A query of all columns in order; those that tidelake adds are NULL."""
        names = [row[0] for row in json.loads(tidelake("table", "schema", self.silver, "--json", check=True).stdout)["rows"]]
        types = {"id": "INTEGER", "v": "INTEGER", self.note: "VARCHAR", "_start_lsn": "VARCHAR", "_commit_ts": "TIMESTAMP",
                 **{name: "INTEGER" if kind == "INT" else "VARCHAR" for name, kind in self.extras.items()}}
        known = [self.called(name) for name in self.names()]
        values = ", ".join("(" + ", ".join(quoted(value) for value in row) + ")" for row in self.literals(rows))
        columns = ", ".join(f'CAST({f"""s."{name}" """ if name in known else "NULL"} AS {types[name]}) AS "{name}"' for name in names)
        return f"SELECT {columns} FROM (VALUES {values}) s({', '.join(chr(34) + name + chr(34) for name in known)})"

    def own_append(self):
        rows = self.new_rows()
        self.say(f"tidelake: append {rows}")
        delta_steps("append", self.silver, self.own_select(rows))
        self.rows.update(rows)

    def own_change(self):
        gone, rows = self.some_keys(), self.new_rows()
        self.say(f"tidelake: rows {gone} go, {rows} come")
        delta_steps("change", self.silver, f"id IN ({', '.join(map(str, gone))})", self.own_select(rows))
        self.forget(gone)
        self.rows.update(rows)

    def own_add_column(self):
        name, kind = f"x{len(self.extras) + 1}", self.rng.choice(("INT", "STRING"))
        self.say(f"tidelake: add column {name} {kind}")
        delta_steps("add-column", self.silver, name, kind)
        self.add_to_model(name, kind)

    def own_command(self, *arguments):
        table = self.rng.choice((self.silver, self.bronze))
        self.say(f"tidelake: table {' '.join(arguments)} on {os.path.basename(os.path.dirname(table))}")
        tidelake("table", arguments[0], table, *arguments[1:], check=True)

    def own_optimize(self):
        self.own_command("optimize")

    def own_vacuum(self):
        self.own_command("vacuum", "--retention", "0s", "--allow-short-retention")

    def own_checkpoint(self):
        self.own_command("checkpoint")

    # --- every reader ---

    def check(self):
        want = sorted(([key, *(row[name] for name in self.names()[1:])] for key, row in self.rows.items()))
        readers = {"tidelake": tidelake_rows, "deltalake": deltalake_rows, "DuckDB": duckdb_rows, "Spark": spark_rows}
        whole = {}
        for name, read in readers.items():
            whole[name] = read(self.silver)
            got = sorted([row[self.called(column)] for column in self.names()] for row in whole[name])
            equal(got, want, f"silver in {name}")
            equal(whole[name], whole["tidelake"], f"all of silver in {name} and tidelake")
        equal(deltalake.DeltaTable(self.silver).version(), tidelake_version(self.silver), "the version in deltalake and tidelake")

    def check_bronze(self):
        own = tidelake_rows(self.bronze)
        equal(len(own), self.bronze_rows, "rows of bronze")
        equal(deltalake_rows(self.bronze), own, "bronze in deltalake and tidelake")
        equal(duckdb_rows(self.bronze), own, "bronze in DuckDB and tidelake")
        equal(spark_rows(self.bronze), own, "bronze in Spark and tidelake")

    def steps(self):
        ours = [self.own_apply] * 4 + [self.own_append, self.own_change, self.own_add_column, self.own_optimize, self.own_vacuum, self.own_checkpoint]
        spark = [self.spark_append, self.spark_merge, self.spark_merge, self.spark_delete, self.spark_update, self.spark_optimize, self.spark_vacuum,
                 self.spark_add_column]
        rs = [self.rs_append, self.rs_merge, self.rs_merge, self.rs_delete, self.rs_optimize, self.rs_vacuum, self.rs_checkpoint, self.rs_add_column]
        return [ours, spark] + ([] if self.vectors or self.mapped else [rs])

    def run(self):
        self.start()
        self.check()
        writers = self.steps()
        for _ in range(STEPS_A_SEED):
            self.rng.choice(self.rng.choice(writers))()
            self.check()
        self.own_apply()
        self.check()
        self.check_bronze()


def spark_text(value):
    return "NULL" if value is None else str(value) if isinstance(value, int) else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def define(seed):
    def case(folder):
        run = Interleaving(folder, seed)
        try:
            run.run()
        except BaseException:
            print(f"# seed {seed}, deletion vectors {run.vectors}, mapped columns {run.mapped}; its steps:", flush=True)
            for number, text in enumerate(run.history):
                print(f"#   {number}. {text}", flush=True)
            raise
        finally:
            run.server.close()
    case.__name__ = (f"writers_in_turn_leave_one_table_for_all_seed_{seed}{'_with_deletion_vectors' if seed & 1 else ''}"
                     f"{'_with_mapped_columns' if seed & 2 else ''}")
    test(case)


if __name__ == "__main__":
    first = int(os.environ.get("TIDELAKE_SEED", "1"))
    count = os.environ.get("TIDELAKE_SEED_COUNT", "1" if "TIDELAKE_SEED" in os.environ else "30" if os.environ.get("INTEROP_ALL") else "4")
    for each in range(first, first + int(count)):
        define(each)
    try:
        status = main()
    finally:
        engines.close()
    sys.exit(status)
