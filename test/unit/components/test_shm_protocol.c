/* SPDX-License-Identifier: BSD-3-Clause */
/* gds/shm: one writer and one reader in parallel. Every order of their steps is tried;
 * a step is an access to a shared word. The reader's result must have been true at some
 * time during its lookup. A second part runs threads for the sanitizers. */
#include "components/gds/shm/table.h"

#include "core/base/str.h"
#include "px_test.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READER, WRITER, MAX_CHOICES = 128, KEYS = 3, MAX_OPS = 4 };
#define JOB PX_GDS_LOCAL

uint64_t px_shm_garbage, px_shm_spare;

struct state {
    int value[KEYS]; /* 0: none */
    int since[KEYS]; /* number of the op that appended the key */
};

static struct {
    struct px_shm_segment writer, reader;
    struct state states[MAX_OPS + 1]; /* state after each op of the writer */
    const uint8_t *shared;            /* the reader's segment, used by both */
    int n_begun, n_done;
    int from, to; /* the first and the last state that the reader may have seen */
} now;

/* ---- taking turns ---------------------------------------------------------------- */

static struct {
    bool runs; /* false: no thread waits for its turn */
    sem_t turn[2];
    bool ended[2];
    /* For each step at which both could go on: true if the other one did. */
    bool other[MAX_CHOICES];
    unsigned n, n_given;
} turns;

static _Thread_local int me = -1;

static void hand_over(void)
{
    sem_post(&turns.turn[!me]);
    sem_wait(&turns.turn[me]);
}

static void choose(void)
{
    if (turns.ended[!me])
        return;
    if (turns.n == MAX_CHOICES)
        abort();
    if (turns.n >= turns.n_given)
        turns.other[turns.n] = false;
    if (turns.other[turns.n++])
        hand_over();
}

static bool is_shared(const void *word)
{
    return (uintptr_t)word - (uintptr_t)now.shared < PX_SHM_FIRST;
}

/* True if the scene gives this step no effect of its own. Without memory reuse
 * (px_shm_spare) these are the reader's checks for reuse. With reuse these are the
 * other accesses to the header, and every second step of the writer. */
static bool is_idle(const px_shm_word *word, bool writes)
{
    static bool is_after;
    const struct px_shm_header *h = px_shm_head(writes ? &now.writer : &now.reader);

    is_after = writes && !is_after;
    if (px_shm_spare)
        return !writes && (!word || word == &h->reused);
    return word == &h->retired || word == &h->index || (is_after && word != &h->reused);
}

void px_shm_step(const px_shm_word *word, bool writes)
{
    if (turns.runs && is_idle(word, writes))
        return;
    if (turns.runs && (writes ? me == WRITER && is_shared(word) : me == READER))
        choose();
}

static void end_turns(void)
{
    turns.ended[me] = true;
    sem_post(&turns.turn[!me]);
}

/* Moves to the next order: the last step that can still change hands does. Returns
 * false after the last order. */
static bool next_order(void)
{
    while (turns.n > 0 && turns.other[turns.n - 1])
        turns.n--;
    if (turns.n == 0)
        return false;
    turns.other[turns.n - 1] = true;
    turns.n_given = turns.n;
    return true;
}

/* ---- ops and the states after them ----------------------------------------------- */

/* Each op is two characters. "a1" puts 1 under a, "a-" deletes a, "!!" clears the rank,
 * "**" the table. "##" fills the index, so that the next new key needs a larger one.
 * "$$" makes garbage, so that the next put moves all to a new segment. From "%%" on
 * memory is reused. */
struct scene {
    const char *before, *meanwhile;
    char reads; /* a key, or '*' for a walk */
};

static struct px_shm_key key_of(char c, char text[2])
{
    text[0] = c;
    text[1] = '\0';
    return (struct px_shm_key){.table = JOB, .length = 1, .text = text};
}

static void put(const struct px_shm_key *key, uint32_t number)
{
    const struct px_shm_value value = {
        .bytes = &number, .n = sizeof(number), .type = PMIX_UINT32};

    if (px_shm_put(&now.writer, key, value))
        abort();
}

static void fill_index(void)
{
    for (uint32_t i = 0; now.writer.n_used < 31; i++) {
        PX_AUTOFREE char *text = px_strf("%u", i);
        struct px_shm_key key = {.table = PX_GDS_APP, .text = text};

        key.length = (uint16_t)strlen(text);
        put(&key, i);
    }
}

