#!/bin/sh
# Installs PgBouncer. An integration test connects to the results database through PgBouncer.
set -eu
[ -x /usr/sbin/pgbouncer ] || local/install pgbouncer
