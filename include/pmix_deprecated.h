/* SPDX-License-Identifier: BSD-3-Clause */
/* Obsolete names, and macros for functions, for programs that use them. */
#ifndef PMIX_DEPRECATED_H
#define PMIX_DEPRECATED_H

#include "pmix_common.h"

/* The macros that nearly every program uses */
#include "pmix_inline.h"

/*
 * pmix_common.h includes this header at its end; programs need not. New programs should
 * call the functions of pmix_data.h and pmix_util.h rather than the macros here.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* -- Obsolete functions ----------------------------------------------------------- */

/**
 * Connect a tool to another server, which becomes the primary one, as
 * PMIx_tool_attach_to_server with PMIX_PRIMARY_SERVER, which new programs call.
 *
 * @param proc   receives the tool's name; may be NULL
 * @param info   selects the server as for PMIx_tool_init; the caller's
 * @return as PMIx_tool_attach_to_server
 *
 * PMIx Standard 5.0, app. Deprecated; until 3.0: ch. Tools.
 */
pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t *proc, pmix_info_t info[],
                                          size_t ninfo);

/* -- Obsolete status codes -------------------------------------------------------- */

#define PMIX_ERR_SILENT                    (-2)
#define PMIX_ERR_DEBUGGER_RELEASE          PMIX_DEBUGGER_RELEASE
#define PMIX_ERR_PROC_ABORTED              (-7)
#define PMIX_ERR_PROC_ABORTING             (-9)
#define PMIX_ERR_SERVER_FAILED_REQUEST     (-10)
#define PMIX_EXISTS                        PMIX_ERR_EXISTS
#define PMIX_ERR_HANDSHAKE_FAILED          (-13)
#define PMIX_ERR_READY_FOR_HANDSHAKE       (-14)
#define PMIX_ERR_PROC_ENTRY_NOT_FOUND      (-17)
#define PMIX_ERR_PACK_MISMATCH             (-22)
#define PMIX_ERR_IN_ERRNO                  (-26)
#define PMIX_ERR_DATA_VALUE_NOT_FOUND      (-30)
#define PMIX_ERR_INVALID_ARG               (-33)
#define PMIX_ERR_INVALID_KEY               (-34)
#define PMIX_ERR_INVALID_KEY_LENGTH        (-35)
#define PMIX_ERR_INVALID_VAL               (-36)
#define PMIX_ERR_INVALID_VAL_LENGTH        (-37)
#define PMIX_ERR_INVALID_LENGTH            (-38)
#define PMIX_ERR_INVALID_NUM_ARGS          (-39)
#define PMIX_ERR_INVALID_ARGS              (-40)
#define PMIX_ERR_INVALID_NUM_PARSED        (-41)
#define PMIX_ERR_INVALID_KEYVALP           (-42)
#define PMIX_ERR_INVALID_SIZE              (-43)
#define PMIX_ERR_INVALID_NAMESPACE         (-44)
#define PMIX_ERR_SERVER_NOT_AVAIL          (-45)
#define PMIX_ERR_NOT_IMPLEMENTED           (-48)
#define PMIX_DEBUG_WAITING_FOR_NOTIFY      PMIX_READY_FOR_DEBUG
#define PMIX_ERR_FATAL                     (-63)
#define PMIX_ERR_VALUE_OUT_OF_BOUNDS       (-65)
#define PMIX_ERR_FILE_OPEN_FAILURE         (-67)
#define PMIX_ERR_FILE_READ_FAILURE         (-68)
#define PMIX_ERR_FILE_WRITE_FAILURE        (-69)
#define PMIX_ERR_SYS_LIMITS_PIPES          (-70)
#define PMIX_ERR_SYS_LIMITS_CHILDREN       (-71)
#define PMIX_ERR_PIPE_SETUP_FAILURE        (-72)
#define PMIX_ERR_EXE_NOT_ACCESSIBLE        (-73)
#define PMIX_ERR_JOB_WDIR_NOT_ACCESSIBLE   (-74)
#define PMIX_ERR_SYS_LIMITS_FILES          (-75)
#define PMIX_ERR_LOST_CONNECTION_TO_SERVER (-101)
#define PMIX_ERR_LOST_PEER_CONNECTION      (-102)
#define PMIX_ERR_LOST_CONNECTION_TO_CLIENT (-103)
#define PMIX_QUERY_PARTIAL_SUCCESS         (-104)
#define PMIX_NOTIFY_ALLOC_COMPLETE         (-105)
#define PMIX_ERR_INVALID_TERMINATION       (-112)
#define PMIX_ERR_JOB_TERMINATED            PMIX_EVENT_JOB_END
#define PMIX_ERR_UPDATE_ENDPOINTS          (-146)
#define PMIX_GDS_ACTION_COMPLETE           (-148)
#define PMIX_PROC_HAS_CONNECTED            (-149)
#define PMIX_CONNECT_REQUESTED             (-150)
#define PMIX_GROUP_CONTEXT_ID_ASSIGNED     (-169)
#define PMIX_ERR_SYS_BASE                  PMIX_EVENT_SYS_BASE
#define PMIX_ERR_NODE_DOWN                 PMIX_EVENT_NODE_DOWN
#define PMIX_ERR_NODE_OFFLINE              PMIX_EVENT_NODE_OFFLINE
#define PMIX_ERR_SYS_OTHER                 PMIX_EVENT_SYS_OTHER

