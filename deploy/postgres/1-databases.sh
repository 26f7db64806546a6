#!/bin/sh
# PostgreSQL's image runs this when its volume is new. It makes a database for Airflow, one for the results, and a role that reads the results.
set -eu
psql --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres << 'SQL'
\getenv airflow_password AIRFLOW_DB_PASSWORD
\getenv results_password RESULTS_PASSWORD
\getenv reader_password READER_PASSWORD
CREATE ROLE airflow LOGIN PASSWORD :'airflow_password';
CREATE DATABASE airflow OWNER airflow;
CREATE ROLE storebench LOGIN PASSWORD :'results_password';
CREATE DATABASE storebench OWNER storebench;
-- This role has no database of its own. `storebench migrate` says what it may read.
CREATE ROLE storebench_reader LOGIN PASSWORD :'reader_password';
SQL
