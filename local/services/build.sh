#!/bin/sh
# Builds what servers of a run need on the embedded cluster: its DNS, and what makes volumes. They share most of their packages.
set -eu
local/go-build services github.com/rancher/local-path-provisioner local-path-provisioner
local/go-build services . coredns