/* -- Obsolete types and states ---------------------------------------------------- */

#define PMIX_BUFFER            26
#define PMIX_COMPRESSED_STRING 42 /* byte object holding a compressed string */
#define PMIX_REGEX             49 /* byte object holding a node or process map */
#define PMIX_JOB_STATE_PREPPED PMIX_JOB_STATE_AWAITING_ALLOC

/** Former name of pmix_hdlr_reg_cbfunc_t. */
typedef void (*pmix_evhdlr_reg_cbfunc_t)(pmix_status_t status, size_t refid,
                                         void *cbdata);

/* clang-format off */

/* Obsolete attributes */
#define PMIX_EVENT_BASE                "pmix.evbase"          /* struct event_base*: of the program, for the library to use */
#define PMIX_CRYPTO_KEY                "pmix.sec.key"         /* pmix_byte_object_t: key for encryption */
#define PMIX_TOPOLOGY                  "pmix.topo"            /* hwloc_topology_t: see PMIX_TOPOLOGY2 */
#define PMIX_TOPOLOGY_XML              "pmix.topo.xml"        /* char*: node's topology as XML */
#define PMIX_TOPOLOGY_FILE             "pmix.topo.file"       /* char*: file that holds it */
#define PMIX_TOPOLOGY_SIGNATURE        "pmix.toposig"         /* char*: short text that identifies a topology */
#define PMIX_LOCAL_TOPO                "pmix.ltopo"           /* char*: topology of the node as XML */
#define PMIX_HWLOC_XML_V1              "pmix.hwlocxml1"       /* char*: topology in version 1 of that format */
#define PMIX_HWLOC_XML_V2              "pmix.hwlocxml2"       /* char*: topology in version 2 of that format */
#define PMIX_HWLOC_SHARE_TOPO          "pmix.hwlocsh"         /* bool: share it in shared memory */
#define PMIX_HWLOC_SHMEM_ADDR          "pmix.hwlocaddr"       /* size_t: address to map it at */
#define PMIX_HWLOC_SHMEM_SIZE          "pmix.hwlocsize"       /* size_t: size of that memory */
#define PMIX_HWLOC_SHMEM_FILE          "pmix.hwlocfile"       /* char*: file behind it */
#define PMIX_HWLOC_HOLE_KIND           "pmix.hwlocholek"      /* char*: which hole of the address space to use */
#define PMIX_LOCALITY                  "pmix.loc"             /* uint16_t: how near a process is */
#define PMIX_PROC_DATA                 "pmix.pdata"           /* pmix_info_t[]: see PMIX_PROC_INFO_ARRAY */
#define PMIX_PROC_BLOB                 "pmix.pblob"           /* pmix_byte_object_t: data of all processes, packed */
#define PMIX_MAP_BLOB                  "pmix.mblob"           /* pmix_byte_object_t: maps, packed */
#define PMIX_MAPPER                    "pmix.mapper"          /* char*: mapping program to use */
#define PMIX_NON_PMI                   "pmix.nonpmi"          /* bool: processes will not connect */
#define PMIX_PROC_URI                  "pmix.puri"            /* char*: address of a process */
#define PMIX_ARCH                      "pmix.arch"            /* uint32_t: architecture flags */
#define PMIX_DSTPATH                   "pmix.dstpath"         /* char*: directory of the datastore */
#define PMIX_COLLECTIVE_ALGO           "pmix.calgo"           /* char*: ways to do a collective, in order */
#define PMIX_COLLECTIVE_ALGO_REQD      "pmix.calreqd"         /* bool: fail if none of them can be used */
#define PMIX_DEBUG_JOB                 "pmix.dbg.job"         /* char*: see PMIX_DEBUG_TARGET */
#define PMIX_DEBUG_JOB_DIRECTIVES      "pmix.dbg.jdirs"       /* pmix_info_t[]: for the job to debug */
#define PMIX_DEBUG_APP_DIRECTIVES      "pmix.dbg.adirs"       /* pmix_info_t[]: for the application to debug */
#define PMIX_EVENT_NO_TERMINATION      "pmix.evnoterm"        /* bool: host shall not end the job */
#define PMIX_EVENT_WANT_TERMINATION    "pmix.evterm"          /* bool: program wants to end itself */
#define PMIX_NOTIFY_LAUNCH             "pmix.note.lnch"       /* bool: notify about the launch */
#define PMIX_RECONNECT_SERVER          "pmix.cnct.recon"      /* bool: move to another server */
#define PMIX_USOCK_DISABLE             "pmix.usock.disable"   /* bool: do not use old-style Unix sockets */
#define PMIX_SOCKET_MODE               "pmix.sockmode"        /* uint32_t: permissions of the socket */
#define PMIX_SINGLE_LISTENER           "pmix.sing.listnr"     /* bool: use one kind of socket only */
#define PMIX_TAG_OUTPUT                "pmix.tagout"          /* bool: see PMIX_IOF_TAG_OUTPUT */
#define PMIX_TIMESTAMP_OUTPUT          "pmix.tsout"           /* bool: see PMIX_IOF_TIMESTAMP_OUTPUT */
#define PMIX_MERGE_STDERR_STDOUT       "pmix.mergeerrout"     /* bool: see PMIX_IOF_MERGE_STDERR_STDOUT */
#define PMIX_OUTPUT_TO_FILE            "pmix.outfile"         /* char*: see PMIX_IOF_OUTPUT_TO_FILE */
#define PMIX_OUTPUT_TO_DIRECTORY       "pmix.outdir"          /* char*: see PMIX_IOF_OUTPUT_TO_DIRECTORY */
#define PMIX_OUTPUT_NOCOPY             "pmix.nocopy"          /* bool: see PMIX_IOF_FILE_ONLY */
#define PMIX_IOF_STOP                  "pmix.iof.stop"        /* bool: stop forwarding */
#define PMIX_ALLOC_NETWORK             "pmix.alloc.net"       /* pmix_info_t[]: see PMIX_ALLOC_FABRIC */
#define PMIX_ALLOC_NETWORK_ID          "pmix.alloc.netid"     /* char*: see PMIX_ALLOC_FABRIC_ID */
#define PMIX_ALLOC_NETWORK_TYPE        "pmix.alloc.nettype"   /* char*: see PMIX_ALLOC_FABRIC_TYPE */
#define PMIX_ALLOC_NETWORK_PLANE       "pmix.alloc.netplane"  /* char*: see PMIX_ALLOC_FABRIC_PLANE */
#define PMIX_ALLOC_NETWORK_QOS         "pmix.alloc.netqos"    /* char*: see PMIX_ALLOC_FABRIC_QOS */
#define PMIX_ALLOC_NETWORK_ENDPTS      "pmix.alloc.endpts"    /* size_t: see PMIX_ALLOC_FABRIC_ENDPTS */
#define PMIX_ALLOC_NETWORK_ENDPTS_NODE "pmix.alloc.endpts.nd" /* size_t: see PMIX_ALLOC_FABRIC_ENDPTS_NODE */
#define PMIX_ALLOC_NETWORK_SEC_KEY     "pmix.alloc.nsec"      /* pmix_byte_object_t: see PMIX_ALLOC_FABRIC_SEC_KEY */
#define PMIX_GDS_MODULE                "pmix.gds.mod"         /* char*: datastore to use, within the library */
#define PMIX_BFROPS_MODULE             "pmix.bfrops.mod"      /* char*: wire dialect to use, within the library */
#define PMIX_PNET_SETUP_APP            "pmix.pnet.setapp"     /* pmix_byte_object_t: part of the launch blob */

