#!/bin/sh
# Starts MariaDB as the publisher's image does: in an empty data folder it makes the system's tables, and an account that may do everything.
# Pods of the namespace reach it without a password.
set -eu
[ "${1:-mariadbd}" = mariadbd ] || exec "$@"
[ $# -eq 0 ] || shift
data=/var/lib/mysql
for option in "$@"; do
    case $option in --datadir=*) data=${option#--datadir=} ;; esac
done
if [ ! -e "$data/.complete" ]; then
    rm -rf "${data:?}/"*  # of a start that was interrupted
    mkdir -p "$data"
    mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db > /dev/null
    cat > "$data/accounts.sql" <<'END'
CREATE USER IF NOT EXISTS root@'%';
GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;
END
    touch "$data/.complete"
fi
exec mariadbd --init-file="$data/accounts.sql" "$@"