static void make_garbage(void)
{
    struct px_shm_key key = {.table = PX_GDS_APP, .length = 7, .text = "garbage"};

    for (uint32_t i = 0; i < 100; i++)
        put(&key, i);
    px_shm_garbage = 1;
}

static void operate(const char *op, struct state *s, int number)
{
    char text[2];
    struct px_shm_key key = key_of(op[0], text);
    int i = op[0] - 'a';

    if (op[0] == '#') {
        fill_index();
    } else if (op[0] == '$') {
        make_garbage();
    } else if (op[0] == '!' || op[0] == '*') {
        *s = (struct state){{0}, {0}};
        px_shm_clear(&now.writer, JOB, op[0] == '!' ? 0 : PMIX_RANK_UNDEF);
    } else if (op[0] == '%') {
        px_shm_spare = 0;
    } else if (op[1] == '-') {
        s->value[i] = 0;
        px_shm_remove(&now.writer, &key);
    } else {
        if (!s->value[i])
            s->since[i] = number;
        s->value[i] = op[1] - '0';
        put(&key, (uint32_t)(op[1] - '0'));
    }
}

static void *write_meanwhile(void *arg)
{
    me = WRITER;
    sem_wait(&turns.turn[me]);
    choose();
    for (const char *op = arg; *op; op += 2) {
        now.n_begun++;
        now.states[now.n_begun] = now.states[now.n_begun - 1];
        operate(op, &now.states[now.n_begun], 100 + now.n_begun);
        now.n_done++;
    }
    end_turns();
    return NULL;
}

static int number_of(const struct px_shm_value *value)
{
    uint32_t number = 0;

    if (value->type != PMIX_UINT32 || value->n != sizeof(number))
        return -1;
    memcpy(&number, value->bytes, sizeof(number));
    return (int)number;
}

/* ---- permitted results ----------------------------------------------------------- */

static bool was(int key, int number)
{
    for (int i = now.from; i <= now.to; i++)
        if (now.states[i].value[key] == number)
            return true;
    return false;
}

/* True if the key kept its value and its place in all permitted states. */
static bool stayed(int key)
{
    for (int i = now.from; i <= now.to; i++)
        if (!now.states[i].value[key] ||
            now.states[i].since[key] != now.states[now.from].since[key])
            return false;
    return true;
}

struct seen {
    int keys[16], values[16];
    int n;
};

static pmix_status_t see(void *arg, const struct px_shm_key *key,
                         const struct px_shm_value *value)
{
    struct seen *s = arg;

    if (s->n == 16)
        return PMIX_ERROR;
    px_shm_step(NULL, false);
    s->keys[s->n] = key->text[0] - 'a';
    s->values[s->n] = number_of(value);
    if (!px_shm_holds(&now.reader, value))
        return PX_SHM_AGAIN;
    s->n++;
    return PMIX_SUCCESS;
}

static bool is_retired(void)
{
    return atomic_load(&px_shm_head(&now.reader)->retired);
}

static const char *judge(const struct seen *s, char reads)
{
    int place[KEYS] = {-1, -1, -1};

    for (int i = 0; i < s->n; i++) {
        if (!was(s->keys[i], s->values[i]))
            return "a value that was not there";
        if (place[s->keys[i]] >= 0 && stayed(s->keys[i]))
            return "a key twice";
        place[s->keys[i]] = i;
    }
    for (int a = 0; a < KEYS && !is_retired(); a++) {
        if (reads != '*' && reads != 'a' + a)
            continue;
        if (place[a] < 0 && !was(a, 0) && (reads != '*' || stayed(a)))
            return "a key missing";
        for (int b = 0; reads == '*' && b < KEYS; b++)
            if (stayed(a) && stayed(b) && place[a] < place[b] &&
                now.states[now.from].since[a] > now.states[now.from].since[b])
                return "keys out of order";
    }
    return NULL;
}

static const char *read_and_judge(char reads)
{
    struct seen seen = {.n = 0};
    struct px_shm_value value;
    char text[2];
    struct px_shm_key key = key_of(reads, text);

    me = READER;
    choose();
    now.from = now.n_done;
    if (reads == '*')
        (void)px_shm_walk(&now.reader, JOB, 0, see, &seen);
    else
        while (px_shm_find(&now.reader, &key, &value)
                   ? see(&seen, &key, &value) == PX_SHM_AGAIN
                   : !px_shm_holds(&now.reader, &value))
            ;
    now.to = now.n_begun;
    const char *wrong = judge(&seen, reads);
    end_turns();
    return wrong;
}

