/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes between a server, ranks 0 to 2 of "job", and the fake host. Each scene is a row of a
 * table: a sequence of acts and their expected results. */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include "fake_host.h"
#include "raw.h"

/* Acts of rank "who". Requests are sent with a tag, and only ENDS and HAS wait for the reply. */
enum act {
    NO_MORE,
    QUIET,  /* the server has handled all requests, and no message came */
    CLOSED, /* the server closes the connection */
    DIES,   /* closes its connection, and waits until the server has noticed */
    COMES,  /* connects again */
    FENCES, /* fence of the whole job; n: timeout in seconds, or 0 for none */
    ENTERS, /* collective n; text: ranks as digits, "*" for all, "L" for all on this node */
    CONSTRUCTS, /* group "g"; text as for scene_construct */
    DESTRUCTS,  /* group "g" */
    PARTS,      /* leaves group "g" */
    GETS,       /* key text of rank n */
    PUBLISHES,
    ENDS,      /* reply with status n */
    HAS,       /* reply with value n under key text */
    PUTS,      /* commits n under key text */
    FINALIZES, /* and waits for the reply */
    LEAVES,    /* sends finalize without waiting */
    WANTS, /* registers for code n, or all codes if n is 0; waits for the reply if tag is 0 */
    FORGETS,  /* deregisters code n */
    NOTIFIES, /* notifies code n, with range tag (0: the namespace) */
    RECEIVES, /* gets a notification of code n */
    PULLS,    /* pulls output of rank n (-1: any) on channels tag, with id 70 + who */
    READS,    /* gets output of rank n on channel tag: text */
    /* Acts of the host, which ignore who. */
    HOST_IS,      /* n: way of all later answers; tag: their status */
    HOST_ANSWERS, /* answers the oldest held call with status n */
    HOST_CALLED,  /* slot text has been called n times in all */
    HOST_AWAITS,  /* waits for call n of slot text */
    HOST_WRITES,  /* delivers output of rank n on channel tag: text; "" is the end */
    SERVER_STOPS,
};

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers" /* a step sets only the members that its act uses */

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
    bool alone; /* the server has only its built-in host */
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

/* Plays a scene with a server of its own. For PX_TEST_LOOP. */
void scene_play(const struct scene *scene);

/* Acts for other tests. */
/* Sends the construction of a group. text: the ranks as for ENTERS, "" for none, then letters for
 * directives: a context id, f adjusts, l leader, n notifies, o optional, t deadline of a second,
 * b two leaders, "+" and ranks to add, "=" and ranks in the final order. */
void scene_construct(int fd, uint32_t tag, const char *group, const char *text);
/* Sends a destruct (with procs unless NULL) or, for PX_OP_GROUP_LEAVE, a departure. */
void scene_end_group(int fd, uint32_t tag, uint8_t op, const char *group,
                     const pmix_proc_t *procs, size_t n);
pmix_status_t scene_notify(int fd, pmix_status_t code, pmix_data_range_t range,
                           const px_infos *infos);
/* Registers for these codes. n 0: for events of all codes. */
pmix_status_t scene_want(int fd, const pmix_status_t *codes, size_t n);
void scene_forget(int fd, pmix_status_t code);
void scene_publish(int fd, uint32_t tag);
/* Makes a pull. id: the client's number, or 0 to send none. infos may be NULL. */
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
/* Piece of received output; bytes are valid until the next call. */
struct scene_piece {
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    size_t id;
    uint64_t dropped;
    px_reader bytes;
    size_t n;
};
struct scene_piece scene_next_piece(int fd);
/* Reads the next piece and checks its contents. */
void scene_read(int fd, pmix_rank_t rank, pmix_iof_channel_t channel, size_t id,
                const char *text);

#endif
