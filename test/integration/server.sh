#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The server API from a host's side: the scenarios of host/scenario_api.c with our library. Scenarios that Debian's
# library supports run with that, too, to prove the test. Also jobs on two "nodes", with servers of ours, of
# Debian's, or one of each.
. "$(dirname "$0")/lib.sh"
suite_begin server "$@"

play() { # play HEADERS SCENARIO
    [ "$1" = ours ] || use_debian
    LD_LIBRARY_PATH=$(folder "$1") well "$(program "$1" scenario)" "$2" "$(program "$1" client)"
    lines 1 "^OK $2\$" "$OUT"
    used 0 scenario "$(library "$1")" 0 client "$(library "$1")"
}

# count_users LIBRARY SERVERS RANKS: expects that so many of two servers and of four ranks used the library
count_users() {
    local program lib servers=0 ranks=0
    while read -r program lib; do
        is_file "$lib" "$1" || continue
        case $program in two_nodes) servers=$((servers + 1)) ;; client) ranks=$((ranks + 1)) ;; esac
    done < <(loaded_libs)
    same "$2 $3" "$servers $ranks" "servers and ranks with $1"
}

two_nodes() { # two_nodes HEADERS LIBRARY LIBRARY [LIBRARY of all ranks]
    local servers=0 ranks=0 lib
    if [ "$1" = ours ]; then export STRICT=1 servers=1; else use_debian; fi
    # Release 4.2.2 forwards variables for jobs of Open MPI alone, and cannot read ours. We read both forms.
    export PMIX_MCA_forward_envars='OMPI_MCA_two_*' WANT_LAUNCHED=
    [ "$2" != ours ] || WANT_LAUNCHED=0
    [ "$3" != ours ] || WANT_LAUNCHED+=1
    [ -z "${4:-}" ] || export HOST_CLIENT_LIBRARY
    [ -z "${4:-}" ] || HOST_CLIENT_LIBRARY=$(folder "$4")
    NODE_LIBRARY_0=$(folder "$2") NODE_LIBRARY_1=$(folder "$3") \
        well "$(program "$1" two_nodes)" "$(program "$1" client)" nodes
    lines 4 '^OK nodes [0-3]$' "$OUT"
    for lib in "$2" "$3"; do
        [ "$lib" != ours ] || servers=$((servers + 1))
        [ "${4:-$lib}" != ours ] || ranks=$((ranks + 2))
    done
    # and the program that starts the two servers, with the library that it was linked with
    count_users "$OUR_LIB" $servers $ranks
    count_users "$DEBIAN_LIB" $((3 - servers)) $((4 - ranks))
}

stage_of_scopes() { # stage_of_scopes LIBRARY STAGE
    OUT=$OUT.$2 ERR=$ERR.$2
    NODE_LIBRARY_0=$(folder "$1") NODE_LIBRARY_1=$(folder "$1") \
        well "$(program "$1" two_nodes)" "$(program "$1" client)" scopes "$TMPDIR/ready.$2" "$2"
    lines 4 '^OK scopes [0-3]$' "$OUT"
}

# Five jobs, because each get caches values for the next. The jobs wait for time limits, and so run at once.
scopes() { # scopes LIBRARY
    local stage jobs=()
    if [ "$1" = ours ]; then export STRICT=1; else use_debian; fi
    for stage in 0 1 2 3 4; do
        stage_of_scopes "$1" "$stage" &
        jobs+=($!)
    done
    for stage in "${jobs[@]}"; do wait "$stage" || exit 1; done
}

two_networks() { # the same nodes, each in a network namespace of its own
    unshare -n true 2>/dev/null || skip "needs the right to make a network namespace"
    PMIX_MCA_pnet_ports_tcp=32000-32100 PMIX_MCA_pnet_ports_per_process=1 WANT_PORTS=32000-32001 \
        TWO_NETWORKS=yes two_nodes "$@"
}

connected() { # connected RANKS-OF-A-NODE PROGRAM ARGS...
    local ranks=$1
    shift
    TWO_RANKS=$ranks well "$PROGRAMS/two_nodes" "$PROGRAMS/connector" "$@"
    lines $((ranks * 2)) "^OK $1 [0-5]$" "$OUT"
}

