#!/bin/sh
# Creates or updates what Airflow and Storebench need before their start: database tables, the Airflow pool that limits attempts to
# one at a time, and the bucket.
set -eu
airflow db migrate
airflow pools set benchmark 1 "One attempt at a time"
storebench migrate --reader storebench_reader
python - << 'END'
import json, os

from storebench.s3 import s3_client

connection = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_S3"])
extra = connection["extra"]
client = s3_client(extra["endpoint_url"], extra["region_name"], connection["login"], connection["password"])
if extra["bucket"] not in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]:
    client.create_bucket(Bucket=extra["bucket"])
    print(f"made the bucket {extra['bucket']}")
END
