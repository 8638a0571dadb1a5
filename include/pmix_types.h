/* SPDX-License-Identifier: BSD-3-Clause */
/* Data types of the interface: scalars with their values, and structures. */
#ifndef PMIX_TYPES_H
#define PMIX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#include "pmix_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sizes, offsets and numbers here are the binary interface: they match every release of
 * OpenPMIx's libpmix.so.2. Strings and arrays that a structure points to belong to the
 * structure and come from malloc.
 */

/* -- Names of processes ---------------------------------------------------------- */

#define PMIX_MAX_NSLEN  255 /* longest namespace, without its NUL */
#define PMIX_MAX_KEYLEN 511 /* longest key, without its NUL */

typedef char pmix_nspace_t[PMIX_MAX_NSLEN + 1];
typedef char pmix_key_t[PMIX_MAX_KEYLEN + 1];

typedef uint32_t pmix_rank_t;
#define PMIX_RANK_UNDEF      UINT32_MAX       /* job-level data, or unknown */
#define PMIX_RANK_WILDCARD   (UINT32_MAX - 1) /* every rank of the namespace */
#define PMIX_RANK_LOCAL_NODE (UINT32_MAX - 2) /* every rank on this node */
#define PMIX_RANK_INVALID    (UINT32_MAX - 3)
#define PMIX_RANK_LOCAL_PEERS \
    (UINT32_MAX - 4) /* ranks of the caller's namespace on this node */
#define PMIX_RANK_VALID (UINT32_MAX - 50) /* other ranks are below this */

#define PMIX_RANK_IS_VALID(r) ((r) < PMIX_RANK_VALID)

#define PMIX_APP_WILDCARD UINT32_MAX /* every application of the job */

/* -- Numbers of the data types --------------------------------------------------- */

/* Type codes in pmix_value_t and on the wire. 29 and 44 are free. Obsolete, in
 * pmix_deprecated.h: 26, 42 and 49. */
