/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the protocol: commands, frame tags, role flags, limits. */
#ifndef PX_WIRE_OPS_H
#define PX_WIRE_OPS_H

enum px_op {
    PX_OP_REQ = 0,
    PX_OP_ABORT = 1,
    PX_OP_COMMIT = 2,
    PX_OP_FENCE = 3,
    PX_OP_GET = 4,
    PX_OP_FINALIZE = 5,
    PX_OP_PUBLISH = 6,
    PX_OP_LOOKUP = 7,
    PX_OP_UNPUBLISH = 8,
    PX_OP_SPAWN = 9,
    PX_OP_CONNECT = 10,
    PX_OP_DISCONNECT = 11,
    PX_OP_NOTIFY = 12,
    PX_OP_REGEVENTS = 13,
    PX_OP_DEREGEVENTS = 14,
    PX_OP_QUERY = 15,
    PX_OP_LOG = 16,
    PX_OP_ALLOC = 17,
    PX_OP_JOB_CONTROL = 18,
    PX_OP_MONITOR = 19,
    PX_OP_GET_CREDENTIAL = 20,
    PX_OP_VALIDATE_CRED = 21,
    PX_OP_IOF_PULL = 22,
    PX_OP_IOF_PUSH = 23,
    PX_OP_GROUP_CONSTRUCT = 24,
    PX_OP_GROUP_JOIN = 25,
    PX_OP_GROUP_INVITE = 26,
    PX_OP_GROUP_LEAVE = 27,
    PX_OP_GROUP_DESTRUCT = 28,
    PX_OP_IOF_DEREG = 29,
    PX_OP_FABRIC_REGISTER = 30,
    PX_OP_FABRIC_UPDATE = 31,
    PX_OP_DEVICE_DISTANCES = 32,
    PX_OP_REFRESH_CACHE = 33,
    PX_OP_RESBLK = 34,
    PX_OP_SESSION_CTRL = 35,
    PX_OP_REQ_SYSINFO = 36,
    PX_OP_RESOLVE_PEERS = 37,
    PX_OP_RESOLVE_NODE = 38,
    PX_OP_GDS_FALLBACK = 39,
    PX_OP_MAX = 40,
    PX_OP_FABRIC_DEREGISTER = 255, /* ours; used inside a process only */
};

enum px_tag {
    PX_TAG_NOTIFY = 0,
    PX_TAG_HEARTBEAT = 1,
    PX_TAG_IOF = 2,
    PX_TAG_STORE = 99,    /* ours: a store for direct reads, with a descriptor; empty:
                           * an eventfd that counts heartbeats */
    PX_TAG_DYNAMIC = 100, /* requests start above this tag */
    PX_TAG_FIRST = PX_TAG_DYNAMIC + 1,
};

enum px_role_flag { /* in the connect message */
                    PX_FLAG_CLIENT = 0,
                    PX_FLAG_TOOL_LEGACY = 1,
                    PX_FLAG_LAUNCHER_LEGACY = 2,
                    PX_FLAG_TOOL_NEEDS_ID = 3,
                    PX_FLAG_TOOL_HAS_ID = 4,
                    PX_FLAG_TOOL_CLIENT = 5,
                    PX_FLAG_LAUNCHER_NEEDS_ID = 6,
                    PX_FLAG_LAUNCHER_HAS_ID = 7,
                    PX_FLAG_LAUNCHER_CLIENT = 8,
                    PX_FLAG_SINGLETON = 9,
                    PX_FLAG_SCHEDULER = 10,
                    PX_FLAG_MAX = 11,
};

enum px_buffer_kind { /* in the connect message and in front of a BUFFER */
                      PX_BUFFER_PLAIN = 1,
                      PX_BUFFER_DESCRIBED = 2,
};

#define PX_MAX_HANDSHAKE_B (64u * 1024u)          /* body of a connect message */
#define PX_MAX_FRAME_B     (256u * 1024u * 1024u) /* payload of one frame */
#define PX_MAX_ANSWER_B    (32u * 1024u * 1024u)  /* data collected for a reply */
#define PX_MAX_DEPTH       32u                    /* nesting while decoding */
#define PX_MAX_INFLATED_B  (64u * 1024u * 1024u)  /* size of inflated data */
#define PX_MAX_DECODED_B   (512u * 1024u * 1024u) /* arrays unpacked from a message */

/* Limits of a request that a server decodes for a peer. An empty info takes 2 bytes in
 * a message, and 552 decoded. */
#define PX_MAX_REQUEST_INFOS 16384u /* infos at all levels */
/* Strings and other elements of arrays that own memory, infos included. Numbers do not
 * count: their bytes suffice as a limit. */
#define PX_MAX_REQUEST_ITEMS 65536u
/* Processes in arrays at all levels, besides PX_KNOWN_TIMES those of the jobs that the
 * server knows: a list of members, and one of their order. */
#define PX_MAX_REQUEST_PROCS 4096u
#define PX_KNOWN_TIMES       2u
/* Arrays unpacked from a request of n bytes. 16 MiB have room for 64,000 processes,
 * and 8 n bytes for as many again with usual names. A number takes at most 8 bytes for
 * each of the message. */
#define PX_MAX_REQUEST_B(n) ((size_t)16 * 1024u * 1024u + 8u * (size_t)(n))

#endif
