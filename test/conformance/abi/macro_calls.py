# SPDX-License-Identifier: BSD-3-Clause
"""A call for each row of macros.tsv: statements of C11 and C++17 that use the macro and CHECK the result. They run with
AddressSanitizer, which also detects leaks."""
import re

# -- Macros that types have in common: prefix, type, a member, the member's empty value, and a statement that gives
# {x} allocated contents
FAMILIES = [
    ("APP", "pmix_app_t", "cmd", "NULL", "{x}.cmd = text(\"a\"); {x}.argv = three();"),
    ("BYTE_OBJECT", "pmix_byte_object_t", "bytes", "NULL", "{x}.bytes = text(\"b\");"),
    ("CPUSET", "pmix_cpuset_t", "bitmap", "NULL", ""),
    ("DATA_BUFFER", "pmix_data_buffer_t", "base_ptr", "NULL",
     "PMIx_Data_buffer_load(&{x}, text(\"12\"), 3);"),
    ("DEVICE", "pmix_device_t", "uuid", "NULL", "{x}.uuid = text(\"u\");"),
    ("DEVICE_DIST", "pmix_device_distance_t", "mindist", "UINT16_MAX", "{x}.uuid = text(\"u\");"),
    ("DISK_STATS", "pmix_disk_stats_t", "disk", "NULL", "{x}.disk = text(\"d\");"),
    ("ENDPOINT", "pmix_endpoint_t", "uuid", "NULL", "{x}.endpt.bytes = text(\"b\");"),
    ("ENVAR", "pmix_envar_t", "separator", "'\\0'", "{x}.value = text(\"v\");"),
    ("FABRIC", "pmix_fabric_t", "index", "SIZE_MAX", ""),
    ("GEOMETRY", "pmix_geometry_t", "coordinates", "NULL", "{x}.uuid = text(\"u\");"),
    ("INFO", "pmix_info_t", "value.type", "PMIX_UNDEF",
     "PMIx_Info_load(&{x}, \"k\", \"v\", PMIX_STRING);"),
    ("LOOKUP", "pmix_pdata_t", "proc.rank", "PMIX_RANK_UNDEF", ""),
    ("NET_STATS", "pmix_net_stats_t", "net_interface", "NULL", "{x}.net_interface = text(\"n\");"),
    ("NODE_PID", "pmix_node_pid_t", "nodeid", "UINT32_MAX", ""),
    ("NODE_STATS", "pmix_node_stats_t", "diskstats", "NULL", "{x}.node = text(\"n\");"),
    ("PDATA", "pmix_pdata_t", "proc.rank", "PMIX_RANK_UNDEF",
     "PMIx_Value_load(&{x}.value, \"v\", PMIX_STRING);"),
    ("PROC", "pmix_proc_t", "rank", "PMIX_RANK_UNDEF", ""),
    ("PROC_INFO", "pmix_proc_info_t", "state", "PMIX_PROC_STATE_UNDEF",
     "{x}.hostname = text(\"h\");"),
    ("PROC_STATS", "pmix_proc_stats_t", "cmd", "NULL", "{x}.cmd = text(\"c\");"),
    ("QUERY", "pmix_query_t", "keys", "NULL", "{x}.keys = three();"),
    ("REGATTR", "pmix_regattr_t", "name", "NULL", "{x}.name = text(\"n\");"),
    ("REGEX2", "pmix_regex2_t", "bytes", "NULL", ""),
    ("RESOURCE_UNIT", "pmix_resource_unit_t", "count", "0", ""),
    ("TOPOLOGY", "pmix_topology_t", "topology", "NULL", ""),
    ("VALUE", "pmix_value_t", "type", "PMIX_UNDEF",
     "PMIx_Value_load(&{x}, \"v\", PMIX_STRING);"),
]

