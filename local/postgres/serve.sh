# Runs one PostgreSQL server with a user and a root folder of its own. It first creates the server's cluster, if it is missing.
# usage: serve.sh NAME OPTION...
set -eu
export LC_ALL=C.UTF-8 TZ=UTC
bin=/usr/lib/postgresql/18/bin
sockets=/data/$1
data=$sockets/cluster
shift
if [ ! -e "$data" ]; then
    rm -rf "$data.new"
    # Only root and this user may enter the socket's folder. Network connections need a password.
    $bin/initdb --pgdata="$data.new" --username=postgres --auth-local=trust --auth-host=scram-sha-256 \
        --no-locale --encoding=UTF8
    mv "$data.new" "$data"
fi
rm -f "$data/postmaster.pid"  # remains of a killed server; the stack does not start while a server runs
exec $bin/postgres -D "$data" -c unix_socket_directories="$sockets" "$@"
