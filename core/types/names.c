/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for values of enumerated types, for statuses in both directions, and for
 * attribute keys. The texts are those of the reference implementation. Where it has
 * none, the text follows its style. */
#include "core/types/names.h"

#include "core/base/str.h"
#include "core/types/keys.h"
#include "core/types/type.h"
#include "pmix_connect.h"
#include "pmix_version.h"

#include <string.h>
#include <strings.h>

struct name {
    int64_t value;
    const char *name; /* result of the *_string function */
};

static const struct name alloc_directives[] = {
    {PMIX_ALLOC_NEW, "NEW"},
    {PMIX_ALLOC_EXTEND, "EXTEND"},
    {PMIX_ALLOC_RELEASE, "RELEASE"},
    {PMIX_ALLOC_REAQUIRE, "REACQUIRE"},
    {PMIX_ALLOC_REQ_CANCEL, "CANCEL REQUEST"},
};

static const struct name alloc_inheritances[] = {
    {PMIX_ALLOC_INHERIT_NONE, "NONE"},
    {PMIX_ALLOC_INHERIT_CHILD, "CHILD"},
    {PMIX_ALLOC_INHERIT_DEFAULT, "DEFAULT"},
    {PMIX_ALLOC_INHERIT_CHILD_DEFAULT, "CHILD_DEFAULT"},
};

static const struct name block_directives[] = {
    {PMIX_RESOURCE_BLOCK_DEFINE, "DEFINE"},
    {PMIX_RESOURCE_BLOCK_EXTEND, "EXTEND"},
    {PMIX_RESOURCE_BLOCK_REMOVE, "REMOVE"},
    {PMIX_RESOURCE_BLOCK_DELETE, "DELETE"},
};

static const struct name ranges[] = {
    {PMIX_RANGE_UNDEF, "UNDEFINED"},
    {PMIX_RANGE_RM, "INTENDED FOR HOST RESOURCE MANAGER ONLY"},
    {PMIX_RANGE_LOCAL, "AVAIL ON LOCAL NODE ONLY"},
    {PMIX_RANGE_NAMESPACE, "AVAIL TO PROCESSES IN SAME JOB ONLY"},
    {PMIX_RANGE_SESSION, "AVAIL TO PROCESSES IN SAME ALLOCATION ONLY"},
    {PMIX_RANGE_GLOBAL, "AVAIL TO ANYONE WITH AUTHORIZATION"},
    {PMIX_RANGE_CUSTOM, "AVAIL AS SPECIFIED IN DIRECTIVES"},
    {PMIX_RANGE_PROC_LOCAL, "AVAIL ON LOCAL PROC ONLY"},
    {PMIX_RANGE_INVALID, "INVALID"},
};

static const struct name scopes[] = {
    {PMIX_SCOPE_UNDEF, "UNDEFINED"},
    {PMIX_LOCAL, "SHARE ON LOCAL NODE ONLY"},
    {PMIX_REMOTE, "SHARE ON REMOTE NODES ONLY"},
    {PMIX_GLOBAL, "SHARE ACROSS ALL NODES"},
    {PMIX_INTERNAL, "STORE INTERNALLY"},
    {PMIX_DEL_LOCAL, "DELETE ON LOCAL NODE ONLY"},
    {PMIX_DEL_REMOTE, "DELETE ON REMOTE NODES ONLY"},
    {PMIX_DEL_GLOBAL, "DELETE ACROSS ALL NODES"},
    {PMIX_DEL_INTERNAL, "DELETE INTERNALLY"},
};

static const struct name persistences[] = {
    {PMIX_PERSIST_INDEF, "INDEFINITE"},
    {PMIX_PERSIST_FIRST_READ, "DELETE ON FIRST ACCESS"},
    {PMIX_PERSIST_PROC, "RETAIN UNTIL PUBLISHING PROCESS TERMINATES"},
    {PMIX_PERSIST_APP, "RETAIN UNTIL APPLICATION OF PUBLISHING PROCESS TERMINATES"},
    {PMIX_PERSIST_SESSION, "RETAIN UNTIL ALLOCATION OF PUBLISHING PROCESS TERMINATES"},
    {PMIX_PERSIST_INVALID, "INVALID"},
};

