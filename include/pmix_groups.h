/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: named sets of processes. Part of pmix.h, whose conventions hold. */
#ifndef PMIX_GROUPS_H
#define PMIX_GROUPS_H

#include "pmix_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Source: PMIx Standard 5.0, ch. Process Sets and Groups. The callback of an "_nb"
 * function must not be NULL.
 *
 * This library's server returns PMIX_ERR_NOT_SUPPORTED for requests that it does not
 * support yet. The servers of other implementations construct groups.
 */

/**
 * Give a set of processes a name.
 *
 * Waits until all of @p procs have called it for the same name.
 *
 * @param grp         the name: not empty, no longer than PMIX_MAX_NSLEN, no namespace
 * @param procs       the members, the caller among them; ranks may be
 *                    PMIX_RANK_WILDCARD. At least one
 * @param directives  PMIX_GROUP_ASSIGN_CONTEXT_ID, PMIX_TIMEOUT and others; may be NULL
 *                    if @p ndirs is 0
 * @param results     receives an array the caller frees with PMIX_INFO_FREE, NULL if
 *                    empty: PMIX_GROUP_CONTEXT_ID, PMIX_GROUP_MEMBERSHIP. results and
 *                    @p nresults may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS; PMIX_ERR_NOT_SUPPORTED;
 *         PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[],
                                   size_t nprocs, const pmix_info_t directives[],
                                   size_t ndirs, pmix_info_t **results,
                                   size_t *nresults);
pmix_status_t PMIx_Group_construct_nb(const char grp[], const pmix_proc_t procs[],
                                      size_t nprocs, const pmix_info_t directives[],
                                      size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                      void *cbdata);

/**
 * Undo a group. Waits until all its members have called it.
 *
 * @param grp         its name
 * @param directives  PMIX_TIMEOUT and others
 * @return PMIX_SUCCESS; the server's status if it knows no such group;
 *         PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t directives[],
                                  size_t ndirs);
pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t directives[],
                                     size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata);

/**
 * Invite processes to a group, and wait until they have answered.
 *
 * @param procs  the invited processes, at least one; they answer with PMIx_Group_join
 * @return as PMIx_Group_construct; PMIX_ERR_UNREACH without a server
 */
pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[],
                                size_t nprocs, const pmix_info_t directives[],
                                size_t ndirs, pmix_info_t **results, size_t *nresults);
pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[],
                                   size_t nprocs, const pmix_info_t directives[],
                                   size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Answer an invitation to a group; waits until the group is constructed.
 *
 * @param leader  process that invited the caller; NULL if unknown
 * @param opt     PMIX_GROUP_ACCEPT or PMIX_GROUP_DECLINE
 * @return as PMIx_Group_construct; PMIX_ERR_UNREACH without a server
 */
pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t *leader,
                              pmix_group_opt_t opt, const pmix_info_t directives[],
                              size_t ndirs, pmix_info_t **results, size_t *nresults);
pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t *leader,
                                 pmix_group_opt_t opt, const pmix_info_t directives[],
                                 size_t ndirs, pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Leave a group, which goes on without the caller. Does not wait for the others.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if the caller is in no such group;
 *         PMIX_ERR_NOT_SUPPORTED from a server without groups
 */
pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t directives[],
                               size_t ndirs);
pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t directives[],
                                  size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