COMMON = {
    "STATIC_INIT": """
static {T} at_load = {P}_STATIC_INIT;
{T} x = {P}_STATIC_INIT;
CHECK(at_load.{M} == {E} && x.{M} == {E});""",
    "CONSTRUCT": """
{T} x;
memset(&x, 0x5a, sizeof(x));
{P}_CONSTRUCT(&x);
CHECK(x.{M} == {E});""",
    "DESTRUCT": """
{T} x = {P}_STATIC_INIT;
{F}
{P}_DESTRUCT(&x);""",
    "CREATE": """
{T} *m = NULL;
{P}_CREATE(m, 2);
CHECK(m != NULL && m[0].{M} == {E} && m[1].{M} == {E});
free(m);
{P}_CREATE(m, 0);
CHECK(m == NULL);""",
    "FREE": """
{T} *m = NULL;
{P}_CREATE(m, 2);
CHECK(m != NULL);
{FA}
{P}_FREE(m, 2);
CHECK(m == NULL);
{P}_FREE(m, 0);""",
    "RELEASE": """
{T} *m = NULL;
{P}_CREATE(m, 1);
CHECK(m != NULL);
{FM}
{P}_RELEASE(m);
CHECK(m == NULL);""",
}

# Macros of families with other than the usual macros
USUAL = ("STATIC_INIT", "CONSTRUCT", "DESTRUCT", "CREATE", "FREE")
OTHERS = {
    "DATA_BUFFER": USUAL[:3],        # the others have arguments of their own
    "FABRIC": USUAL[:2],
    "LOOKUP": USUAL[:1],             # the initializer of pmix_pdata_t
    "NODE_PID": USUAL[:1],
    "PDATA": (*USUAL[1:], "RELEASE"),
    "REGEX2": USUAL[:1],
}
OTHERS.update({family: (*USUAL, "RELEASE") for family in (
    "APP", "DISK_STATS", "NET_STATS", "NODE_STATS", "PROC", "PROC_INFO", "PROC_STATS", "QUERY",
    "VALUE")})


# -- Functions of the headers of 4.2: contents of the elements, but not the array
CONTENTS_ONLY = """
{T} *m = NULL;
{P}_CREATE(m, 2);
CHECK(m != NULL);
{FA}
pmix_{L}_free(m, 2);
pmix_{L}_free(NULL, 2);
free(m);"""


def common():
    calls = {}
    for family, ctype, member, empty, fill in FAMILIES:
        def call(body):
            for word, text in {
                    "{F}": fill.replace("{x}", "x"), "{FM}": fill.replace("{x}", "m[0]"),
                    "{FA}": fill.replace("{x}", "m[1]"), "{T}": ctype, "{M}": member, "{E}": empty,
                    "{L}": family.lower(), "{P}": "PMIX_" + family}.items():
                body = body.replace(word, text)
            return body.replace("PMIX_PDATA_STATIC_INIT", "PMIX_LOOKUP_STATIC_INIT")

        for what in OTHERS.get(family, USUAL):
            calls["PMIX_%s_%s" % (family, what)] = call(COMMON[what])
        if family in ("APP", "PDATA", "PROC_STATS", "DISK_STATS", "NET_STATS", "NODE_STATS"):
            calls["pmix_%s_free" % family.lower()] = call(CONTENTS_ONLY)
    return calls


# -- Other macros: a name, the objects of its statements (kind and name), which are made before and freed after the
# statements, then the statements. The status r, and argv if it is used, exist. Names with a bar between them share
# their statements, in which THIS is the name.
KINDS = {
    "app": ("pmix_app_t", "APP", "PMIx_App_destruct(&%s);"),
    "array": ("pmix_data_array_t", "DATA_ARRAY", "PMIx_Data_array_destruct(&%s);"),
    "buffer": ("pmix_data_buffer_t", "DATA_BUFFER", "PMIx_Data_buffer_destruct(&%s);"),
    "bytes": ("pmix_byte_object_t", "BYTE_OBJECT", "PMIx_Byte_object_destruct(&%s);"),
    "coord": ("pmix_coord_t", "COORD", "PMIx_Coord_destruct(&%s);"),
    "envar": ("pmix_envar_t", "ENVAR", "PMIx_Envar_destruct(&%s);"),
    "info": ("pmix_info_t", "INFO", "PMIx_Info_destruct(&%s);"),
    "pdata": ("pmix_pdata_t", "LOOKUP", "PMIx_Pdata_destruct(&%s);"),
    "proc": ("pmix_proc_t", "PROC", ""),
    "query": ("pmix_query_t", "QUERY", "PMIx_Query_destruct(&%s);"),
    "regattr": ("pmix_regattr_t", "REGATTR", "PMIx_Regattr_destruct(&%s);"),
    "value": ("pmix_value_t", "VALUE", "PMIx_Value_destruct(&%s);"),
}