/* -- Macros for functions --------------------------------------------------------- */

/*
 * pmix_inline.h has the macros that nearly every program uses.
 *
 * m is a pointer to an object or to the first of an array, n the number of elements, r
 * receives a status. CREATE sets m; FREE and RELEASE set it to NULL afterwards.
 * Ownership is that of the functions.
 */

#define PMIX_THEN_NULL(call, m) \
    do {                        \
        call;                   \
        (m) = NULL;             \
    } while (0)

/* Processes */
#define PMIX_PROC_INFO_CONSTRUCT(m) PMIx_Proc_info_construct(m)
#define PMIX_PROC_INFO_DESTRUCT(m)  PMIx_Proc_info_destruct(m)
#define PMIX_PROC_INFO_CREATE(m, n) (m) = PMIx_Proc_info_create(n)
#define PMIX_PROC_INFO_FREE(m, n)   PMIX_THEN_NULL(PMIx_Proc_info_free((m), (n)), m)
#define PMIX_PROC_INFO_RELEASE(m)   PMIX_THEN_NULL(PMIx_Proc_info_free((m), 1), m)

/* Values; d is the data, t its type */
#define PMIX_VALUE_LOAD(m, d, t)        PMIx_Value_load((m), (d), (t))
#define PMIX_VALUE_UNLOAD(r, m, d, sz)  (r) = PMIx_Value_unload((m), (d), (sz))
#define PMIX_VALUE_XFER_DIRECT(r, m, s) (r) = PMIx_Value_xfer((m), (s))
#define PMIX_CHECK_TRUE(m)              (PMIX_BOOL_TRUE == PMIx_Value_true(m))
#define PMIX_CHECK_BOOL(m)              (PMIX_NON_BOOL != PMIx_Value_true(m))

