/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"

#include "pmix_tool.h"

#include <string.h>

#define TAG 400

pmix_status_t scene_notify(int fd, pmix_status_t code, pmix_data_range_t range,
                           const px_infos *infos)
{
    px_writer w = raw_begin(PX_OP_NOTIFY);

    px_pack_status(&w, code);
    px_pack_u8(&w, range, PMIX_DATA_RANGE);
    px_pack_infos(&w, infos ? infos->v : NULL, infos ? infos->n : 0);
    return raw_request(fd, w, NULL);
}

pmix_status_t scene_want(int fd, const pmix_status_t *codes, size_t n)
{
    return raw_request(fd, raw_want(codes, n, NULL), NULL);
}

void scene_forget(int fd, pmix_status_t code)
{
    px_writer w = raw_begin(PX_OP_DEREGEVENTS);

    px_pack_status(&w, code);
    raw_send(fd, TAG, w); /* has no reply */
}

void scene_publish(int fd, uint32_t tag)
{
    px_writer w = raw_begin(PX_OP_PUBLISH);
    pmix_info_t info;

    PMIx_Info_load(&info, "colour", &(uint32_t){1}, PMIX_UINT32);
    px_pack_u32(&w, 0);
    px_pack_infos(&w, &info, 1);
    raw_send(fd, tag, w);
}

px_writer scene_pull_of(const pmix_proc_t *procs, size_t n, pmix_iof_channel_t channels,
                        size_t id, const px_infos *infos)
{
    px_writer w = raw_begin(PX_OP_IOF_PULL);

    px_pack_procs(&w, procs, n);
    px_pack_infos(&w, infos ? infos->v : NULL, infos ? infos->n : 0);
    px_pack(&w, &channels, 1, PMIX_IOF_CHANNEL);
    if (id)
        px_pack_size(&w, id);
    return w;
}

px_writer scene_pull(pmix_rank_t rank, pmix_iof_channel_t channels, size_t id,
                     const px_infos *infos)
{
    pmix_proc_t p = raw_proc("job", rank);

    return scene_pull_of(&p, 1, channels, id, infos);
}

pmix_status_t scene_deliver(pmix_rank_t rank, pmix_iof_channel_t channel,
                            const char *bytes, size_t n, const px_infos *infos,
                            pmix_op_cbfunc_t cb, void *cbdata)
{
    pmix_proc_t source = raw_proc("job", rank);
    pmix_byte_object_t bo = {.bytes = (char *)(uintptr_t)bytes, .size = n};

    return px_test_completed(PMIx_server_IOF_deliver(&source, channel, &bo,
                                                     infos ? infos->v : NULL,
                                                     infos ? infos->n : 0, cb, cbdata));
}

pmix_status_t scene_write(pmix_rank_t rank, pmix_iof_channel_t channel,
                          const char *text)
{
    return scene_deliver(rank, channel, text, strlen(text), NULL, NULL, NULL);
}

struct scene_piece scene_next_piece(int fd)
{
    struct scene_piece p = {0};
    PX_AUTO(px_infos) infos = {0};
    const pmix_info_t *dropped;
    px_reader r;

    ck_assert(raw_recv(fd, PX_TAG_IOF, &r));
    ok(px_unpack1(&r, &p.source, PMIX_PROC));
    ok(px_unpack1(&r, &p.channel, PMIX_IOF_CHANNEL));
    ok(px_unpack_size(&r, &p.id));
    ok(px_unpack_infos(&r, &infos.v, &infos.n));
    dropped = px_info_find(infos.v, infos.n, TENON_IOF_DROPPED);
    if (dropped)
        p.dropped = dropped->value.data.uint64;
    ok(px_unpack_view(&r, &p.bytes, PMIX_BYTE_OBJECT));
    p.n = (size_t)(p.bytes.end - p.bytes.pos);
    ck_assert(px_reader_done(&r));
    return p;
}

