# FerretDB on a PostgreSQL with DocumentDB, both in this container.
set -eu
export LC_ALL=C.UTF-8 PGHOST=/data/db PGUSER=postgres PGDATABASE=postgres
sh /serve.sh db -c listen_addresses= \
    -c shared_preload_libraries=pg_cron,pg_documentdb_core,pg_documentdb -c cron.database_name=postgres -c cron.host=/data/db \
    -c documentdb.localhost_connection_string=host=/data/db -c documentdb.maxWriteBatchSize=100000 \
    -c documentdb.defaultCursorExpiryTimeLimitSeconds=600 -c shared_buffers=256MB &
until pg_isready --quiet; do sleep 0.2; done
run() { psql --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"; }
run --command='CREATE EXTENSION IF NOT EXISTS documentdb CASCADE'
if [ -z "$(run --command="SELECT 1 FROM pg_roles WHERE rolname = '$MONGO_INITDB_ROOT_USERNAME'")" ]; then
    run << SQL
SELECT documentdb_api.create_user('{"createUser": "$MONGO_INITDB_ROOT_USERNAME", "pwd": "$MONGO_INITDB_ROOT_PASSWORD", "roles":
    [{"role": "clusterAdmin", "db": "admin"}, {"role": "readWriteAnyDatabase", "db": "admin"}]}');
SQL
fi
exec ferretdb --postgresql-url="postgres://postgres@/postgres?host=/data/db" --listen-addr=:27017 --state-dir=/tmp --telemetry=disable
