#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What gets installed: it runs from where it was put, and from where it was moved as a whole; a
# program is built with its headers and its pmix.pc, and finds library and components there.
. "$(dirname "$0")/lib.sh"
suite_begin install "$@"

# The installed tree in TREE, its library's folder in TREE_LIB.
install_tree() {
    has meson || skip "no meson"
    meson install -C "$BUILD" --no-rebuild --quiet --destdir "$TMPDIR/first" >"$LOG.install" 2>&1 ||
        fail "meson install: $(tail -1 "$LOG.install")"
    TREE=$(dirname "$(dirname "$(find "$TMPDIR/first" -path '*/bin/pmixrun')")")
    [ -x "$TREE/bin/pmixrun" ] || fail "no bin/pmixrun is installed"
}

find_library() {
    TREE_LIB=$(dirname "$(find "$TREE" -name libpmix.so.2)")
    [ -f "$TREE_LIB/libpmix.so.2" ] || fail "no libpmix.so.2 is installed"
}

names_and_links() {
    install_tree
    find_library
    [ -L "$TREE_LIB/libpmix.so" ] || fail "libpmix.so is no link"
    is_file "$TREE_LIB/libpmix.so"{,.2} ||
        fail "libpmix.so is not libpmix.so.2"
    readelf -d "$TREE_LIB/libpmix.so.2" | grep -Eq 'SONAME.*\[libpmix\.so\.2\]' || fail "wrong SONAME"
    rm -r "$TMPDIR/first"
}

build_client() {
    local flags
    has pkg-config || skip "no pkg-config"
    flags=$(PKG_CONFIG_PATH=$TREE_LIB/pkgconfig pkg-config --define-variable="prefix=$TREE" --cflags --libs pmix)
    # shellcheck disable=SC2086
    "${COMPILER[@]}" -std=gnu11 -D_GNU_SOURCE -w "${SANITIZE_FLAGS[@]}" \
        -o "$TMPDIR/exchange" "$HERE/clients/exchange.c" $flags || fail "a client does not build: $flags"
}

runs_here() {
    find_library
    build_client
    LD_LIBRARY_PATH=$TREE_LIB run 60 "$TREE/bin/pmixrun" -n 2 "$TMPDIR/exchange" >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(head -1 "$ERR")"
    lines 2 '^OK exchange [01]$' "$OUT"
    used 1 pmixrun "$TREE_LIB/libpmix.so.2" 2 exchange "$TREE_LIB/libpmix.so.2"
    rm -f "$RECORD"/* "$TMPDIR/exchange"
    run 60 "$TREE/bin/pmixrun" -n 2 true # it knows where its own library is
    used 1 pmixrun "$TREE_LIB/libpmix.so.2"
    rm -f "$RECORD"/*
}

# The components it uses are its own: those of the build folder are not looked for.
own_components() {
    [ -d "$TREE_LIB/pmix" ] || return 0 # all are built in
    mv "$TREE_LIB/pmix" "$TREE_LIB/away"
    rc_of 1 run 60 "$TREE/bin/pmixrun" -n 1 true 2>"$ERR"
    lines 1 'no component for framework pfexec' "$ERR"
    mv "$TREE_LIB/away" "$TREE_LIB/pmix"
}

# A drop-in is one file: what a process needs is in the library.
alone() {
    find_library
    build_client
    mkdir "$TMPDIR/alone"
    cp "$TREE_LIB/libpmix.so.2" "$TMPDIR/alone"
    run 60 "$TREE/bin/pmixrun" -n 2 env LD_LIBRARY_PATH="$TMPDIR/alone" "$TMPDIR/exchange" >"$OUT" 2>"$ERR" ||
        fail "exit status $?: $(head -1 "$ERR")"
    lines 2 '^OK exchange [01]$' "$OUT"
    same 0 "$(wc -c <"$ERR")" "bytes of messages"
    used 1 pmixrun "$TREE_LIB/libpmix.so.2" 2 exchange "$TMPDIR/alone/libpmix.so.2"
    rm -rf "${RECORD:?}"/* "$TMPDIR/exchange" "$TMPDIR/alone"
}

# Components of both in one folder: neither library says a word about the other's.
mixed() {
    local theirs lib
    has_loaded || return 0
    theirs=$(find /usr/lib/*/pmix2/lib -name libpmix.so.2 2>/dev/null | head -1)
    [ -n "$theirs" ] || skip "no other libpmix.so.2 is installed"
    install_tree
    find_library
    build_client
    mkdir "$TMPDIR/both"
    cp "$TREE_LIB"/pmix/*.so "$(dirname "$theirs")"/pmix/*.so "$TMPDIR/both"
    export PMIX_MCA_mca_base_component_show_load_errors=1
    for lib in "$theirs" "$TREE_LIB/libpmix.so.2"; do
        run 60 "$TREE/bin/pmixrun" --mca mca_base_component_path "$TMPDIR/both" -n 2 \
            env LD_LIBRARY_PATH="$(dirname "$lib")" "$TMPDIR/exchange" >"$OUT" 2>"$ERR" ||
            fail "exit status $?: $(head -1 "$ERR")"
        lines 2 '^OK exchange [01]$' "$OUT"
        same 0 "$(wc -c <"$ERR")" "bytes of messages with $lib: $(head -1 "$ERR")"
        used 1 pmixrun "$TREE_LIB/libpmix.so.2" 2 exchange "$lib"
        rm -f "$RECORD"/*
    done
    unset PMIX_MCA_mca_base_component_show_load_errors
    rm -r "$TMPDIR/first" "$TMPDIR/both" "$TMPDIR/exchange"
}
has_loaded() { [ -n "$(find "$BUILD/core/pmix" -name '*.so' 2>/dev/null)" ]; }

# So does it tell of them: what belongs to it, in the folder it is in now.
tells_of_itself() {
    local info=$TREE/bin/pmix_info
    local -x HOME=$TMPDIR PMIX_SYSCONFDIR=$TMPDIR
    same "$(readlink -f "$TREE_LIB")" "$(run 60 "$info" --path libdir)" "libdir"
    same "$(readlink -f "$TREE")" "$(run 60 "$info" --path prefix)" "prefix"
    rc_of 0 run 60 "$info" --check >"$OUT"
    lines 1 '^configuration and components are all right$' "$OUT"
    run 60 "$info" --parsable >"$OUT"
    [ ! -d "$TREE_LIB/pmix" ] ||
        lines "$(find "$TREE_LIB/pmix" -name 'pmix_*.so' | wc -l)" \
            "^component:.*:file:$(readlink -f "$TREE_LIB")/pmix/pmix_" "$OUT"
    rm -f "$RECORD"/*
}

installed_and_moved() {
    install_tree
    runs_here
    alone
    tells_of_itself
    mkdir "$TMPDIR/second"
    mv "$TREE" "$TMPDIR/second/moved"
    TREE=$TMPDIR/second/moved
    runs_here
    tells_of_itself
    own_components
    rm -r "$TMPDIR/first" "$TMPDIR/second"
}

t installed_names_and_links names_and_links
t one_folder_with_components_of_another mixed
t installed_tree_runs_and_can_be_moved installed_and_moved
suite_end
