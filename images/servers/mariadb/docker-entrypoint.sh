#!/bin/sh
# Starts MariaDB as the publisher's image does: in an empty data folder, it creates the system tables, and sets the password of root to
# MARIADB_ROOT_PASSWORD, for local and remote logins.
set -eu
[ "${1:-mariadbd}" = mariadbd ] || exec "$@"
[ $# -eq 0 ] || shift
case ${MARIADB_ROOT_PASSWORD:-} in
    '' | *[!A-Za-z0-9]*) echo "MARIADB_ROOT_PASSWORD has to be a password of letters and digits" >&2; exit 1 ;;
esac
data=/var/lib/mysql
for option in "$@"; do
    case $option in --datadir=*) data=${option#--datadir=} ;; esac
done
if [ ! -e "$data/.complete" ]; then
    rm -rf "${data:?}/"*  # remains of an interrupted start
    mkdir -p "$data"
    mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db > /dev/null
    touch "$data/.complete"
fi
# The server executes the file before it listens, a statement per line. The deleted accounts have no password.
rm -f "$data/accounts.sql"
(umask 077 && cat > "$data/accounts.sql") <<END
DELETE FROM mysql.global_priv WHERE User IN ('', 'root') AND Host <> 'localhost';
FLUSH PRIVILEGES;
CREATE USER root@'%' IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';
GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;
ALTER USER root@localhost IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';
END
exec mariadbd --init-file="$data/accounts.sql" "$@"
