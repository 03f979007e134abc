"""Tables whose rows Spark deleted by deletion vectors: tidelake reads what Spark reads, row by row, at every version."""
import json
import os
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import *  # noqa: E402,F403

from spark_session import open_session  # noqa: E402

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def z85_encode(data):
    text = ""
    for at in range(0, len(data), 4):
        number = int.from_bytes(data[at:at + 4].ljust(4, b"\0"), "big")
        text += "".join(Z85[number // 85 ** power % 85] for power in range(4, -1, -1))
    return text


def rows_of(*arguments):
    """What a tidelake command prints, a list a row."""
    return json.loads(tidelake("table", *arguments, "--json", check=True).stdout)["rows"]


def make_table(session, path, rows, files, partitioned=False):
    frame = session.range(0, rows, 1, files).selectExpr("id", "concat('name ', id) AS name", "id % 3 AS part")
    writer = frame.write.format("delta").option("delta.enableDeletionVectors", "true").option("delta.checkpointInterval", "3")
    (writer.partitionBy("part") if partitioned else writer).save(path)


def actions(path):
    for commit in sorted(pathlib.Path(path, "_delta_log").glob("*.json")):
        for line in commit.read_text(encoding="utf-8").splitlines():
            yield commit, json.loads(line)


def vectors(path):
    return [action["add"]["deletionVector"] for _, action in actions(path) if action.get("add", {}).get("deletionVector")]


def check_rows(spark, path, version=None):
    """The rows, their number by count(*) and by the list of files."""
    reader = spark.read.format("delta")
    frame = (reader if version is None else reader.option("versionAsOf", version)).load(path)
    want = sorted([row["id"], row["name"], row["part"]] for row in frame.select("id", "name", "part").collect())
    at = () if version is None else ("--version", str(version))
    equal(rows_of("sql", path, "SELECT id, name, part FROM t ORDER BY id, name", *at), want, f"{path}, version {version}: rows")
    equal(rows_of("sql", path, "SELECT count(*) FROM t", *at), [[len(want)]], f"{path}, version {version}: count(*)")
    equal(sum(row[2] for row in rows_of("files", path, *at)), len(want), f"{path}, version {version}: rows of the files")
    equal(len(rows_of("cat", path, *at)), len(want), f"{path}, version {version}: table cat")


def inline_vectors(path):
    """The vectors of a table moved from their files into the log, removes and adds alike."""
    for commit in sorted({commit for commit, _ in actions(path)}):
        lines = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            for kind in ("add", "remove"):
                vector = line.get(kind, {}).get("deletionVector")
                if not vector:
                    continue
                equal(vector["storageType"], "u", "Spark's vectors lie in files")
                uuid = b"".join(sum(Z85.index(c) * 85 ** (4 - i) for i, c in enumerate(vector["pathOrInlineDv"][-20:][at:at + 5])).to_bytes(4, "big")
                                for at in range(0, 20, 5)).hex()
                name = f"deletion_vector_{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}.bin"
                whole = pathlib.Path(path, vector["pathOrInlineDv"][:-20], name).read_bytes()
                size, = struct.unpack_from(">I", whole, vector["offset"])
                data = whole[vector["offset"] + 4:vector["offset"] + 4 + size]
                vector.update(storageType="i", pathOrInlineDv=z85_encode(data), sizeInBytes=size)
                del vector["offset"]
        commit.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        commit.with_name(f".{commit.name}.crc").unlink(missing_ok=True)
    for other in pathlib.Path(path).glob("_delta_log/*.crc"):
        other.unlink()


@test
def rows_that_spark_deleted_stay_deleted(folder):
    spark = open_session()
    sql = spark.sql
    try:
        many, few, parted = (str(folder / name) for name in ("many", "few", "parted"))
        make_table(spark, many, 20000, 2)
        steps = ("DELETE FROM {} WHERE id % 7 = 0", "DELETE FROM {} WHERE id BETWEEN 3000 AND 9000", "UPDATE {} SET name = 'changed' WHERE id % 101 = 5",
                 "DELETE FROM {} WHERE id = 19998", "DELETE FROM {} WHERE name = 'changed' AND id < 500")
        for step in steps:
            sql(step.format(f"delta.`{many}`"))
            check_rows(spark, many)
        for version in range(len(steps) + 1):
            check_rows(spark, many, version)
        equal(os.path.exists(f"{many}/_delta_log/_last_checkpoint"), True, "a checkpoint with vectors was written")
        equal(len(vectors(many)) >= 7, True, "vectors replaced vectors")

        make_table(spark, parted, 900, 1, partitioned=True)
        sql(f"DELETE FROM delta.`{parted}` WHERE id % 5 = 0 AND part < 2")
        check_rows(spark, parted)

        make_table(spark, few, 60, 1)
        sql(f"DELETE FROM delta.`{few}` WHERE id IN (3, 4, 7)")
        sql(f"DELETE FROM delta.`{few}` WHERE id IN (0, 59)")
        before = rows_of("cat", few)
        inline_vectors(few)
        equal({vector["storageType"] for vector in vectors(few)}, {"i"}, "the vectors lie in the log")
        spark.catalog.clearCache()
        equal(rows_of("cat", few), before, "inline vectors")
        equal(len(before), 55, "rows left")
        check_rows(spark, few, 1)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