static const struct name proc_states[] = {
    {PMIX_PROC_STATE_UNDEF, "UNDEFINED"},
    {PMIX_PROC_STATE_PREPPED, "PREPPED FOR LAUNCH"},
    {PMIX_PROC_STATE_LAUNCH_UNDERWAY, "LAUNCH UNDERWAY"},
    {PMIX_PROC_STATE_RESTART, "PROC READY FOR RESTART"},
    {PMIX_PROC_STATE_TERMINATE, "PROC MARKED FOR TERMINATION"},
    {PMIX_PROC_STATE_RUNNING, "PROC EXECUTING"},
    {PMIX_PROC_STATE_CONNECTED, "PROC HAS CONNECTED TO LOCAL PMIX SERVER"},
    {PMIX_PROC_STATE_UNTERMINATED, "PROC HAS NOT TERMINATED"},
    {PMIX_PROC_STATE_TERMINATED, "PROC HAS TERMINATED"},
    {PMIX_PROC_STATE_ERROR, "PROC ERROR"},
    {PMIX_PROC_STATE_KILLED_BY_CMD, "PROC KILLED BY CMD"},
    {PMIX_PROC_STATE_ABORTED, "PROC ABNORMALLY ABORTED"},
    {PMIX_PROC_STATE_FAILED_TO_START, "PROC FAILED TO START"},
    {PMIX_PROC_STATE_ABORTED_BY_SIG, "PROC ABORTED BY SIGNAL"},
    {PMIX_PROC_STATE_TERM_WO_SYNC, "PROC TERMINATED WITHOUT CALLING PMIx_Finalize"},
    {PMIX_PROC_STATE_COMM_FAILED, "PROC LOST COMMUNICATION"},
    {PMIX_PROC_STATE_SENSOR_BOUND_EXCEEDED, "PROC SENSOR BOUND EXCEEDED"},
    {PMIX_PROC_STATE_CALLED_ABORT, "PROC CALLED PMIx_Abort"},
    {PMIX_PROC_STATE_HEARTBEAT_FAILED, "PROC FAILED TO REPORT HEARTBEAT"},
    {PMIX_PROC_STATE_MIGRATING, "PROC WAITING TO MIGRATE"},
    {PMIX_PROC_STATE_CANNOT_RESTART, "PROC CANNOT BE RESTARTED"},
    {PMIX_PROC_STATE_TERM_NON_ZERO, "PROC TERMINATED WITH NON-ZERO STATUS"},
    {PMIX_PROC_STATE_FAILED_TO_LAUNCH, "PROC FAILED TO LAUNCH"},
};

static const struct name job_states[] = {
    {PMIX_JOB_STATE_UNDEF, "UNDEFINED"},
    {PMIX_JOB_STATE_PREPPED, "PREPPED FOR LAUNCH"},
    {PMIX_JOB_STATE_LAUNCH_UNDERWAY, "LAUNCHING"},
    {PMIX_JOB_STATE_RUNNING, "RUNNING"},
    {PMIX_JOB_STATE_SUSPENDED, "SUSPENDED"},
    {PMIX_JOB_STATE_CONNECTED, "CONNECTED"},
    {PMIX_JOB_STATE_UNTERMINATED, "UNTERMINATED"},
    {PMIX_JOB_STATE_TERMINATED, "TERMINATED"},
    {PMIX_JOB_STATE_TERMINATED_WITH_ERROR, "TERMINATED WITH ERROR"},
};

static const struct name link_states[] = {
    {PMIX_LINK_DOWN, "INACTIVE"},
    {PMIX_LINK_UP, "ACTIVE"},
};

static const struct name device_types[] = {
    {PMIX_DEVTYPE_BLOCK, "BLOCK"},     {PMIX_DEVTYPE_GPU, "GPU"},
    {PMIX_DEVTYPE_NETWORK, "NETWORK"}, {PMIX_DEVTYPE_OPENFABRICS, "OPENFABRICS"},
    {PMIX_DEVTYPE_DMA, "DMA"},         {PMIX_DEVTYPE_COPROC, "COPROCESSOR"},
    {PMIX_DEVTYPE_MEMORY, "MEMORY"},   {PMIX_DEVTYPE_CORE, "CORE"},
    {PMIX_DEVTYPE_HWT, "HWT"},         {PMIX_DEVTYPE_CPU, "CPU"},
    {PMIX_DEVTYPE_NODE, "NODE"},
};

/* Types internal to the reference implementation, here without support. The registry
 * names all other types. */
static const struct name unhandled_types[] = {
    {PMIX_BUFFER, "PMIX_BUFFER"},
    {PMIX_KVAL, "PMIX_KVAL"},
};

static const struct name special_ranks[] = {
    {PMIX_RANK_UNDEF, "UNDEF"},           {PMIX_RANK_WILDCARD, "WILDCARD"},
    {PMIX_RANK_LOCAL_NODE, "LOCAL_NODE"}, {PMIX_RANK_LOCAL_PEERS, "LOCAL_PEERS"},
    {PMIX_RANK_INVALID, "INVALID"},
};