typedef uint16_t pmix_data_type_t;
#define PMIX_UNDEF                  0
#define PMIX_BOOL                   1
#define PMIX_BYTE                   2
#define PMIX_STRING                 3 /* NUL-terminated */
#define PMIX_SIZE                   4
#define PMIX_PID                    5
#define PMIX_INT                    6
#define PMIX_INT8                   7
#define PMIX_INT16                  8
#define PMIX_INT32                  9
#define PMIX_INT64                  10
#define PMIX_UINT                   11
#define PMIX_UINT8                  12
#define PMIX_UINT16                 13
#define PMIX_UINT32                 14
#define PMIX_UINT64                 15
#define PMIX_FLOAT                  16
#define PMIX_DOUBLE                 17
#define PMIX_TIMEVAL                18
#define PMIX_TIME                   19
#define PMIX_STATUS                 20 /* pmix_status_t */
#define PMIX_VALUE                  21 /* pmix_value_t */
#define PMIX_PROC                   22 /* pmix_proc_t */
#define PMIX_APP                    23 /* pmix_app_t */
#define PMIX_INFO                   24 /* pmix_info_t */
#define PMIX_PDATA                  25 /* pmix_pdata_t */
#define PMIX_BYTE_OBJECT            27 /* pmix_byte_object_t */
#define PMIX_KVAL                   28 /* key and value, internal to the library */
#define PMIX_PERSIST                30 /* pmix_persistence_t */
#define PMIX_POINTER                31 /* address, meaningful in this process only */
#define PMIX_SCOPE                  32 /* pmix_scope_t */
#define PMIX_DATA_RANGE             33 /* pmix_data_range_t */
#define PMIX_COMMAND                34 /* internal to the library */
#define PMIX_INFO_DIRECTIVES        35 /* pmix_info_directives_t */
#define PMIX_DATA_TYPE              36 /* pmix_data_type_t */
#define PMIX_PROC_STATE             37 /* pmix_proc_state_t */
#define PMIX_PROC_INFO              38 /* pmix_proc_info_t */
#define PMIX_DATA_ARRAY             39 /* pmix_data_array_t */
#define PMIX_PROC_RANK              40 /* pmix_rank_t */
#define PMIX_QUERY                  41 /* pmix_query_t */
#define PMIX_ALLOC_DIRECTIVE        43 /* pmix_alloc_directive_t */
#define PMIX_IOF_CHANNEL            45 /* pmix_iof_channel_t */
#define PMIX_ENVAR                  46 /* pmix_envar_t */
#define PMIX_COORD                  47 /* pmix_coord_t */
#define PMIX_REGATTR                48 /* pmix_regattr_t */
#define PMIX_JOB_STATE              50 /* pmix_job_state_t */
#define PMIX_LINK_STATE             51 /* pmix_link_state_t */
#define PMIX_PROC_CPUSET            52 /* pmix_cpuset_t */
#define PMIX_GEOMETRY               53 /* pmix_geometry_t */
#define PMIX_DEVICE_DIST            54 /* pmix_device_distance_t */
#define PMIX_ENDPOINT               55 /* pmix_endpoint_t */
#define PMIX_TOPO                   56 /* pmix_topology_t */
#define PMIX_DEVTYPE                57 /* pmix_device_type_t */
#define PMIX_LOCTYPE                58 /* pmix_locality_t */
#define PMIX_COMPRESSED_BYTE_OBJECT 59 /* pmix_byte_object_t holding compressed bytes */
#define PMIX_PROC_NSPACE            60 /* pmix_nspace_t */
#define PMIX_PROC_STATS             61 /* pmix_proc_stats_t; dropped by others in 6.1 */
#define PMIX_DISK_STATS             62 /* pmix_disk_stats_t; likewise */
#define PMIX_NET_STATS              63 /* pmix_net_stats_t; likewise */
#define PMIX_NODE_STATS             64 /* pmix_node_stats_t; likewise */
#define PMIX_DATA_BUFFER            65 /* pmix_data_buffer_t */
#define PMIX_STOR_MEDIUM            66 /* pmix_storage_medium_t */
#define PMIX_STOR_ACCESS            67 /* pmix_storage_accessibility_t */
#define PMIX_STOR_PERSIST           68 /* pmix_storage_persistence_t */
#define PMIX_STOR_ACCESS_TYPE       69 /* pmix_storage_access_type_t */
#define PMIX_DEVICE                 70 /* pmix_device_t */
#define PMIX_RESBLOCK_DIRECTIVE     71 /* pmix_resource_block_directive_t */
#define PMIX_RESOURCE_UNIT          72 /* pmix_resource_unit_t */
#define PMIX_NODE_PID               73 /* pmix_node_pid_t */
#define PMIX_REGEX2                 74 /* pmix_regex2_t */
#define PMIX_ALLOC_INHERIT          75 /* pmix_alloc_inheritance_t */
#define PMIX_DATA_TYPE_MAX          500 /* numbers for other users begin above this */

/* -- Visibility and lifetime of data --------------------------------------------- */

/* The processes that may read what PMIx_Put stores */
typedef uint8_t pmix_scope_t;
#define PMIX_SCOPE_UNDEF  0
#define PMIX_LOCAL        1 /* processes on this node */
#define PMIX_REMOTE       2 /* processes on other nodes */
#define PMIX_GLOBAL       3 /* both */
#define PMIX_INTERNAL     4 /* this process alone */
#define PMIX_DEL_LOCAL    5 /* remove values put with PMIX_LOCAL */
#define PMIX_DEL_REMOTE   6
#define PMIX_DEL_GLOBAL   7
#define PMIX_DEL_INTERNAL 8

/* The processes that may see published data, or are notified of an event */
typedef uint8_t pmix_data_range_t;
#define PMIX_RANGE_UNDEF      0
#define PMIX_RANGE_RM         1 /* the resource manager */
#define PMIX_RANGE_LOCAL      2 /* processes on this node */
#define PMIX_RANGE_NAMESPACE  3 /* processes of the same namespace */
#define PMIX_RANGE_SESSION    4 /* processes of the same session */
#define PMIX_RANGE_GLOBAL     5 /* all processes */
#define PMIX_RANGE_CUSTOM     6 /* processes named in an attribute */
#define PMIX_RANGE_PROC_LOCAL 7 /* this process */
#define PMIX_RANGE_INVALID    UINT8_MAX

