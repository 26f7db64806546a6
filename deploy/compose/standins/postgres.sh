# If there is no cluster, makes one and runs what is in /docker-entrypoint-initdb.d. Then it starts the server.
# usage: docker-entrypoint.sh postgres OPTION...
set -eu
export POSTGRES_USER="${POSTGRES_USER:-postgres}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    echo "$POSTGRES_PASSWORD" > /tmp/password
    initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 \
        --no-locale --encoding=UTF8
    rm /tmp/password
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    pg_ctl --pgdata="$PGDATA" --options="-c listen_addresses=''" --wait start
    [ "$POSTGRES_USER" = postgres ] || createdb --username="$POSTGRES_USER" "$POSTGRES_USER"
    for file in /docker-entrypoint-initdb.d/*; do
        echo "running $file"
        case $file in
            *.sh) "$file" ;;
            *.sql) psql --quiet --set ON_ERROR_STOP=1 --username="$POSTGRES_USER" --no-password --file="$file" ;;
        esac
    done
    pg_ctl --pgdata="$PGDATA" --mode=fast --wait stop
fi
exec "$@" -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
