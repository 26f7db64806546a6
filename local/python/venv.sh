#!/bin/sh
# Creates the environment of Airflow, the command line and the tests, with exactly the packages in requirements/.
set -eu
venv=$STOREBENCH_HOME/venv
unfinished=$venv.unfinished
export VIRTUAL_ENV="$venv"
# A partly installed package would look complete: begin again, with the packages that are already downloaded.
if [ -e "$unfinished" ] || [ ! -x "$venv/bin/python" ]; then rm -rf "$venv"; fi
touch "$unfinished"
# The environment's pip runs rustc for its version, and rustup then writes settings: keep them out of the user's home.
export RUSTUP_HOME="$TMPDIR/rustup"
[ -x "$venv/bin/python" ] || /usr/bin/python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --require-hashes --requirement local/python/uv.txt
# uv removes packages that the file does not name, including itself: call a copy outside of the environment.
mkdir -p "$STOREBENCH_HOME/bin"
cp "$venv/bin/uv" "$STOREBENCH_HOME/bin/.uv"
mv "$STOREBENCH_HOME/bin/.uv" "$STOREBENCH_HOME/bin/uv"
"$STOREBENCH_HOME/bin/uv" pip sync --require-hashes --compile-bytecode requirements/host.txt
rm -rf "$UV_CACHE_DIR" "$unfinished"
