#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test.sh BINDIR COMPONENT.so: tests the contract, and the variable in a job.
set -eu
bin=$1 component=$(realpath "$2")
export PMIX_MCA_mca_base_component_path=${component%/*}

if [ -x "$bin/pmix_component_check" ]; then "$bin/pmix_component_check" "$component"; fi
seen=$("$bin/pmixrun" --mca pnet_hello_variable GREETING -n 2 sh -c 'echo "token $GREETING"' | sort -u)
echo "$seen"
echo "$seen" | grep -Eqx 'token [0-9a-f]{16}' # one line: both ranks have the same
