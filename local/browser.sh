#!/bin/sh
# Chromium, in which the tests look at the results page.
set -eu
[ -x /usr/bin/chromium ] || local/install chromium fonts-dejavu-core
