#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test.sh BINDIR COMPONENT.so INSTANT-ON: the contract without and with a fabric, then a job of four processes.
set -eu
bin=$1 component=$(realpath "$2") program=$(realpath "$3")
example=$(dirname "$(realpath "$0")")/fabric.json
export PMIX_MCA_mca_base_component_path="${component%/*}"

if [ -x "$bin/pmix_component_check" ]; then
    "$bin/pmix_component_check" "$component"
    "$bin/pmix_component_check" "$component" "file=$example"
fi

fabric=$(mktemp)
trap 'rm -f "$fabric"' EXIT
sed "s/\"n\[0-7]\"/\"$(uname -n)\"/" "$example" >"$fabric"
seen=$("$bin/pmixrun" --mca pnet_sim_file "$fabric" -n 4 "$program")
echo "$seen"
[ "$(echo "$seen" | grep -cE '^[0-3]: rank [0-3] on .*  sim://')" = 16 ] # each process has the addresses of all
