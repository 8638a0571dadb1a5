/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that an engine writes: output of the processes, and messages of its own. */
#ifndef ENGINE_LINES_H
#define ENGINE_LINES_H

#include "engine.h"

#include <poll.h>

enum engine_source {
    ENGINE_STDOUT, /* of the processes */
    ENGINE_STDERR,
    ENGINE_OWN, /* messages of srun */
    ENGINE_SOURCES,
};

struct engine_lines {
    const struct engine_job *job;
    int fds[ENGINE_SOURCES]; /* -1: none, or at its end */
    struct engine_buffer {
        char bytes[65536];
        size_t n;
        bool is_inside; /* the last byte passed on was not the end of a line */
    } buffers[ENGINE_SOURCES];
    bool is_blocked; /* the reader of stderr takes nothing */
    bool is_ending;  /* pmixrun ends the job: failures are expected */
    bool failed;
    int failure_status; /* of the first process that failed */
    char *held;         /* a report that waits for the daemon's reason, or NULL */
    int exec_status;    /* of a program that cannot be run; 0: none */
};

void engine_lines_init(struct engine_lines *lines, const struct engine_job *job);
/* Adds the descriptors to wait for. Returns their number, up to ENGINE_SOURCES + 1. */
int engine_lines_poll(const struct engine_lines *lines, struct pollfd *fds);
/* Reads what is there, and passes it on. */
void engine_lines_read(struct engine_lines *lines);
/* True before the end of all sources. */
bool engine_lines_left(const struct engine_lines *lines);
/* Reports what is left. */
void engine_lines_end(struct engine_lines *lines);

#endif