ROWS = """
PMIX_COORD_STATIC_INIT
    static pmix_coord_t x = PMIX_COORD_STATIC_INIT;
    CHECK(x.coord == NULL && x.dims == 0 && x.view == PMIX_COORD_VIEW_UNDEF);
PMIX_COORD_CONSTRUCT coord x
    memset(&x, 0x5a, sizeof(x));
    PMIX_COORD_CONSTRUCT(&x);
    CHECK(x.coord == NULL && x.dims == 0 && x.view == PMIX_COORD_VIEW_UNDEF);
PMIX_COORD_DESTRUCT coord x
    x.coord = (uint32_t *)calloc(3, sizeof(uint32_t));
    x.dims = 3;
    PMIX_COORD_DESTRUCT(&x);
    CHECK(x.coord == NULL && x.dims == 0);
PMIX_COORD_CREATE
    pmix_coord_t *m = NULL;
    PMIX_COORD_CREATE(m, 2, 3);
    CHECK(m != NULL && m[0].dims == 3);
    PMIx_Coord_free(m, 2);
PMIX_COORD_FREE
    pmix_coord_t *m = PMIx_Coord_create(3, 2);
    PMIX_COORD_FREE(m, 2);
    CHECK(m == NULL);
PMIX_DATA_ARRAY_STATIC_INIT
    static pmix_data_array_t x = PMIX_DATA_ARRAY_STATIC_INIT;
    CHECK(x.array == NULL && x.size == 0 && x.type == PMIX_UNDEF);
PMIX_DATA_ARRAY_INIT array x
    memset(&x, 0x5a, sizeof(x));
    PMIX_DATA_ARRAY_INIT(&x, PMIX_UINT16);
    CHECK(x.array == NULL && x.size == 0 && x.type == PMIX_UINT16);
PMIX_DATA_ARRAY_CONSTRUCT array x
    PMIX_DATA_ARRAY_CONSTRUCT(&x, 4, PMIX_UINT16);
    CHECK(x.array != NULL && x.size == 4 && x.type == PMIX_UINT16);
PMIX_DATA_ARRAY_DESTRUCT array x
    PMIx_Data_array_construct(&x, 2, PMIX_STRING);
    ((char **)x.array)[1] = text("s");
    PMIX_DATA_ARRAY_DESTRUCT(&x);
    CHECK(x.array == NULL && x.size == 0);
PMIX_DATA_ARRAY_CREATE
    pmix_data_array_t *m = NULL;
    PMIX_DATA_ARRAY_CREATE(m, 2, PMIX_INFO);
    CHECK(m != NULL && m->size == 2 && m->type == PMIX_INFO);
    PMIx_Data_array_free(m);
PMIX_DATA_ARRAY_FREE
    pmix_data_array_t *m = PMIx_Data_array_create(2, PMIX_STRING);
    ((char **)m->array)[1] = text("s");
    PMIX_DATA_ARRAY_FREE(m);
    CHECK(m == NULL);
PMIX_DATA_BUFFER_CREATE
    pmix_data_buffer_t *m = NULL;
    PMIX_DATA_BUFFER_CREATE(m);
    CHECK(m != NULL && m->base_ptr == NULL && m->bytes_used == 0);
    free(m);
PMIX_DATA_BUFFER_RELEASE
    pmix_data_buffer_t *m = PMIx_Data_buffer_create();
    PMIx_Data_buffer_load(m, text("12"), 3);
    PMIX_DATA_BUFFER_RELEASE(m);
    CHECK(m == NULL);
PMIX_DATA_BUFFER_LOAD buffer x
    char *bytes = text("12");
    PMIX_DATA_BUFFER_LOAD(&x, bytes, 3);
    CHECK(x.bytes_used == 3 && x.base_ptr != NULL);
PMIX_DATA_BUFFER_UNLOAD buffer x, bytes out
    PMIx_Data_buffer_load(&x, text("12"), 3);
    PMIX_DATA_BUFFER_UNLOAD(&x, out.bytes, out.size);
    CHECK(out.size == 3 && x.base_ptr == NULL);
    CHECK_TEXT(out.bytes, "12");
PMIX_BYTE_OBJECT_LOAD bytes x
    char *bytes = text("12"), *were = bytes;
    size_t size = 3;
    PMIX_BYTE_OBJECT_LOAD(&x, bytes, size);
    CHECK(x.bytes == were && x.size == 3 && bytes == NULL && size == 0);
PMIX_ENVAR_LOAD envar x
    char name[] = "PATH", value[] = "/bin";
    PMIX_ENVAR_LOAD(&x, name, value, ':');
    CHECK_TEXT(x.envar, "PATH");
    CHECK_TEXT(x.value, "/bin");
    CHECK(x.separator == ':');
PMIX_REGATTR_LOAD regattr x
    PMIX_REGATTR_LOAD(&x, "PMIX_RANK", PMIX_RANK, PMIX_PROC_RANK, "which one");
    CHECK_TEXT(x.name, "PMIX_RANK");
    CHECK_TEXT(x.string, PMIX_RANK);
    CHECK(x.type == PMIX_PROC_RANK);
    CHECK_TEXT(x.description[0], "which one");
PMIX_REGATTR_XFER regattr x, regattr y
    PMIx_Regattr_load(&x, "PMIX_RANK", PMIX_RANK, PMIX_PROC_RANK, "which one");
    PMIX_REGATTR_XFER(&y, &x);
    CHECK_TEXT(y.name, "PMIX_RANK");
    CHECK(y.name != x.name);
PMIX_APP_INFO_CREATE app x
    PMIX_APP_INFO_CREATE(&x, 2);
    CHECK(x.info != NULL && x.ninfo == 2 && x.info[1].key[0] == 0);
PMIX_QUERY_QUALIFIERS_CREATE query x
    PMIX_QUERY_QUALIFIERS_CREATE(&x, 2);
    CHECK(x.qualifiers != NULL && x.nqual == 2 && x.qualifiers[1].key[0] == 0);
PMIX_VALUE_LOAD value x
    PMIX_VALUE_LOAD(&x, "v", PMIX_STRING);
    CHECK(x.type == PMIX_STRING);
    CHECK_TEXT(x.data.string, "v");
PMIX_VALUE_UNLOAD value x
    uint32_t number = 7, got = 0;
    void *data = &got;
    size_t size = sizeof(got);
    PMIx_Value_load(&x, &number, PMIX_UINT32);
    PMIX_VALUE_UNLOAD(r, &x, &data, &size);
    CHECK_NUMBER(size, 4);
    CHECK(data == &got && got == 7);
PMIX_VALUE_XFER value x
    pmix_value_t *m = NULL;
    PMIx_Value_load(&x, "v", PMIX_STRING);
    PMIX_VALUE_XFER(r, m, &x);
    CHECK(m != NULL && m->data.string != x.data.string);
    CHECK_TEXT(m->data.string, "v");
    PMIx_Value_free(m, 1);
PMIX_VALUE_XFER_DIRECT value x, value y
    PMIx_Value_load(&x, "v", PMIX_STRING);
    PMIX_VALUE_XFER_DIRECT(r, &y, &x);
    CHECK_TEXT(y.data.string, "v");
PMIX_VALUE_GET_NUMBER value x, value text
    int number = -5;
    long got = 0;
    pmix_status_t refused;
    PMIx_Value_load(&x, &number, PMIX_INT);
    PMIX_VALUE_GET_NUMBER(r, &x, got, long);
    CHECK_NUMBER(got, -5);
    text.type = PMIX_STRING;
    PMIX_VALUE_GET_NUMBER(refused, &text, got, long);
    CHECK_NUMBER(refused, PMIX_ERR_BAD_PARAM);
PMIX_CHECK_BOOL value x
    bool no = false;
    int number = 3;
    PMIx_Value_load(&x, &no, PMIX_BOOL);
    CHECK(PMIX_CHECK_BOOL(&x));
    PMIx_Value_load(&x, &number, PMIX_INT);
    CHECK(!PMIX_CHECK_BOOL(&x));
PMIX_CHECK_TRUE value x
    bool yes = true, no = false;
    PMIx_Value_load(&x, &yes, PMIX_BOOL);
    CHECK(PMIX_CHECK_TRUE(&x));
    PMIx_Value_load(&x, &no, PMIX_BOOL);
    CHECK(!PMIX_CHECK_TRUE(&x));
pmix_check_true value x, value y
    bool no = false;
    CHECK_NUMBER(pmix_check_true(&x), PMIX_BOOL_TRUE);
    PMIx_Value_load(&x, &no, PMIX_BOOL);
    CHECK_NUMBER(pmix_check_true(&x), PMIX_BOOL_FALSE);
    y.type = PMIX_BYTE_OBJECT;
    CHECK_NUMBER(pmix_check_true(&y), PMIX_NON_BOOL);
PMIX_PDATA_LOAD pdata x, proc proc
    proc.rank = 3;
    PMIX_PDATA_LOAD(&x, &proc, "k", "v", PMIX_STRING);
    CHECK(x.proc.rank == 3);
    CHECK_TEXT(x.key, "k");
    CHECK_TEXT(x.value.data.string, "v");
PMIX_PDATA_XFER pdata x, pdata y, proc proc
    PMIx_Pdata_load(&x, &proc, "k", "v", PMIX_STRING);
    PMIX_PDATA_XFER(&y, &x);
    CHECK_TEXT(y.key, "k");
    CHECK_TEXT(y.value.data.string, "v");
    CHECK(x.value.data.string != y.value.data.string);
PMIX_INFO_LOAD info x
    PMIX_INFO_LOAD(&x, PMIX_HOSTNAME, "node", PMIX_STRING);
    CHECK_TEXT(x.key, PMIX_HOSTNAME);
    CHECK_TEXT(x.value.data.string, "node");
PMIX_INFO_XFER info x, info y
    PMIx_Info_load(&x, PMIX_HOSTNAME, "node", PMIX_STRING);
    PMIX_INFO_XFER(&y, &x);
    CHECK_TEXT(y.key, PMIX_HOSTNAME);
    CHECK_TEXT(y.value.data.string, "node");
    CHECK(x.value.data.string != y.value.data.string);
PMIX_INFO_TRUE info x
    bool no = false;
    PMIx_Info_load(&x, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    CHECK(PMIX_INFO_TRUE(&x));
    PMIx_Info_load(&x, PMIX_OPTIONAL, &no, PMIX_BOOL);
    CHECK(!PMIX_INFO_TRUE(&x));
PMIX_INFO_OPTIONAL info x
    x.flags = PMIX_INFO_REQD | PMIX_INFO_QUALIFIER;
    PMIX_INFO_OPTIONAL(&x);
    CHECK(x.flags == PMIX_INFO_QUALIFIER);
PMIX_INFO_IS_OPTIONAL info x
    CHECK(PMIX_INFO_IS_OPTIONAL(&x));
    x.flags = PMIX_INFO_REQD;
    CHECK(!PMIX_INFO_IS_OPTIONAL(&x));
PMIX_INFO_LIST_START
    void *list = NULL;
    PMIX_INFO_LIST_START(list);
    CHECK(list != NULL && PMIx_Info_list_get_size(list) == 0);
    PMIx_Info_list_release(list);
PMIX_INFO_LIST_RELEASE
    void *list = list_of_one("first");
    PMIX_INFO_LIST_RELEASE(list);
PMIX_INFO_LIST_ADD
    void *list = list_of_one("first");
    PMIX_INFO_LIST_ADD(r, list, "second", "v", PMIX_STRING);
    check_list(list, "first", "second");
PMIX_INFO_LIST_PREPEND
    void *list = list_of_one("first");
    PMIX_INFO_LIST_PREPEND(r, list, "second", "v", PMIX_STRING);
    check_list(list, "second", "first");
PMIX_INFO_LIST_XFER info x
    void *list = list_of_one("first");
    PMIx_Info_load(&x, "second", "v", PMIX_STRING);
    PMIX_INFO_LIST_XFER(r, list, &x);
    check_list(list, "first", "second");
PMIX_INFO_LIST_INSERT info x
    void *list = list_of_one("first");
    PMIx_Info_load(&x, "second", "v", PMIX_STRING);
    PMIX_INFO_LIST_INSERT(r, list, &x);
    check_list(list, "first", "second");
PMIX_INFO_LIST_CONVERT array got
    void *list = list_of_one("first");
    PMIX_INFO_LIST_CONVERT(r, list, &got);
    CHECK(got.size == 1 && got.type == PMIX_INFO);
    CHECK_TEXT(((pmix_info_t *)got.array)[0].key, "first");
    PMIx_Info_list_release(list);
PMIX_LOAD_KEY
    pmix_key_t key;
    memset(key, 'x', sizeof(key));
    PMIX_LOAD_KEY(key, PMIX_RANK);
    CHECK_TEXT(key, PMIX_RANK);
PMIX_CHECK_KEY info x
    strcpy(x.key, PMIX_RANK);
    CHECK(PMIX_CHECK_KEY(&x, PMIX_RANK) && !PMIX_CHECK_KEY(&x, PMIX_HOSTNAME));
PMIX_CHECK_RESERVED_KEY
    CHECK(PMIX_CHECK_RESERVED_KEY(PMIX_RANK) && !PMIX_CHECK_RESERVED_KEY("mine"));
PMIX_LOAD_NSPACE
    pmix_nspace_t ns;
    memset(ns, 'x', sizeof(ns));
    PMIX_LOAD_NSPACE(ns, "job");
    CHECK_TEXT(ns, "job");
    PMIX_LOAD_NSPACE(ns, NULL);
    CHECK_TEXT(ns, "");
PMIX_CHECK_NSPACE
    CHECK(PMIX_CHECK_NSPACE("job", "job"));
    CHECK(PMIX_CHECK_NSPACE("job", "") && !PMIX_CHECK_NSPACE("job", "bob"));
PMIX_NSPACE_INVALID
    CHECK(PMIX_NSPACE_INVALID("") && !PMIX_NSPACE_INVALID("job"));
PMIX_CHECK_RANK
    CHECK(PMIX_CHECK_RANK(3, 3) && PMIX_CHECK_RANK(3, PMIX_RANK_WILDCARD));
    CHECK(!PMIX_CHECK_RANK(3, 4));
PMIX_RANK_IS_VALID
    CHECK(PMIX_RANK_IS_VALID(0) && !PMIX_RANK_IS_VALID(PMIX_RANK_WILDCARD));
PMIX_LOAD_PROCID|PMIX_PROC_LOAD proc x
    THIS(&x, "job", 3);
    CHECK_TEXT(x.nspace, "job");
    CHECK_NUMBER(x.rank, 3);
PMIX_XFER_PROCID|PMIX_PROCID_XFER proc x, proc y
    PMIx_Load_procid(&x, "job", 3);
    THIS(&y, &x);
    CHECK(memcmp(&x, &y, sizeof(x)) == 0);
PMIX_CHECK_PROCID proc x, proc y
    PMIx_Load_procid(&x, "job", 3);
    PMIx_Load_procid(&y, "job", 3);
    CHECK(PMIX_CHECK_PROCID(&x, &y));
    y.rank = 4;
    CHECK(!PMIX_CHECK_PROCID(&x, &y));
PMIX_PROCID_INVALID proc x
    PMIx_Load_procid(&x, "job", PMIX_RANK_INVALID);
    CHECK(PMIX_PROCID_INVALID(&x));
    PMIx_Load_procid(&x, "job", 3);
    CHECK(!PMIX_PROCID_INVALID(&x));
PMIX_MULTICLUSTER_NSPACE_CONSTRUCT
    pmix_nspace_t both, cluster = "c", ns = "job";
    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(both, cluster, ns);
    CHECK_TEXT(both, "c:job");
PMIX_MULTICLUSTER_NSPACE_PARSE
    pmix_nspace_t both = "c:job", cluster, ns;
    PMIX_MULTICLUSTER_NSPACE_PARSE(both, cluster, ns);
    CHECK_TEXT(cluster, "c");
    CHECK_TEXT(ns, "job");
PMIX_SYSTEM_EVENT
    CHECK(PMIX_SYSTEM_EVENT(PMIX_EVENT_NODE_DOWN) && !PMIX_SYSTEM_EVENT(PMIX_ERR_TIMEOUT));
PMIx_Heartbeat
    /* only that it can be called: this process is without a server */
    CHECK(PMIx_Initialized() == 0);
    PMIx_Heartbeat();
pmix_malloc
    char *m = (char *)pmix_malloc(3);
    CHECK(m != NULL);
    free(m);
pmix_calloc
    char *m = (char *)pmix_calloc(2, 3);
    CHECK(m != NULL && m[5] == 0);
    free(m);
pmix_free
    pmix_free(malloc(3));
    pmix_free(NULL);
pmix_keylen|pmix_nslen
    const size_t most = strcmp("THIS", "pmix_keylen") == 0 ? PMIX_MAX_KEYLEN : PMIX_MAX_NSLEN;
    char longest[PMIX_MAX_KEYLEN + PMIX_MAX_NSLEN];
    memset(longest, 'k', sizeof(longest));
    CHECK(THIS("key") == 3 && THIS(NULL) == 0);
    CHECK_NUMBER(THIS(longest), most + 1);
pmix_strncpy
    char to[4] = "zzz";
    pmix_strncpy(to, "abcdef", 3);
    CHECK_TEXT(to, "abc");
    pmix_strncpy(to, "x", 3);
    CHECK_TEXT(to, "x");
PMIX_ARGV_FREE|pmix_argv_free
    char **argv = three();
    THIS(argv);
PMIX_ARGV_COUNT argv
    int n = 0;
    PMIX_ARGV_COUNT(n, argv);
    CHECK_NUMBER(n, 3);
pmix_argv_count argv
    CHECK(pmix_argv_count(argv) == 3 && pmix_argv_count(NULL) == 0);
PMIX_ARGV_JOIN argv
    char *s = NULL;
    PMIX_ARGV_JOIN(s, argv, ',');
    CHECK_TEXT(s, "a,b,c");
    free(s);
pmix_argv_join argv
    char *s = pmix_argv_join(argv, ',');
    CHECK_TEXT(s, "a,b,c");
    free(s);
"""

