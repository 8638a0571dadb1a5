#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bad.sh CHECK MODULE RULE FOLDER: CHECK finds that MODULE breaks RULE, and says so with its exit
# status; RULE none: it finds nothing. The file's name must be the component's: a copy in FOLDER.
rc=0
mkdir -p "$4/tmp" && cp "$2" "$4/pmix_mca_tenon_pnet_bad.so" || exit 1
# A rule that is broken ends its test before that has removed its folder.
out=$(TMPDIR=$4/tmp "$1" "$4/pmix_mca_tenon_pnet_bad.so" 2>&1) || rc=$?
rm -rf "$4/tmp"
echo "$out"
[ $rc != 77 ] || exit 77
if [ "$3" = none ]; then
    [ $rc = 0 ] && echo "$out" | grep -q '^pass' && ! echo "$out" | grep -q '^fail'
else
    [ $rc = 1 ] && echo "$out" | grep -q "^fail $3: ."
fi
