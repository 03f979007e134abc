"""The Spark session of these tests; it takes seconds to start."""
import glob
import os


def open_session():
    from pyspark.sql import SparkSession
    jars = ":".join(glob.glob(os.environ["TIDELAKE_JARS"] + "/*.jar"))
    return (SparkSession.builder.master("local[2]").config("spark.driver.extraClassPath", jars)
            .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
            .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
            .config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.databricks.delta.snapshotPartitions", "2").config("spark.sql.shuffle.partitions", "2").getOrCreate())
