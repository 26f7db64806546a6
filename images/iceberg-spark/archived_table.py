"""The Iceberg table of archive_classes.py, with a catalog of files in place of a catalog in PostgreSQL."""

from pyspark.sql import DataFrame, SparkSession

CATALOG = "spark.sql.catalog.archived"
SETTINGS = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    CATALOG: "org.apache.iceberg.spark.SparkCatalog",
    f"{CATALOG}.type": "hadoop",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
TABLE = "archived.rows"


def append(frame: DataFrame, folder: str) -> None:
    """Append the rows to the table in this folder, and create the table with its first rows."""
    frame.sparkSession.conf.set(f"{CATALOG}.warehouse", folder)
    if frame.sparkSession.catalog.tableExists(TABLE):
        frame.writeTo(TABLE).append()
    else:
        frame.writeTo(TABLE).using("iceberg").create()


def load(spark: SparkSession, folder: str) -> DataFrame:
    """Open the table in the folder of `append`."""
    return spark.table(TABLE)
