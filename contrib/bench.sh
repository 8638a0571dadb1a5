#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How fast calls are, beside another library and beside what the kernel needs; --help says more.
exec python3 "$(dirname "$0")/../test/bench/bench.py" "$@"