/* Like PMIX_VALUE_XFER_DIRECT, but makes the value if m is NULL */
#define PMIX_VALUE_XFER(r, m, s)                                     \
    do {                                                             \
        if ((m) == NULL)                                             \
            PMIX_VALUE_CREATE(m, 1);                                 \
        (r) = (m) ? PMIx_Value_xfer((m), (s)) : PMIX_ERR_NOMEM;      \
    } while (0)

/* Numeric content of m, cast to t; PMIx_Value_get_number checks that it fits */
#define PMIX_VALUE_GET_NUMBER(r, m, n, t)                                    \
    do {                                                                     \
        const pmix_value_t *pmix_val_ = (m);                                 \
        (r) = PMIX_SUCCESS;                                                  \
        switch (pmix_val_->type) {                                           \
        case PMIX_SIZE:      (n) = (t)pmix_val_->data.size; break;           \
        case PMIX_PID:       (n) = (t)pmix_val_->data.pid; break;            \
        case PMIX_INT:       (n) = (t)pmix_val_->data.integer; break;        \
        case PMIX_INT8:      (n) = (t)pmix_val_->data.int8; break;           \
        case PMIX_INT16:     (n) = (t)pmix_val_->data.int16; break;          \
        case PMIX_INT32:     (n) = (t)pmix_val_->data.int32; break;          \
        case PMIX_INT64:     (n) = (t)pmix_val_->data.int64; break;          \
        case PMIX_UINT:      (n) = (t)pmix_val_->data.uint; break;           \
        case PMIX_UINT8:     (n) = (t)pmix_val_->data.uint8; break;          \
        case PMIX_UINT16:    (n) = (t)pmix_val_->data.uint16; break;         \
        case PMIX_UINT32:    (n) = (t)pmix_val_->data.uint32; break;         \
        case PMIX_UINT64:    (n) = (t)pmix_val_->data.uint64; break;         \
        case PMIX_FLOAT:     (n) = (t)pmix_val_->data.fval; break;           \
        case PMIX_DOUBLE:    (n) = (t)pmix_val_->data.dval; break;           \
        case PMIX_PROC_RANK: (n) = (t)pmix_val_->data.rank; break;           \
        default:             (r) = PMIX_ERR_BAD_PARAM;                       \
        }                                                                    \
    } while (0)

