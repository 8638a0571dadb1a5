/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that speak PMI-1 or PMI-2: shell scripts, which send lines of a table by descriptor 3. */
#include "jobs.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "core/base/strv.h"
#include "core/host/pmi/link.h"
#include "core/host/pmi/pmi.h"

/* Request and pattern of its answer. "@" is the name of the job. A request that begins with "-" has
 * no answer. */
struct exchange {
    const char *request, *answer;
};

#define INIT                                                           \
    {                                                                  \
        "cmd=init pmi_version=1 pmi_subversion=1",                     \
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0" \
    }
#define INIT2                                                          \
    {                                                                  \
        "cmd=init pmi_version=2 pmi_subversion=0",                     \
            "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0" \
    }
#define OK " rc=0 msg=success"

/* ask LINE: sends a line, and prints the answer, or "closed". ask2: likewise, by PMI-2. */
#define TALK                                                                        \
    "set -f; send() { printf '%s\\n' \"$1\" >&3; }\n"                               \
    "answer() { read -r line <&3 && echo \"$line\" || echo closed; }\n"             \
    "ask() { case $1 in -*) send \"${1#-}\" ;; *) send \"$1\"; answer ;; esac; }\n" \
    "ask2() { printf '%6u%s' ${#1} \"$1\" >&3; n=$(head -c 6 <&3)\n"                \
    "    [ \"$n\" ] && head -c $n <&3 && echo || echo closed; }\n"                  \
    "init() { ask 'cmd=init pmi_version=1 pmi_subversion=1'; }\n"                   \
    "init2() { ask 'cmd=init pmi_version=2 pmi_subversion=0'; }\n"                  \
    "both() { sed \"s/@/$PMI_JOBID/g\" requests >mine; first=ask\n"                 \
    "    while read -r line; do $first \"$line\"; first=$1; done <mine |\n"         \
    "        sed \"s/$PMI_JOBID/@/g\" >answers; rm mine; }\n"

static char *script(const char *body)
{
    static char text[8192];

    ck_assert_int_lt(snprintf(text, sizeof(text), "%s%s", TALK, body),
                     (int)sizeof(text));
    return text;
}

/* Has a job of one process send all requests, and compares the answers. */
static void converse(const char *how, const struct exchange *rows,
                     pmix_status_t verdict)
{
    FILE *f = fopen(px_test_path("requests"), "w");
    char line[8192], body[64];

    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; rows[i].request; i++)
        fprintf(f, "%s\n", rows[i].request);
    fclose(f);
    snprintf(body, sizeof(body), "both %s", how);
    spawn(1, script(body));
    await_end(verdict);
    f = fopen(px_test_path("answers"), "r");
    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; rows[i].request; i++) {
        if (rows[i].request[0] == '-')
            continue;
        ck_assert_msg(fgets(line, sizeof(line), f), "%s: no answer", rows[i].request);
        line[strcspn(line, "\n")] = '\0';
        ck_assert_msg(fnmatch(rows[i].answer, line, 0) == 0, "%.80s: %s\nexpected: %s",
                      rows[i].request, line, rows[i].answer);
    }
    fclose(f);
    remove_file("requests");
    remove_file("answers");
}

#define SIXTY "123456789012345678901234567890123456789012345678901234567890"
#define K240  SIXTY SIXTY SIXTY SIXTY

