/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes and event codes: one number space. */
#ifndef PMIX_STATUS_H
#define PMIX_STATUS_H

/*
 * Codes that functions return and that name events. Events that are not errors share
 * the range. Numbers are fixed by the binary interface and are never reused. Obsolete
 * names are in pmix_deprecated.h.
 */
typedef int pmix_status_t;

/* Outcome of an operation */
#define PMIX_SUCCESS               0
#define PMIX_OPERATION_IN_PROGRESS (-156) /* requested before; the result follows */
#define PMIX_OPERATION_SUCCEEDED   (-157) /* done; no callback follows */
#define PMIX_ERR_PARTIAL_SUCCESS   (-52)  /* some of the request was met */

/* Errors of the caller or of its request */
#define PMIX_ERROR                              (-1)   /* nothing better is known */
#define PMIX_ERR_BAD_PARAM                      (-27)  /* an argument is invalid */
#define PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED      (-59)  /* attribute's value is wrong */
#define PMIX_ERR_INVALID_OPERATION              (-158) /* not in this state or role */
#define PMIX_ERR_INVALID_CRED                   (-12)  /* credential was refused */
#define PMIX_ERR_NO_PERMISSIONS                 (-23)  /* caller may not do this */
#define PMIX_ERR_NOT_A_MEMBER                   (-66)  /* caller is not in that set */
#define PMIX_ERR_WOULD_BLOCK                    (-15)  /* would wait for itself */
#define PMIX_ERR_EXISTS                         (-11)  /* the object exists already */
#define PMIX_ERR_DUPLICATE_KEY                  (-53)  /* published in that range */
#define PMIX_ERR_EMPTY                          (-60)  /* nothing to work on */
#define PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES (-51)  /* same path, two orders */
#define PMIX_ERR_REPEAT_ATTR_REGISTRATION       (-171) /* function was registered before */
#define PMIX_ERR_EVENT_REGISTRATION             (-144) /* handler was refused */

/* Not found, not reached or not provided */
#define PMIX_ERR_NOT_FOUND            (-46)
#define PMIX_ERR_EXISTS_OUTSIDE_SCOPE (-62) /* there, but not visible to the caller */
#define PMIX_ERR_NOT_AVAILABLE        (-64) /* not at present */
#define PMIX_ERR_NOT_SUPPORTED        (-47) /* not by this host or build */
#define PMIX_ERR_INIT                 (-31) /* not initialized, or cannot be */
#define PMIX_ERR_NOMEM                (-32)
#define PMIX_ERR_OUT_OF_RESOURCE      (-29)
#define PMIX_ERR_RESOURCE_BUSY        (-28)
#define PMIX_ERR_TIMEOUT              (-24)
#define PMIX_ERR_UNREACH              (-25) /* no server can be reached */
#define PMIX_ERR_COMM_FAILURE         (-49) /* message could not be passed */
#define PMIX_ERR_LOST_CONNECTION      (-61) /* also an event: a peer went away */

/* Packing, unpacking and conversion of data */
#define PMIX_ERR_UNKNOWN_DATA_TYPE              (-16)
#define PMIX_ERR_TYPE_MISMATCH                  (-18) /* data has another type */
#define PMIX_ERR_UNPACK_INADEQUATE_SPACE        (-19) /* more values than room */
#define PMIX_ERR_UNPACK_FAILURE                 (-20)
#define PMIX_ERR_PACK_FAILURE                   (-21)
#define PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER (-50)  /* buffer is used up */
#define PMIX_ERR_LOST_PRECISION                 (-202) /* number does not fit exactly */
#define PMIX_ERR_CHANGE_SIGN                    (-203) /* sign would change */

/* Processes */
#define PMIX_ERR_PROC_RESTART               (-4)   /* restarted */
#define PMIX_ERR_PROC_CHECKPOINT            (-5)   /* checkpointed */
#define PMIX_ERR_PROC_MIGRATE               (-6)   /* moved to another node */
#define PMIX_ERR_PROC_REQUESTED_ABORT       (-8)   /* called PMIx_Abort */
#define PMIX_PROC_TERMINATED                (-111) /* ended; old name of -201 */
#define PMIX_ERR_PROC_TERM_WO_SYNC          (-200) /* ended without PMIx_Finalize */
#define PMIX_EVENT_PROC_TERMINATED          (-201) /* ended */
#define PMIX_ERR_PROC_KILLED_BY_CMD         (-400)
#define PMIX_ERR_PROC_FAILED_TO_START       (-401)
#define PMIX_ERR_PROC_ABORTED_BY_SIG        (-402)
#define PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED (-403) /* used more than it may */
#define PMIX_ERR_EXIT_NONZERO_TERM          (-404)

