#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures calls beside another library and beside the kernel's minimum; see --help.
exec python3 "$(dirname "$0")/../test/bench/bench.py" "$@"
