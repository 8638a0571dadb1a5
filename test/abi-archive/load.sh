#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# load.sh CHECK PMIXRUN MODULE FOLDER: a component of an earlier release keeps today's contract, and
# today's library uses it.
set -eu
mkdir -p "$4"
cp "$3" "$4/pmix_mca_tenon_pnet_archived.so"
"$1" "$4/pmix_mca_tenon_pnet_archived.so"
export PMIX_MCA_mca_base_component_path="$4"
seen=$("$2" --mca pnet_archived_number 4 --mca pnet_archived_size 128K sh -c 'echo "$ARCHIVED"')
echo "$seen"
[ "$seen" = '1 4 7 131072 250 2 old 1.2.3' ]