/* Infos; k is the key */
#define PMIX_INFO_LOAD(m, k, d, t)  PMIx_Info_load((m), (k), (d), (t))
#define PMIX_INFO_XFER(m, s)        PMIx_Info_xfer((m), (s))
#define PMIX_INFO_TRUE(m)           (PMIX_BOOL_TRUE == PMIx_Info_true(m))
#define PMIX_INFO_PROCESSED(m)      PMIx_Info_processed(m)
#define PMIX_INFO_SET_QUALIFIER(m)  PMIx_Info_qualifier(m)
#define PMIX_INFO_SET_PERSISTENT(m) PMIx_Info_persistent(m)
#define PMIX_INFO_SET_END(m)        PMIx_Info_set_end(m)
#define PMIX_INFO_WAS_PROCESSED(m)  PMIx_Info_was_processed(m)
#define PMIX_INFO_IS_QUALIFIER(m)   PMIx_Info_is_qualifier(m)
#define PMIX_INFO_IS_PERSISTENT(m)  PMIx_Info_is_persistent(m)
#define PMIX_INFO_IS_END(m)         PMIx_Info_is_end(m)

/* Lists of infos; l is the list */
#define PMIX_INFO_LIST_START(l)               (l) = PMIx_Info_list_start()
#define PMIX_INFO_LIST_RELEASE(l)             PMIx_Info_list_release(l)
#define PMIX_INFO_LIST_ADD(r, l, k, d, t) \
    (r) = PMIx_Info_list_add((l), (k), (d), (t))
#define PMIX_INFO_LIST_PREPEND(r, l, k, d, t) \
    (r) = PMIx_Info_list_prepend((l), (k), (d), (t))
#define PMIX_INFO_LIST_INSERT(r, l, m)        (r) = PMIx_Info_list_insert((l), (m))
#define PMIX_INFO_LIST_XFER(r, l, m)          (r) = PMIx_Info_list_xfer((l), (m))
#define PMIX_INFO_LIST_CONVERT(r, l, m)       (r) = PMIx_Info_list_convert((l), (m))

/* Published data; p is the publisher */
#define PMIX_PDATA_LOAD(m, p, k, d, t) PMIx_Pdata_load((m), (p), (k), (d), (t))
#define PMIX_PDATA_XFER(m, s)          PMIx_Pdata_xfer((m), (s))

/* Descriptions of attributes */
#define PMIX_REGATTR_CONSTRUCT(m)         PMIx_Regattr_construct(m)
#define PMIX_REGATTR_DESTRUCT(m)          PMIx_Regattr_destruct(m)
#define PMIX_REGATTR_CREATE(m, n)         (m) = PMIx_Regattr_create(n)
#define PMIX_REGATTR_FREE(m, n)           PMIX_THEN_NULL(PMIx_Regattr_free((m), (n)), m)
#define PMIX_REGATTR_LOAD(m, nm, k, t, v) PMIx_Regattr_load((m), (nm), (k), (t), (v))
#define PMIX_REGATTR_XFER(m, s)           PMIx_Regattr_xfer((m), (s))

/* Byte objects: LOAD hands over the bytes d, and clears d and sz */
#define PMIX_BYTE_OBJECT_CREATE(m, n) (m) = PMIx_Byte_object_create(n)
#define PMIX_BYTE_OBJECT_FREE(m, n)   PMIX_THEN_NULL(PMIx_Byte_object_free((m), (n)), m)
#define PMIX_BYTE_OBJECT_LOAD(m, d, sz)                 \
    do {                                                \
        PMIx_Byte_object_load((m), (char *)(d), (sz));  \
        (d) = NULL;                                     \
        (sz) = 0;                                       \
    } while (0)