/* Lifetime of published data */
typedef uint8_t pmix_persistence_t;
#define PMIX_PERSIST_INDEF      0 /* until unpublished */
#define PMIX_PERSIST_FIRST_READ 1 /* until looked up once */
#define PMIX_PERSIST_PROC       2 /* until the publisher ends */
#define PMIX_PERSIST_APP        3 /* until the publisher's application ends */
#define PMIX_PERSIST_SESSION    4 /* until the session ends */
#define PMIX_PERSIST_INVALID    UINT8_MAX

/* Flags of one pmix_info_t; the upper half is reserved for the library */
typedef uint32_t pmix_info_directives_t;
#define PMIX_INFO_REQD           0x00000001 /* fail rather than ignore this */
#define PMIX_INFO_ARRAY_END      0x00000002 /* last of an array of unknown length */
#define PMIX_INFO_REQD_PROCESSED 0x00000004 /* the required attribute was honoured */
#define PMIX_INFO_QUALIFIER      0x00000008 /* qualifies the first info of its array */
#define PMIX_INFO_PERSISTENT     0x00000010 /* the value is not freed with the info */
#define PMIX_INFO_DIR_RESERVED   0xffff0000

/* -- Processes and jobs ---------------------------------------------------------- */

/* State of a process: ordered up to TERMINATED; above ERROR the process failed */
typedef uint8_t pmix_proc_state_t;
#define PMIX_PROC_STATE_UNDEF                 0
#define PMIX_PROC_STATE_PREPPED               1 /* ready to be launched */
#define PMIX_PROC_STATE_LAUNCH_UNDERWAY       2
#define PMIX_PROC_STATE_RESTART               3 /* ready to be started again */
#define PMIX_PROC_STATE_TERMINATE             4 /* marked for termination */
#define PMIX_PROC_STATE_RUNNING               5
#define PMIX_PROC_STATE_CONNECTED             6  /* has called PMIx_Init */
#define PMIX_PROC_STATE_UNTERMINATED          15 /* below: alive */
#define PMIX_PROC_STATE_TERMINATED            20 /* ended normally */
#define PMIX_PROC_STATE_ERROR                 50 /* above: failed */
#define PMIX_PROC_STATE_KILLED_BY_CMD         (PMIX_PROC_STATE_ERROR + 1)
#define PMIX_PROC_STATE_ABORTED               (PMIX_PROC_STATE_ERROR + 2)
#define PMIX_PROC_STATE_FAILED_TO_START       (PMIX_PROC_STATE_ERROR + 3)
#define PMIX_PROC_STATE_ABORTED_BY_SIG        (PMIX_PROC_STATE_ERROR + 4)
#define PMIX_PROC_STATE_TERM_WO_SYNC          (PMIX_PROC_STATE_ERROR + 5)
#define PMIX_PROC_STATE_COMM_FAILED           (PMIX_PROC_STATE_ERROR + 6)
#define PMIX_PROC_STATE_SENSOR_BOUND_EXCEEDED (PMIX_PROC_STATE_ERROR + 7)
#define PMIX_PROC_STATE_CALLED_ABORT          (PMIX_PROC_STATE_ERROR + 8)
#define PMIX_PROC_STATE_HEARTBEAT_FAILED      (PMIX_PROC_STATE_ERROR + 9)
#define PMIX_PROC_STATE_MIGRATING             (PMIX_PROC_STATE_ERROR + 10)
#define PMIX_PROC_STATE_CANNOT_RESTART        (PMIX_PROC_STATE_ERROR + 11)
#define PMIX_PROC_STATE_TERM_NON_ZERO         (PMIX_PROC_STATE_ERROR + 12)
#define PMIX_PROC_STATE_FAILED_TO_LAUNCH      (PMIX_PROC_STATE_ERROR + 13)