PX_TEST(each_command_of_PMI_1_is_answered)
{
    static const struct exchange rows[] = {
        INIT,
        {"cmd=get_maxes",
         "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"},
        {"cmd=get_appnum", "cmd=appnum rc=0 appnum=0"},
        {"cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=@"},
        {"cmd=get_universe_size", "cmd=universe_size rc=0 size=[1-9]*"},
        {"cmd=get kvsname=@ key=PMI_process_mapping",
         "cmd=get_result" OK " value=(vector,(0,1,1))"},
        {"cmd=get kvsname=@ key=a",
         "cmd=get_result rc=-1 msg=key_not_found value=unknown"},
        {"cmd=put kvsname=@ key=a value=x\\ y=z", "cmd=put_result" OK},
        {"cmd=get kvsname=@ key=a", "cmd=get_result" OK " value=x\\\\ y=z"},
        {"cmd=put kvsname=@ key=a value=2", "cmd=put_result" OK},
        {"cmd=get key=a", "cmd=get_result" OK " value=2"},
        {"cmd=get kvsname=other key=a", "cmd=get_result rc=-1 msg=unknown_key_space"},
        {"cmd=put kvsname=@ value=2", "cmd=put_result rc=-1 msg=bad_key"},
        {"cmd=put kvsname=@ key=a", "cmd=put_result rc=-1 msg=bad_value"},
        {"cmd=put key=" SIXTY "123 value=3", "cmd=put_result" OK},
        {"cmd=put key=" SIXTY "1234 value=3", "cmd=put_result rc=-1 msg=bad_key"},
        {"cmd=put key=b value=" K240 K240 K240 K240 SIXTY "123", "cmd=put_result" OK},
        {"cmd=put key=b value=" K240 K240 K240 K240 SIXTY "1234",
         "cmd=put_result rc=-1 msg=bad_value"},
        {"cmd=barrier_in", "cmd=barrier_out" OK},
        {"cmd=publish_name service=s port=tag#0$d#x$", "cmd=publish_result" OK},
        {"cmd=publish_name service=s port=p",
         "cmd=publish_result rc=-1 msg=exists_already"},
        {"cmd=publish_name service=s", "cmd=publish_result rc=-1 msg=bad_name"},
        {"cmd=lookup_name service=s", "cmd=lookup_result rc=0 port=tag#0$d#x$"},
        {"cmd=unpublish_name service=s", "cmd=unpublish_result" OK},
        {"cmd=lookup_name service=s", "cmd=lookup_result rc=-1 msg=not_found"},
        {"cmd=lookup_name", "cmd=lookup_result rc=-1 msg=bad_name"},
        {"-mcmd=spawn", ""},
        {"-totspawns=2", ""},
        {"-spawnssofar=1", ""},
        {"-execname=a b", ""},
        {"-endcmd", ""},
        {"-mcmd=spawn", ""},
        {"-spawnssofar=2", ""},
        {"endcmd", "cmd=spawn_result rc=-1 msg=not_supported"},
        {"cmd=finalize", "cmd=finalize_ack" OK},
        INIT, /* a second program of the same process */
        {"cmd=get key=a", "cmd=get_result" OK " value=2"},
        {"cmd=finalize", "cmd=finalize_ack" OK},
        {0},
    };

    converse("ask", rows, PMIX_SUCCESS);
}

