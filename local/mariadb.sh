#!/bin/sh
# MariaDB's server, and what makes its tables: the integration tests start it with its query cache on, and with a password.
set -eu
[ -x /usr/sbin/mariadbd ] && [ -x /usr/bin/my_print_defaults ] || local/install mariadb-server-core mariadb-client-core