typedef uint8_t pmix_job_state_t;
#define PMIX_JOB_STATE_UNDEF                 0
#define PMIX_JOB_STATE_AWAITING_ALLOC        1
#define PMIX_JOB_STATE_LAUNCH_UNDERWAY       2
#define PMIX_JOB_STATE_RUNNING               3
#define PMIX_JOB_STATE_SUSPENDED             4
#define PMIX_JOB_STATE_CONNECTED             5  /* every process has called PMIx_Init */
#define PMIX_JOB_STATE_UNTERMINATED          15 /* below: alive */
#define PMIX_JOB_STATE_TERMINATED            20
#define PMIX_JOB_STATE_TERMINATED_WITH_ERROR 50

/* Standard streams of a process, as a mask */
typedef uint16_t pmix_iof_channel_t;
#define PMIX_FWD_NO_CHANNELS     0x0000
#define PMIX_FWD_STDIN_CHANNEL   0x0001
#define PMIX_FWD_STDOUT_CHANNEL  0x0002
#define PMIX_FWD_STDERR_CHANNEL  0x0004
#define PMIX_FWD_STDDIAG_CHANNEL 0x0008 /* diagnostics, if the host has them */
#define PMIX_FWD_ALL_CHANNELS    0x00ff

/* -- Allocations ----------------------------------------------------------------- */

typedef uint8_t pmix_alloc_directive_t;
#define PMIX_ALLOC_NEW        1
#define PMIX_ALLOC_EXTEND     2
#define PMIX_ALLOC_RELEASE    3
#define PMIX_ALLOC_REAQUIRE   4 /* reclaim a lent allocation; spelt so in the Standard */
#define PMIX_ALLOC_REQ_CANCEL 5
#define PMIX_ALLOC_EXTERNAL   128 /* directives of the host begin here */

/* The heir of an allocation when its owner ends */
typedef uint8_t pmix_alloc_inheritance_t;
#define PMIX_ALLOC_INHERIT_NONE          1
#define PMIX_ALLOC_INHERIT_CHILD         2
#define PMIX_ALLOC_INHERIT_DEFAULT       3
#define PMIX_ALLOC_INHERIT_CHILD_DEFAULT 4

typedef uint8_t pmix_resource_block_directive_t;
#define PMIX_RESOURCE_BLOCK_DEFINE   1
#define PMIX_RESOURCE_BLOCK_EXTEND   2
#define PMIX_RESOURCE_BLOCK_REMOVE   3 /* take units out of the block */
#define PMIX_RESOURCE_BLOCK_DELETE   4
#define PMIX_RESOURCE_BLOCK_EXTERNAL 128 /* directives of the host begin here */

/* -- Locality, devices, fabric ---------------------------------------------------- */

/* The places that two processes share, as a mask */
typedef uint16_t pmix_locality_t;
#define PMIX_LOCALITY_UNKNOWN        0x0000
#define PMIX_LOCALITY_SHARE_HWTHREAD 0x0001
#define PMIX_LOCALITY_SHARE_CORE     0x0002
#define PMIX_LOCALITY_SHARE_L1CACHE  0x0004
#define PMIX_LOCALITY_SHARE_L2CACHE  0x0008
#define PMIX_LOCALITY_SHARE_L3CACHE  0x0010
#define PMIX_LOCALITY_SHARE_PACKAGE  0x0020
#define PMIX_LOCALITY_SHARE_NUMA     0x0040
#define PMIX_LOCALITY_SHARE_NODE     0x4000
#define PMIX_LOCALITY_NONLOCAL       0x8000 /* Standard: 0; libraries use this bit */

/* Kinds of devices, as a mask */
typedef uint64_t pmix_device_type_t;
#define PMIX_DEVTYPE_UNKNOWN     0x000
#define PMIX_DEVTYPE_BLOCK       0x001
#define PMIX_DEVTYPE_GPU         0x002
#define PMIX_DEVTYPE_NETWORK     0x004
#define PMIX_DEVTYPE_OPENFABRICS 0x008
#define PMIX_DEVTYPE_DMA         0x010
#define PMIX_DEVTYPE_COPROC      0x020
#define PMIX_DEVTYPE_MEMORY      0x040
#define PMIX_DEVTYPE_CORE        0x080
#define PMIX_DEVTYPE_HWT         0x100 /* hardware thread */
#define PMIX_DEVTYPE_CPU         0x200
#define PMIX_DEVTYPE_NODE        0x400