/* Data arrays; t is the type of the elements */
#define PMIX_DATA_ARRAY_INIT(m, t)         PMIx_Data_array_init((m), (t))
#define PMIX_DATA_ARRAY_CONSTRUCT(m, n, t) PMIx_Data_array_construct((m), (n), (t))
#define PMIX_DATA_ARRAY_DESTRUCT(m)        PMIx_Data_array_destruct(m)
#define PMIX_DATA_ARRAY_CREATE(m, n, t)    (m) = PMIx_Data_array_create((n), (t))
#define PMIX_DATA_ARRAY_FREE(m)            PMIX_THEN_NULL(PMIx_Data_array_free(m), m)

/* Environment variables: nm name, v value, s separator */
#define PMIX_ENVAR_CONSTRUCT(m)      PMIx_Envar_construct(m)
#define PMIX_ENVAR_DESTRUCT(m)       PMIx_Envar_destruct(m)
#define PMIX_ENVAR_CREATE(m, n)      (m) = PMIx_Envar_create(n)
#define PMIX_ENVAR_FREE(m, n)        PMIX_THEN_NULL(PMIx_Envar_free((m), (n)), m)
#define PMIX_ENVAR_LOAD(m, nm, v, s) PMIx_Envar_load((m), (nm), (v), (s))

/* Hardware and fabric. Note PMIX_COORD_CREATE: n coordinates of d dimensions */
#define PMIX_COORD_CONSTRUCT(m)    PMIx_Coord_construct(m)
#define PMIX_COORD_DESTRUCT(m)     PMIx_Coord_destruct(m)
#define PMIX_COORD_CREATE(m, n, d) (m) = PMIx_Coord_create((d), (n))
#define PMIX_COORD_FREE(m, n)      PMIX_THEN_NULL(PMIx_Coord_free((m), (n)), m)

#define PMIX_GEOMETRY_CONSTRUCT(m) PMIx_Geometry_construct(m)
#define PMIX_GEOMETRY_DESTRUCT(m)  PMIx_Geometry_destruct(m)
#define PMIX_GEOMETRY_CREATE(m, n) (m) = PMIx_Geometry_create(n)
#define PMIX_GEOMETRY_FREE(m, n)   PMIX_THEN_NULL(PMIx_Geometry_free((m), (n)), m)

#define PMIX_DEVICE_CONSTRUCT(m) PMIx_Device_construct(m)
#define PMIX_DEVICE_DESTRUCT(m)  PMIx_Device_destruct(m)
#define PMIX_DEVICE_CREATE(m, n) (m) = PMIx_Device_create(n)
#define PMIX_DEVICE_FREE(m, n)   PMIX_THEN_NULL(PMIx_Device_free((m), (n)), m)

#define PMIX_DEVICE_DIST_CONSTRUCT(m) PMIx_Device_distance_construct(m)
#define PMIX_DEVICE_DIST_DESTRUCT(m)  PMIx_Device_distance_destruct(m)
#define PMIX_DEVICE_DIST_CREATE(m, n) (m) = PMIx_Device_distance_create(n)
#define PMIX_DEVICE_DIST_FREE(m, n) \
    PMIX_THEN_NULL(PMIx_Device_distance_free((m), (n)), m)

#define PMIX_ENDPOINT_CONSTRUCT(m) PMIx_Endpoint_construct(m)
#define PMIX_ENDPOINT_DESTRUCT(m)  PMIx_Endpoint_destruct(m)
#define PMIX_ENDPOINT_CREATE(m, n) (m) = PMIx_Endpoint_create(n)
#define PMIX_ENDPOINT_FREE(m, n)   PMIX_THEN_NULL(PMIx_Endpoint_free((m), (n)), m)

#define PMIX_CPUSET_CONSTRUCT(m) PMIx_Cpuset_construct(m)
#define PMIX_CPUSET_DESTRUCT(m)  PMIx_Cpuset_destruct(m)
#define PMIX_CPUSET_CREATE(m, n) (m) = PMIx_Cpuset_create(n)
#define PMIX_CPUSET_FREE(m, n)   PMIX_THEN_NULL(PMIx_Cpuset_free((m), (n)), m)

#define PMIX_TOPOLOGY_CONSTRUCT(m) PMIx_Topology_construct(m)
#define PMIX_TOPOLOGY_DESTRUCT(m)  PMIx_Topology_destruct(m)
#define PMIX_TOPOLOGY_CREATE(m, n) (m) = PMIx_Topology_create(n)
#define PMIX_TOPOLOGY_FREE(m, n)   PMIX_THEN_NULL(PMIx_Topology_free((m), (n)), m)

