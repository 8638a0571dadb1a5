# SPDX-License-Identifier: BSD-3-Clause
"""A call for each row of macros.tsv: statements of C11 and C++17 that use the macro and CHECK what
it has done. They run with AddressSanitizer, so what is not freed is found too."""

# -- Macros that types have in common: prefix, type, a member, what the member is without content,
# and a statement that gives {x} something that must be freed
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

# Which of them a family has, where it is not the usual ones
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


def common():
    calls = {}
    for family, ctype, member, empty, fill in FAMILIES:
        for what in OTHERS.get(family, USUAL):
            words = {"{F}": fill.replace("{x}", "x"), "{FM}": fill.replace("{x}", "m[0]"),
                     "{FA}": fill.replace("{x}", "m[1]"), "{T}": ctype, "{M}": member,
                     "{E}": empty, "{P}": "PMIX_" + family}
            body = COMMON[what]
            if family == "PDATA":
                body = body.replace("{P}_STATIC_INIT", "PMIX_LOOKUP_STATIC_INIT")
            for word, text in words.items():
                body = body.replace(word, text)
            calls["PMIX_%s_%s" % (family, what)] = body
    return calls


# -- Functions of the headers of 4.2: contents of the elements, but not the array
def contents_only():
    calls = {}
    for family, ctype, member, _empty, fill in FAMILIES:
        if family not in ("APP", "PDATA", "PROC_STATS", "DISK_STATS", "NET_STATS", "NODE_STATS"):
            continue
        calls["pmix_%s_free" % family.lower()] = """
%s *m = NULL;
PMIX_%s_CREATE(m, 2);
CHECK(m != NULL);
%s
pmix_%s_free(m, 2);
pmix_%s_free(NULL, 2);
free(m);""" % (ctype, family, fill.replace("{x}", "m[1]"), family.lower(), family.lower())
    return calls


# -- Types whose macros have arguments of their own
COORDS = {
    "PMIX_COORD_STATIC_INIT": """
static pmix_coord_t x = PMIX_COORD_STATIC_INIT;
CHECK(x.coord == NULL && x.dims == 0 && x.view == PMIX_COORD_VIEW_UNDEF);""",
    "PMIX_COORD_CONSTRUCT": """
pmix_coord_t x;
memset(&x, 0x5a, sizeof(x));
PMIX_COORD_CONSTRUCT(&x);
CHECK(x.coord == NULL && x.dims == 0 && x.view == PMIX_COORD_VIEW_UNDEF);""",
    "PMIX_COORD_DESTRUCT": """
pmix_coord_t x = PMIX_COORD_STATIC_INIT;
x.coord = (uint32_t *)calloc(3, sizeof(uint32_t));
x.dims = 3;
PMIX_COORD_DESTRUCT(&x);
CHECK(x.coord == NULL && x.dims == 0);""",
    "PMIX_COORD_CREATE": """
pmix_coord_t *m = NULL;
PMIX_COORD_CREATE(m, 2, 3);
CHECK(m != NULL && m[0].dims == 3);
PMIx_Coord_free(m, 2);""",
    "PMIX_COORD_FREE": """
pmix_coord_t *m = PMIx_Coord_create(3, 2);
PMIX_COORD_FREE(m, 2);
CHECK(m == NULL);""",
}

