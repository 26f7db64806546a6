"""The Delta table of archive_classes.py."""

from pyspark.sql import DataFrame, SparkSession

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def append(frame: DataFrame, folder: str) -> None:
    """Append the rows to the table in this folder."""
    frame.write.format("delta").mode("append").save(f"{folder}/table")


def load(spark: SparkSession, folder: str) -> DataFrame:
    """Open the table in this folder."""
    return spark.read.format("delta").load(f"{folder}/table")