# Groups of the ranks of two nodes.
grouped() { # grouped RANKS-OF-A-NODE NUMBER-THAT-ENDS-WELL PROGRAM ARGS...
    local ranks=$1 good=$2
    shift 2
    STRICT=1 TWO_RANKS=$ranks well "$PROGRAMS/two_nodes" "$CLIENT" "$@"
    lines "$good" "^OK $1 [0-5]$" "$OUT"
}

two_clusters() { # two_clusters RANKS: the example of RFC 0003
    TWO_CLUSTERS=yes connected "$1" clusters
}

# A host with a libevent base as its only loop, which also runs our library: fences, output and clean-up.
base_host() { # base_host KEY
    export LD_LIBRARY_PATH
    LD_LIBRARY_PATH=$(folder ours)
    well "$PROGRAMS/base_host" "$1" 4 "$MODEX"
    lines 4 '^rank [0-3] of 4 on ' "$OUT"
    lines 1 '^threads 1, timer went on, status (PMIX_)?SUCCESS$' "$OUT"
    well "$PROGRAMS/base_host" "$1" 2 "$BUILD/contrib/examples/cleanup" "$TMPDIR"
    lines 1 '^threads 1, timer went on, status (PMIX_)?SUCCESS$' "$OUT"
    lines 6 ': remove ' "$OUT"
    same "" "$(find "$TMPDIR" -name '*.backing' -o -name cleanup.job.folder)" "registered files"
    rm -rf "$TMPDIR"/cleanup.*
}

foreign_server() { # which gives no namespace
    use_debian
    export HOST_CLIENT_LIBRARY
    HOST_CLIENT_LIBRARY=$(folder ours)
    LD_LIBRARY_PATH=$(folder debian) well "$(program debian minihost)" 2 "$PROGRAMS/connector" foreign
    lines 2 '^OK foreign [01]$' "$OUT"
}

while read -r scenario; do
    t "${scenario% \*}" play ours "${scenario% \*}"
    case $scenario in *\*) wide t "debian_${scenario% \*}" play debian "${scenario% \*}" ;; esac
done < <("$PROGRAMS/scenario" api)
t a_host_runs_the_library_in_its_own_loop base_host pmix.evaux
t a_host_runs_the_library_in_its_own_loop_by_the_older_name base_host pmix.evbase
t two_nodes_exchange_data two_nodes ours ours ours
t scopes_of_values scopes ours
wide t debian_scopes_of_values scopes debian
t two_nodes_without_a_common_network two_networks ours ours ours
for n in 1 2 3; do
    [ $n = 2 ] && form= || form=wide
    $form t "two_clusters_are_connected_$n" two_clusters "$n"
    $form t "connected_processes_of_two_nodes_$n" connected "$n" joint
    $form t "spawned_processes_of_another_node_$n" connected "$n" joint_family
    $form t "optional_process_of_another_node_$n" connected "$n" joint_ends optional
    $form t "process_of_another_node_may_end_$n" connected "$n" joint_ends early
    $form t "process_of_another_node_ends_$n" connected "$n" joint_ends error
    $form t "dead_process_of_another_node_early_$n" connected "$n" joint_dead early
    $form t "dead_process_of_another_node_late_$n" connected "$n" joint_dead late
done
for n in 1 2 3; do
    t "groups_of_two_nodes_$n" grouped "$n" $((2 * n)) groups
    t "values_in_groups_of_two_nodes_$n" grouped "$n" $((2 * n)) group_values
    t "a_member_leaves_a_group_of_two_nodes_$n" grouped "$n" $((2 * n)) group_ends
    t "a_member_of_a_group_of_two_nodes_dies_$n" grouped "$n" $((2 * n - 1)) group_ends dies
done
for n in 2 3; do
    t "invitations_to_groups_of_two_nodes_$n" grouped "$n" $((2 * n)) invitations
    t "an_invited_process_of_another_node_dies_$n" grouped "$n" $((2 * n - 1)) lost_invitation
done
t a_process_of_another_node_lies grouped 2 4 lies
t a_leader_of_two_nodes_is_replaced grouped 2 3 new_leader
t a_leader_of_two_nodes_is_replaced_by_few grouped 2 2 new_leader few
t debian_server_gives_no_namespace foreign_server
t two_nodes_with_debian_clients two_nodes debian ours ours debian
t two_nodes_one_of_them_debian two_nodes debian ours debian
t two_nodes_the_other_one_debian two_nodes debian debian ours
wide t debian_two_nodes_exchange_data two_nodes debian debian debian
suite_end