typedef uint8_t pmix_coord_view_t;
#define PMIX_COORD_VIEW_UNDEF    0
#define PMIX_COORD_LOGICAL_VIEW  1
#define PMIX_COORD_PHYSICAL_VIEW 2

typedef uint8_t pmix_link_state_t;
#define PMIX_LINK_STATE_UNKNOWN 0
#define PMIX_LINK_DOWN          1
#define PMIX_LINK_UP            2

/* Owner of the requested binding */
typedef uint8_t pmix_bind_envelope_t;
#define PMIX_CPUBIND_PROCESS 0
#define PMIX_CPUBIND_THREAD  1

/* -- Storage (all masks) --------------------------------------------------------- */

typedef uint64_t pmix_storage_medium_t;
#define PMIX_STORAGE_MEDIUM_UNKNOWN 0x01
#define PMIX_STORAGE_MEDIUM_TAPE    0x02
#define PMIX_STORAGE_MEDIUM_HDD     0x04
#define PMIX_STORAGE_MEDIUM_SSD     0x08
#define PMIX_STORAGE_MEDIUM_NVME    0x10
#define PMIX_STORAGE_MEDIUM_PMEM    0x20
#define PMIX_STORAGE_MEDIUM_RAM     0x40

typedef uint64_t pmix_storage_accessibility_t;
#define PMIX_STORAGE_ACCESSIBILITY_NODE    0x01
#define PMIX_STORAGE_ACCESSIBILITY_SESSION 0x02
#define PMIX_STORAGE_ACCESSIBILITY_JOB     0x04
#define PMIX_STORAGE_ACCESSIBILITY_RACK    0x08
#define PMIX_STORAGE_ACCESSIBILITY_CLUSTER 0x10
#define PMIX_STORAGE_ACCESSIBILITY_REMOTE  0x20

typedef uint64_t pmix_storage_persistence_t;
#define PMIX_STORAGE_PERSISTENCE_TEMPORARY 0x01
#define PMIX_STORAGE_PERSISTENCE_NODE      0x02
#define PMIX_STORAGE_PERSISTENCE_SESSION   0x04
#define PMIX_STORAGE_PERSISTENCE_JOB       0x08
#define PMIX_STORAGE_PERSISTENCE_SCRATCH   0x10
#define PMIX_STORAGE_PERSISTENCE_PROJECT   0x20
#define PMIX_STORAGE_PERSISTENCE_ARCHIVE   0x40

typedef uint16_t pmix_storage_access_type_t;
#define PMIX_STORAGE_ACCESS_RD   0x0001
#define PMIX_STORAGE_ACCESS_WR   0x0002
#define PMIX_STORAGE_ACCESS_RDWR (PMIX_STORAGE_ACCESS_RD | PMIX_STORAGE_ACCESS_WR)

/* -- Enumerations ---------------------------------------------------------------- */

/* Truth of a value. Note that true is 0: compare, do not test. */
typedef enum {
    PMIX_BOOL_TRUE = 0,
    PMIX_BOOL_FALSE = 1,
    PMIX_NON_BOOL = 2 /* value cannot be read as a truth value */
} pmix_boolean_t;

/* Result of a comparison of two values */
typedef enum {
    PMIX_EQUAL = 0,
    PMIX_VALUE1_GREATER = 1,
    PMIX_VALUE2_GREATER = 2,
    PMIX_VALUE_TYPE_DIFFERENT = 3,
    PMIX_VALUE_INCOMPATIBLE_OBJECTS = 4, /* equal types, contents cannot be ordered */
    PMIX_VALUE_COMPARISON_NOT_AVAIL = 5
} pmix_value_cmp_t;

/* Requests to a host about a group */
typedef enum {
    PMIX_GROUP_CONSTRUCT = 0,
    PMIX_GROUP_DESTRUCT = 1,
    PMIX_GROUP_NONE = 2,
    PMIX_GROUP_CANCEL = 3
} pmix_group_operation_t;