#define PMIX_FABRIC_CONSTRUCT(m) PMIx_Fabric_construct(m)

#define PMIX_RESOURCE_UNIT_CONSTRUCT(m) PMIx_Resource_unit_construct(m)
#define PMIX_RESOURCE_UNIT_DESTRUCT(m)  PMIx_Resource_unit_destruct(m)
#define PMIX_RESOURCE_UNIT_CREATE(m, n) (m) = PMIx_Resource_unit_create(n)
#define PMIX_RESOURCE_UNIT_FREE(m, n) \
    PMIX_THEN_NULL(PMIx_Resource_unit_free((m), (n)), m)

/* Resource usage */
#define PMIX_PROC_STATS_CONSTRUCT(m) PMIx_Proc_stats_construct(m)
#define PMIX_PROC_STATS_DESTRUCT(m)  PMIx_Proc_stats_destruct(m)
#define PMIX_PROC_STATS_CREATE(m, n) (m) = PMIx_Proc_stats_create(n)
#define PMIX_PROC_STATS_FREE(m, n)   PMIX_THEN_NULL(PMIx_Proc_stats_free((m), (n)), m)
#define PMIX_PROC_STATS_RELEASE(m)   PMIX_THEN_NULL(PMIx_Proc_stats_free((m), 1), m)

#define PMIX_DISK_STATS_CONSTRUCT(m) PMIx_Disk_stats_construct(m)
#define PMIX_DISK_STATS_DESTRUCT(m)  PMIx_Disk_stats_destruct(m)
#define PMIX_DISK_STATS_CREATE(m, n) (m) = PMIx_Disk_stats_create(n)
#define PMIX_DISK_STATS_FREE(m, n)   PMIX_THEN_NULL(PMIx_Disk_stats_free((m), (n)), m)
#define PMIX_DISK_STATS_RELEASE(m)   PMIX_THEN_NULL(PMIx_Disk_stats_free((m), 1), m)

#define PMIX_NET_STATS_CONSTRUCT(m) PMIx_Net_stats_construct(m)
#define PMIX_NET_STATS_DESTRUCT(m)  PMIx_Net_stats_destruct(m)
#define PMIX_NET_STATS_CREATE(m, n) (m) = PMIx_Net_stats_create(n)
#define PMIX_NET_STATS_FREE(m, n)   PMIX_THEN_NULL(PMIx_Net_stats_free((m), (n)), m)
#define PMIX_NET_STATS_RELEASE(m)   PMIX_THEN_NULL(PMIx_Net_stats_free((m), 1), m)

#define PMIX_NODE_STATS_CONSTRUCT(m) PMIx_Node_stats_construct(m)
#define PMIX_NODE_STATS_DESTRUCT(m)  PMIx_Node_stats_destruct(m)
#define PMIX_NODE_STATS_CREATE(m, n) (m) = PMIx_Node_stats_create(n)
#define PMIX_NODE_STATS_FREE(m, n)   PMIX_THEN_NULL(PMIx_Node_stats_free((m), (n)), m)
#define PMIX_NODE_STATS_RELEASE(m)   PMIX_THEN_NULL(PMIx_Node_stats_free((m), 1), m)

/* Data buffers; UNLOAD sets d and sz */
#define PMIX_DATA_BUFFER_CONSTRUCT(m)     PMIx_Data_buffer_construct(m)
#define PMIX_DATA_BUFFER_DESTRUCT(m)      PMIx_Data_buffer_destruct(m)
#define PMIX_DATA_BUFFER_CREATE(m)        (m) = PMIx_Data_buffer_create()
#define PMIX_DATA_BUFFER_RELEASE(m)       PMIX_THEN_NULL(PMIx_Data_buffer_release(m), m)
#define PMIX_DATA_BUFFER_LOAD(m, d, sz)   PMIx_Data_buffer_load((m), (char *)(d), (sz))
#define PMIX_DATA_BUFFER_UNLOAD(m, d, sz) PMIx_Data_buffer_unload((m), &(d), &(sz))

