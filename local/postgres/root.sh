#!/bin/sh
# Makes the file tree of PostgreSQL 18 with DocumentDB, from which both embedded servers run by chroot.
# usage: root.sh TARGET
#
# Debian has the two together only in forky. Packages are unpacked, not installed: the few things that their scripts would do are
# done here.
set -eu
target=$1
local/forky "$target" dash,coreutils,postgresql-18-documentdb
cd "$target"
for dir in bin sbin lib lib64; do [ -e $dir ] || ln -s usr/$dir $dir; done
[ -e bin/sh ] || ln -s dash bin/sh
ln -sf postgis-3.control usr/share/postgresql/18/extension/postgis.control
# An id of its own: no user of the host should find that the data is theirs.
echo 'postgres:x:64932:64932::/:/bin/sh' > etc/passwd
echo 'postgres:x:64932:' > etc/group
mkdir -p data/results data/documentdb tmp dev/shm
chmod 1777 tmp
rm -rf usr/share/doc usr/share/man usr/share/locale var/cache var/lib/apt
