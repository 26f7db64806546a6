#!/bin/sh
# PgBouncer, behind which an integration test puts the results database.
set -eu
[ -x /usr/sbin/pgbouncer ] || local/install pgbouncer