void scene_read(int fd, pmix_rank_t rank, pmix_iof_channel_t channel, size_t id,
                const char *text)
{
    const struct scene_piece p = scene_next_piece(fd);

    ck_assert_uint_eq(p.source.rank, rank);
    ck_assert_uint_eq(p.channel, channel);
    ck_assert_uint_eq(p.id, id);
    ck_assert_uint_eq(p.n, strlen(text));
    if (p.n)
        ck_assert_mem_eq(p.bytes.pos, text, p.n);
}

/* Reads ranks from *text, and moves *text behind them. */
static size_t read_ranks(const char **text, pmix_proc_t procs[8])
{
    size_t n = 0;

    for (; **text && strchr("0123456789*L", **text); ++*text)
        procs[n++] = raw_proc("job", **text == '*'   ? PMIX_RANK_WILDCARD
                                     : **text == 'L' ? PMIX_RANK_LOCAL_NODE
                                                     : (pmix_rank_t)(**text - '0'));
    return n;
}

static void add_directive(px_infos *l, const char **text)
{
    static const char *const flags[] = {
        ['a'] = PMIX_GROUP_ASSIGN_CONTEXT_ID,
        ['f'] = PMIX_GROUP_FT_COLLECTIVE,
        ['l'] = PMIX_GROUP_LEADER,
        ['n'] = PMIX_GROUP_NOTIFY_TERMINATION,
        ['o'] = PMIX_GROUP_OPTIONAL,
        ['t'] = PMIX_TIMEOUT,
        ['b'] = PMIX_GROUP_BOOTSTRAP,
        ['+'] = PMIX_GROUP_ADD_MEMBERS,
        ['='] = PMIX_GROUP_FINAL_MEMBERSHIP_ORDER,
    };
    const char letter = *(*text)++, *key = flags[(int)letter];
    const uint32_t second = 1;
    const size_t two_leaders = 2;
    pmix_proc_t procs[8];
    pmix_data_array_t array = {.type = PMIX_PROC, .array = procs};

    if (letter == '+' || letter == '=') {
        array.size = read_ranks(text, procs);
        ok(px_infos_add(l, key, &array, PMIX_DATA_ARRAY));
    } else if (letter == 't') {
        ok(px_infos_add(l, key, &second, PMIX_UINT32));
    } else if (letter == 'b') {
        ok(px_infos_add(l, key, &two_leaders, PMIX_SIZE));
    } else {
        ok(px_infos_add(l, key, NULL, PMIX_BOOL));
    }
}

void scene_construct(int fd, uint32_t tag, const char *group, const char *text)
{
    px_writer w = raw_begin(PX_OP_GROUP_CONSTRUCT);
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t procs[8];
    size_t n = read_ranks(&text, procs);

    while (*text)
        add_directive(&infos, &text);
    px_pack_str(&w, group);
    px_pack_procs(&w, procs, n);
    px_pack_infos(&w, infos.v, infos.n);
    raw_send(fd, tag, w);
}

void scene_end_group(int fd, uint32_t tag, uint8_t op, const char *group,
                     const pmix_proc_t *procs, size_t n)
{
    px_writer w = raw_begin(op);

    px_pack_str(&w, group);
    if (procs)
        px_pack_procs(&w, procs, n);
    px_pack_infos(&w, NULL, 0);
    raw_send(fd, tag, w);
}

static void play_host(const struct step *s)
{
    switch (s->act) {
    case HOST_IS:
        host.how = (enum host_how)s->n;
        host.status = s->tag;
        break;
    case HOST_ANSWERS:
        ck_assert(host_answer(s->n));
        ck_assert(host.args_lived);
        break;
    case HOST_CALLED:
        ck_assert_uint_eq(host_calls(s->text), (unsigned)s->n);
        break;
    case HOST_AWAITS:
        host_await(s->text, (unsigned)s->n);
        break;
    case HOST_WRITES:
        ok(scene_write((pmix_rank_t)s->n, (pmix_iof_channel_t)s->tag, s->text));
        break;
    default:
        raw_server_stop();
    }
}