ARRAYS = {
    "PMIX_DATA_ARRAY_STATIC_INIT": """
static pmix_data_array_t x = PMIX_DATA_ARRAY_STATIC_INIT;
CHECK(x.array == NULL && x.size == 0 && x.type == PMIX_UNDEF);""",
    "PMIX_DATA_ARRAY_INIT": """
pmix_data_array_t x;
memset(&x, 0x5a, sizeof(x));
PMIX_DATA_ARRAY_INIT(&x, PMIX_UINT16);
CHECK(x.array == NULL && x.size == 0 && x.type == PMIX_UINT16);""",
    "PMIX_DATA_ARRAY_CONSTRUCT": """
pmix_data_array_t x;
PMIX_DATA_ARRAY_CONSTRUCT(&x, 4, PMIX_UINT16);
CHECK(x.array != NULL && x.size == 4 && x.type == PMIX_UINT16);
free(x.array);""",
    "PMIX_DATA_ARRAY_DESTRUCT": """
pmix_data_array_t x;
PMIx_Data_array_construct(&x, 2, PMIX_STRING);
((char **)x.array)[1] = text("s");
PMIX_DATA_ARRAY_DESTRUCT(&x);
CHECK(x.array == NULL && x.size == 0);""",
    "PMIX_DATA_ARRAY_CREATE": """
pmix_data_array_t *m = NULL;
PMIX_DATA_ARRAY_CREATE(m, 2, PMIX_INFO);
CHECK(m != NULL && m->size == 2 && m->type == PMIX_INFO);
PMIx_Data_array_free(m);""",
    "PMIX_DATA_ARRAY_FREE": """
pmix_data_array_t *m = PMIx_Data_array_create(2, PMIX_STRING);
((char **)m->array)[1] = text("s");
PMIX_DATA_ARRAY_FREE(m);
CHECK(m == NULL);""",
    "PMIX_DATA_BUFFER_CREATE": """
pmix_data_buffer_t *m = NULL;
PMIX_DATA_BUFFER_CREATE(m);
CHECK(m != NULL && m->base_ptr == NULL && m->bytes_used == 0);
free(m);""",
    "PMIX_DATA_BUFFER_RELEASE": """
pmix_data_buffer_t *m = PMIx_Data_buffer_create();
PMIx_Data_buffer_load(m, text("12"), 3);
PMIX_DATA_BUFFER_RELEASE(m);
CHECK(m == NULL);""",
    "PMIX_DATA_BUFFER_LOAD": """
pmix_data_buffer_t x = PMIX_DATA_BUFFER_STATIC_INIT;
char *bytes = text("12");
PMIX_DATA_BUFFER_LOAD(&x, bytes, 3);
CHECK(x.bytes_used == 3 && x.base_ptr != NULL);
PMIx_Data_buffer_destruct(&x);""",
    "PMIX_DATA_BUFFER_UNLOAD": """
pmix_data_buffer_t x = PMIX_DATA_BUFFER_STATIC_INIT;
char *bytes = NULL;
size_t size = 0;
PMIx_Data_buffer_load(&x, text("12"), 3);
PMIX_DATA_BUFFER_UNLOAD(&x, bytes, size);
CHECK(size == 3 && x.base_ptr == NULL);
CHECK_TEXT(bytes, "12");
free(bytes);""",
    "PMIX_BYTE_OBJECT_LOAD": """
pmix_byte_object_t x = PMIX_BYTE_OBJECT_STATIC_INIT;
char *bytes = text("12"), *were = bytes;
size_t size = 3;
PMIX_BYTE_OBJECT_LOAD(&x, bytes, size);
CHECK(x.bytes == were && x.size == 3 && bytes == NULL && size == 0);
free(were);""",
    "PMIX_ENVAR_LOAD": """
pmix_envar_t x = PMIX_ENVAR_STATIC_INIT;
char name[] = "PATH", value[] = "/bin";
PMIX_ENVAR_LOAD(&x, name, value, ':');
CHECK_TEXT(x.envar, "PATH");
CHECK_TEXT(x.value, "/bin");
CHECK(x.separator == ':');
PMIx_Envar_destruct(&x);""",
    "PMIX_REGATTR_LOAD": """
pmix_regattr_t x = PMIX_REGATTR_STATIC_INIT;
PMIX_REGATTR_LOAD(&x, "PMIX_RANK", PMIX_RANK, PMIX_PROC_RANK, "which one");
CHECK_TEXT(x.name, "PMIX_RANK");
CHECK_TEXT(x.string, PMIX_RANK);
CHECK(x.type == PMIX_PROC_RANK);
CHECK_TEXT(x.description[0], "which one");
PMIx_Regattr_destruct(&x);""",
    "PMIX_REGATTR_XFER": """
pmix_regattr_t x = PMIX_REGATTR_STATIC_INIT, y = PMIX_REGATTR_STATIC_INIT;
PMIx_Regattr_load(&x, "PMIX_RANK", PMIX_RANK, PMIX_PROC_RANK, "which one");
PMIX_REGATTR_XFER(&y, &x);
CHECK_TEXT(y.name, "PMIX_RANK");
CHECK(y.name != x.name);
PMIx_Regattr_destruct(&x);
PMIx_Regattr_destruct(&y);""",
    "PMIX_APP_INFO_CREATE": """
pmix_app_t x = PMIX_APP_STATIC_INIT;
PMIX_APP_INFO_CREATE(&x, 2);
CHECK(x.info != NULL && x.ninfo == 2 && x.info[1].key[0] == 0);
PMIx_App_destruct(&x);""",
    "PMIX_QUERY_QUALIFIERS_CREATE": """
pmix_query_t x = PMIX_QUERY_STATIC_INIT;
PMIX_QUERY_QUALIFIERS_CREATE(&x, 2);
CHECK(x.qualifiers != NULL && x.nqual == 2 && x.qualifiers[1].key[0] == 0);
PMIx_Query_destruct(&x);""",
}

