#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a vendor has: an installed Tenon, a copy of the template, and nothing of this tree.
. "$(dirname "$0")/lib.sh"
suite_begin sdk "$@"

# Tenon in $TREE, as installed, and no way to find anything of the build folder.
install_tree() {
    has meson || skip "no meson"
    has pkg-config || skip "no pkg-config"
    meson install -C "$BUILD" --no-rebuild --quiet --destdir "$TMPDIR/dest" >"$LOG.install" 2>&1 ||
        fail "meson install: $(tail -1 "$LOG.install")"
    TREE=$(dirname "$(dirname "$(find "$TMPDIR/dest" -path '*/bin/pmixrun')")")
    mkdir "$TMPDIR/moved"
    mv "$TREE" "$TMPDIR/moved/tenon"
    rm -r "$TMPDIR/dest"
    TREE=$TMPDIR/moved/tenon
    PKG_CONFIG_PATH=$(dirname "$(find "$TREE" -name tenon-component.pc)")
    export PKG_CONFIG_PATH
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

clean_up() { rm -rf "$TMPDIR/vendor" "$TMPDIR/moved"; }

flags_are_of_the_moved_tree() {
    install_tree
    same "$TREE/include" "$(readlink -f "$(pkg-config --cflags-only-I tenon-component | sed 's/^-I//; s/ *$//')")" cflags
    same "" "$(pkg-config --libs tenon-component | tr -d ' ')" libraries
    [ -x "$(pkg-config --variable=toolsdir tenon-component)/pmixrun" ] || fail "toolsdir has no pmixrun"
    [ -d "$(pkg-config --variable=componentdir tenon-component)" ] || fail "componentdir is not there"
    clean_up
}

each_header_stands_alone() {
    local header
    install_tree
    for header in "$TREE"/include/tenon/*.h; do
        # shellcheck disable=SC2046
        printf '#include <tenon/%s>\n' "${header##*/}" |
            "${COMPILER[@]}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only \
                $(pkg-config --cflags tenon-component) -x c - || fail "${header##*/} does not compile"
    done
    [ ! -e "$TREE/include/core" ] || fail "internals are installed"
    clean_up
}

template_passes_its_own_test() {
    install_tree
    build_template
    run 120 meson test -C "$COPY/build" --print-errorlogs >"$OUT" 2>&1 || fail "$(grep -m1 -i fail "$OUT")"
    lines 1 '^Ok: +1' "$OUT"
    clean_up
}

template_has_an_effect() {
    local tokens
    install_tree
    build_template
    export PMIX_MCA_mca_base_component_path=$COPY/build
    # shellcheck disable=SC2016
    run 60 "$TREE/bin/pmixrun" -n 3 sh -c 'echo "token $HELLO_TOKEN"' >"$OUT" 2>"$ERR"
    lines 3 '^token [0-9a-f]{16}$' "$OUT"
    tokens=$(sort -u "$OUT")
    same 1 "$(printf '%s\n' "$tokens" | wc -l)" "different tokens in one job"
    # shellcheck disable=SC2016
    run 60 "$TREE/bin/pmixrun" sh -c 'echo "token $HELLO_TOKEN"' >"$OUT" 2>"$ERR"
    [ "$(cat "$OUT")" != "$tokens" ] || fail "two jobs with the same token"
    # shellcheck disable=SC2016
    run 60 "$TREE/bin/pmixrun" --mca pnet ^hello sh -c 'echo "token $HELLO_TOKEN"' >"$OUT" 2>"$ERR"
    lines 1 '^token $' "$OUT"
    same 0 "$(wc -c <"$ERR")" "bytes of messages"
    run 60 "$TREE/bin/pmixrun" --mca pnet hello --mca pnet_hello_enabled no true 2>"$ERR"
    lines 1 'component pnet/hello declines: pnet_hello_enabled is false' "$ERR"
    clean_up
}

# In the place the installed library looks into by itself.
installed_component_is_found() {
    install_tree
    build_template
    cp "$COMPONENT" "$(pkg-config --variable=componentdir tenon-component)/"
    # shellcheck disable=SC2016
    run 60 "$TREE/bin/pmixrun" sh -c 'echo "token $HELLO_TOKEN"' >"$OUT" 2>"$ERR"
    lines 1 '^token [0-9a-f]{16}$' "$OUT"
    clean_up
}

t the_pkg_config_file_follows_the_tree flags_are_of_the_moved_tree
t each_installed_header_stands_alone each_header_stands_alone
t the_template_passes_its_own_test template_passes_its_own_test
t the_template_has_an_effect template_has_an_effect
t a_component_that_is_installed_is_found installed_component_is_found
suite_end
