/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of PRRTE 3 and Open MPI 5 become command lines of pmixrun. */
#include "contrib/tools/names/names.h"
#include "contrib/tools/toolkit.h"
#include "px_test.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/strv.h"

const char *tool_name = "test";

/* Compares a translation: command line, notes with "; " between them, and error. */
static void assert_translates(const char *line, const char *wanted, const char *notes,
                              const char *error)
{
    PX_AUTO(px_strv) argv = px_strv_split(line, ' ', false);
    PX_AUTOFREE char *found = NULL, *noted = NULL;
    struct names_result r;

    names_translate(argv, &r);
    found = px_strv_join(r.argv, ' ');
    noted = r.notes ? px_strv_join(r.notes, ';') : strdup("");
    ck_assert_msg(!wanted || strcmp(found, wanted) == 0, "%s\n  %s\n  %s", line, found,
                  wanted);
    ck_assert_msg(strcmp(noted, notes) == 0, "%s\n  %s\n  %s", line, noted, notes);
    ck_assert_msg(strcmp(r.error ? r.error : "", error) == 0, "%s\n  %s\n  %s", line,
                  r.error ? r.error : "", error);
    names_free(&r);
}

PX_TEST(each_option_has_a_meaning_for_pmixrun)
{
    static const char *const rows[][2] = {
        {"-np 4 a", "-n 4 a"},
        {"--n 4 a", "-n 4 a"},
        {"-c 4 a -n 2", "-n 4 a -n 2"},
        {"--np=4 -- -a", "-n 4 -- -a"},
        {"-N 2 a", "--map-by ppr:2:node a"},
        {"--npersocket 2 a", "--map-by ppr:2:package a"},
        {"a", "--map-by ppr:1:core a"},
        {"--use-hwthread-cpus a", "--map-by ppr:1:hwthread:hwtcpus a"},
        {"--host h:3,k a", "-n 4 --host h:3,k a"},
        {"-n 1 -H h --host k a", "-n 1 --host h,k a"},
        {"-n 1 --machinefile f a", "-n 1 --hostfile f a"},
        {"-n 4 --map-by core:PE=2:SPAN --bind-to hwt a",
         "-n 4 --map-by core:pe=2:span --bind-to hwthread a"},
        {"-n 4 --map-by l3:over --oversubscribe a",
         "-n 4 --map-by l3cache:oversubscribe:oversubscribe a"},
        {"-n 4 --map-by ppr:2:socket:pe=2 a", "-n 4 --map-by ppr:2:socket:pe=2 a"},
        {"-n 4 --map-by pe-list=0,2:ordered a",
         "-n 4 --cpu-list 0,2 --bind-to cpu-list:ordered a"},
        {"-n 4 --map-by numa --rank-by fill a",
         "-n 4 --map-by numa --rank-by numa:fill a"},
        {"-n 4 --map-by numa --rank-by span a", "-n 4 --map-by numa --rank-by numa a"},
        {"-n 4 --rank-by core:fill a", "-n 4 --rank-by core:fill a"},
        {"-n 4 --bind-to core:overload a", "-n 4 --bind-to core:overload-allowed a"},
        {"-n 1 --bind-to-socket --bynode a", "-n 1 --map-by node --bind-to package a"},
        {"-n 1 --mca btl self,sm a", "-n 1 -x OMPI_MCA_btl=self,sm a"},
        {"-n 1 -gomca a_b 1 a", "-n 1 -x OMPI_MCA_a_b=1 a"},
        {"-n 1 --mca mca_base_env_list A=1;B=2 a", "-n 1 -x A=1 -x B=2 a"},
        {"-n 1 --pmixmca gds hash a", "-n 1 --mca gds hash a"},
        {"-n 1 --output tag,time,merge a",
         "-n 1 --output tag --output timestamp --output merge a"},
        {"-n 1 --output TAG-D:raw a", "-n 1 --output tag-detailed --output raw a"},
        {"-n 1 --output dir=d:nocopy a", "-n 1 --output dir=d --output only a"},
        {"-n 1 --output file=f:nocopy a", "-n 1 --output-file f:nocopy a"},
        {"-n 1 --output file=%r:pattern:nocopy a",
         "-n 1 --output file=%r --output only a"},
        {"-n 1 --display map,bind a", "-n 1 --display-map --report-bindings a"},
        {"-n 1 --runtime-options recov,max-restarts=2 a",
         "-n 1 --recoverable --restarts 2 a"},
        {"-n 1 --runtime-options recoverable=f,error-nonzero=1 a", "-n 1 a"},
        {"-n 1 --runtime-options timeout=1:00:02 a", "-n 1 --timeout 3602 a"},
        {"-n 1 --with-ft ulfm a", "-n 1 --recoverable -x OMPI_MCA_mpi_ft_enable=1 a"},
        {"-n 1 --with-ft no --personality ompi a", "-n 1 a"},
        {"-n 1 --stop-in-init --report-uri + a",
         "-n 1 --stop-in-init --tools --report-uri + a"},
        {"-n 1 -x A=1 --wd d a : -n 2 -x B=2 b c",
         "-n 1 -x A=1 --wdir d a : -n 2 -x B=2 b c"},
        {"a : b", "a : b"},
        {"--prtemca schizo prte --host h --no-ready-msg --report-uri 5 --singleton s.0 "
         "--keepalive 6 &",
         "--report-uri 5 --singleton s.0 --keepalive 6"},
        {"-n 1 --prtemca rmaps_default_mapping_policy numa:PE=2 a",
         "-n 1 --map-by numa:pe=2 a"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *line = px_strf("prterun %s", rows[i][0]),
                         *wanted = px_strf("pmixrun %s", rows[i][1]);

        assert_translates(line, wanted, "", "");
    }
}

PX_TEST(names_of_a_server_that_stays_have_a_meaning)
{
    static const char *const rows[][2] = {
        {"prte", "--serve"},
        {"prte --daemonize --report-uri u --map-by core",
         "--daemonize --report-uri u --serve"},
        {"prte --host h:3,k:2 --no-ready-msg", "--no-ready-msg --serve --host h:3,k:2"},
        {"prte --hostfile f", "--serve --hostfile f"},
        {"prte --no-ready-msg -n 1 a", "-n 1 a"},
        {"prun a", "--submit --map-by ppr:1:core a"},
        {"prun --dvm-uri file:u -n 2 --no-wait a : b",
         "--submit --dvm-uri file:u -n 2 --no-wait a : b"},
        {"prun --system-server-first --pid 3 -n 1 a", "--submit --dvm-pid 3 -n 1 a"},
        {"pterm", "--terminate"},
        {"pterm --namespace n", "--terminate --dvm-name n"},
        {"prterun --dvm-uri u -n 1 a", "--dvm-uri u -n 1 a"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *wanted = px_strf("pmixrun %s", rows[i][1]);

        assert_translates(rows[i][0], wanted, "", "");
    }
}

PX_TEST(options_without_effect_are_named)
{
    assert_translates(
        "mpirun -n 1 --launch-agent x --prtemca plm_verbose 5 a", "pmixrun -n 1 a",
        "--launch-agent has no effect: processes start without daemons;"
        "--prtemca plm_verbose has no effect: it is a parameter of PRRTE's "
        "daemons",
        "");
    assert_translates("mpirun -n 1 -x NO_SUCH_VARIABLE -x NO_* a",
                      "pmixrun -n 1 -x NO_* a",
                      "-x NO_SUCH_VARIABLE: no such variable is set", "");
}

PX_TEST(mistakes_and_refusals_are_one_error)
{
    static const char *const rows[][2] = {
        {"--nothing a", "unknown option --nothing"},
        {"-k 3 a", "unknown option -k"},
        {"--ver a", "option --ver is not clear: it begins more than one option"},
        {"-n", "-n needs an argument"},
        {"--mca btl", "--mca needs an argument"},
        {"--pernode=2 a", "--pernode has no argument"},
        {"--dvm search a",
         "--dvm is not supported: name the server by --dvm-uri, --pid or --namespace"},
        {"-n 1 --nolocal a", "--nolocal is not supported: this node is the only one"},
        {"-n 1 --map-by seq a",
         "--map-by seq is not supported: this node is the only one"},
        {"-n 1 --map-by nothing a", "--map-by nothing is not known"},
        {"--map-by core a", "--np is needed with --map-by"},
        {"--hostfile f a", "--np is needed with --hostfile"},
        {"-n 1 --rank-by fill a", "--rank-by fill and span need --map-by OBJECT"},
        {"-n 1 --output ta a",
         "--output ta is not clear: it begins more than one word"},
        {"-n 1 --output dir a", "--output dir needs a value"},
        {"-n 1 --output tag=1 a", "--output tag has no value"},
        {"-n 1 --runtime-options error-nonzero-status=0 a",
         "--runtime-options error-nonzero-status is not supported: a status other than 0 "
         "is a failure; see --enable-recovery"},
        {"-n 1 --runtime-options timeout=x a", "\"x\" is not a time"},
        {"-n 1 --personality slurm a", "--personality slurm is not known"},
        {"-n 1 --with-ft maybe a", "--with-ft maybe is not known"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *line = px_strf("prterun %s", rows[i][0]);

        assert_translates(line, NULL, "", rows[i][1]);
    }
}

PX_TEST(parameters_of_the_environment_are_defaults)
{
    setenv("PRTE_MCA_rmaps_default_mapping_policy", "numa:oversubscribe", 1);
    assert_translates("prterun -n 1 a", "pmixrun -n 1 --map-by numa:oversubscribe a",
                      "", "");
    assert_translates("prterun -n 1 --map-by core a",
                      "pmixrun -n 1 --map-by core:oversubscribe a", "", "");
    assert_translates("prte --singleton s.0", "pmixrun --singleton s.0", "", "");
    unsetenv("PRTE_MCA_rmaps_default_mapping_policy");
}

PX_TEST(each_row_can_be_read)
{
    for (const struct names_row *row = names_options; row->names; row++) {
        const size_t n = strcspn(row->names, "|");
        PX_AUTOFREE char *line = px_strf("prterun --%.*s=1 1 1 a", (int)n, row->names);
        PX_AUTO(px_strv) argv = px_strv_split(line, ' ', false);
        struct names_result r;

        names_translate(argv, &r);
        ck_assert_msg(!r.error || !strstr(r.error, "unknown option"), "%s", r.error);
        names_free(&r);
    }
}

PX_TEST(names_are_the_last_part_of_a_path)
{
    ck_assert_str_eq(names_known("/usr/bin/mpirun.tenon"), "mpirun.tenon");
    ck_assert_str_eq(names_known("prte"), "prte");
    ck_assert_ptr_null(names_known("/usr/bin/pmixrun"));
    ck_assert_ptr_null(names_known("prterun/x"));
}

PX_TEST(help_and_version_are_for_the_name)
{
    PX_AUTOFREE char *help = names_help("prterun");
    PX_AUTOFREE char *ours = names_version("prterun"), *theirs = NULL;

    ck_assert_ptr_nonnull(strstr(help, "  --np, -n, -c N\n      -n N\n"));
    ck_assert_ptr_nonnull(strstr(help, "\n  --dvm-uri URI\n"
                                       "      --dvm-uri URI\n"));
    ck_assert_int_eq(strncmp(ours, "prterun of Tenon, ", strlen("prterun of Tenon, ")),
                     0);
    setenv("OMPI_VERSION", "5.0.7", 1);
    setenv("OMPI_TOOL_NAME", "mpirun", 1);
    theirs = names_version("prterun");
    ck_assert_int_eq(strncmp(theirs, "mpirun (Open MPI) 5.0.7\n", 24), 0);
    unsetenv("OMPI_VERSION");
    unsetenv("OMPI_TOOL_NAME");
}

PX_TEST_MAIN("tools/names", NULL, NULL)
