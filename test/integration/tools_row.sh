#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tools_row.sh FOLDER NAME [OPTION...]: runs each program of FOLDER at a server, which the options or the environment name,
# and prints the row of the server in the table of docs/tools.md. FOLDER may have a suffix of the programs: FOLDER/*.tenon.
set -uo pipefail
folder=${1%/\**} suffix=${1##*\*} name=$2
[ "$folder" != "$1" ] || suffix=''
shift 2

# cell REGEX PROGRAM ARGUMENT...: "yes" if a line of the output or of the errors matches, else the status
cell() {
    local regex=$1 program=$folder/$2$suffix output status
    shift 2
    output=$(timeout 20 "$program" --timeout 15 "${server[@]}" "$@" 2>&1) && status=0 || status=$?
    if grep -qE -- "$regex" <<<"$output"; then
        printf ' yes |'
    else
        printf ' %s |' "$(grep -oE '(PMIX_)?(ERR|EVENT)[A-Z_-]+|UNREACHABLE|[A-Z]+-[A-Z-]+' <<<"$output" | tail -1 | grep . || echo "status $status")"
    fi
}

server=("$@")
job=$(timeout 20 "$folder/pquery$suffix" "${server[@]}" --parsable PMIX_QUERY_NAMESPACES 2>/dev/null | cut -d: -f4 | cut -d, -f1)
job=${PMIX_NAMESPACE:-$job}
printf '| %s |' "$name"
cell '^processes:.*:[0-9]+:.*:[0-9.]+:' pps --parsable
cell '^answers:.*:(PMIX_)?SUCCESS$' pquery --parsable PMIX_QUERY_NAMESPACES
cell '^attributes:server:' pattrs --parsable --server all
cell 'is not published' plookup nothing
cell '^$' pevent -- -3001
cell '^$' pctrl --signal CONT "$job"
echo
