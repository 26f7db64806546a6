#!/bin/sh
# Chromium, in which the tests look at the results page.
set -eu
[ ! -x /usr/bin/chromium ] || exit 0
[ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] || {
    echo "Missing: Chromium. On Debian: apt-get install chromium" >&2
    exit 1
}
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet
apt-get install --yes --no-install-recommends chromium fonts-dejavu-core
