/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes between a server, ranks 0 to 2 of "job", and the fake host, as rows of a table: each test
 * that is nothing but a sequence of acts and what is seen of them. */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include "fake_host.h"
#include "raw.h"

/* The acts of rank "who". Requests go out with a tag, and are not waited for until ENDS or HAS. */
enum act {
    NO_MORE,
    QUIET,  /* all it sent was seen, and nothing came */
    CLOSED, /* by the server */
    DIES,   /* closes its connection; the server has noticed */
    COMES,  /* connects again */
    FENCES, /* all of the job, with a timeout of n seconds, if not 0 */
    MEETS, /* collective n of the ranks that text's digits are; "*": of all, "L": of all here */
    GETS, /* key text of rank n */
    PUBLISHES,
    ENDS,      /* the request has the status n */
    HAS,       /* it has brought n under key text */
    PUTS,      /* commits n under key text */
    FINALIZES, /* and is answered */
    LEAVES,    /* sends its goodbye */
    WANTS,     /* events of code n, or all if it is 0; answered at once if tag is 0 */
    FORGETS,   /* the code */
    TELLS,     /* code n, to range tag (0: the namespace) */
    HEARS,     /* of code n */
    PULLS, /* output of rank n (-1: any) on channels tag, by its own number 70 + who */
    READS, /* output of rank n on channel tag: text */
    /* Of the host; who does not matter. */
    HOST_IS,      /* n: how it answers from now on; tag: with what status */
    HOST_ANSWERS, /* what it held, with the status n */
    HOST_CALLED,  /* n times in all, by now, in slot text */
    HOST_AWAITS,  /* the nth call of slot text */
    HOST_WRITES,  /* output of rank n on channel tag: text; "" is the end */
    SERVER_STOPS,
};

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers" /* a step has what it needs */

struct step {
    int who;
    enum act act;
    int n;
    const char *text;
    int tag;
};

struct scene {
    const char *name;
    uint32_t n_local, n_remote;
    struct step steps[20];
    bool alone; /* the server has no host but its own */
};

#define SCENE(name, n_local, n_remote, ...) \
    {                                       \
        name, n_local, n_remote,            \
        {                                   \
            __VA_ARGS__                     \
        }                                   \
    }

#define SCENE_ALONE(name, n_local, ...)       \
    {                                         \
        name, n_local, 0, {__VA_ARGS__}, true \
    }

/* With a server of its own. For PX_TEST_LOOP. */
void scene_play(const struct scene *scene);

/* What some acts do, for other tests. */
pmix_status_t scene_notify(int fd, pmix_status_t code, pmix_data_range_t range,
                           const px_infos *infos);
void scene_forget(int fd, pmix_status_t code);
void scene_publish(int fd, uint32_t tag);
/* Makes a pull. id: the number of the client; 0: none is sent. infos may be NULL. */
px_writer scene_pull_of(const pmix_proc_t *procs, size_t n, pmix_iof_channel_t channels,
                        size_t id, const px_infos *infos);
/* Makes a pull of a rank of "job". */
px_writer scene_pull(pmix_rank_t rank, pmix_iof_channel_t channels, size_t id,
                     const px_infos *infos);
/* Delivers output of a rank of "job", as the host. infos may be NULL. */
pmix_status_t scene_deliver(pmix_rank_t rank, pmix_iof_channel_t channel,
                            const char *bytes, size_t n, const px_infos *infos,
                            pmix_op_cbfunc_t cb, void *cbdata);
pmix_status_t scene_write(pmix_rank_t rank, pmix_iof_channel_t channel,
                          const char *text);
/* A piece of output as it comes; bytes are valid until the next call. */
struct scene_piece {
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    size_t id;
    uint64_t dropped;
    px_reader bytes;
    size_t n;
};
struct scene_piece scene_next_piece(int fd);
/* Reads the next piece, which must be this one. */
void scene_read(int fd, pmix_rank_t rank, pmix_iof_channel_t channel, size_t id,
                const char *text);

#endif