static void play(int *fd, const struct step *s)
{
    static const pmix_proc_t all = {"job", PMIX_RANK_WILDCARD};
    uint32_t tag = TAG + (uint32_t)s->tag;
    pmix_rank_t rank = (pmix_rank_t)s->n;
    pmix_proc_t procs[8];
    const char *text;
    pmix_info_t info;
    size_t n;
    px_reader r;

    switch (s->act) {
    case QUIET:
        ck_assert(raw_quiet(*fd));
        break;
    case CLOSED:
        ck_assert(raw_closed(*fd));
        break;
    case DIES:
        close(*fd);
        raw_await_gone((pmix_rank_t)s->who);
        break;
    case COMES:
        *fd = raw_client((pmix_rank_t)s->who);
        break;
    case FENCES:
        PMIx_Info_load(&info, PMIX_TIMEOUT, &rank, PMIX_UINT32);
        raw_collect(*fd, tag, PX_OP_FENCE, &all, 1, s->n ? &info : NULL);
        break;
    case ENTERS:
        text = s->text;
        n = read_ranks(&text, procs);
        raw_collect(*fd, tag, (uint8_t)s->n, procs, n, NULL);
        break;
    case CONSTRUCTS:
        scene_construct(*fd, tag, "g", s->text);
        break;
    case DESTRUCTS:
    case PARTS:
        scene_end_group(*fd, tag,
                        s->act == PARTS ? PX_OP_GROUP_LEAVE : PX_OP_GROUP_DESTRUCT, "g",
                        NULL, 0);
        break;
    case GETS:
        raw_send(*fd, tag, raw_get("job", rank, s->text, NULL));
        break;
    case PUBLISHES:
        scene_publish(*fd, tag);
        break;
    case ENDS:
        ck_assert_int_eq(raw_status(*fd, tag), s->n);
        break;
    case HAS:
        ok(raw_reply(*fd, tag, &r));
        ck_assert_uint_eq(raw_value_in(&r, s->text), (uint32_t)s->n);
        break;
    case PUTS:
        ok(raw_commit(*fd, s->text, (uint32_t)s->n));
        break;
    case FINALIZES:
        ok(raw_finalize(*fd));
        break;
    case LEAVES:
        raw_send(*fd, tag, raw_begin(PX_OP_FINALIZE));
        break;
    case WANTS:
        raw_send(*fd, tag, raw_want(&s->n, s->n ? 1 : 0, NULL));
        if (!s->tag)
            ok(raw_status(*fd, tag));
        break;
    case FORGETS:
        scene_forget(*fd, s->n);
        break;
    case NOTIFIES:
        ok(scene_notify(*fd, s->n,
                        s->tag ? (pmix_data_range_t)s->tag : PMIX_RANGE_NAMESPACE,
                        NULL));
        break;
    case RECEIVES:
        ck_assert_int_eq(raw_next_event(*fd, NULL), s->n);
        break;
    case PULLS:
        raw_send(*fd, TAG,
                 scene_pull(s->n < 0 ? PMIX_RANK_WILDCARD : rank,
                            (pmix_iof_channel_t)s->tag, 70 + (size_t)s->who, NULL));
        break;
    case READS:
        scene_read(*fd, rank, (pmix_iof_channel_t)s->tag, 70 + (size_t)s->who, s->text);
        break;
    default:
        play_host(s);
    }
}

void scene_play(const struct scene *scene)
{
    int *const fds[] = {&one, &two, &three};

    fprintf(stderr, "scene: %s\nsteps:", scene->name); /* printed if a scene fails */
    raw_start(scene->alone ? NULL : &host_module, scene->n_local, scene->n_remote);
    for (const struct step *s = scene->steps; s->act != NO_MORE; s++) {
        fprintf(stderr, " %td", s - scene->steps + 1);
        play(fds[s->who], s);
    }
    fprintf(stderr, "\n");
}
