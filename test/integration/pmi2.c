/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi2 [mixed | exit STATUS]: a program on Slurm's libpmi2. Its processes exchange keys, attributes of
 * the node and names, and print "OK pmi2 rank/size". mixed: half of the job are PMIx clients
 * (pmi_client.c), which read the key of rank 0. exit: rank 0 ends without finalizing. */
#include <slurm/pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(c)                                                                \
    do {                                                                        \
        if (!(c)) {                                                             \
            fprintf(stderr, "pmi2: line %d: check failed: %s\n", __LINE__, #c); \
            exit(99);                                                           \
        }                                                                       \
    } while (0)
#define OK(call) CHECK((call) == PMI2_SUCCESS)

static int rank, size;
static char job[256];

/* Each process reads the keys of all, which come with the fence. */
static void keys(int n)
{
    char key[64], value[1024], wanted[1024];
    int len;

    memset(wanted, 'x', sizeof(wanted));
    snprintf(key, sizeof(key), "key-%d", rank);
    snprintf(wanted, sizeof(wanted), "value=%d", rank);
    OK(PMI2_KVS_Put(key, wanted));
    OK(PMI2_KVS_Fence());
    for (int r = 0; r < n; r++) {
        snprintf(key, sizeof(key), "key-%d", r);
        snprintf(wanted, sizeof(wanted), "value=%d", r);
        OK(PMI2_KVS_Get(job, r, key, value, sizeof(value), &len));
        CHECK(len == (int)strlen(wanted) && strcmp(value, wanted) == 0);
    }
    CHECK(PMI2_KVS_Get(job, 0, "missing", value, sizeof(value), &len) != PMI2_SUCCESS ||
          len < 0 || value[0] == '\0');
}

static void attributes(void)
{
    char value[1024], wanted[64];
    int found;

    snprintf(wanted, sizeof(wanted), "(vector,(0,1,%d))", size);
    OK(PMI2_Info_GetJobAttr("PMI_process_mapping", value, sizeof(value), &found));
    CHECK(found && strcmp(value, wanted) == 0);
    OK(PMI2_Info_GetJobAttr("missing", value, sizeof(value), &found));
    CHECK(!found);
    if (rank == size - 1)
        OK(PMI2_Info_PutNodeAttr("shared", "yes"));
    OK(PMI2_Info_GetNodeAttr("shared", value, sizeof(value), &found, 1));
    CHECK(found && strcmp(value, "yes") == 0);
}

static void names(void)
{
    char port[1024];

    if (rank > 0)
        return;
    OK(PMI2_Nameserv_publish("service", NULL, "port"));
    OK(PMI2_Nameserv_lookup("service", NULL, port, sizeof(port)));
    CHECK(strcmp(port, "port") == 0);
    OK(PMI2_Nameserv_unpublish("service", NULL));
}

int main(int argc, char **argv)
{
    const int mixed = argc > 1 && strcmp(argv[1], "mixed") == 0;
    int spawned, appnum;

    OK(PMI2_Init(&spawned, &size, &rank, &appnum));
    CHECK(!spawned && appnum == 0 && rank >= 0 && rank < size);
    OK(PMI2_Job_GetId(job, sizeof(job)));
    if (argc > 2 && rank == 0)
        exit(atoi(argv[2]));
    if (mixed) {
        keys(size / 2);
    } else {
        keys(size);
        attributes();
        names();
        keys(size); /* once more */
    }
    OK(PMI2_KVS_Fence());
    printf("OK %s %d/%d\n", mixed ? "mixed" : "pmi2", rank, size);
    OK(PMI2_Finalize());
    return 0;
}