PX_TEST(each_command_of_PMI_2_is_answered)
{
    static const struct exchange rows[] = {
        INIT2,
        {"cmd=fullinit;pmijobid=@;pmirank=0;threaded=FALSE;",
         "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=0;size=1;appnum=0;"
         "debugged=FALSE;pmiverbose=FALSE;"},
        {"cmd=job-getid;thrid=17;", "cmd=job-getid-response;thrid=17;rc=0;jobid=@;"},
        {"cmd=info-getjobattr;key=PMI_process_mapping;",
         "cmd=info-getjobattr-response;rc=0;flag=TRUE;found=TRUE;value=(vector,(0,1,1));"},
        {"cmd=info-getjobattr;key=universeSize;",
         "cmd=info-getjobattr-response;rc=0;flag=TRUE;found=TRUE;value=[1-9]*;"},
        {"cmd=kvs-put;key=a;value=1;;2;", "cmd=kvs-put-response;rc=0;"},
        {"cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"},
        {"cmd=kvs-get;jobid=@;srcid=-1;key=a;",
         "cmd=kvs-get-response;rc=0;flag=TRUE;found=TRUE;value=1;;2;"},
        {"cmd=kvs-get;jobid=;key=b;",
         "cmd=kvs-get-response;rc=0;flag=FALSE;found=FALSE;"},
        {"cmd=info-putnodeattr;key=b;value=3;", "cmd=info-putnodeattr-response;rc=0;"},
        {"cmd=info-getnodeattr;key=b;wait=TRUE;",
         "cmd=info-getnodeattr-response;rc=0;flag=TRUE;found=TRUE;value=3;"},
        {"cmd=info-getnodeattr;key=c;wait=FALSE;",
         "cmd=info-getnodeattr-response;rc=0;flag=FALSE;found=FALSE;"},
        {"cmd=kvs-get;key=b;", "cmd=kvs-get-response;rc=0;flag=FALSE;found=FALSE;"},
        {"cmd=name-publish;name=s;port=p;", "cmd=name-publish-response;rc=0;"},
        {"cmd=name-lookup;name=s;", "cmd=name-lookup-response;rc=0;port=p;value=p;"},
        {"cmd=name-unpublish;name=s;", "cmd=name-unpublish-response;rc=0;"},
        {"cmd=name-unpublish;", "cmd=name-unpublish-response;rc=-1;errmsg=bad_name;"},
        {"cmd=spawn;ncmds=1;", "cmd=spawn-response;rc=-1;errmsg=not_supported;"},
        {"cmd=ring;count=1;left=a;right=b;",
         "cmd=ring-response;rc=-1;errmsg=not_supported;"},
        {"cmd=job-connect;jobid=x;",
         "cmd=job-connect-response;rc=-1;errmsg=not_supported;"},
        {"cmd=job-disconnect;",
         "cmd=job-disconnect-response;rc=-1;errmsg=not_supported;"},
        {"cmd=finalize;", "cmd=finalize-response;rc=0;"},
        {0},
    };

    converse("ask2", rows, PMIX_SUCCESS);
}

PX_TEST(a_message_that_makes_no_sense_ends_the_link)
{
    static const struct {
        const char *how, *requests[3];
        pmix_status_t verdict;
    } cases[] = {
        {"ask", {"nonsense"}, PMIX_SUCCESS},
        {"ask", {"cmd"}, PMIX_SUCCESS},
        {"ask", {"key=a cmd=get_maxes"}, PMIX_SUCCESS},
        {"ask", {"cmd=get_maxes"}, PMIX_SUCCESS}, /* before init */
        {"ask", {"cmd=fullinit"}, PMIX_SUCCESS},
        {"ask", {"cmd=init pmi_version=1", "cmd=unknown"}, PMIX_ERR_JOB_TERM_WO_SYNC},
        {"ask2",
         {"cmd=init pmi_version=2", "cmd=put;key=a;"},
         PMIX_ERR_JOB_TERM_WO_SYNC},
        {"ask",
         {"cmd=init pmi_version=2", "xxxxxxcmd=finalize;"},
         PMIX_ERR_JOB_TERM_WO_SYNC},
        {"ask",
         {"cmd=init pmi_version=2", "999999cmd=finalize;"},
         PMIX_ERR_JOB_TERM_WO_SYNC},
        {"ask",
         {"cmd=init pmi_version=1",
          "cmd=put key=a 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2"},
         PMIX_ERR_JOB_TERM_WO_SYNC},
        {"ask",
         {"cmd=put value=" K240 K240 K240 K240 K240 K240 K240 K240 K240 K240 K240 K240
              K240 K240 K240 K240 K240 K240},
         PMIX_SUCCESS},
    };

    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        const bool init = cases[i].requests[1];
        const struct exchange rows[] = {
            {cases[i].requests[0], init ? "cmd=resp*" : "closed"},
            {cases[i].requests[1], "closed"},
            {0}};

        converse(cases[i].how, rows, cases[i].verdict);
    }
}

/* Text of a file that a script has written. */
static char *text_of(const char *name)
{
    static char text[4096];
    FILE *f = fopen(px_test_path(name), "r");

    ck_assert_msg(f, "%s is missing", name);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    remove_file(name);
    return text;
}