VALUES = {
    "PMIX_VALUE_LOAD": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT;
PMIX_VALUE_LOAD(&x, "v", PMIX_STRING);
CHECK(x.type == PMIX_STRING);
CHECK_TEXT(x.data.string, "v");
PMIx_Value_destruct(&x);""",
    "PMIX_VALUE_UNLOAD": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT;
pmix_status_t r;
uint32_t number = 7, got = 0;
void *data = &got;
size_t size = sizeof(got);
PMIx_Value_load(&x, &number, PMIX_UINT32);
PMIX_VALUE_UNLOAD(r, &x, &data, &size);
CHECK_NUMBER(r, PMIX_SUCCESS);
CHECK_NUMBER(size, 4);
CHECK(data == &got && got == 7);""",
    "PMIX_VALUE_XFER": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT, *m = NULL;
pmix_status_t r;
PMIx_Value_load(&x, "v", PMIX_STRING);
PMIX_VALUE_XFER(r, m, &x);
CHECK_NUMBER(r, PMIX_SUCCESS);
CHECK(m != NULL && m->data.string != x.data.string);
CHECK_TEXT(m->data.string, "v");
PMIx_Value_destruct(&x);
PMIx_Value_free(m, 1);""",
    "PMIX_VALUE_XFER_DIRECT": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT, y = PMIX_VALUE_STATIC_INIT;
pmix_status_t r;
PMIx_Value_load(&x, "v", PMIX_STRING);
PMIX_VALUE_XFER_DIRECT(r, &y, &x);
CHECK_NUMBER(r, PMIX_SUCCESS);
CHECK_TEXT(y.data.string, "v");
PMIx_Value_destruct(&x);
PMIx_Value_destruct(&y);""",
    "PMIX_VALUE_GET_NUMBER": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT;
pmix_status_t s;
int number = -5;
long got = 0;
PMIx_Value_load(&x, &number, PMIX_INT);
PMIX_VALUE_GET_NUMBER(s, &x, got, long);
CHECK_NUMBER(s, PMIX_SUCCESS);
CHECK_NUMBER(got, -5);
x.type = PMIX_STRING;
PMIX_VALUE_GET_NUMBER(s, &x, got, long);
CHECK_NUMBER(s, PMIX_ERR_BAD_PARAM);""",
    "PMIX_CHECK_BOOL": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT;
bool no = false;
int number = 3;
PMIx_Value_load(&x, &no, PMIX_BOOL);
CHECK(PMIX_CHECK_BOOL(&x));
PMIx_Value_load(&x, &number, PMIX_INT);
CHECK(!PMIX_CHECK_BOOL(&x));""",
    "PMIX_CHECK_TRUE": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT;
bool yes = true, no = false;
PMIx_Value_load(&x, &yes, PMIX_BOOL);
CHECK(PMIX_CHECK_TRUE(&x));
PMIx_Value_load(&x, &no, PMIX_BOOL);
CHECK(!PMIX_CHECK_TRUE(&x));""",
    "pmix_check_true": """
pmix_value_t x = PMIX_VALUE_STATIC_INIT;
bool no = false;
CHECK_NUMBER(pmix_check_true(&x), PMIX_BOOL_TRUE);
PMIx_Value_load(&x, &no, PMIX_BOOL);
CHECK_NUMBER(pmix_check_true(&x), PMIX_BOOL_FALSE);
x.type = PMIX_BYTE_OBJECT;
CHECK_NUMBER(pmix_check_true(&x), PMIX_NON_BOOL);""",
    "PMIX_PDATA_LOAD": """
pmix_pdata_t x = PMIX_LOOKUP_STATIC_INIT;
pmix_proc_t proc = PMIX_PROC_STATIC_INIT;
proc.rank = 3;
PMIX_PDATA_LOAD(&x, &proc, "k", "v", PMIX_STRING);
CHECK(x.proc.rank == 3);
CHECK_TEXT(x.key, "k");
CHECK_TEXT(x.value.data.string, "v");
PMIx_Pdata_destruct(&x);""",
    "PMIX_PDATA_XFER": """
pmix_pdata_t x = PMIX_LOOKUP_STATIC_INIT, y = PMIX_LOOKUP_STATIC_INIT;
pmix_proc_t proc = PMIX_PROC_STATIC_INIT;
PMIx_Pdata_load(&x, &proc, "k", "v", PMIX_STRING);
PMIX_PDATA_XFER(&y, &x);
CHECK_TEXT(y.key, "k");
CHECK_TEXT(y.value.data.string, "v");
CHECK(x.value.data.string != y.value.data.string);
PMIx_Pdata_destruct(&x);
PMIx_Pdata_destruct(&y);""",
}

INFOS = {
    "PMIX_INFO_LOAD": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIX_INFO_LOAD(&x, PMIX_HOSTNAME, "node", PMIX_STRING);
CHECK_TEXT(x.key, PMIX_HOSTNAME);
CHECK_TEXT(x.value.data.string, "node");
PMIx_Info_destruct(&x);""",
    "PMIX_INFO_XFER": """
pmix_info_t x = PMIX_INFO_STATIC_INIT, y = PMIX_INFO_STATIC_INIT;
PMIx_Info_load(&x, PMIX_HOSTNAME, "node", PMIX_STRING);
PMIX_INFO_XFER(&y, &x);
CHECK_TEXT(y.key, PMIX_HOSTNAME);
CHECK_TEXT(y.value.data.string, "node");
CHECK(x.value.data.string != y.value.data.string);
PMIx_Info_destruct(&x);
PMIx_Info_destruct(&y);""",
    "PMIX_INFO_TRUE": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
bool no = false;
PMIx_Info_load(&x, PMIX_OPTIONAL, NULL, PMIX_BOOL);
CHECK(PMIX_INFO_TRUE(&x));
PMIx_Info_load(&x, PMIX_OPTIONAL, &no, PMIX_BOOL);
CHECK(!PMIX_INFO_TRUE(&x));""",
    "PMIX_INFO_REQUIRED": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIX_INFO_REQUIRED(&x);
CHECK(x.flags == PMIX_INFO_REQD);""",
    "PMIX_INFO_OPTIONAL": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
x.flags = PMIX_INFO_REQD | PMIX_INFO_QUALIFIER;
PMIX_INFO_OPTIONAL(&x);
CHECK(x.flags == PMIX_INFO_QUALIFIER);""",
    "PMIX_INFO_SET_END": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIX_INFO_SET_END(&x);
CHECK(x.flags == PMIX_INFO_ARRAY_END);""",
    "PMIX_INFO_SET_PERSISTENT": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIX_INFO_SET_PERSISTENT(&x);
CHECK(x.flags == PMIX_INFO_PERSISTENT);""",
    "PMIX_INFO_SET_QUALIFIER": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIX_INFO_SET_QUALIFIER(&x);
CHECK(x.flags == PMIX_INFO_QUALIFIER);""",
    "PMIX_INFO_PROCESSED": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIX_INFO_PROCESSED(&x);
CHECK(x.flags == PMIX_INFO_REQD_PROCESSED);""",
}

# Question -> the flag it is about
for _name, _flag in {"IS_END": "ARRAY_END", "IS_PERSISTENT": "PERSISTENT",
                     "IS_QUALIFIER": "QUALIFIER", "IS_REQUIRED": "REQD",
                     "WAS_PROCESSED": "REQD_PROCESSED"}.items():
    INFOS["PMIX_INFO_" + _name] = """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
CHECK(!PMIX_INFO_%s(&x));
x.flags = PMIX_INFO_%s;
CHECK(PMIX_INFO_%s(&x));
x.flags = ~x.flags;
CHECK(!PMIX_INFO_%s(&x));""" % (_name, _flag, _name, _name)
INFOS["PMIX_INFO_IS_OPTIONAL"] = """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
CHECK(PMIX_INFO_IS_OPTIONAL(&x));
x.flags = PMIX_INFO_REQD;
CHECK(!PMIX_INFO_IS_OPTIONAL(&x));"""

LIST_START = "void *list = PMIx_Info_list_start();\npmix_status_t r;"
LIST_END = """
pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;
CHECK_NUMBER(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
CHECK_NUMBER(array.size, 2);
CHECK_TEXT(((pmix_info_t *)array.array)[%d].key, "second");
PMIx_Data_array_destruct(&array);
PMIx_Info_list_release(list);"""
LIST_FIRST = """
CHECK_NUMBER(PMIx_Info_list_add(list, "first", "v", PMIX_STRING), PMIX_SUCCESS);"""

LISTS = {
    "PMIX_INFO_LIST_START": """
void *list = NULL;
PMIX_INFO_LIST_START(list);
CHECK(list != NULL && PMIx_Info_list_get_size(list) == 0);
PMIx_Info_list_release(list);""",
    "PMIX_INFO_LIST_RELEASE": """
void *list = PMIx_Info_list_start();%s
PMIX_INFO_LIST_RELEASE(list);""" % LIST_FIRST,
    "PMIX_INFO_LIST_ADD": LIST_START + LIST_FIRST + """
PMIX_INFO_LIST_ADD(r, list, "second", "v", PMIX_STRING);
CHECK_NUMBER(r, PMIX_SUCCESS);""" + LIST_END % 1,
    "PMIX_INFO_LIST_PREPEND": LIST_START + LIST_FIRST + """
PMIX_INFO_LIST_PREPEND(r, list, "second", "v", PMIX_STRING);
CHECK_NUMBER(r, PMIX_SUCCESS);""" + LIST_END % 0,
    "PMIX_INFO_LIST_XFER": LIST_START + LIST_FIRST + """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIx_Info_load(&x, "second", "v", PMIX_STRING);
PMIX_INFO_LIST_XFER(r, list, &x);
CHECK_NUMBER(r, PMIX_SUCCESS);
PMIx_Info_destruct(&x);""" + LIST_END % 1,
    "PMIX_INFO_LIST_INSERT": LIST_START + LIST_FIRST + """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
PMIx_Info_load(&x, "second", "v", PMIX_STRING);
PMIX_INFO_LIST_INSERT(r, list, &x);
CHECK_NUMBER(r, PMIX_SUCCESS);""" + LIST_END % 1 + """
PMIx_Info_destruct(&x);""",
    "PMIX_INFO_LIST_CONVERT": LIST_START + LIST_FIRST + """
pmix_data_array_t got = PMIX_DATA_ARRAY_STATIC_INIT;
PMIX_INFO_LIST_CONVERT(r, list, &got);
CHECK_NUMBER(r, PMIX_SUCCESS);
CHECK(got.size == 1 && got.type == PMIX_INFO);
CHECK_TEXT(((pmix_info_t *)got.array)[0].key, "first");
PMIx_Data_array_destruct(&got);
PMIx_Info_list_release(list);""",
}

NAMES = {
    "PMIX_LOAD_KEY": """
pmix_key_t key;
memset(key, 'x', sizeof(key));
PMIX_LOAD_KEY(key, PMIX_RANK);
CHECK_TEXT(key, PMIX_RANK);""",
    "PMIX_CHECK_KEY": """
pmix_info_t x = PMIX_INFO_STATIC_INIT;
strcpy(x.key, PMIX_RANK);
CHECK(PMIX_CHECK_KEY(&x, PMIX_RANK));
CHECK(!PMIX_CHECK_KEY(&x, PMIX_HOSTNAME));""",
    "PMIX_CHECK_RESERVED_KEY": """
CHECK(PMIX_CHECK_RESERVED_KEY(PMIX_RANK));
CHECK(!PMIX_CHECK_RESERVED_KEY("mine"));""",
    "PMIX_LOAD_NSPACE": """
pmix_nspace_t ns;
memset(ns, 'x', sizeof(ns));
PMIX_LOAD_NSPACE(ns, "job");
CHECK_TEXT(ns, "job");
PMIX_LOAD_NSPACE(ns, NULL);
CHECK_TEXT(ns, "");""",
    "PMIX_CHECK_NSPACE": """
CHECK(PMIX_CHECK_NSPACE("job", "job"));
CHECK(PMIX_CHECK_NSPACE("job", ""));
CHECK(!PMIX_CHECK_NSPACE("job", "bob"));""",
    "PMIX_NSPACE_INVALID": """
CHECK(PMIX_NSPACE_INVALID(""));
CHECK(!PMIX_NSPACE_INVALID("job"));""",
    "PMIX_CHECK_RANK": """
CHECK(PMIX_CHECK_RANK(3, 3));
CHECK(PMIX_CHECK_RANK(3, PMIX_RANK_WILDCARD));
CHECK(!PMIX_CHECK_RANK(3, 4));""",
    "PMIX_RANK_IS_VALID": """
CHECK(PMIX_RANK_IS_VALID(0));
CHECK(!PMIX_RANK_IS_VALID(PMIX_RANK_WILDCARD));""",
    "PMIX_LOAD_PROCID": """
pmix_proc_t x;
PMIX_LOAD_PROCID(&x, "job", 3);
CHECK_TEXT(x.nspace, "job");
CHECK_NUMBER(x.rank, 3);""",
    "PMIX_PROC_LOAD": """
pmix_proc_t x;
PMIX_PROC_LOAD(&x, "job", 3);
CHECK_TEXT(x.nspace, "job");
CHECK_NUMBER(x.rank, 3);""",
    "PMIX_XFER_PROCID": """
pmix_proc_t x, y;
PMIx_Load_procid(&x, "job", 3);
PMIX_XFER_PROCID(&y, &x);
CHECK(memcmp(&x, &y, sizeof(x)) == 0);""",
    "PMIX_PROCID_XFER": """
pmix_proc_t x, y;
PMIx_Load_procid(&x, "job", 3);
PMIX_PROCID_XFER(&y, &x);
CHECK(memcmp(&x, &y, sizeof(x)) == 0);""",
    "PMIX_CHECK_PROCID": """
pmix_proc_t x, y;
PMIx_Load_procid(&x, "job", 3);
PMIx_Load_procid(&y, "job", 3);
CHECK(PMIX_CHECK_PROCID(&x, &y));
y.rank = 4;
CHECK(!PMIX_CHECK_PROCID(&x, &y));""",
    "PMIX_PROCID_INVALID": """
pmix_proc_t x;
PMIx_Load_procid(&x, "job", PMIX_RANK_INVALID);
CHECK(PMIX_PROCID_INVALID(&x));
PMIx_Load_procid(&x, "job", 3);
CHECK(!PMIX_PROCID_INVALID(&x));""",
    "PMIX_MULTICLUSTER_NSPACE_CONSTRUCT": """
pmix_nspace_t both, cluster = "c", ns = "job";
PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(both, cluster, ns);
CHECK_TEXT(both, "c:job");""",
    "PMIX_MULTICLUSTER_NSPACE_PARSE": """
pmix_nspace_t both = "c:job", cluster, ns;
PMIX_MULTICLUSTER_NSPACE_PARSE(both, cluster, ns);
CHECK_TEXT(cluster, "c");
CHECK_TEXT(ns, "job");""",
    "PMIX_SYSTEM_EVENT": """
CHECK(PMIX_SYSTEM_EVENT(PMIX_EVENT_NODE_DOWN));
CHECK(!PMIX_SYSTEM_EVENT(PMIX_ERR_TIMEOUT));""",
    # Only that it can be called: this process has no server that could hear it.
    "PMIx_Heartbeat": """
CHECK(PMIx_Initialized() == 0);
PMIx_Heartbeat();""",
    "pmix_malloc": """
char *m = (char *)pmix_malloc(3);
CHECK(m != NULL);
free(m);""",
    "pmix_calloc": """
char *m = (char *)pmix_calloc(2, 3);
CHECK(m != NULL && m[5] == 0);
free(m);""",
    "pmix_free": """
pmix_free(malloc(3));
pmix_free(NULL);""",
    "pmix_keylen": """
char longest[PMIX_MAX_KEYLEN + 9];
memset(longest, 'k', sizeof(longest));
CHECK_NUMBER(pmix_keylen("key"), 3);
CHECK_NUMBER(pmix_keylen(NULL), 0);
CHECK_NUMBER(pmix_keylen(longest), PMIX_MAX_KEYLEN + 1);""",
    "pmix_nslen": """
char longest[PMIX_MAX_NSLEN + 9];
memset(longest, 'n', sizeof(longest));
CHECK_NUMBER(pmix_nslen("job"), 3);
CHECK_NUMBER(pmix_nslen(NULL), 0);
CHECK_NUMBER(pmix_nslen(longest), PMIX_MAX_NSLEN + 1);""",
    "pmix_strncpy": """
char to[4] = "zzz";
pmix_strncpy(to, "abcdef", 3);
CHECK_TEXT(to, "abc");
pmix_strncpy(to, "x", 3);
CHECK_TEXT(to, "x");""",
}

ARGV_IS = """
CHECK_NUMBER(PMIx_Argv_count(argv), %d);
CHECK_TEXT(argv[%d], "%s");
PMIx_Argv_free(argv);"""

STRINGS = {
    "PMIX_ARGV_APPEND": "char **argv = three();\npmix_status_t r;\n"
    "PMIX_ARGV_APPEND(r, argv, \"d\");\nCHECK_NUMBER(r, PMIX_SUCCESS);" + ARGV_IS % (4, 3, "d"),
    "pmix_argv_append_nosize": "char **argv = three();\n"
    "CHECK_NUMBER(pmix_argv_append_nosize(&argv, \"d\"), PMIX_SUCCESS);" + ARGV_IS % (4, 3, "d"),
    "PMIX_ARGV_APPEND_UNIQUE": "char **argv = three();\npmix_status_t r;\n"
    "PMIX_ARGV_APPEND_UNIQUE(r, &argv, \"b\");\nCHECK_NUMBER(r, PMIX_SUCCESS);\n"
    "PMIX_ARGV_APPEND_UNIQUE(r, &argv, \"d\");\nCHECK_NUMBER(r, PMIX_SUCCESS);"
    + ARGV_IS % (4, 3, "d"),
    "pmix_argv_append_unique_nosize": "char **argv = three();\n"
    "CHECK_NUMBER(pmix_argv_append_unique_nosize(&argv, \"b\"), PMIX_SUCCESS);"
    + ARGV_IS % (3, 2, "c"),
    "PMIX_ARGV_PREPEND": "char **argv = three();\npmix_status_t r;\n"
    "PMIX_ARGV_PREPEND(r, argv, \"d\");\nCHECK_NUMBER(r, PMIX_SUCCESS);" + ARGV_IS % (4, 0, "d"),
    "pmix_argv_prepend_nosize": "char **argv = three();\n"
    "CHECK_NUMBER(pmix_argv_prepend_nosize(&argv, \"d\"), PMIX_SUCCESS);" + ARGV_IS % (4, 0, "d"),
    "PMIX_ARGV_COPY": "char **from = three(), **argv = NULL;\nPMIX_ARGV_COPY(argv, from);\n"
    "CHECK(argv != from);\nPMIx_Argv_free(from);" + ARGV_IS % (3, 2, "c"),
    "pmix_argv_copy": "char **from = three(), **argv = pmix_argv_copy(from);\n"
    "CHECK(argv != from);\nPMIx_Argv_free(from);" + ARGV_IS % (3, 2, "c"),
    "PMIX_ARGV_COUNT": "char **argv = three();\nint n = 0;\nPMIX_ARGV_COUNT(n, argv);\n"
    "CHECK_NUMBER(n, 3);\nPMIx_Argv_free(argv);",
    "pmix_argv_count": "char **argv = three();\nCHECK_NUMBER(pmix_argv_count(argv), 3);\n"
    "CHECK_NUMBER(pmix_argv_count(NULL), 0);\nPMIx_Argv_free(argv);",
    "PMIX_ARGV_FREE": "char **argv = three();\nPMIX_ARGV_FREE(argv);\n",
    "pmix_argv_free": "char **argv = three();\npmix_argv_free(argv);\n",
    "PMIX_ARGV_JOIN": "char **argv = three(), *s = NULL;\nPMIX_ARGV_JOIN(s, argv, ',');\n"
    "CHECK_TEXT(s, \"a,b,c\");\nfree(s);\nPMIx_Argv_free(argv);",
    "pmix_argv_join": "char **argv = three(), *s = pmix_argv_join(argv, ',');\n"
    "CHECK_TEXT(s, \"a,b,c\");\nfree(s);\nPMIx_Argv_free(argv);",
    "PMIX_ARGV_SPLIT": "char **argv = NULL;\nPMIX_ARGV_SPLIT(argv, \"a,,b\", ',');"
    + ARGV_IS % (2, 1, "b"),
    "pmix_argv_split": "char **argv = pmix_argv_split(\"a,,b\", ',');" + ARGV_IS % (2, 1, "b"),
    "pmix_argv_split_inter": "char **argv = pmix_argv_split_inter(\"a,,b\", ',', true);"
    + ARGV_IS % (3, 2, "b"),
    "pmix_argv_split_with_empty": "char **argv = pmix_argv_split_with_empty(\"a,,b\", ',');"
    + ARGV_IS % (3, 1, ""),
    "PMIX_SETENV": "char **argv = three();\npmix_status_t r;\n"
    "PMIX_SETENV(r, \"X\", \"1\", &argv);\nCHECK_NUMBER(r, PMIX_SUCCESS);" + ARGV_IS % (4, 3, "X=1"),
    "pmix_setenv": "char **argv = three();\n"
    "CHECK_NUMBER(pmix_setenv(\"X\", \"1\", true, &argv), PMIX_SUCCESS);" + ARGV_IS % (4, 3, "X=1"),
}

CALLS = {**common(), **contents_only(), **COORDS, **ARRAYS, **VALUES, **INFOS, **LISTS, **NAMES,
         **STRINGS}
