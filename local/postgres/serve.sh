# Runs one PostgreSQL server, as its own user and inside its own root; makes its cluster first where there is none.
# usage: serve.sh NAME OPTION...
set -eu
export LC_ALL=C.UTF-8 TZ=UTC
bin=/usr/lib/postgresql/18/bin
sockets=/data/$1
data=$sockets/cluster
shift
if [ ! -e "$data" ]; then
    rm -rf "$data.new"
    # The socket's folder is closed to all but root and this user; over the network a password is asked for.
    $bin/initdb --pgdata="$data.new" --username=postgres --auth-local=trust --auth-host=scram-sha-256 \
        --no-locale --encoding=UTF8
    mv "$data.new" "$data"
fi
rm -f "$data/postmaster.pid"  # of a server that was killed; a living one would have stopped the stack from starting
exec $bin/postgres -D "$data" -c unix_socket_directories="$sockets" "$@"