static const struct name comparisons[] = {
    {PMIX_EQUAL, "EQUAL"},
    {PMIX_VALUE1_GREATER, "VALUE1 GREATER"},
    {PMIX_VALUE2_GREATER, "VALUE2 GREATER"},
    {PMIX_VALUE_TYPE_DIFFERENT, "DIFFERENT TYPES"},
    {PMIX_VALUE_INCOMPATIBLE_OBJECTS, "INCOMPATIBLE OBJECTS"},
    {PMIX_VALUE_COMPARISON_NOT_AVAIL, "COMPARISON NOT AVAILABLE"},
};

static const struct name group_operations[] = {
    {PMIX_GROUP_CONSTRUCT, "CONSTRUCT"},
    {PMIX_GROUP_DESTRUCT, "DESTRUCT"},
    {PMIX_GROUP_NONE, "NONE"},
    {PMIX_GROUP_CANCEL, "CANCEL"},
};

/* Texts for every set of channels, because callers get a constant string. */
static const char *const channel_sets[] = {"NONE",
                                           "STDIN ",
                                           "STDOUT ",
                                           "STDIN STDOUT ",
                                           "STDERR ",
                                           "STDIN STDERR ",
                                           "STDOUT STDERR ",
                                           "STDIN STDOUT STDERR ",
                                           "STDDIAG ",
                                           "STDIN STDDIAG ",
                                           "STDOUT STDDIAG ",
                                           "STDIN STDOUT STDDIAG ",
                                           "STDERR STDDIAG ",
                                           "STDIN STDERR STDDIAG ",
                                           "STDOUT STDERR STDDIAG ",
                                           "STDIN STDOUT STDERR STDDIAG "};

/* Returns the name, or NULL. */
static const char *find_name(const struct name *table, size_t n, int64_t value)
{
    for (size_t i = 0; i < n; i++) {
        if (table[i].value == value)
            return table[i].name;
    }
    return NULL;
}

/* ---- statuses -------------------------------------------------------------------- */

static const struct name status_texts[] = {
#define PX_STATUS(CONSTANT, text) {PMIX_##CONSTANT, text},
#include "core/types/status.def"
#undef PX_STATUS
};

/* The constants of each number; the current constant precedes former ones. */
static const struct name status_constants[] = {
#define PX_STATUS(CONSTANT, text) {PMIX_##CONSTANT, "PMIX_" #CONSTANT},
#include "core/types/status.def"
#undef PX_STATUS
};

/* Release 4.2 returns texts; 5.0 and later return names of constants. */
#if PMIX_VERSION_MAJOR >= 5
#define claimed_statuses status_constants
#else
#define claimed_statuses status_texts
#endif

PX_EXPORT pmix_status_t PMIx_Error_code(const char *name)
{
    for (size_t i = 0; name && i < PX_COUNT(status_texts); i++) {
        const char *constant = status_constants[i].name;

        if (strcasecmp(name, status_texts[i].name) == 0 ||
            strcasecmp(name, constant) == 0 ||
            strcasecmp(name, constant + sizeof("PMIX_") - 1) == 0)
            return (pmix_status_t)status_texts[i].value;
    }
    return INT32_MIN;
}

/* ---- lookup ---------------------------------------------------------------------- */

#define FIND_IN(table, value) find_name(table, PX_COUNT(table), value)

const char *px_status_name(pmix_status_t status, bool constant)
{
    return constant ? FIND_IN(status_constants, status) : FIND_IN(status_texts, status);
}

const char *px_name_of(pmix_data_type_t type, int64_t value)
{
#define NAMES(table)           \
    {                          \
        table, PX_COUNT(table) \
    }
    static const struct {
        const struct name *table;
        size_t n;
    } by_type[] = {
        [PMIX_ALLOC_DIRECTIVE] = NAMES(alloc_directives),
        [PMIX_ALLOC_INHERIT] = NAMES(alloc_inheritances),
        [PMIX_RESBLOCK_DIRECTIVE] = NAMES(block_directives),
        [PMIX_DATA_RANGE] = NAMES(ranges),
        [PMIX_SCOPE] = NAMES(scopes),
        [PMIX_PERSIST] = NAMES(persistences),
        [PMIX_PROC_STATE] = NAMES(proc_states),
        [PMIX_JOB_STATE] = NAMES(job_states),
        [PMIX_LINK_STATE] = NAMES(link_states),
        [PMIX_DEVTYPE] = NAMES(device_types),
        [PMIX_PROC_RANK] = NAMES(special_ranks),
        [PMIX_STATUS] = NAMES(claimed_statuses),
    };
    const struct px_type *t;

    if (type == PMIX_IOF_CHANNEL)
        return channel_sets[value & (PX_COUNT(channel_sets) - 1)];
    if (type != PMIX_DATA_TYPE)
        return type < PX_COUNT(by_type)
                   ? find_name(by_type[type].table, by_type[type].n, value)
                   : NULL;
    t = value > PMIX_UNDEF && value <= UINT16_MAX ? px_type_find(value) : NULL;
    return t ? t->name : FIND_IN(unhandled_types, value);
}

