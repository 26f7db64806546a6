#!/bin/sh
# Run by PostgreSQL's image when its volume is new: a database for Airflow, one for the results, and a role that reads these.
set -eu
psql --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres << 'SQL'
\getenv airflow_password AIRFLOW_DB_PASSWORD
\getenv results_password RESULTS_PASSWORD
\getenv reader_password READER_PASSWORD
CREATE ROLE airflow LOGIN PASSWORD :'airflow_password';
CREATE DATABASE airflow OWNER airflow;
CREATE ROLE storebench LOGIN PASSWORD :'results_password';
CREATE DATABASE storebench OWNER storebench;
-- It has no database of its own, and may read what `storebench migrate` says.
CREATE ROLE storebench_reader LOGIN PASSWORD :'reader_password';
SQL
