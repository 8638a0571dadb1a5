/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses with a line that describes the error. */
#ifndef SIM_ERROR_H
#define SIM_ERROR_H

#include <stdarg.h>
#include <stdio.h>

#include <pmix_common.h>

struct sim_error {
    char text[256];
};

/* Writes the line and returns the status. */
static inline pmix_status_t __attribute__((format(printf, 3, 4)))
sim_fail(struct sim_error *error, pmix_status_t status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(error->text, sizeof(error->text), fmt, args);
    va_end(args);
    return status;
}

static inline pmix_status_t sim_no_memory(struct sim_error *error)
{
    return sim_fail(error, PMIX_ERR_NOMEM, "out of memory");
}

#endif