# Statement; number of strings of argv after it ("a", "b", "c" before); index and text of one of them
VECTORS = [
    ('PMIX_ARGV_APPEND(r, argv, "d");', 4, 3, "d"),
    ('r = pmix_argv_append_nosize(&argv, "d");', 4, 3, "d"),
    ('PMIX_ARGV_APPEND_UNIQUE(r, &argv, "b");\nPMIX_ARGV_APPEND_UNIQUE(r, &argv, "d");', 4, 3, "d"),
    ('r = pmix_argv_append_unique_nosize(&argv, "b");', 3, 2, "c"),
    ('PMIX_ARGV_PREPEND(r, argv, "d");', 4, 0, "d"),
    ('r = pmix_argv_prepend_nosize(&argv, "d");', 4, 0, "d"),
    ("char **from = argv;\nPMIX_ARGV_COPY(argv, from);\nPMIx_Argv_free(from);", 3, 2, "c"),
    ("char **from = argv;\nargv = pmix_argv_copy(from);\nPMIx_Argv_free(from);", 3, 2, "c"),
    ("PMIx_Argv_free(argv);\nPMIX_ARGV_SPLIT(argv, \"a,,b\", ',');", 2, 1, "b"),
    ("PMIx_Argv_free(argv);\nargv = pmix_argv_split(\"a,,b\", ',');", 2, 1, "b"),
    ("PMIx_Argv_free(argv);\nargv = pmix_argv_split_inter(\"a,,b\", ',', true);", 3, 2, "b"),
    ("PMIx_Argv_free(argv);\nargv = pmix_argv_split_with_empty(\"a,,b\", ',');", 3, 1, ""),
    ('PMIX_SETENV(r, "X", "1", &argv);', 4, 3, "X=1"),
    ('r = pmix_setenv("X", "1", true, &argv);', 4, 3, "X=1"),
]