/* Answer to an invitation */
typedef enum { PMIX_GROUP_DECLINE = 0, PMIX_GROUP_ACCEPT = 1 } pmix_group_opt_t;

/* Requests to a host about its fabric */
typedef enum {
    PMIX_FABRIC_REQUEST_INFO = 0,
    PMIX_FABRIC_UPDATE_INFO = 1
} pmix_fabric_operation_t;

/* -- Basic structures ------------------------------------------------------------ */

/* A process, or with a special rank a set of them */
typedef struct pmix_proc {
    pmix_nspace_t nspace;
    pmix_rank_t rank;
} pmix_proc_t;

/* Bytes of any kind */
typedef struct pmix_byte_object {
    char *bytes;
    size_t size;
} pmix_byte_object_t;

/* Array of one type, without padding between elements */
typedef struct pmix_data_array {
    pmix_data_type_t type; /* of the elements */
    size_t size;           /* number of elements */
    void *array;
} pmix_data_array_t;

/* Packed data; the members are for the library only */
typedef struct pmix_data_buffer {
    char *base_ptr;   /* start of the memory */
    char *pack_ptr;   /* place of the next packed value */
    char *unpack_ptr; /* place of the next unpacked value */
    size_t bytes_allocated;
    size_t bytes_used;
} pmix_data_buffer_t;

/* A process as a host sees it */
typedef struct pmix_proc_info {
    pmix_proc_t proc;
    char *hostname;
    char *executable_name;
    pid_t pid;
    int exit_code;
    pmix_proc_state_t state;
} pmix_proc_info_t;

/* An environment variable and the separator of its value */
typedef struct {
    char *envar;
    char *value;
    char separator;
} pmix_envar_t;

/* -- Hardware and fabric structures ---------------------------------------------- */

/* Position in a fabric */
typedef struct pmix_coord {
    pmix_coord_view_t view;
    uint32_t *coord; /* dims numbers */
    size_t dims;
} pmix_coord_t;

/* Coordinates of one device in one fabric */
typedef struct pmix_geometry {
    size_t fabric; /* index of the fabric */
    char *uuid;
    char *osname;
    pmix_coord_t *coordinates;
    size_t ncoords;
} pmix_geometry_t;

/* A set of CPUs as the named source library represents it */
typedef struct {
    char *source; /* e.g. "hwloc" */
    void *bitmap;
} pmix_cpuset_t;

/* A node's hardware tree as the named source library represents it */
typedef struct {
    char *source;
    void *topology;
} pmix_topology_t;

typedef struct pmix_device {
    char *uuid;
    char *osname;
    pmix_device_type_t type;
} pmix_device_t;

/* Distance to a device; UINT16_MAX if unknown */
typedef struct pmix_device_distance {
    char *uuid;
    char *osname;
    pmix_device_type_t type;
    uint16_t mindist;
    uint16_t maxdist;
} pmix_device_distance_t;

/* Address of a device */
typedef struct pmix_endpoint {
    char *uuid;
    char *osname;
    pmix_byte_object_t endpt;
} pmix_endpoint_t;

/* Number of units of one kind of resource */
typedef struct pmix_resource_unit {
    pmix_device_type_t type;
    size_t count;
} pmix_resource_unit_t;

/* A process by node and process id, for programs that are not clients */
typedef struct pmix_node_pid {
    char *hostname;
    uint32_t nodeid; /* UINT32_MAX if unknown */
    pid_t pid;
} pmix_node_pid_t;

/* A compact list of nodes or ranks */
typedef struct pmix_regex2 {
    char *type; /* name of the representation */
    uint8_t *bytes;
    size_t len;
} pmix_regex2_t;

/* -- Resource usage -------------------------------------------------------------- */

typedef struct {
    char *disk;
    uint64_t num_reads_completed;
    uint64_t num_reads_merged;
    uint64_t num_sectors_read;
    uint64_t milliseconds_reading;
    uint64_t num_writes_completed;
    uint64_t num_writes_merged;
    uint64_t num_sectors_written;
    uint64_t milliseconds_writing;
    uint64_t num_ios_in_progress;
    uint64_t milliseconds_io;
    uint64_t weighted_milliseconds_io;
} pmix_disk_stats_t;

