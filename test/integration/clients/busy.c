/* SPDX-License-Identifier: BSD-3-Clause */
/* busy: rank 0 registers the tree $BUSY_TREE for its own end and ends when the file $BUSY_GO is
 * there. The others go to the server and back all the time, until the file $BUSY_STOP is there:
 * each tells of every thousand times, and then registers something, too. With $BUSY_SAMPLES, begin and
 * duration of each round trip are written there, as two numbers of 64 bits, in ns. */
#include "client.h"

#include <fcntl.h>
#include <inttypes.h>

enum { ROUNDS = 1000, MAX_SAMPLES = 1 << 20 };

struct sample {
    uint64_t begin_ns, ns;
};

static bool there(const char *variable)
{
    const char *path = getenv(variable);

    CHECK(path);
    return access(path, F_OK) == 0;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void ask(const char *key, const char *path)
{
    pmix_info_t info[2], *results = NULL;
    size_t n_results = 0;

    PMIX_INFO_LOAD(&info[0], key, path, PMIX_STRING);
    info[1] = info_bool(PMIX_CLEANUP_RECURSIVE);
    GOOD(PMIx_Job_control(&me, 1, info,
                          strcmp(key, PMIX_REGISTER_CLEANUP_DIR) == 0 ? 2 : 1, &results,
                          &n_results));
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_FREE(results, n_results);
}

/* What nobody has published. */
static void round_trip(void)
{
    pmix_pdata_t data;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, "busy.absent");
    EXPECT(PMIx_Lookup(&data, 1, NULL, 0), PMIX_ERR_NOT_FOUND);
    PMIX_PDATA_DESTRUCT(&data);
}

static void write_samples(const struct sample *samples, size_t n)
{
    const char *path = getenv("BUSY_SAMPLES");
    FILE *f = path ? fopen(path, "wbe") : NULL;

    if (!path)
        return;
    CHECK(f && fwrite(samples, sizeof(*samples), n, f) == n && fclose(f) == 0);
}

static void stay_busy(void)
{
    struct sample *samples = calloc(MAX_SAMPLES, sizeof(*samples));
    char path[64];
    size_t n = 0;

    CHECK(samples);
    while (n % ROUNDS || !there("BUSY_STOP")) {
        CHECK(n < MAX_SAMPLES);
        samples[n].begin_ns = now_ns();
        round_trip();
        samples[n].ns = now_ns() - samples[n].begin_ns;
        if (++n % ROUNDS)
            continue;
        snprintf(path, sizeof(path), "/nonexistent/%u.%zu", me.rank, n / ROUNDS % 100);
        ask(PMIX_REGISTER_CLEANUP, path);
        printf("rank %u has done %zu\n", me.rank, n);
    }
    write_samples(samples, n);
    free(samples);
}

int main(void)
{
    begin();
    if (me.rank == 0) {
        ask(PMIX_REGISTER_CLEANUP_DIR, getenv("BUSY_TREE"));
        printf("registered by %d\n", (int)getpid());
        while (!there("BUSY_GO"))
            sleep_ms(5);
    } else {
        stay_busy();
    }
    return end("busy");
}