# Macro -> the flag that it sets, or tests
SETS = {"REQUIRED": "REQD", "SET_END": "ARRAY_END", "SET_PERSISTENT": "PERSISTENT",
        "SET_QUALIFIER": "QUALIFIER", "PROCESSED": "REQD_PROCESSED"}
ASKS = {"IS_END": "ARRAY_END", "IS_PERSISTENT": "PERSISTENT", "IS_QUALIFIER": "QUALIFIER",
        "IS_REQUIRED": "REQD", "WAS_PROCESSED": "REQD_PROCESSED"}


def with_objects(objects, body):
    before, after = "pmix_status_t r = PMIX_SUCCESS;\n", "\nCHECK_NUMBER(r, PMIX_SUCCESS);\n"
    for kind, name in (words.split() for words in objects.split(",") if words):
        ctype, prefix, destruct = KINDS[kind]
        before += "%s %s = PMIX_%s_STATIC_INIT;\n" % (ctype, name, prefix)
        after += destruct.replace("%s", name) + "\n"
    if "argv" in body and "char **argv" not in body:
        before, after = before + "char **argv = three();\n", after + "PMIx_Argv_free(argv);\n"
    return before + body + after


def rows():
    calls = {}
    for row in re.split(r"\n(?=\w)", ROWS.strip()):
        head, *body = row.split("\n")
        names, _, objects = head.partition(" ")
        for name in names.split("|"):
            calls[name] = with_objects(
                objects.replace("argv", ""),
                "\n".join(line.strip() for line in body).replace("THIS", name))
    for body, n, at, string in VECTORS:
        name = re.findall(r"(\w+)\(", body.replace("PMIx_Argv_free(argv)", ""))[0]
        calls[name] = with_objects("", '%s\nCHECK_NUMBER(PMIx_Argv_count(argv), %d);\n'
                                   'CHECK_TEXT(argv[%d], "%s");' % (body, n, at, string))
    for macro, flag in SETS.items():
        calls["PMIX_INFO_" + macro] = with_objects(
            "info x", "PMIX_INFO_%s(&x);\nCHECK(x.flags == PMIX_INFO_%s);" % (macro, flag))
    for macro, flag in ASKS.items():
        calls["PMIX_INFO_" + macro] = with_objects("info x", """\
CHECK(!PMIX_INFO_%s(&x));
x.flags = PMIX_INFO_%s;
CHECK(PMIX_INFO_%s(&x));
x.flags = ~x.flags;
CHECK(!PMIX_INFO_%s(&x));""" % (macro, flag, macro, macro))
    return calls


CALLS = {**common(), **rows()}
