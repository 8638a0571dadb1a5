#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a vendor has: an installed Tenon, a copy of the template, and nothing of this tree.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin sdk "$@"

variable() { pkg-config --variable="$1" tenon-component; }

# A case with Tenon in $TREE; what it makes goes with it.
with_tree() {
    install_tree
    move_tree
    "$@"
    rm -rf "$TMPDIR/vendor" "$TMPDIR/moved"
}

# The template, copied to $COPY and built there with the installed headers.
build_template() {
    COPY=$TMPDIR/vendor
    cp -r "$SOURCE/contrib/component-template" "$COPY"
    CC=${CC:-cc} meson setup "$COPY/build" "$COPY" -Dwerror=true >"$LOG.setup" 2>&1 ||
        fail "meson setup: $(grep ERROR "$LOG.setup" | head -1)"
    meson compile -C "$COPY/build" >"$LOG.compile" 2>&1 || fail "$(grep -m1 error "$LOG.compile")"
    COMPONENT=$COPY/build/pmix_mca_tenon_pnet_hello.so
    [ -f "$COMPONENT" ] || fail "no $COMPONENT"
    if strings -a "$COMPONENT" | grep -q "$SOURCE/core\|$BUILD"; then fail "it knows the source tree"; fi
}

token() { well "$TREE/bin/pmixrun" "$@" sh -c 'echo "token $HELLO_TOKEN"'; }

flags_are_of_the_moved_tree() {
    same "$TREE/include" "$(readlink -f "$(pkg-config --cflags-only-I tenon-component | sed 's/^-I//; s/ *$//')")" cflags
    same "" "$(pkg-config --libs tenon-component | tr -d ' ')" libraries
    [ -x "$(variable toolsdir)/pmixrun" ] || fail "toolsdir has no pmixrun"
    [ -d "$(variable componentdir)" ] || fail "componentdir is not there"
}

each_header_stands_alone() {
    local header
    for header in "$TREE"/include/tenon/*.h; do
        # shellcheck disable=SC2046
        printf '#include <tenon/%s>\n' "${header##*/}" |
            "${COMPILER[@]}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only \
                $(pkg-config --cflags tenon-component) -x c - || fail "${header##*/} does not compile"
    done
    [ ! -e "$TREE/include/core" ] || fail "internals are installed"
}

template_passes_its_own_test() {
    build_template
    run 120 meson test -C "$COPY/build" --print-errorlogs >"$OUT" 2>&1 || fail "$(grep -m1 -i fail "$OUT")"
    lines 1 '^Ok: +1' "$OUT"
}

template_has_an_effect() {
    local tokens
    build_template
    export PMIX_MCA_mca_base_component_path=$COPY/build
    token -n 3
    lines 3 '^token [0-9a-f]{16}$' "$OUT"
    tokens=$(sort -u "$OUT")
    same 1 "$(wc -l <<<"$tokens")" "different tokens in one job"
    token
    [ "$(cat "$OUT")" != "$tokens" ] || fail "two jobs with the same token"
    token --mca pnet ^hello
    lines 1 '^token $' "$OUT"
    lines 0 . "$ERR"
    well "$TREE/bin/pmixrun" --mca pnet hello --mca pnet_hello_enabled no true
    lines 1 'component pnet/hello declines: pnet_hello_enabled is false' "$ERR"
}

# In the place the installed library looks into by itself.
installed_component_is_found() {
    build_template
    cp "$COMPONENT" "$(variable componentdir)/"
    token
    lines 1 '^token [0-9a-f]{16}$' "$OUT"
}

t the_pkg_config_file_follows_the_tree with_tree flags_are_of_the_moved_tree
t each_installed_header_stands_alone with_tree each_header_stands_alone
t the_template_passes_its_own_test with_tree template_passes_its_own_test
t the_template_has_an_effect with_tree template_has_an_effect
t a_component_that_is_installed_is_found with_tree installed_component_is_found
suite_end
