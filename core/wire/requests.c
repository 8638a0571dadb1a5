/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as tables: a row a field, in the order of the message. */
#include "core/wire/requests.h"

#include "core/wire/ops.h"

#include <stddef.h>

#define AT(member) offsetof(struct px_args, member)
#define ONE(member, of)                                    \
    {                                                      \
        PX_ARG_ONE, false, false, PMIX_##of, AT(member), 0 \
    }
#define LATE(member, of)                                  \
    {                                                     \
        PX_ARG_ONE, true, false, PMIX_##of, AT(member), 0 \
    }
#define MANY(member, n, of)                                     \
    {                                                           \
        PX_ARG_MANY, false, false, PMIX_##of, AT(member), AT(n) \
    }
#define MANY_NEEDED(member, n, of)                             \
    {                                                          \
        PX_ARG_MANY, false, true, PMIX_##of, AT(member), AT(n) \
    }
#define KEYS(needed)                                                  \
    {                                                                 \
        PX_ARG_EACH, false, needed, PMIX_STRING, AT(keys), AT(n_keys) \
    }
#define SOLE(member, n, of)                                    \
    {                                                          \
        PX_ARG_SOLE, false, true, PMIX_##of, AT(member), AT(n) \
    }
#define INFOS      MANY(info.v, info.n, INFO)
#define MORE       MANY(more.v, more.n, INFO)
#define PROCS      MANY(procs, n_procs, PROC)
#define SOME_PROCS MANY_NEEDED(procs, n_procs, PROC)
#define TEXT       ONE(text, STRING)
#define NAME                                              \
    {                                                     \
        PX_ARG_ONE, false, true, PMIX_STRING, AT(text), 0 \
    }
/* The user that asks; servers believe their connection instead. */
#define USER ONE(number, UINT32)

#define REQUEST(name, op, ...) \
    const struct px_request px_request_##name = {op, {__VA_ARGS__}}

REQUEST(abort, PX_OP_ABORT, ONE(code, STATUS), TEXT, PROCS);
REQUEST(fence, PX_OP_FENCE, PROCS, INFOS);
REQUEST(connect, PX_OP_CONNECT, SOME_PROCS, INFOS);
REQUEST(disconnect, PX_OP_DISCONNECT, SOME_PROCS, INFOS);
REQUEST(publish, PX_OP_PUBLISH, USER, INFOS);
REQUEST(lookup, PX_OP_LOOKUP, USER, KEYS(true), INFOS);
REQUEST(unpublish, PX_OP_UNPUBLISH, USER, KEYS(false), INFOS);
REQUEST(spawn, PX_OP_SPAWN, INFOS, MANY_NEEDED(apps, n_apps, APP));
REQUEST(notify, PX_OP_NOTIFY, ONE(code, STATUS), ONE(directive, DATA_RANGE), INFOS);
REQUEST(regevents, PX_OP_REGEVENTS, MANY(codes, n_codes, STATUS), INFOS);
REQUEST(query, PX_OP_QUERY, MANY(queries, n_queries, QUERY));
REQUEST(log, PX_OP_LOG, ONE(stamp, TIME), INFOS, MORE);
REQUEST(alloc, PX_OP_ALLOC, ONE(directive, ALLOC_DIRECTIVE), INFOS);
REQUEST(job_control, PX_OP_JOB_CONTROL, PROCS, INFOS);
REQUEST(monitor, PX_OP_MONITOR, SOLE(info.v, info.n, INFO), ONE(code, STATUS), MORE);
REQUEST(get_cred, PX_OP_GET_CREDENTIAL, INFOS);
REQUEST(validate_cred, PX_OP_VALIDATE_CRED, ONE(bytes, BYTE_OBJECT), INFOS);
REQUEST(iof_pull, PX_OP_IOF_PULL, SOME_PROCS, INFOS, ONE(channels, IOF_CHANNEL),
        LATE(id, SIZE));
REQUEST(iof_push, PX_OP_IOF_PUSH, PROCS, INFOS, LATE(bytes, BYTE_OBJECT));
REQUEST(iof_dereg, PX_OP_IOF_DEREG, INFOS, ONE(id, SIZE));
REQUEST(group_construct, PX_OP_GROUP_CONSTRUCT, NAME, SOME_PROCS, INFOS);
REQUEST(group_destruct, PX_OP_GROUP_DESTRUCT, NAME, PROCS, INFOS);
REQUEST(group_destruct_old, PX_OP_GROUP_DESTRUCT, NAME, INFOS);
REQUEST(group_leave, PX_OP_GROUP_LEAVE, NAME, INFOS);
REQUEST(group_invite, PX_OP_GROUP_INVITE, NAME, SOME_PROCS, INFOS);
REQUEST(group_join, PX_OP_GROUP_JOIN, NAME, PROCS, ONE(accept, BOOL), INFOS);
REQUEST(fabric_register, PX_OP_FABRIC_REGISTER, INFOS);
REQUEST(fabric_update, PX_OP_FABRIC_UPDATE, ONE(id, SIZE));
/* Types that are younger than most dialects: the message is as young
 * (px_codec_newest). */
REQUEST(block, PX_OP_RESBLK, ONE(directive, RESBLOCK_DIRECTIVE), NAME,
        MANY(units, n_units, RESOURCE_UNIT), INFOS);
REQUEST(session, PX_OP_SESSION_CTRL, ONE(number, UINT32), INFOS);

REQUEST(get, PX_OP_GET, ONE(nspace, STRING), ONE(rank, PROC_RANK), INFOS,
        LATE(text, STRING));

/* Of a server; releases before 4.2.1 tell no range. */
REQUEST(event, PX_OP_NOTIFY, ONE(code, STATUS), SOLE(procs, n_procs, PROC), INFOS,
        LATE(directive, DATA_RANGE));
REQUEST(piece, PX_OP_MAX, SOLE(procs, n_procs, PROC), ONE(channels, IOF_CHANNEL),
        ONE(id, SIZE), INFOS, ONE(bytes, BYTE_OBJECT));
REQUEST(infos, PX_OP_MAX, INFOS);
