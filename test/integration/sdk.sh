#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The environment of a vendor: an installed Tenon, and a copy of the template, without this tree.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin sdk "$@"

variable() { pkg-config --variable="$1" tenon-component; }

# Runs a case with a copy of an installed Tenon in $TREE, and removes the copy. The first case installs.
with_tree() {
    if [ ! -d "$TMP/installed" ]; then
        install_tree
        mv "$TREE" "$TMP/installed"
        rm -r "$TMPDIR/dest"
    fi
    TREE=$TMPDIR/moved/tenon
    mkdir "$TMPDIR/moved"
    cp -r "$TMP/installed" "$TREE"
    find_library
    "$@"
    rm -rf "$TMPDIR/vendor" "$TMPDIR/moved"
}

# Copies the template to $COPY, and builds it there with the installed headers, unless an earlier case has done so.
build_template() {
    COPY=$TMP/template
    if [ ! -d "$COPY" ]; then
        cp -r "$SOURCE/contrib/component-template" "$COPY"
        CC=${CC:-cc} meson setup "$COPY/build" "$COPY" -Dwerror=true >"$LOG.setup" 2>&1 ||
            fail "meson setup: $(grep ERROR "$LOG.setup" | head -1)"
        meson compile -C "$COPY/build" >"$LOG.compile" 2>&1 || fail "$(grep -m1 error "$LOG.compile")"
    fi
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

# Installs the component into a default folder of the installed library.
installed_component_is_found() {
    build_template
    cp "$COMPONENT" "$(variable componentdir)/"
    token
    lines 1 '^token [0-9a-f]{16}$' "$OUT"
}

# Runs the commands of the page's first sections word for word.
the_commands_of_the_page_work() {
    mkdir "$TMPDIR/vendor"
    awk '/^## 3/ { exit } /^```/ { on = !on; next } on' "$(variable docdir)/writing-a-component.md" >"$TMPDIR/vendor/page.sh"
    same 9 "$(wc -l <"$TMPDIR/vendor/page.sh")" "commands of the page"
    unset PKG_CONFIG_PATH
    (cd "$TMPDIR/vendor" && prefix=$TREE CC=${CC:-cc} run 120 sh -eu page.sh) >"$OUT" 2>"$ERR" || fail "$(tail -1 "$ERR")"
    lines 4 '^[0-9a-f]{16}$' "$OUT"
    for contract in ptl gds psec pfexec pnet pcleanup piof plog; do
        [ -s "$TREE/share/doc/tenon/frameworks/$contract.md" ] || fail "the contract of $contract is not installed"
    done
}

# ---- faulty components of a vendor ----------------------------------------------------------------

rogue() { # rogue FLAG...: built with the installed headers, and installed in the user's folder
    export HOME=$TMPDIR/vendor
    mkdir -p "$HOME/.pmix/components"
    # shellcheck disable=SC2046
    "${COMPILER[@]}" -std=gnu11 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden "$@" $(pkg-config --cflags tenon-component) \
        -o "$HOME/.pmix/components/pmix_mca_tenon_pnet_rogue.so" "$HERE/host/pnet_rogue.c" || fail "cannot compile pnet_rogue.c"
}

# rogue_job HOW REQUIRED [WHERE]: runs a job, and sets RC to the exit status
rogue_job() {
    RC=0
    run 60 "$TREE/bin/pmixrun" --mca pnet_rogue_how "$1" --mca pnet_rogue_required "$2" --mca pnet_rogue_where "${3-contribute}" \
        --mca server_fabric_timeout "${LIMIT-30s}" --mca mca_base_component_probe "${PROBE-60s}" -n 2 \
        sh -c 'echo "key $ROGUE_KEY"' >"$OUT" 2>"$ERR" || RC=$?
}

# Function, the component's action, time limit, and line. The job runs without the component unless the component is
# required, or reports that the job cannot run.
BAD_WAYS=('contribute|crash|30s|crashed \(Aborted\)' 'contribute|hang|1s|has not contributed within 1 s'
    'contribute|exit|30s|ended \(status 3\)' 'contribute|big|30s|contributes more than 64 MiB'
    'apply|crash|30s|crashed in apply \(Aborted\)' 'apply|hang|4s|has not returned from apply within 4 s'
    'apply|exit|30s|ended its process in apply \(status 3\)' 'envars|crash|30s|crashed in envars \(Aborted\)')

bad_component() {
    local way where how line LIMIT=30s
    rogue
    rogue_job well true
    same 0 $RC "exit status"
    lines 2 '^key secret$' "$OUT"
    for way in "${BAD_WAYS[@]}"; do
        IFS='|' read -r where how LIMIT line <<<"$way"
        line="component pnet/rogue $line"
        rogue_job "$how" false "$where"
        same 0 $RC "exit status, $how in $where"
        lines 2 '^key $' "$OUT"
        lines 1 "$line.*: job .* goes on without it$" "$ERR"
        rogue_job "$how" true "$where"
        same 1 $RC "exit status, $how in $where and required"
        lines 0 . "$OUT"
        lines 1 "cannot launch job .*: $line.*, and pnet_rogue_required is set$" "$ERR"
    done
    for required in true false; do
        rogue_job fail $required
        same 1 $RC "exit status, fail"
        lines 1 'component pnet/rogue cannot contribute to job .*: (NOT-FOUND|PMIX_ERR_NOT_FOUND)$' "$ERR"
    done
}

# Faults that a trial in a child process detects: function, action, time limit of the trial, and line.
BAD_STARTS=('open|crash|60s|crashed in open \(Aborted\)' 'query|crash|60s|crashed in query \(Aborted\)'
    'close|crash|60s|crashed in close \(Aborted\)' 'open|exit|60s|ended its process in open \(status 3\)'
    'query|hang|3s|has not returned from query within 3 s \(mca_base_component_probe\)')

bad_start() {
    local start where how line PROBE
    rogue
    for start in "${BAD_STARTS[@]}"; do
        IFS='|' read -r where how PROBE line <<<"$start"
        line="component pnet/rogue $line: $HOME/.*/pmix_mca_tenon_pnet_rogue.so is not used"
        rogue_job "$how" false "$where"
        same 0 $RC "exit status, $how in $where"
        lines 2 '^key $' "$OUT"
        lines 1 . "$ERR"
        lines 1 "$line$" "$ERR"
        rogue_job "$how" true "$where"
        same 1 $RC "exit status, $how in $where and required"
        lines 0 . "$OUT"
        lines 1 "component pnet/rogue cannot be used here, and pnet_rogue_required is set: $line$" "$ERR"
    done
    PROBE=0 rogue_job exit false open
    same 3 $RC "exit status without a trial"
    PROBE=0 rogue_job well true
    lines 2 '^key secret$' "$OUT"
}

# A component that cannot be loaded, and a component that does not exist.
missing_component() {
    local refused='component pnet/rogue cannot be used here, and pnet_rogue_required is set: '
    rogue -DABI=99
    rogue_job well false
    same 0 $RC "exit status, another ABI"
    run 20 "$TREE/bin/pmixrun" --mca mca_base_component_show_load_errors pnet true 2>"$ERR"
    lines 1 'pnet ABI 99, .*1' "$ERR"
    rogue_job well true
    same 1 $RC "exit status, another ABI and required"
    lines 1 "${refused}component .* has pnet ABI 99, wanted" "$ERR"
    rm -r "$HOME/.pmix"
    rogue_job well false
    same 0 $RC "exit status, not there"
    rogue_job well true
    same 1 $RC "exit status, not there and required"
    lines 1 "${refused}the component does not exist$" "$ERR"
}

# Rows for a host: the component's action in apply, required or not, the host's result, the result of a process, and the
# number of log lines about the component.
HOST_ROWS=('well|false|applied|secret|0' 'crash|false|applied|none|2' 'crash|true|refused|none|2' 'hang|true|canceled||0')

bad_component_of_host() {
    local row how required wanted key named
    rogue
    export PMIX_MCA_pnet_rogue_where=apply
    for row in "${HOST_ROWS[@]}"; do
        IFS='|' read -r how required wanted key named <<<"$row"
        PMIX_MCA_pnet_rogue_how=$how PMIX_MCA_pnet_rogue_required=$required well "$PROGRAMS/launch_host" "$wanted"
        same "${key:+key $key}" "$(cat "$OUT")" "output, $wanted"
        lines "$named" 'component pnet/rogue crashed in apply \(Aborted\)' "$ERR"
    done
}

# Expects that the launcher handles signals while a component hangs. Rows: function, and the child that calls it.
hanging_component() {
    local where child
    rogue
    for where in contribute apply; do
        rc_of 124 run 60 "$TREE/bin/pmixrun" --mca pnet_rogue_how hang --mca pnet_rogue_where $where --timeout 1 -n 2 true 2>"$ERR"
        lines 1 'job ended after 1 seconds, its time limit' "$ERR"
    done
    for where in open:tenon-trial contribute:tenon-fabric apply:tenon-apply; do
        child=${where#*:} where=${where%:*}
        start "$TREE/bin/pmixrun" --mca mca_base_component_probe 60s --mca pnet_rogue_how hang --mca pnet_rogue_where "$where" -n 2 true
        until_true 20 pgrep -P "$PID" -x "$child" >/dev/null || fail "no child in $where"
        kill -TERM "$PID"
        await "$PID" 40
        same 143 "$RC" "exit status, $where"
    done
}

# Tests a component that hangs in the launcher itself, after a successful trial.
sticking_component() {
    rogue
    start "$TREE/bin/pmixrun" --mca pnet_rogue_how stick --mca pnet_rogue_where apply -n 2 true
    await_lines 1 '^stuck$' "$ERR"
    kill -TERM "$PID"
    await "$PID" 40
    same 143 "$RC" "exit status"
    lines 1 'pmixrun: cannot end the job: the library, or a component, has not answered for 2900 ms' "$ERR"
    rc_of 124 run 60 "$TREE/bin/pmixrun" --mca pnet_rogue_how stick --mca pnet_rogue_where apply --timeout 1 -n 2 true 2>"$ERR"
    lines 1 'cannot end the job: the library' "$ERR"
}

t the_pkg_config_file_follows_the_tree with_tree flags_are_of_the_moved_tree
t each_installed_header_stands_alone with_tree each_header_stands_alone
t the_template_passes_its_own_test with_tree template_passes_its_own_test
t the_template_has_an_effect with_tree template_has_an_effect
t a_component_that_is_installed_is_found with_tree installed_component_is_found
t the_commands_of_the_page_for_vendors_work with_tree the_commands_of_the_page_work
t a_component_that_fails_is_named with_tree bad_component
t a_component_that_fails_is_named_to_a_host with_tree bad_component_of_host
t a_component_that_fails_to_start_is_named with_tree bad_start
t a_component_that_is_missing_is_named with_tree missing_component
t a_component_that_hangs_does_not_stop_the_launcher with_tree hanging_component
t a_component_that_hangs_the_launcher_lets_it_end with_tree sticking_component
suite_end