PX_TEST(keys_of_all_processes_are_there_after_a_barrier)
{
    pmix_value_t *v;

    spawn(
        3,
        script(
            "{ init; ask \"cmd=put key=k$PMI_RANK value=v$PMI_RANK\"; ask cmd=barrier_in\n"
            "for r in 0 1 2; do ask cmd=get\\ key=k$r; done; } >all$PMI_RANK\n"
            "touch got$PMI_RANK; while ! [ -e go ]; do sleep 0.01; done\n"
            "ask cmd=finalize >/dev/null"));
    for (int r = 0; r < 3; r++)
        await_file(((const char *[]){"got0", "got1", "got2"})[r]);
    v = get(2, "k2"); /* as a PMIx program sees the key */
    ck_assert_int_eq(v->type, PMIX_STRING);
    ck_assert_str_eq(v->data.string, "v2");
    PMIx_Value_free(v, 1);
    make_file("go");
    await_end(PMIX_SUCCESS);
    remove_file("go");
    for (int r = 0; r < 3; r++)
        ck_assert_str_eq(text_of(((const char *[]){"all0", "all1", "all2"})[r]),
                         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
                         "cmd=put_result rc=0 msg=success\n"
                         "cmd=barrier_out rc=0 msg=success\n"
                         "cmd=get_result rc=0 msg=success value=v0\n"
                         "cmd=get_result rc=0 msg=success value=v1\n"
                         "cmd=get_result rc=0 msg=success value=v2\n");
}

PX_TEST(the_death_of_a_process_ends_a_barrier)
{
    spawn(2, script("init >/dev/null; [ $PMI_RANK = 1 ] && { sleep 0.1; exit 0; }\n"
                    "trap '' TERM; ask cmd=barrier_in >ends; exit 3"));
    await_failure(PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_JOB_TERM_WO_SYNC, 1, 1,
                  "exited without finalizing");
    ck_assert_str_eq(text_of("ends"), "closed\n");
}

PX_TEST(an_abort_has_the_status_of_its_process)
{
    spawn(2, script("init >/dev/null; [ $PMI_RANK = 1 ] && "
                    "ask '-cmd=abort exitcode=7 message=bad end'; exec sleep 20"));
    await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1, 7,
                  "called abort with status 7: bad end");
    spawn(
        1,
        script(
            "init2 >/dev/null; ask2 'cmd=abort;isworld=TRUE;msg=b c;' & exec sleep 20"));
    await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 0, 1,
                  "called abort with status 1: b c");
}

/* The last row of each list has rank 1 leave without the key. */
PX_TEST(an_attribute_of_the_node_is_waited_for)
{
    static const char get2[] = "ask2 'cmd=info-getnodeattr;key=a;wait=TRUE;' >value\n";
    static const struct {
        const char *other, *found;
    } rows[] = {
        {"ask2 'cmd=info-putnodeattr;key=a;value=7;'", "flag=TRUE;found=TRUE;value=7;"},
        {"ask2 'cmd=info-putnodeattr;key=b;value=7;'", "flag=FALSE;found=FALSE;"},
        {"ask2 'cmd=finalize;'; exit 0", "flag=FALSE;found=FALSE;"},
    };
    char body[512], answer[128];

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        snprintf(
            body, sizeof(body),
            "init2 >/dev/null\n"
            "if [ $PMI_RANK = 0 ]; then %s else { sleep 0.1; %s; } >/dev/null; fi\n"
            "ask2 'cmd=finalize;' >/dev/null",
            get2, rows[i].other);
        spawn(2, script(body));
        await_end(PMIX_SUCCESS);
        snprintf(answer, sizeof(answer), "cmd=info-getnodeattr-response;rc=0;%s\n",
                 rows[i].found);
        ck_assert_str_eq(text_of("value"), answer);
    }
}

/* Starts the server again with a parameter. */
static void restart_with(const char *name, const char *value)
{
    jobs_teardown();
    setenv(name, value, 1);
    jobs_setup();
}

