/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiler attributes and scope-bound cleanup. GNU extensions are confined to this file
 * and vec.h. */
#ifndef PX_BASE_ATTR_H
#define PX_BASE_ATTR_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define PX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define PX_EXPORT            __attribute__((visibility("default")))
#define PX_UNUSED            __attribute__((unused))
#define PX_NORETURN          __attribute__((noreturn))
/* Marks a function for a rare case. If the compiler inlined the function, its caller
 * would save more registers in the frequent case, too. */
#define PX_NOINLINE __attribute__((noinline))

/* Attributes for functions that must run on the loop thread. clang checks them at
 * compile time. */
#if defined(__clang__)
struct __attribute__((capability("loop"))) px_loop_cap {
    char unused;
};
extern struct px_loop_cap px_on_loop;
#define PX_LOOP_ONLY    __attribute__((requires_capability(px_on_loop)))
#define PX_ASSERTS_LOOP __attribute__((assert_capability(px_on_loop)))
#else
#define PX_LOOP_ONLY
#define PX_ASSERTS_LOOP
#endif

#define PX_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PX_CONTAINER_OF(ptr, type, member) \
    ((type *)((char *)(ptr)-offsetof(type, member)))

/* Repeats a system call until no signal interrupts it, and yields the result:
 * n = PX_RETRY(read(fd, bytes, size)); */
#define PX_RETRY(call)                    \
    (__extension__({                      \
        __typeof__(call) r_;              \
        do                                \
            r_ = (call);                  \
        while (r_ < 0 && errno == EINTR); \
        r_;                               \
    }))

/* PX_AUTO(px_strv) v = {0};  calls px_strv_cleanup(&v) when v leaves scope. */
#define PX_AUTO(type) __attribute__((cleanup(type##_cleanup))) type
#define PX_AUTOFREE   __attribute__((cleanup(px_autofree)))
#define PX_AUTOCLOSE  __attribute__((cleanup(px_autoclose)))

static inline void px_autofree(void *pp)
{
    free(*(void **)pp);
}

static inline void px_autoclose(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Transfers ownership out of a scope: yields the pointer and sets *pp to NULL. */
#define px_take(pp)                   \
    (__extension__({                  \
        __typeof__(*(pp)) p_ = *(pp); \
        *(pp) = NULL;                 \
        p_;                           \
    }))

/* Closes *fd unless *fd is -1, and sets *fd to -1. */
static inline void px_drop_fd(int *fd)
{
    px_autoclose(fd);
    *fd = -1;
}

static inline int px_take_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

#endif
