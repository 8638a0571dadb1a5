/* SPDX-License-Identifier: BSD-3-Clause */
/* param_probe [NAME=VALUE...] -- NAME...: calls PMIx_Init with these parameters as
 * infos, then prints the value and source of each NAME, which may also be a variable of
 * the environment; for test/integration/params.py. Exits 1 if PMIx_Init fails, and
 * prints its status. */
#include "core/base/env.h"
#include "core/config/param.h"
#include "core/rt/process.h"
#include "pmix.h"

#include <stdio.h>
#include <string.h>

enum { MAX_INFO = 16 };

static void show(const char *name)
{
    const char *where;
    const char *text = px_params_text(px_process.params, name, NULL, &where);

    if (text)
        printf("%s = %s (%s)\n", name, text, where);
    else
        printf("%s is %s\n", name, px_env(name) ? px_env(name) : "unset");
}

int main(int argc, char **argv)
{
    static pmix_info_t info[MAX_INFO];
    size_t n = 0;
    int i = 1;

    for (; i < argc && strcmp(argv[i], "--") != 0 && n < MAX_INFO; i++, n++) {
        char *value = strchr(argv[i], '=');
        if (!value)
            return 2;
        *value++ = '\0';
        snprintf(info[n].key, sizeof(info[n].key), "PMIX_MCA_%s", argv[i]);
        info[n].value.type = PMIX_STRING;
        info[n].value.data.string = value;
    }
    pmix_status_t rc = PMIx_Init(NULL, info, n);
    if (rc && rc != PMIX_ERR_UNREACH) { /* without a server */
        printf("%s\n", PMIx_Error_string(rc));
        return 1;
    }
    for (i++; i < argc; i++)
        show(argv[i]);
    return PMIx_Finalize(NULL, 0) ? 3 : 0;
}