static const char *name_or(const char *name, const char *fallback)
{
    return name ? name : fallback;
}

/* Defines PMIx_<Enumeration>_string for an enumeration that is a data type. */
#define STRING_OF_TYPE(Enumeration, c_type, TYPE, fallback)                \
    PX_EXPORT const char *PMIx_##Enumeration##_string(c_type value)        \
    {                                                                      \
        return name_or(px_name_of(PMIX_##TYPE, (int64_t)value), fallback); \
    }
/* Defines the same for an enumeration that values cannot hold. */
#define STRING_OF_TABLE(Enumeration, c_type, table, fallback)       \
    PX_EXPORT const char *PMIx_##Enumeration##_string(c_type value) \
    {                                                               \
        return name_or(FIND_IN(table, (int64_t)value), fallback);   \
    }

STRING_OF_TYPE(Alloc_directive, pmix_alloc_directive_t, ALLOC_DIRECTIVE, "UNSPECIFIED")
STRING_OF_TYPE(Alloc_inheritance, pmix_alloc_inheritance_t, ALLOC_INHERIT,
               "UNSPECIFIED")
STRING_OF_TYPE(Data_range, pmix_data_range_t, DATA_RANGE, "UNKNOWN")
STRING_OF_TYPE(Data_type, pmix_data_type_t, DATA_TYPE, "NOT INITIALIZED")
STRING_OF_TYPE(Device_type, pmix_device_type_t, DEVTYPE, "UNKNOWN")
STRING_OF_TYPE(Error, pmix_status_t, STATUS, "ERROR STRING NOT FOUND")
STRING_OF_TYPE(IOF_channel, pmix_iof_channel_t, IOF_CHANNEL, "NONE")
STRING_OF_TYPE(Job_state, pmix_job_state_t, JOB_STATE, "UNKNOWN")
STRING_OF_TYPE(Link_state, pmix_link_state_t, LINK_STATE, "UNKNOWN")
STRING_OF_TYPE(Persistence, pmix_persistence_t, PERSIST, "UNKNOWN PERSISTENCE")
STRING_OF_TYPE(Proc_state, pmix_proc_state_t, PROC_STATE, "UNKNOWN STATE")
STRING_OF_TYPE(Resource_block_directive, pmix_resource_block_directive_t,
               RESBLOCK_DIRECTIVE, "UNSPECIFIED")
STRING_OF_TYPE(Scope, pmix_scope_t, SCOPE, "UNKNOWN SCOPE")
STRING_OF_TABLE(Group_operation, pmix_group_operation_t, group_operations,
                "UNKNOWN VALUE")
STRING_OF_TABLE(Value_comparison, pmix_value_cmp_t, comparisons, "UNKNOWN VALUE")

PX_EXPORT char *PMIx_Info_directives_string(pmix_info_directives_t directives)
{
    if (directives & PMIX_INFO_QUALIFIER) /* a qualifier is never optional */
        return strdup("QUALIFIER");
    return px_strf("%s%s%s", directives & PMIX_INFO_REQD ? "REQUIRED" : "OPTIONAL",
                   directives & PMIX_INFO_REQD_PROCESSED ? ":PROCESSED" : "",
                   directives & PMIX_INFO_ARRAY_END ? ":END" : "");
}

/* ---- attributes ------------------------------------------------------------------ */

/* Converts to lower case. tolower depends on the locale, but the order of the tables
 * does not. */
static int fold(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int compare(const char *a, const char *b)
{
    while (*a && fold((unsigned char)*a) == fold((unsigned char)*b)) {
        a++;
        b++;
    }
    return fold((unsigned char)*a) - fold((unsigned char)*b);
}

static int compare_name(const void *name, const void *row)
{
    return compare(name, ((const struct px_key *)row)->name);
}

static int compare_key(const void *key, const void *row)
{
    return compare(key, ((const struct px_key_owner *)row)->key);
}

const struct px_key *px_key_by_name(const char *name)
{
    return name ? bsearch(name, px_keys, px_n_keys, sizeof(px_keys[0]), compare_name)
                : NULL;
}

const struct px_key *px_key_by_string(const char *key)
{
    const struct px_key_owner *owner = NULL;

    if (key)
        owner = bsearch(key, px_key_owners, px_n_key_owners, sizeof(px_key_owners[0]),
                        compare_key);
    return owner ? &px_keys[owner->index] : NULL;
}

PX_EXPORT const char *PMIx_Get_attribute_string(const char *name)
{
    const struct px_key *found = px_key_by_name(name);

    return found ? found->key : name;
}

PX_EXPORT const char *PMIx_Get_attribute_name(const char *key)
{
    const struct px_key *found = px_key_by_string(key);

    return found ? found->name : key;
}
