#!/bin/sh
# Installs Chromium, in which the tests open the results page.
set -eu
[ -x /usr/bin/chromium ] || local/install chromium fonts-dejavu-core
