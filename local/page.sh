#!/bin/sh
# Builds the results page and the report's script: src/storebench/web/page, by the Node.js of requirements/host.txt.
set -eu
page=$STOREBENCH_HOME/page
rm -rf "$page"
mkdir -p "$page"
tar --directory src/storebench/web/page --exclude ./node_modules --exclude ./static --create . | tar --directory "$page" --extract
# Not `npm ci`: a lock that was made with a mirror lacks the packages for other platforms that the mirror lacks, and it refuses
# that. Versions and hashes are the lock's all the same.
local/npm install --no-save --ignore-scripts --cache "$TMPDIR/npm"
local/npm run build
