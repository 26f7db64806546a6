#!/bin/sh
# Creates the file tree of PostgreSQL 18 with DocumentDB. Both embedded servers run in this tree by chroot.
# usage: root.sh TARGET
#
# Of Debian's releases, only forky has both. This script unpacks the packages without installation, and does the few steps of their
# installation scripts itself.
set -eu
target=$1
local/forky "$target" dash,coreutils,postgresql-18-documentdb
cd "$target"
for dir in bin sbin lib lib64; do [ -e $dir ] || ln -s usr/$dir $dir; done
[ -e bin/sh ] || ln -s dash bin/sh
ln -sf postgis-3.control usr/share/postgresql/18/extension/postgis.control
# A user ID of its own, so that no user of the host owns the data.
echo 'postgres:x:64932:64932::/:/bin/sh' > etc/passwd
echo 'postgres:x:64932:' > etc/group
mkdir -p data/results data/documentdb tmp dev/shm
chmod 1777 tmp
rm -rf usr/share/doc usr/share/man usr/share/locale var/cache var/lib/apt