/* ---- all orders ------------------------------------------------------------------ */

static void begin(const struct scene *scene)
{
    int number = 1;

    memset(&now, 0, sizeof(now));
    me = -1;
    px_shm_garbage = px_shm_spare = UINT64_MAX;
    ok(px_shm_segment_create(&now.writer, PX_SHM_FIRST));
    for (const char *op = scene->before; *op; op += 2)
        operate(op, &now.states[0], number++);
    ok(px_shm_segment_attach(&now.reader, px_shm_segment_show(&now.writer)));
    now.shared = now.writer.base;
    turns.n = 0;
    turns.ended[0] = turns.ended[1] = false;
    sem_init(&turns.turn[READER], 0, 0);
    sem_init(&turns.turn[WRITER], 0, 0);
    turns.runs = true;
}

/* Turns change faster on one CPU. */
static void run_on_one_cpu(void)
{
    cpu_set_t cpu;

    CPU_ZERO(&cpu);
    CPU_SET((unsigned)sched_getcpu(), &cpu);
    (void)sched_setaffinity(0, sizeof(cpu), &cpu);
}

static const char *try_order(const struct scene *scene)
{
    pthread_t writer;

    begin(scene);
    ck_assert_int_eq(
        pthread_create(&writer, NULL, write_meanwhile, (void *)scene->meanwhile), 0);
    const char *wrong = read_and_judge(scene->reads);
    pthread_join(writer, NULL);
    turns.runs = false;
    px_shm_segment_close(&now.writer);
    px_shm_segment_close(&now.reader);
    return wrong;
}

enum { N_SHORT = 16 };
static const struct scene scenes[] = {
    {"", "a1", 'a'},       /* the first key of its rank and table */
    {"b1", "a1", 'a'},     /* a new key */
    {"a1", "a2a3", 'a'},   /* a changed key */
    {"a1b1", "a-", 'a'},   /* a deleted key */
    {"a1", "a-a2", 'a'},   /* a key deleted and stored again */
    {"b1a1", "!!a2", 'a'}, /* stored again after its rank was cleared */
    {"a1b1", "**", 'a'},   /* deleted with its table */
    {"a1##", "b1a2", 'a'}, /* changed while the index grows */
    {"a1##", "b1a-", 'a'},
    {"a1a-##", "a2b1", 'a'},
    {"a1$$", "b1a2", 'a'},       /* changed while all data move */
    {"a1a2b1b2%%", "a3b3", 'a'}, /* its memory is reused for another key */
    {"a1", "b1", '*'},
    {"a1", "a2", '*'},
    {"a1", "!!", '*'},
    {"a1$$", "a2", '*'},
    /* many orders */
    {"a1a2%%", "a3a4", 'a'}, /* or for the same key */
    {"a1", "a-a3", '*'},
    {"a1a2%%", "a3a4", '*'},
    {"a1", "!!c1", '*'},
    {"a1##", "b1", '*'},
    {"a1b1", "a2", '*'},
    {"a1b1", "c1", '*'},
    {"a1b1", "!!", '*'},
    {"a1b1$$", "b2", '*'},
};

PX_TEST_LOOP(whatever_a_reader_finds_was_true_while_it_looked, (int)PX_COUNT(scenes))
{
    const struct scene *scene = &scenes[_i];
    unsigned n_tried = 0;

    if (_i >= (int)px_test_times(N_SHORT, PX_COUNT(scenes)))
        return;
    run_on_one_cpu();
    turns.n_given = 0;
    do {
        const char *wrong = try_order(scene);
        ck_assert_msg(!wrong, "\"%s\", \"%s\", reading %c, order %u: %s", scene->before,
                      scene->meanwhile, scene->reads, n_tried, wrong);
        n_tried++;
    } while (next_order());
    ck_assert_uint_gt(n_tried, 10);
}

/* ---- threads --------------------------------------------------------------------- */

enum { READERS = 3, MANY = 200 };

static struct {
    struct px_shm_segment writer, reader;
    atomic_uint round, n_wrong;
} many;

