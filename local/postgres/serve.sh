# Runs one PostgreSQL server, as its own user and inside its own root. It makes the server's cluster first, if there is none.
# usage: serve.sh NAME OPTION...
set -eu
export LC_ALL=C.UTF-8 TZ=UTC
bin=/usr/lib/postgresql/18/bin
sockets=/data/$1
data=$sockets/cluster
shift
if [ ! -e "$data" ]; then
    rm -rf "$data.new"
    # Only root and this user may enter the socket's folder. Over the network the server asks for a password.
    $bin/initdb --pgdata="$data.new" --username=postgres --auth-local=trust --auth-host=scram-sha-256 \
        --no-locale --encoding=UTF8
    mv "$data.new" "$data"
fi
rm -f "$data/postmaster.pid"  # left by a server that was killed; with a living one the stack would not have started
exec $bin/postgres -D "$data" -c unix_socket_directories="$sockets" "$@"
