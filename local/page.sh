#!/bin/sh
# Builds the results page and the report's script from src/storebench/web/page, with the Node.js of requirements/host.txt.
set -eu
page=$STOREBENCH_HOME/page
rm -rf "$page"
mkdir -p "$page"
tar --directory src/storebench/web/page --exclude ./node_modules --exclude ./static --create . | tar --directory "$page" --extract
# `npm ci` refuses a lock file from a mirror that lacks the packages for other platforms. `npm install` uses the lock file's versions and
# hashes, too.
local/npm install --no-save --ignore-scripts --cache "$TMPDIR/npm"
local/npm run build