typedef struct {
    char *net_interface;
    uint64_t num_bytes_recvd;
    uint64_t num_packets_recvd;
    uint64_t num_recv_errs;
    uint64_t num_bytes_sent;
    uint64_t num_packets_sent;
    uint64_t num_send_errs;
} pmix_net_stats_t;

/* Memory figures in megabytes */
typedef struct {
    char *node;
    float la, la5, la15; /* load averages over 1, 5 and 15 minutes */
    float total_mem;
    float free_mem;
    float buffers;
    float cached;
    float swap_cached;
    float swap_total;
    float swap_free;
    float mapped;
    struct timeval sample_time;
    pmix_disk_stats_t *diskstats;
    size_t ndiskstats;
    pmix_net_stats_t *netstats;
    size_t nnetstats;
} pmix_node_stats_t;

/* Memory figures in megabytes */
typedef struct pmix_proc_stats {
    char *node;
    pmix_proc_t proc;
    pid_t pid;
    char *cmd;
    char state;          /* letter of the operating system */
    struct timeval time; /* CPU time used */
    float percent_cpu;
    int32_t priority;
    uint16_t num_threads;
    float pss;
    float vsize;
    float rss;
    float peak_vsize;
    uint16_t processor;
    struct timeval sample_time;
} pmix_proc_stats_t;

/* -- Values and their containers -------------------------------------------------- */

/* One value of one type, which selects the member */
typedef struct pmix_value {
    pmix_data_type_t type;
    union {
        bool flag;
        uint8_t byte;
        char *string;
        size_t size;
        pid_t pid;
        int integer;
        int8_t int8;
        int16_t int16;
        int32_t int32;
        int64_t int64;
        unsigned int uint;
        uint8_t uint8;
        uint16_t uint16;
        uint32_t uint32;
        uint64_t uint64;
        float fval;
        double dval;
        struct timeval tv;
        time_t time;
        pmix_status_t status;
        pmix_rank_t rank;
        pmix_nspace_t *nspace;
        pmix_proc_t *proc;
        pmix_byte_object_t bo;
        pmix_persistence_t persist;
        pmix_scope_t scope;
        pmix_data_range_t range;
        pmix_proc_state_t state;
        pmix_proc_info_t *pinfo;
        pmix_data_array_t *darray;
        void *ptr;
        pmix_alloc_directive_t adir;
        pmix_resource_block_directive_t rbdir;
        pmix_alloc_inheritance_t inheritance;
        pmix_envar_t envar;
        pmix_coord_t *coord;
        pmix_link_state_t linkstate;
        pmix_job_state_t jstate;
        pmix_topology_t *topo;
        pmix_cpuset_t *cpuset;
        pmix_locality_t locality;
        pmix_geometry_t *geometry;
        pmix_device_type_t devtype;
        pmix_device_t *device;
        pmix_device_distance_t *devdist;
        pmix_endpoint_t *endpoint;
        pmix_data_buffer_t *dbuf;
        pmix_proc_stats_t *pstats;
        pmix_disk_stats_t *dkstats;
        pmix_net_stats_t *netstats;
        pmix_node_stats_t *ndstats;
        pmix_resource_unit_t *resunit;
        pmix_node_pid_t *nodepid;
        pmix_regex2_t *regex2;
    } data;
} pmix_value_t;

/* Key and value, the element of most arguments and results */
typedef struct pmix_info {
    pmix_key_t key;
    pmix_info_directives_t flags;
    pmix_value_t value;
} pmix_info_t;

/* Published key and value, and their publisher */
typedef struct pmix_pdata {
    pmix_proc_t proc;
    pmix_key_t key;
    pmix_value_t value;
} pmix_pdata_t;

/* One application of a job to be spawned */
typedef struct pmix_app {
    char *cmd;
    char **argv; /* NULL-terminated, argv[0] included */
    char **env;  /* NULL-terminated "NAME=value" */
    char *cwd;
    int maxprocs;
    pmix_info_t *info;
    size_t ninfo;
} pmix_app_t;

