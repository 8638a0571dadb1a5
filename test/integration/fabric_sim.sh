#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# contrib/examples/fabric-sim, built as by a vendor: with an installed Tenon, without this tree.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin fabric_sim "$@"

# Installs Tenon, copies the installed example and builds it: once, for all cases.
build_example() {
    EXAMPLE=$TMP/fabric-sim
    TREE=$TMP/tenon
    if [ -e "$EXAMPLE/is_built" ]; then
        find_library
    else
        rm -rf "$EXAMPLE" "$TREE"
        install_tree
        pkg-config --exists 'jansson >= 2.10' || skip "needs jansson"
        mv "$TREE" "$TMP/tenon"
        rm -r "$TMPDIR/dest"
        TREE=$TMP/tenon
        find_library
        cp -r "$(pkg-config --variable=docdir tenon-component)/fabric-sim" "$EXAMPLE"
        CC=${CC:-cc} meson setup "$EXAMPLE/build" "$EXAMPLE" -Dwerror=true >"$LOG.setup" 2>&1 ||
            fail "meson setup: $(grep ERROR "$LOG.setup" | head -1)"
        meson compile -C "$EXAMPLE/build" >"$LOG.compile" 2>&1 || fail "$(grep -m1 error "$LOG.compile")"
        touch "$EXAMPLE/is_built"
    fi
    export PMIX_MCA_mca_base_component_path=$EXAMPLE/build
}

passes_its_own_test() {
    build_example
    if strings -a "$EXAMPLE/build/pmix_mca_tenon_pnet_sim.so" | grep -q "$SOURCE/\|$BUILD"; then fail "it knows the source tree"; fi
    run 120 meson test -C "$EXAMPLE/build" --print-errorlogs >"$OUT" 2>&1 || fail "$(grep -m1 -i fail "$OUT")"
    lines 1 '^Ok: +1' "$OUT"
}

# With the fabric of node 0, each rank has the addresses of all ranks from PMIx_Init on.
two_networks() {
    build_example
    unshare -n true 2>/dev/null || skip "needs the right to make a network namespace"
    sed 's/"a"/"nodeA"/; s/"b"/"nodeB"/' "$EXAMPLE/fabric.json" >"$TMPDIR/fabric.json"
    TWO_NETWORKS=yes PMIX_MCA_pnet_sim_file=$TMPDIR/fabric.json well "$PROGRAMS/two_nodes" "$EXAMPLE/build/instant-on"
    rm "$TMPDIR/fabric.json"
    lines 8 '^[0-3]: rank [01] on nodeA at 2,0  sim://nodeA::sim0 0{7}80{15}[01]$' "$OUT"
    lines 8 '^[0-3]: rank [23] on nodeB at 3,3  sim://nodeB::sim0 0{7}90{15}[01]$' "$OUT"
    same 16 "$(grep ': rank' "$OUT" | sort -u | wc -l)" "different lines"
}

# Between its first and its last line a rank makes only system calls for lines and memory.
instant_on() { # instant_on GDS
    local f host
    host=$(uname -n)
    build_example
    has strace || skip "needs strace"
    sed "s/\"n\[0-7]\"/\"$host\"/" "$EXAMPLE/fabric.json" >"$TMPDIR/fabric.json"
    well env TRACE="$TMPDIR/calls" "$PMIXRUN" -n 4 --mca gds "$1" --mca pnet_sim_file "$TMPDIR/fabric.json" \
        sh -c 'exec strace -f -o "$TRACE.$PMIX_RANK" "$@"' sh "$EXAMPLE/build/instant-on"
    lines 16 "^[0-3]: rank [0-3] on $host at 0,0  sim://$host::sim0 0{23}[0-3]  sim://$host::sim1 0{11}10{3}10{7}[0-3]\$" "$OUT"
    same 16 "$(grep ': rank' "$OUT" | sort -u | wc -l)" "different lines"
    for f in "$TMPDIR/calls".*; do
        lines 1 'has begun' "$f"
        same "" "$(sed '1,/write(1, "[0-3]: has begun/d; /write(1, "[0-3]: knows all/,$d' "$f" |
            grep -vE ' (write\(1, |brk\(|mmap\(NULL, [0-9]+, PROT_READ\|PROT_WRITE, MAP_PRIVATE\|MAP_ANONYMOUS|munmap\()')" "a call"
    done
    rm "$TMPDIR"/calls.* "$TMPDIR/fabric.json"
}

t the_example_passes_its_own_test passes_its_own_test
t addresses_of_two_networks two_networks
t instant_on instant_on hash,shm
t instant_on_by_messages instant_on hash
suite_end
