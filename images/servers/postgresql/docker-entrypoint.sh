#!/bin/sh
# Starts PostgreSQL as the publisher's image does: in an empty data folder, it creates the superuser POSTGRES_USER with the password
# POSTGRES_PASSWORD, who logs in with it over the network, and the database POSTGRES_DB. POSTGRES_INITDB_ARGS adds options of initdb.
set -eu
[ "${1:-postgres}" = postgres ] || exec "$@"
[ $# -eq 0 ] || shift
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}
case $database in
    *[!a-z0-9_]*) echo "POSTGRES_DB has to be a name of small letters, digits and _" >&2; exit 1 ;;
esac
if [ ! -e "$PGDATA/PG_VERSION" ]; then
    [ -n "${POSTGRES_PASSWORD:-}" ] || { echo "POSTGRES_PASSWORD has to be a password" >&2; exit 1; }
    mkdir -p "$(dirname "$PGDATA")"
    new=$PGDATA.new
    rm -rf "$new" "$PGDATA"  # remains of an interrupted start
    (umask 077 && printf '%s\n' "$POSTGRES_PASSWORD" > "$new.password")
    # shellcheck disable=SC2086 # a list of options
    initdb --pgdata="$new" --username="$user" --pwfile="$new.password" --auth-local=trust --auth-host=scram-sha-256 \
        ${POSTGRES_INITDB_ARGS:-} > /dev/null
    rm "$new.password"
    echo 'host all all all scram-sha-256' >> "$new/pg_hba.conf"
    [ "$database" = postgres ] || echo "CREATE DATABASE $database" | postgres --single -D "$new" postgres > /dev/null
    mv "$new" "$PGDATA"
fi
exec postgres -c listen_addresses='*' "$@"
