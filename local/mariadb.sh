#!/bin/sh
# Installs MariaDB's server and the program that creates its tables. The integration tests start the server with a query cache and a password.
set -eu
[ -x /usr/sbin/mariadbd ] && [ -x /usr/bin/my_print_defaults ] || local/install mariadb-server-core mariadb-client-core
