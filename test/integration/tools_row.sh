#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tools_row.sh FOLDER NAME [OPTION...]: runs each program of FOLDER at a server, which the options or the environment name,
# and prints the row of the server in the table of docs/tools.md. FOLDER may have a suffix of the programs: FOLDER/*.tenon.
# The words of TOOLS_RUN are a launcher, such as srun, which starts each program in a job of its own. %PARENT% in an option
# is then the process that starts the job.
set -uo pipefail
folder=${1%/\**} suffix=${1##*\*} name=$2
[ "$folder" != "$1" ] || suffix=''
shift 2

# cell REGEX PROGRAM ARGUMENT...: "yes" if a line of the output or of the errors matches, else the status. %JOB% is the job.
cell() {
    local regex=$1 program=$folder/$2$suffix output file=${TMPDIR:-/tmp}/tools_row.$$ status=0
    shift 2
    # A file has the output, because a launcher forwards none after its server has ended.
    # shellcheck disable=SC2016,SC2086
    timeout -k 2 "$seconds" ${TOOLS_RUN:-} bash -c 'exec >"$1" 2>&1
        shift
        set -- "${@/\%PARENT%/$PPID}"
        exec "${@/\%JOB%/${PMIX_NAMESPACE:-$0}}"' \
        "$job" "$file" "$program" --timeout 15 "${server[@]}" "$@" >/dev/null 2>&1 || status=$?
    output=$(sed s/LOST_CONNECTION/UNREACHABLE/ "$file") # the server ended before the request, or after it
    rm -f "$file"
    if grep -qE -- "$regex" <<<"$output"; then
        printf ' yes |'
    else
        printf ' %s |' "$(grep -oE '(PMIX_)?(ERR|EVENT)[A-Z_-]+|UNREACHABLE|[A-Z]+-[A-Z-]+' <<<"$output" | tail -1 | grep . || echo "status $status")"
    fi
}

server=("$@") job='' seconds=20
if [ -n "${TOOLS_RUN:-}" ]; then
    seconds=6 # a launcher may never return after its server has ended
else
    job=$(timeout 20 "$folder/pquery$suffix" "${server[@]}" --parsable PMIX_QUERY_NAMESPACES 2>/dev/null | cut -d: -f4 | cut -d, -f1)
    job=${job:-none}
fi
printf '| %s |' "$name"
cell '^processes:.*:[0-9]+:.*:[0-9.]+:' pps --parsable
cell '^answers:.*:(PMIX_)?SUCCESS$' pquery --parsable PMIX_QUERY_NAMESPACES
cell '^attributes:server:' pattrs --parsable --server all
cell 'is not published' plookup nothing
cell '^$' pevent --to %JOB%:0 -- -3001
cell '^$' pctrl --signal CONT %JOB%
cell '^allocation:' palloc --parsable --status
echo
