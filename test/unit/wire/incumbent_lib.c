/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the other implementation; see incumbent_lib.h. */
#include "incumbent_lib.h"

#include "core/base/attr.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What 4.2.2 crashes on. Its BUFFER, KVAL and MODEX, 26 to 29, are no types for users. */
const pmix_data_type_t incumbent_leave_out[] = {
    PMIX_REGEX,       /* inside a value it is read through one pointer too many */
    PMIX_DATA_BUFFER, /* likewise */
    PMIX_NODE_STATS,  /* its lists are taken to start at the pointer to them */
    PMIX_PROC_CPUSET, /* has to come from its topology library */
    PMIX_TOPO,        /* likewise */
    PMIX_UNDEF,
};

#define CALL(member, name)                               \
    {                                                    \
        offsetof(struct incumbent, member), "PMIx_" name \
    }

static const struct {
    size_t offset;
    const char *name;
} calls[] = {
    CALL(init, "Init"),
    CALL(pack, "Data_pack"),
    CALL(unpack, "Data_unpack"),
    CALL(copy, "Data_copy"),
    CALL(print, "Data_print"),
    CALL(copy_payload, "Data_copy_payload"),
    CALL(load, "Data_load"),
    CALL(unload, "Data_unload"),
    CALL(embed, "Data_embed"),
    CALL(compress, "Data_compress"),
    CALL(decompress, "Data_decompress"),
    CALL(value_compare, "Value_compare"),
    CALL(value_xfer, "Value_xfer"),
    CALL(info_xfer, "Info_xfer"),
};

/* By its whole path: the bare name could find ours. */
static void *open_library(void)
{
    static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libpmix.so.2",
                                        "/usr/lib/aarch64-linux-gnu/libpmix.so.2",
                                        "/usr/lib64/libpmix.so.2",
                                        "/usr/lib/libpmix.so.2"};
    const char *named = getenv("PX_TEST_INCUMBENT");
    void *handle = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;

    for (size_t i = 0; !handle && i < PX_COUNT(paths); i++)
        handle = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* A call that its release lacks stays NULL. */
static bool load(struct incumbent *lib)
{
    void *handle = open_library();
    const char *(*version)(void);

    if (!handle)
        return false;
    *(void **)&version = dlsym(handle, "PMIx_Get_version");
    for (size_t i = 0; i < PX_COUNT(calls); i++) {
        void *call = dlsym(handle, calls[i].name);

        memcpy((char *)lib + calls[i].offset, &call, sizeof(call));
    }
    return version && strstr(version(), "OpenPMIx") && lib->init && lib->pack;
}

/* As a process that nobody launched: it finds no server, and needs none. */
static bool start(struct incumbent *lib, struct px_codec codec)
{
    pmix_proc_t me;

    if (!load(lib))
        return false;
    clearenv();
    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_bfrops", codec.dialect->name, 1);
    setenv("PMIX_MCA_bfrops_base_default_type", codec.described ? "2" : "1", 1);
    pmix_status_t rc = lib->init(&me, NULL, 0);
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_UNREACH;
}

int incumbent_apart(struct px_codec codec, incumbent_check *check)
{
    int status = -1;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct incumbent lib = {0};
        int result = INCUMBENT_BAD;

        if (!start(&lib, codec))
            result = INCUMBENT_MISSING;
        else if (check(&lib, codec))
            result = INCUMBENT_GOOD;
        fflush(NULL);
        _exit(result);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return INCUMBENT_BAD;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
