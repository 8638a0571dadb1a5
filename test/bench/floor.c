/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of the kernel and the C library for the least work of each call. No library with the same work can
 * be faster. */
#include "bench.h"

#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum {
    N = 200,
    SLOTS = 1 << 12,
    N_LOOKUPS = 16 * SLOTS,
    LARGE_B = 64 << 10,
    MESSAGE_B = 4096
};

/* Starts a child for fn, which ends after fn or with this process. */
static pid_t start(void (*fn)(int fd, int n), int fd, int n)
{
    pid_t pid = fork();

    must_do("fork", pid);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fn(fd, n);
        _exit(EXIT_SUCCESS);
    }
    return pid;
}

static void await_all(void)
{
    int status;

    while (wait(&status) > 0)
        if (status)
            exit(EXIT_FAILURE);
}

/* Measures a look-up by name among many, and a copy of the value. */
static double look_up(void)
{
    static struct {
        char key[24];
        char value[64];
    } slots[SLOTS];
    char key[24];
    double begin = 0;

    for (int i = 0; i < SLOTS; i++)
        snprintf(slots[i].key, sizeof(slots[i].key), "bench.key.%d", i);
    for (int i = 0; i < N_LOOKUPS; i++) {
        uint32_t hash = 2166136261u;
        int at = (i * 7919) % SLOTS;
        char *copy;

        begin = i == SLOTS ? now() : begin; /* all was read once */
        memcpy(key, slots[at].key, sizeof(key));
        for (const char *c = key; *c; c++)
            hash = (hash ^ (uint8_t)*c) * 16777619u;
        __asm__ volatile("" : : "r"(hash));
        must_do("look-up", strcmp(slots[at].key, key) ? -1 : 0);
        copy = malloc(64);
        memcpy(copy, slots[at].value, 64);
        __asm__ volatile("" : : "r"(copy) : "memory");
        free(copy);
    }
    return (now() - begin) / (N_LOOKUPS - SLOTS);
}

static void look_up_beside(int fd, int n)
{
    barrier(bench.board, (uint32_t)n);
    look_up();
}

/* Measures in x processes, at most one per processor: processes on threads of one core slow each other
 * down. */
void floor_get(int x)
{
    const int most = (int)sysconf(_SC_NPROCESSORS_ONLN), n = x < most ? x : most;

    for (int i = 1; i < n; i++)
        start(look_up_beside, -1, n);
    barrier(bench.board, (uint32_t)n);
    print_row("lookup", look_up());
    await_all();
}

void floor_copy(int x)
{
    static char to[LARGE_B], from[LARGE_B];
    double begin = now();

    for (int i = 0; i < N; i++) {
        memcpy(to, from, sizeof(to));
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    print_row("memcpy64k", (now() - begin) / N);
}

static void echo(int fd, int n)
{
    char byte;

    for (; n > 0 && read(fd, &byte, 1) == 1; n--)
        must_do("write", write(fd, &byte, 1));
}

void floor_trip(int x)
{
    int pair[2];
    double begin;
    char byte = 0;

    must_do("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    start(echo, pair[1], 10 * N);
    begin = now();
    for (int i = 0; i < 10 * N; i++) {
        must_do("write", write(pair[0], &byte, 1));
        must_do("read", read(pair[0], &byte, 1));
    }
    print_row("trip", (now() - begin) / (10 * N));
    await_all();
}

static void greet(int fd, int n)
{
    static char message[MESSAGE_B];

    for (; n > 0; n--) {
        int client = accept(fd, NULL, NULL);

        must_do("accept", client);
        for (int i = 0; i < 2; i++) {
            must_do("read", recv(client, message, sizeof(message), MSG_WAITALL));
            must_do("write", write(client, message, sizeof(message)));
        }
        close(client);
    }
}

/* Measures a connection with two exchanges of some KiB. */
void floor_connect(int x)
{
    static char message[MESSAGE_B];
    struct sockaddr_un address = {
        .sun_family = AF_UNIX}; /* no name: the kernel makes one */
    socklen_t size = sizeof(address);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    double begin;

    must_do("bind", bind(fd, (void *)&address, sizeof(address.sun_family)));
    must_do("name", getsockname(fd, (void *)&address, &size));
    must_do("listen", listen(fd, 8));
    start(greet, fd, N);
    begin = now();
    for (int i = 0; i < N; i++) {
        int s = socket(AF_UNIX, SOCK_STREAM, 0);

        must_do("connect", connect(s, (void *)&address, size));
        for (int k = 0; k < 2; k++) {
            must_do("write", write(s, message, sizeof(message)));
            must_do("read", recv(s, message, sizeof(message), MSG_WAITALL));
        }
        close(s);
    }
    print_row("connect", (now() - begin) / N);
    await_all();
}

static void knock(int fd, int n)
{
    char byte = 0;

    for (; n > 0; n--) {
        must_do("write", write(fd, &byte, 1));
        must_do("read", read(fd, &byte, 1));
    }
}

/* Measures a server that waits for x clients, then lets them go on. */
void floor_fence(int x)
{
    struct epoll_event events[MAX_CLIENTS];
    int epoll = epoll_create1(0), fds[MAX_CLIENTS], pair[2], arrived = 0;
    double begin = 0;
    char byte;

    for (int i = 0; i < x; i++) {
        must_do("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
        fds[i] = pair[0];
        events[0] = (struct epoll_event){EPOLLIN, {.fd = pair[0]}};
        must_do("epoll", epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &events[0]));
        start(knock, pair[1], N + 1);
        close(pair[1]);
    }
    for (int round = -1; round < N;) {
        int n = epoll_wait(epoll, events, MAX_CLIENTS, -1);

        for (int i = 0; i < n; i++)
            must_do("read", read(events[i].data.fd, &byte, 1));
        arrived += n > 0 ? n : 0;
        if (arrived < x)
            continue;
        arrived = 0;
        begin = ++round ? begin : now(); /* all were started */
        for (int i = 0; i < x; i++)
            must_do("write", write(fds[i], &byte, 1));
    }
    print_row("epoll", (now() - begin) / N);
    await_all();
}

static void meet_often(int fd, int n)
{
    for (int i = 0; i <= N; i++)
        barrier(bench.board, (uint32_t)n);
}

void floor_futex(int x)
{
    double begin;

    for (int i = 1; i < x; i++)
        start(meet_often, -1, x);
    barrier(bench.board, (uint32_t)x);
    begin = now();
    for (int i = 0; i < N; i++)
        barrier(bench.board, (uint32_t)x);
    print_row("futex", (now() - begin) / N);
    await_all();
}

/* Measures x processes from the start until all have ended, per process. */
void floor_spawn(int x)
{
    char *args[] = {(char *)"true", NULL}, *env[] = {NULL};
    double begin = now();
    pid_t pid;

    for (int i = 0; i < x; i++)
        must_do("spawn", -posix_spawn(&pid, "/bin/true", NULL, NULL, args, env));
    await_all();
    print_row("spawn", (now() - begin) / x);
}
