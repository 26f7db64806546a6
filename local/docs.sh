#!/bin/sh
# Creates the environment of MkDocs, which builds docs/ as a site, with exactly the packages in requirements/docs.txt.
set -eu
venv=$STOREBENCH_HOME/docs/venv
rm -rf "$venv"
/usr/bin/python3 -m venv --without-pip "$venv"
"$STOREBENCH_HOME/bin/uv" pip sync --no-cache --python "$venv/bin/python" --require-hashes requirements/docs.txt
