"""Measure the study's write loop in a plain script, without Airflow, Kubernetes and Storebench.

The script reads the connections from the environment, and prints the seconds in `insert_many`. It imports no code of the project, so that
it cannot share a mistake with the project. Run by bench.overhead.
"""

import csv
import itertools
import json
import os
import sys
import time

import boto3
import pymongo
import smart_open


def main() -> None:
    uri, batch = sys.argv[1], int(sys.argv[2])
    s3 = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_S3"])
    client = boto3.client(
        "s3",
        endpoint_url=s3["extra"]["endpoint_url"],
        region_name="us-east-1",
        aws_access_key_id=s3["login"],
        aws_secret_access_key=s3["password"],
    )
    mongodb = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_MONGODB"])
    server: pymongo.MongoClient[dict[str, str]] = pymongo.MongoClient(
        mongodb["host"],
        mongodb["port"],
        username=mongodb["login"],
        password=mongodb["password"],
        journal=True,
    )
    collection = server[mongodb["schema"]]["storebench_bench_bare"]
    collection.drop()
    seconds = 0.0
    with smart_open.open(uri, encoding="utf-8", newline="", transport_params={"client": client}) as stream:
        reader = csv.DictReader(stream)
        while part := list(itertools.islice(reader, batch)):
            began = time.perf_counter()
            collection.insert_many(part)
            seconds += time.perf_counter() - began
    collection.drop()
    print(seconds)


main()
