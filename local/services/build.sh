#!/bin/sh
# Builds the cluster services for servers that runs provision: the DNS and the volume provisioner. Both share most of their packages.
set -eu
local/go-build services github.com/rancher/local-path-provisioner local-path-provisioner
local/go-build services . coredns