/* Keys, namespaces, processes */
#define PMIX_CHECK_RESERVED_KEY(k)     PMIx_Check_reserved_key(k)
#define PMIX_NSPACE_INVALID(ns)        PMIx_Nspace_invalid(ns)
#define PMIX_PROCID_INVALID(m)         PMIx_Procid_invalid(m)

/* Namespaces ns with the name c of their cluster; t has both */
#define PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(t, c, ns) \
    PMIx_Multicluster_nspace_construct((t), (c), (ns))
#define PMIX_MULTICLUSTER_NSPACE_PARSE(t, c, ns) \
    PMIx_Multicluster_nspace_parse((t), (c), (ns))

/* Arrays of strings: a is the array, pa its address, s a string, c a character. Note
 * that PMIX_ARGV_APPEND and _PREPEND take the array, but _APPEND_UNIQUE and PMIX_SETENV
 * its address. */
#define PMIX_ARGV_PREPEND(r, a, s)        (r) = PMIx_Argv_prepend_nosize(&(a), (s))
#define PMIX_ARGV_APPEND_UNIQUE(r, pa, s) \
    (r) = PMIx_Argv_append_unique_nosize((pa), (s))
#define PMIX_ARGV_SPLIT(a, s, c)          (a) = PMIx_Argv_split((s), (c))
#define PMIX_ARGV_COUNT(n, a)             (n) = PMIx_Argv_count(a)
#define PMIX_ARGV_JOIN(s, a, c)           (s) = PMIx_Argv_join((a), (c))
#define PMIX_ARGV_COPY(m, a)              (m) = PMIx_Argv_copy(a)
#define PMIX_SETENV(r, nm, v, pa)         (r) = PMIx_Setenv((nm), (v), true, (pa))

#define pmix_argv_append_nosize(pa, s)        PMIx_Argv_append_nosize((pa), (s))
#define pmix_argv_append_unique_nosize(pa, s) PMIx_Argv_append_unique_nosize((pa), (s))
#define pmix_argv_prepend_nosize(pa, s)       PMIx_Argv_prepend_nosize((pa), (s))
#define pmix_argv_free(a)                     PMIx_Argv_free(a)
#define pmix_argv_split(s, c)                 PMIx_Argv_split((s), (c))
#define pmix_argv_split_inter(s, c, e)        PMIx_Argv_split_inter((s), (c), (e))
#define pmix_argv_split_with_empty(s, c)      PMIx_Argv_split_with_empty((s), (c))
#define pmix_argv_count(a)                    PMIx_Argv_count(a)
#define pmix_argv_join(a, c)                  PMIx_Argv_join((a), (c))
#define pmix_argv_copy(a)                     PMIx_Argv_copy(a)
#define pmix_setenv(nm, v, o, pa)             PMIx_Setenv((nm), (v), (o), (pa))

/* clang-format on */

/* -- Functions of the headers of 4.2 ---------------------------------------------- */

/** Works like PMIx_Value_true. */
static inline pmix_boolean_t pmix_check_true(const pmix_value_t *value)
{
    return PMIx_Value_true(value);
}

/* Destruct the n elements of an array, which the caller keeps; NULL is accepted. Note
 * that PMIX_APP_FREE and similar macros also free the array. */
#define PMIX_DEFINE_FREE(name, type, destruct)          \
    static inline void name(type *array, size_t n)      \
    {                                                   \
        for (size_t i = 0; array != NULL && i < n; i++) \
            destruct(&array[i]);                        \
    }
PMIX_DEFINE_FREE(pmix_app_free, pmix_app_t, PMIx_App_destruct)
PMIX_DEFINE_FREE(pmix_pdata_free, pmix_pdata_t, PMIx_Pdata_destruct)
PMIX_DEFINE_FREE(pmix_proc_stats_free, pmix_proc_stats_t, PMIx_Proc_stats_destruct)
PMIX_DEFINE_FREE(pmix_disk_stats_free, pmix_disk_stats_t, PMIx_Disk_stats_destruct)
PMIX_DEFINE_FREE(pmix_net_stats_free, pmix_net_stats_t, PMIx_Net_stats_destruct)
PMIX_DEFINE_FREE(pmix_node_stats_free, pmix_node_stats_t, PMIx_Node_stats_destruct)
#undef PMIX_DEFINE_FREE

#ifdef __cplusplus
}
#endif
#endif
