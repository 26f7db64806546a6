#!/bin/sh
# Creates or updates what Airflow and Storebench need before their start: database tables, the Airflow pool that limits attempts to
# one at a time, and the bucket.
set -eu
airflow db migrate
airflow pools set benchmark 1 "One attempt at a time"
storebench migrate --reader storebench_reader
python - << 'END'
import os

from storebench.connection import Connection
from storebench.s3 import client_for

connection = Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"])
client, bucket = client_for(connection), connection.extra["bucket"]
if bucket not in [found["Name"] for found in client.list_buckets()["Buckets"]]:
    client.create_bucket(Bucket=bucket)
    print(f"made the bucket {bucket}")
END
