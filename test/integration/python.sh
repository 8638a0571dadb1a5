#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's python3-pmix, the binding of OpenPMIx, on either library: as server, client and tool.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
suite_begin python "$@"

BINDING=(/usr/bin/python3 "$HERE/binding.py")
EGG=$(find /usr/lib/python3/dist-packages -maxdepth 1 -name 'pypmix-*.egg' 2>/dev/null | head -1) # on Debian 13 only
export PYTHONPATH=$EGG PYTHONWARNINGS=ignore
export PYTHONUNBUFFERED=1 # print() writes a line and its end apart: the processes must not rely on a buffer

need_binding() {
    /usr/bin/python3 -c 'import pmix' 2>/dev/null || skip "Debian's python3-pmix is not installed"
    [ -z "$SANITIZE" ] || skip "a sanitized library cannot be loaded into Python"
    use_debian
}

launched() { # launched SERVER RANKS LAUNCHER
    need_binding
    case $3 in
        pmixrun) set -- "$@" "$PMIXRUN" ;;
        mpirun)
            has mpirun.openmpi || skip "Debian's openmpi-bin is not installed"
            set -- "$@" mpirun.openmpi
            ;;
    esac
    LD_LIBRARY_PATH=$(folder "$1") well "$4" -n 3 env "LD_LIBRARY_PATH=$(folder "$2")" "${BINDING[@]}" client
    lines 3 '^OK client [0-2]$' "$OUT"
    used 1 "@($3*|prterun)" "$(library "$1")" 3 'python3*' "$(library "$2")"
}

# A server in Python. Its processes are in Python, too, or in C.
served() { # served SERVER RANKS PROGRAM...
    local server=$1 ranks=$2 last
    shift 2
    need_binding
    last=${*: -1}
    LD_LIBRARY_PATH=$(folder "$server") well "${BINDING[@]}" server 3 env "LD_LIBRARY_PATH=$(folder "$ranks")" "$@"
    lines 3 "^OK $last [0-2]\$" "$OUT"
    lines 1 '^OK server$' "$OUT"
    lines 1 '^CALLS 3 3$' "$OUT"
    [ "$1" != "$CLIENT" ] || used 1 'python3*' "$(library "$server")" 3 client "$(library "$ranks")"
}

asked() { # asked SERVER RANKS LAUNCHER [OPTION]: a tool in Python asks a launcher
    local who="@($3*|prterun)"
    need_binding
    [ -z "$EGG" ] || [ "$2" = ours ] || skip "fails without our library: a query of OpenPMIx 5.0.7 in Python never returns, at any server"
    [ "$3" = pmixrun ] || has "$3" || skip "Debian's openmpi-bin is not installed"
    case $3 in pmixrun) set -- "$1" "$2" "$PMIXRUN" --tools ;; esac
    start env "LD_LIBRARY_PATH=$(folder "$1")" "${@:3}" -n 1 sh -c 'echo up; while ! test -f "$0"; do sleep 0.05; done' "$TMPDIR/go"
    await_lines 1 '^up$'
    LD_LIBRARY_PATH=$(folder "$2") run 60 "${BINDING[@]}" tool "$PID" >"$OUT.tool" 2>"$ERR.tool" ||
        fail "exit status $?: $(tail -qn 1 "$OUT.tool" "$ERR.tool")"
    touch "$TMPDIR/go"
    await "$PID" 20
    same 0 "$RC" "exit status of the launcher"
    lines 1 '^NAMESPACES .' "$OUT.tool"
    lines 1 '^OK tool$' "$OUT.tool"
    used 1 "$who" "$(library "$1")" 1 'python3*' "$(library "$2")"
    rm "$TMPDIR/go"
}

functions() { # the library has each function that the binding needs
    need_binding
    has nm || skip "binutils is not installed"
    nm -D --undefined-only "$(/usr/bin/python3 -c 'import pmix; print(pmix.__file__)')" |
        sed -nE 's/.* ((PMIx|pmix|PMIX)_[A-Za-z_]*).*/\1/p' | sort -u >"$TMPDIR/needed"
    [ -s "$TMPDIR/needed" ] || fail "the binding needs nothing"
    nm -D --defined-only "$OUR_LIB" | awk '{ print $3 }' | sort -u >"$TMPDIR/there"
    same '' "$(comm -23 "$TMPDIR/needed" "$TMPDIR/there")" "functions that are missing"
    rm "$TMPDIR"/{needed,there}
}

PAIRS="ours/ours ours/debian debian/ours debian/debian"
MPIRUN_PAIRS="debian/ours debian/debian"
mpirun.openmpi --version 2>/dev/null | grep -q ' 4\.' && MPIRUN_PAIRS=$PAIRS # later ones need internals of OpenPMIx
t functions_that_Python_needs functions
across "ours/ours ours/debian" processes_in_Python_under_pmixrun launched pmixrun
across "$MPIRUN_PAIRS" processes_in_Python_under_mpirun launched mpirun
across "$PAIRS" processes_in_Python_of_a_server_in_Python served "${BINDING[@]}" client
for name in exchange direct limits resolve; do
    across "$PAIRS" "${name}_of_a_server_in_Python" served "$CLIENT" $name
done
across "ours/ours ours/debian" tool_in_Python_at_pmixrun asked pmixrun
[ -z "$EGG" ] || # mpirun of Open MPI 4 serves no tools
    across "$MPIRUN_PAIRS" tool_in_Python_at_mpirun asked mpirun.openmpi
suite_end
