/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a rendezvous file. The decoded address of a server and its process are the same after they
 * are encoded and decoded again. */
#include "fuzz.h"

#include "core/base/str.h"
#include "core/link/rendezvous.h"

#include <string.h>

static bool same(const struct px_rendezvous *a, const struct px_rendezvous *b)
{
    return strcmp(a->uri.server.nspace, b->uri.server.nspace) == 0 &&
           a->uri.server.rank == b->uri.server.rank &&
           strcmp(a->uri.address, b->uri.address) == 0 &&
           a->version.major == b->version.major &&
           a->version.minor == b->version.minor && a->pid == b->pid;
}

static void write_again(const struct px_rendezvous *r)
{
    struct px_rendezvous again = {0};
    PX_AUTOFREE char *text = px_strf(
        "%s.%u;%s\n%d.%d\n%ld\n", r->uri.server.nspace, r->uri.server.rank,
        r->uri.address, (int)r->version.major, (int)r->version.minor, (long)r->pid);

    FUZZ_MUST(text);
    FUZZ_MUST(px_rendezvous_parse(text, &again) == PMIX_SUCCESS);
    FUZZ_MUST(same(r, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct px_rendezvous r = {.owner = 7};
    PX_AUTOFREE char *text = fuzz_text(data, size);

    if (px_rendezvous_parse(text, &r) != PMIX_SUCCESS)
        return 0;
    FUZZ_MUST(r.owner == 7);
    FUZZ_MUST(r.pid >= 0);
    FUZZ_MUST(r.uri.server.nspace[0] && r.uri.address[0]);
    FUZZ_MUST(strlen(r.uri.server.nspace) <= PMIX_MAX_NSLEN);
    FUZZ_MUST(!strchr(r.uri.server.nspace, '\n') && !strchr(r.uri.address, '\n'));
    write_again(&r);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char *const files[] = {
        "prterun-host-1.0;tcp4://127.0.0.1:4321\n4.2.9\n4711\n0:0\nSat Nov 21 11:00:00 2026\n\n",
        "a.job.0;tcp4://127.0.0.1:4321\nv3.2.5\n1\n1000:1000\n",
        "a.4294967295;tcp6://[::1]:65535\n",
        "a.0;usock:///tmp/pmix-server.AbCdEf/server.sock\n6.1.0\n2147483647\n",
    };

    return fuzz_seed_text(files, PX_COUNT(files), i, out);
}
