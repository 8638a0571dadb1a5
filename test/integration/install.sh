#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The installed tree. It works where it was installed, and after it was moved as a whole. A program builds
# with its headers and its pmix.pc, and finds library and components there.
. "$(dirname "$0")/lib.sh"
suite_begin install "$@"

names_and_links() {
    install_tree
    [ -L "$TREE_LIB/libpmix.so" ] || fail "libpmix.so is no link"
    is_file "$TREE_LIB/libpmix.so"{,.2} ||
        fail "libpmix.so is not libpmix.so.2"
    readelf -d "$TREE_LIB/libpmix.so.2" | grep -Eq 'SONAME.*\[libpmix\.so\.2\]' || fail "wrong SONAME"
    rm -r "$TMPDIR/dest"
}

build_client() {
    local flags
    flags=$(pkg-config --define-variable="prefix=$TREE" --cflags --libs pmix)
    # shellcheck disable=SC2086
    "${COMPILER[@]}" -std=gnu11 -D_GNU_SOURCE -w "${SANITIZE_FLAGS[@]}" \
        -o "$TMPDIR/client" "$HERE"/clients/*.c $flags -lpthread || fail "a client does not build: $flags"
}

exchange() { # exchange LIBRARY PMIXRUN_OPTION...: two clients with that library
    local lib=$1
    shift
    well "$TREE/bin/pmixrun" "$@" -n 2 env LD_LIBRARY_PATH="$(dirname "$lib")" "$TMPDIR/client" exchange
    lines 2 '^OK exchange [01]$' "$OUT"
    lines 0 . "$ERR"
    used 1 pmixrun "$TREE_LIB/libpmix.so.2" 2 client "$lib"
    rm -f "$RECORD"/*
}

# Open MPI 5 includes this header and reads the names that it declares. The program finds the
# library by the run path that pmix.pc gives.
foreign_program() {
    local flags names
    flags=$(pkg-config --define-variable="prefix=$TREE" --cflags --libs pmix)
    # shellcheck disable=SC2086
    "${COMPILER[@]}" "${SANITIZE_FLAGS[@]}" -x c -o "$TMPDIR/foreign" - $flags <<'EOF' || fail "does not build: $flags"
#include "src/include/pmix_frameworks.h"
#include <pmix.h>
#include <stdio.h>
int main(void)
{
    for (int i = 0; pmix_framework_names[i]; i++)
        printf("%s ", pmix_framework_names[i]);
    return PMIx_Initialized();
}
EOF
    names=$(run 60 env -u LD_LIBRARY_PATH "$TMPDIR/foreign")
    same "ptl gds psec pfexec pnet pcleanup piof plog " "$names" "names of frameworks"
    used 1 foreign "$TREE_LIB/libpmix.so.2"
    rm -f "$RECORD"/* "$TMPDIR/foreign"
}

runs_here() {
    build_client
    exchange "$TREE_LIB/libpmix.so.2"
    well "$TREE/bin/pmixrun" -n 2 true # pmixrun finds its own library
    used 1 pmixrun "$TREE_LIB/libpmix.so.2"
    rm -f "$RECORD"/*
    LD_LIBRARY_PATH=$TREE_LIB well "$TMPDIR/client" single parent # a singleton finds its pmixrun
    lines 1 '^OK single 0$' "$OUT"
    used 1 pmixrun "$TREE_LIB/libpmix.so.2" 3 client "$TREE_LIB/libpmix.so.2"
    rm -f "$RECORD"/*
}

# The installed library uses its own components, not those of the build folder.
own_components() {
    [ -d "$TREE_LIB/pmix" ] || return 0 # all are built in
    mv "$TREE_LIB/pmix" "$TREE_LIB/away"
    rc_of 1 run 60 "$TREE/bin/pmixrun" -n 1 true 2>"$ERR"
    lines 1 'no component for framework pfexec' "$ERR"
}

# A drop-in is one file: the library has all required components inside.
alone() {
    mkdir "$TMPDIR/alone"
    cp "$TREE_LIB/libpmix.so.2" "$TMPDIR/alone"
    exchange "$TMPDIR/alone/libpmix.so.2"
    mkdir "$TMPDIR/work"
    LD_LIBRARY_PATH=$TMPDIR/alone CLEANUP_DIR=$TMPDIR/work \
        well "$PROGRAMS/scenario" finalized "$PROGRAMS/client" # the server removes registered files
    lines 1 '^OK finalized$' "$OUT"
    rmdir "$TMPDIR/work"
    rm -f "$RECORD"/*
}

# Components of both libraries in one folder: neither library logs a line about the other's.
mixed() {
    local theirs lib
    has_loaded || return 0
    theirs=$(find /usr/lib/*/pmix2/lib -name libpmix.so.2 2>/dev/null | head -1)
    [ -n "$theirs" ] || skip "no other libpmix.so.2 is installed"
    install_tree
    build_client
    mkdir "$TMPDIR/both"
    cp "$TREE_LIB"/pmix/*.so "$(dirname "$theirs")"/pmix/*.so "$TMPDIR/both"
    export PMIX_MCA_mca_base_component_show_load_errors=1
    for lib in "$theirs" "$TREE_LIB/libpmix.so.2"; do
        exchange "$lib" --mca mca_base_component_path "$TMPDIR/both"
    done
    rm -r "$TMPDIR/dest" "$TMPDIR/both" "$TMPDIR/client"
}
has_loaded() { [ -n "$(find "$BUILD/core/pmix" -name '*.so' 2>/dev/null)" ]; }

# pmix_info shows the installed files, in their present folder.
shows_its_own_files() {
    local info=$TREE/bin/pmix_info
    local -x HOME=$TMPDIR PMIX_SYSCONFDIR=$TMPDIR
    same "$(readlink -f "$TREE_LIB")" "$(run 60 "$info" --path libdir)" "libdir"
    same "$(readlink -f "$TREE")" "$(run 60 "$info" --path prefix)" "prefix"
    well "$info" --check
    lines 1 '^configuration and components are all right$' "$OUT"
    well "$info" --parsable
    [ ! -d "$TREE_LIB/pmix" ] ||
        lines "$(find "$TREE_LIB/pmix" -name 'pmix_*.so' | wc -l)" \
            "^component:.*:file:$(readlink -f "$TREE_LIB")/pmix/pmix_" "$OUT"
    rm -f "$RECORD"/*
}

installed_and_moved() {
    install_tree
    runs_here
    alone
    shows_its_own_files
    move_tree
    runs_here
    foreign_program
    shows_its_own_files
    own_components
    rm -r "$TMPDIR/moved" "$TMPDIR/alone" "$TMPDIR/client"
}

t installed_names_and_links names_and_links
t one_folder_with_components_of_another mixed
t installed_tree_runs_and_can_be_moved installed_and_moved
suite_end
