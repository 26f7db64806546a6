#!/bin/sh
# Makes the environment that Airflow, the command line and the tests run in: exactly the files that requirements/ names.
set -eu
venv=$STOREBENCH_HOME/venv
unfinished=$venv.unfinished
export VIRTUAL_ENV="$venv"
# A package that is half there would be taken for whole: begin again, with what is already downloaded.
if [ -e "$unfinished" ] || [ ! -x "$venv/bin/python" ]; then rm -rf "$venv"; fi
touch "$unfinished"
# pip, which comes with the environment, asks rustc for its version, and rustup then writes settings: not into the user's home.
export RUSTUP_HOME="$TMPDIR/rustup"
[ -x "$venv/bin/python" ] || /usr/bin/python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --require-hashes --requirement local/python/uv.txt
# uv removes what the file does not name, itself included: call it from where it cannot.
mkdir -p "$STOREBENCH_HOME/bin"
cp "$venv/bin/uv" "$STOREBENCH_HOME/bin/.uv"
mv "$STOREBENCH_HOME/bin/.uv" "$STOREBENCH_HOME/bin/uv"
"$STOREBENCH_HOME/bin/uv" pip sync --require-hashes --compile-bytecode requirements/host.txt
rm -rf "$UV_CACHE_DIR" "$unfinished"
