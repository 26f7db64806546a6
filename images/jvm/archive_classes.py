"""Load the classes of a driver and an executor once, during the image's build, to write the JVM's class data archive.

A JVM that starts with the archive (-XX:SharedArchiveFile) needs about half the time to start.
usage: archive_classes.py ARCHIVE
"""

import os
import sys
import tempfile

import pandas
from archived_table import SETTINGS, append, load
from pyspark.sql import SparkSession

# The hosts file may lack the build's host name.
os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
settings = {
    "spark.ui.enabled": "false",
    # Each class is loaded once: more tasks or better compiled code would load no further classes.
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:ArchiveClassesAtExit={sys.argv[1]}",
    **SETTINGS,
}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
with tempfile.TemporaryDirectory() as folder:
    frame = spark.createDataFrame(pandas.DataFrame({"text": ["a", "b"], "number": [1, 2]}))
    for _ in range(2):
        append(frame, folder)
    table = load(spark, folder)
    table.foreach(lambda row: None)
    table.write.format("noop").mode("overwrite").save()
    assert table.count() == 4
# The JVM writes the archive at its regular exit.
driver = spark.sparkContext._gateway.proc
spark.stop()
driver.stdin.close()
driver.wait()