PX_TEST(the_limit_of_a_users_values_counts)
{
    restart_with("PMIX_MCA_server_committed_per_user", "20k");
    spawn(
        1,
        script(
            "init >/dev/null; v=x; while [ ${#v} -lt 500 ]; do v=$v$v; done; n=0\n"
            "while [ $n -lt 100 ]; do n=$((n + 1)); ask \"cmd=put key=k$n value=$v\"; done |\n"
            "    sort | uniq -c | sort -n | sed 's/ *[0-9]* //' >puts\n"
            "ask cmd=finalize >/dev/null"));
    await_end(PMIX_SUCCESS);
    ck_assert_str_eq(text_of("puts"), "cmd=put_result rc=0 msg=success\n"
                                      "cmd=put_result rc=-1 msg=no_room\n");
}

PX_TEST(the_socket_is_not_made_where_it_is_not_wanted)
{
    static const char look[] =
        "[ \"$PMI_FD$PMI_RANK$PMI_PORT\" = '' ] && ! [ -e /dev/fd/3 ]";
    bool yes = true;

    setenv("PMI_PORT", "other:17", 1); /* of a launcher around this one */
    setenv("PMI_ID", "9", 1);
    spawn(
        2,
        "[ \"$PMI_FD:$PMI_SIZE:$PMI_PORT$PMI_ID\" = 3:2: ] && [ $PMI_RANK = $PMIX_RANK ]");
    await_end(PMIX_SUCCESS);
    unsetenv("PMI_PORT");
    ok(spawn_asking(PMIX_NON_PMI, &yes, PMIX_BOOL, 1, look));
    await_end(PMIX_SUCCESS);
    restart_with("PMIX_MCA_embedded_pmi", "false");
    spawn(1, look);
    await_end(PMIX_SUCCESS);
}

/* ---- texts and files ------------------------------------------------------------- */

PX_TEST(a_text_is_split_into_pairs)
{
    static const struct {
        int version;
        const char *text, *name; /* NULL: not a message */
        const char *key, *value; /* of one pair; NULL: none */
    } rows[] = {
        {1, "cmd=x", "x", "k", NULL},
        {1, "cmd=x k=v", "x", "k", "v"},
        {1, "  cmd=x   j=1  k=v  ", "x", "k", "v"},
        {1, "cmd=x k=a=b", "x", "k", "a=b"},
        {1, "cmd=x k=a\\ b l=c", "x", "k", "a\\ b"},
        {1, "cmd=x k=a\\", "x", "k", "a\\"},
        {1, "cmd=x k", "x", "k", ""},
        {1, "cmd=x k= l=1", "x", "k", ""},
        {1, "cmd=", "", "k", NULL},
        {1, "cmd=x j=1 message=a b=c ", "x", "message", "a b=c "},
        {2, "cmd=x;", "x", "k", NULL},
        {2, "cmd=x;k=a b;", "x", "k", "a b"},
        {2, "cmd=x;k=a;;b;l=c", "x", "k", "a;;b"},
        {2, "cmd=x;k=v", "x", "k", "v"},
        {1, "", NULL, NULL, NULL},
        {1, "   ", NULL, NULL, NULL},
        {1, "cmd", NULL, NULL, NULL},
        {2, "k=v;cmd=x;", NULL, NULL, NULL},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_pmi_message m;
        char text[64];

        px_str_copy(text, sizeof(text), rows[i].text);
        ck_assert_msg(px_pmi_parse(text, rows[i].version, &m) == (rows[i].name != NULL),
                      "%s", rows[i].text);
        if (!rows[i].name)
            continue;
        ck_assert_str_eq(m.name, rows[i].name);
        ck_assert_pstr_eq(px_pmi_find(&m, rows[i].key), rows[i].value);
    }
}

PX_TEST(a_file_without_an_MPI_is_not_linked_with_one)
{
    static const char *const contents[] = {"", "#!/bin/sh\n", "\177ELF", NULL};
    char name[64];

    for (size_t i = 0; contents[i]; i++) {
        FILE *f = fopen(px_test_path("program"), "w");

        fputs(contents[i], f);
        fclose(f);
        ck_assert(!px_pmi_linked(px_test_path("program"), name));
        remove_file("program");
    }
    ck_assert(!px_pmi_linked("/proc/self/exe", name));
    ck_assert(!px_pmi_linked("/no/such/file", name));
}

PX_TEST_MAIN("host/pmi", jobs_setup, jobs_teardown)