/* Keys of a query and their qualifiers */
typedef struct pmix_query {
    char **keys; /* NULL-terminated */
    pmix_info_t *qualifiers;
    size_t nqual;
} pmix_query_t;

/* The description of one attribute */
typedef struct pmix_regattr_t {
    char *name;        /* e.g. "PMIX_TIMEOUT" */
    pmix_key_t string; /* e.g. "pmix.timeout" */
    pmix_data_type_t type;
    char **description; /* NULL-terminated lines */
} pmix_regattr_t;

/* A fabric a scheduler or host has registered with */
typedef struct pmix_fabric_s {
    char *name;
    size_t index; /* SIZE_MAX until registered */
    pmix_info_t *info;
    size_t ninfo;
    void *module; /* for the library only */
} pmix_fabric_t;

/* -- Initializers ---------------------------------------------------------------- */

/* clang-format off */

/* Empty objects; PMIx_<type>_construct sets the same. */
#define PMIX_PROC_STATIC_INIT          {{0}, PMIX_RANK_UNDEF}
#define PMIX_BYTE_OBJECT_STATIC_INIT   {NULL, 0}
#define PMIX_DATA_ARRAY_STATIC_INIT    {PMIX_UNDEF, 0, NULL}
#define PMIX_DATA_BUFFER_STATIC_INIT   {NULL, NULL, NULL, 0, 0}
#define PMIX_PROC_INFO_STATIC_INIT     {PMIX_PROC_STATIC_INIT, NULL, NULL, 0, 0, 0}
#define PMIX_ENVAR_STATIC_INIT         {NULL, NULL, '\0'}
#define PMIX_COORD_STATIC_INIT         {PMIX_COORD_VIEW_UNDEF, NULL, 0}
#define PMIX_GEOMETRY_STATIC_INIT      {0, NULL, NULL, NULL, 0}
#define PMIX_CPUSET_STATIC_INIT        {NULL, NULL}
#define PMIX_TOPOLOGY_STATIC_INIT      {NULL, NULL}
#define PMIX_DEVICE_STATIC_INIT        {NULL, NULL, 0}
#define PMIX_DEVICE_DIST_STATIC_INIT   {NULL, NULL, 0, UINT16_MAX, UINT16_MAX}
#define PMIX_ENDPOINT_STATIC_INIT      {NULL, NULL, PMIX_BYTE_OBJECT_STATIC_INIT}
#define PMIX_RESOURCE_UNIT_STATIC_INIT {0, 0}
#define PMIX_NODE_PID_STATIC_INIT      {NULL, UINT32_MAX, 0}
#define PMIX_REGEX2_STATIC_INIT        {NULL, NULL, 0}
#define PMIX_DISK_STATS_STATIC_INIT    {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define PMIX_NET_STATS_STATIC_INIT     {NULL, 0, 0, 0, 0, 0, 0}
#define PMIX_NODE_STATS_STATIC_INIT \
    {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0}, NULL, 0, NULL, 0}
#define PMIX_PROC_STATS_STATIC_INIT \
    {NULL, PMIX_PROC_STATIC_INIT, 0, NULL, '\0', {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0}}
#define PMIX_VALUE_STATIC_INIT         {PMIX_UNDEF, {0}}
#define PMIX_INFO_STATIC_INIT          {{0}, 0, PMIX_VALUE_STATIC_INIT}
#define PMIX_LOOKUP_STATIC_INIT \
    {PMIX_PROC_STATIC_INIT, {0}, PMIX_VALUE_STATIC_INIT}
#define PMIX_APP_STATIC_INIT           {NULL, NULL, NULL, NULL, 0, NULL, 0}
#define PMIX_QUERY_STATIC_INIT         {NULL, NULL, 0}
#define PMIX_REGATTR_STATIC_INIT       {NULL, {0}, PMIX_UNDEF, NULL}
#define PMIX_FABRIC_STATIC_INIT        {NULL, SIZE_MAX, NULL, 0, NULL}

/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
