#!/bin/sh
# MariaDB's server, which the integration tests start with its query cache on.
set -eu
[ -x /usr/sbin/mariadbd ] || local/install mariadb-server-core
