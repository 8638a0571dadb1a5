#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bad.sh CHECK MODULE RULE FOLDER: exits 0 if CHECK reports that MODULE breaks RULE. RULE none: exits 0
# if CHECK reports nothing. FOLDER gets a copy of MODULE under the name of the component.
rc=0
mkdir -p "$4/tmp" && cp "$2" "$4/pmix_mca_tenon_pnet_bad.so" || exit 1
# A failed rule ends its test before the test removes its folder.
out=$(TMPDIR=$4/tmp "$1" "$4/pmix_mca_tenon_pnet_bad.so" 2>&1) || rc=$?
rm -rf "$4/tmp"
echo "$out"
[ $rc != 77 ] || exit 77
if [ "$3" = none ]; then
    [ $rc = 0 ] && echo "$out" | grep -q '^pass' && ! echo "$out" | grep -q '^fail'
else
    [ $rc = 1 ] && echo "$out" | grep -q "^fail $3: ."
fi