/* Jobs and sessions */
#define PMIX_EVENT_JOB_START                (-191)
#define PMIX_EVENT_JOB_END                  (-145)
#define PMIX_EVENT_SESSION_START            (-192)
#define PMIX_EVENT_SESSION_END              (-193)
#define PMIX_ERR_JOB_APP_NOT_EXECUTABLE     (-177)
#define PMIX_ERR_JOB_NO_EXE_SPECIFIED       (-178)
#define PMIX_ERR_JOB_FAILED_TO_MAP          (-179)
#define PMIX_ERR_JOB_CANCELED               (-180)
#define PMIX_ERR_JOB_FAILED_TO_LAUNCH       (-181)
#define PMIX_ERR_JOB_ABORTED                (-182)
#define PMIX_ERR_JOB_KILLED_BY_CMD          (-183)
#define PMIX_ERR_JOB_ABORTED_BY_SIG         (-184)
#define PMIX_ERR_JOB_TERM_WO_SYNC           (-185) /* not finalized by all */
#define PMIX_ERR_JOB_SENSOR_BOUND_EXCEEDED  (-186)
#define PMIX_ERR_JOB_NON_ZERO_TERM          (-187) /* a process returned non-zero */
#define PMIX_ERR_JOB_ALLOC_FAILED           (-188)
#define PMIX_ERR_JOB_ABORTED_BY_SYS_EVENT   (-189)
#define PMIX_ERR_JOB_EXE_NOT_FOUND          (-190)
#define PMIX_ERR_JOB_WDIR_NOT_FOUND         (-233)
#define PMIX_ERR_JOB_INSUFFICIENT_RESOURCES (-234)
#define PMIX_ERR_JOB_SYS_OP_FAILED          (-235) /* a system call failed at launch */

/* Launching and tools */
#define PMIX_LAUNCHER_READY   (-155) /* launcher awaits directives */
#define PMIX_LAUNCH_COMPLETE  (-174)
#define PMIX_READY_FOR_DEBUG  (-58)  /* stopped where the debugger asked */
#define PMIX_DEBUGGER_RELEASE (-3)   /* debugger lets the process go on */
#define PMIX_DVM_IS_READY     (-195) /* persistent launcher is up */
#define PMIX_ERR_DVM_MOD      (-196) /* launcher could not be grown or shrunk */
#define PMIX_ERR_IOF_FAILURE  (-172) /* forwarding could not be set up */
#define PMIX_ERR_IOF_COMPLETE (-173) /* stream has ended */
#define PMIX_ERR_IOF_XOFF     (-405) /* receiver asks to pause */

/* Allocation, job control and monitoring */
#define PMIX_ALLOC_TIMEOUT_WARNING     (-194) /* allocation will end soon */
#define PMIX_JCTRL_CHECKPOINT          (-106) /* please checkpoint now */
#define PMIX_JCTRL_CHECKPOINT_COMPLETE (-107)
#define PMIX_JCTRL_PREEMPT_ALERT       (-108) /* job will be preempted */
#define PMIX_MONITOR_HEARTBEAT_ALERT   (-109) /* heartbeats are missing */
#define PMIX_MONITOR_FILE_ALERT        (-110) /* file does not change as it should */
#define PMIX_MONITOR_RESUSAGE_UPDATE   (-114) /* new resource usage figures */

/* Process sets and groups */
#define PMIX_PROCESS_SET_DEFINE       (-55)
#define PMIX_PROCESS_SET_DELETE       (-56)
#define PMIX_GROUP_INVITED            (-159)
#define PMIX_GROUP_LEFT               (-160)
#define PMIX_GROUP_INVITE_ACCEPTED    (-161)
#define PMIX_GROUP_INVITE_DECLINED    (-162)
#define PMIX_GROUP_INVITE_FAILED      (-163)
#define PMIX_GROUP_MEMBERSHIP_UPDATE  (-164)
#define PMIX_GROUP_CONSTRUCT_ABORT    (-165)
#define PMIX_GROUP_CONSTRUCT_COMPLETE (-166)
#define PMIX_GROUP_LEADER_SELECTED    (-167)
#define PMIX_GROUP_LEADER_FAILED      (-168)
#define PMIX_GROUP_MEMBER_FAILED      (-170)

/* Programming models that share a process */
#define PMIX_MODEL_DECLARED          (-147) /* another library announced its model */
#define PMIX_MODEL_RESOURCES         (-151) /* its use of resources changed */
#define PMIX_OPENMP_PARALLEL_ENTERED (-152)
#define PMIX_OPENMP_PARALLEL_EXITED  (-153)

/* Fabric */
#define PMIX_FABRIC_UPDATE_ENDPOINTS (-113)
#define PMIX_FABRIC_UPDATED          (-175)
#define PMIX_FABRIC_UPDATE_PENDING   (-176)

/* System events: everything from EVENT_SYS_BASE down to EVENT_SYS_OTHER */
#define PMIX_EVENT_SYS_BASE     (-230)
#define PMIX_EVENT_NODE_DOWN    (-231)
#define PMIX_EVENT_NODE_OFFLINE (-232)
#define PMIX_EVENT_SYS_OTHER    (-330)

#define PMIX_SYSTEM_EVENT(a) ((a) <= PMIX_EVENT_SYS_BASE && PMIX_EVENT_SYS_OTHER <= (a))

/* Results that an event handler reports to the chain */
#define PMIX_EVENT_NO_ACTION_TAKEN      (-331)
#define PMIX_EVENT_PARTIAL_ACTION_TAKEN (-332)
#define PMIX_EVENT_ACTION_DEFERRED      (-333)
#define PMIX_EVENT_ACTION_COMPLETE      (-334) /* no further handler is called */

/* Codes of users and hosts are below this code, or positive */
#define PMIX_EXTERNAL_ERR_BASE (-3000)

#endif