static struct px_shm_key many_key(unsigned i, char text[16])
{
    struct px_shm_key key = {.table = JOB, .rank = i % 7, .text = text};

    key.length = (uint16_t)snprintf(text, 16, "key.%u", i);
    return key;
}

static pmix_status_t count(void *arg, const struct px_shm_key *key PX_UNUSED,
                           const struct px_shm_value *value)
{
    unsigned *n = arg;

    *n += number_of(value) >= 0;
    return PMIX_SUCCESS;
}

/* Each value found must be from a round that lasted until the lookup, or from a later
 * one. */
static void *read_many(void *arg PX_UNUSED)
{
    char text[16];

    for (unsigned i = 0, n = 0; atomic_load(&many.round) < UINT32_MAX; i++) {
        unsigned least = atomic_load(&many.round);
        struct px_shm_key key = many_key(i % MANY, text);
        struct px_shm_value value;

        if (i % MANY == 0 && px_shm_walk(&many.reader, JOB, PMIX_RANK_UNDEF, count, &n))
            atomic_fetch_add(&many.n_wrong, 1);
        if (least && least < UINT32_MAX && i % 5 &&
            (!px_shm_find(&many.reader, &key, &value) ||
             number_of(&value) < (int)least))
            atomic_fetch_add(&many.n_wrong, 1);
    }
    return NULL;
}

static void write_many(unsigned n_rounds)
{
    for (uint32_t round = 1; round <= n_rounds; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            char text[16];
            const struct px_shm_value value = {
                .bytes = &round, .n = sizeof(round), .type = PMIX_UINT32};
            struct px_shm_key key = many_key(i, text);

            if (i % 5 == 0 && round % 2)
                px_shm_remove(&many.writer, &key);
            else
                ok(px_shm_put(&many.writer, &key, value));
        }
        atomic_store(&many.round, round);
    }
    atomic_store(&many.round, UINT32_MAX);
}

/* Address space for the writer's mapping, so that it never moves. */
enum { ROOM_B = 1 << 28 };
static uint8_t *room;

/* Replaces the C library's mremap, except outside the room. */
void *mremap(void *old, size_t size, size_t wanted, int flags, ...)
{
    bool is_here = room && old == room && wanted <= ROOM_B;

    if (is_here && munmap(room + size, wanted - size))
        return MAP_FAILED;
    return (void *)syscall(SYS_mremap, old, size, wanted, is_here ? 0 : flags);
}

/* Makes the reader use the writer's mapping, now and after growth, so that a sanitizer
 * detects races. */
static void read_in_the_writers(void)
{
    uint8_t *writers = many.writer.base;

    room = mmap(NULL, ROOM_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
    ck_assert_ptr_eq((void *)syscall(SYS_mremap, writers, (size_t)PX_SHM_FIRST,
                                     (size_t)PX_SHM_FIRST,
                                     MREMAP_MAYMOVE | MREMAP_FIXED, room),
                     room);
    munmap(many.reader.windows[0], PX_SHM_FIRST);
    many.writer.base = room;
    many.writer.windows[0] = room;
    for (unsigned w = 0; px_shm_window_start(w) < ROOM_B; w++)
        many.reader.windows[w] = room + px_shm_window_start(w);
}

/* Mapped twice, as in two processes, and mapped once. */
PX_TEST_LOOP(threads_read_while_it_grows, 2)
{
    pthread_t readers[READERS];

    px_shm_garbage = px_shm_spare = UINT64_MAX;
    ok(px_shm_segment_create(&many.writer, _i ? ROOM_B : 4096 * PX_SHM_FIRST));
    ok(px_shm_segment_attach(&many.reader, px_shm_segment_show(&many.writer)));
    if (_i)
        read_in_the_writers();
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_many, NULL), 0);
    write_many(px_test_times(300, 3000));
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    ck_assert_uint_eq(many.n_wrong, 0);
    ck_assert_uint_gt(many.writer.size, 4 * PX_SHM_FIRST);
    if (_i) {
        ck_assert_ptr_eq(many.writer.base, room);
        memset(many.reader.windows, 0, sizeof(many.reader.windows));
    }
    px_shm_segment_close(&many.reader);
    px_shm_segment_close(&many.writer);
}

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

PX_TEST_MAIN("components/shm_protocol", NULL, NULL)
