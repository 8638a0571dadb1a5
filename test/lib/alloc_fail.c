/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator of a test executable: glibc's with a counter. A definition in the executable also serves
 * libc itself (strdup, vasprintf) and other libraries, which the linker's --wrap does not. Builds with
 * sanitizers leave this allocator out, because sanitizers have their own. */
#include "alloc_fail.h"

#include "core/base/attr.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

static atomic_bool counting;
static atomic_uint n_allocs;
static atomic_uint fail_at;
static atomic_bool has_failed;
static atomic_int balance;

void px_alloc_fail_at(unsigned nth)
{
    n_allocs = 0;
    fail_at = nth;
    has_failed = false;
    balance = 0;
    counting = true;
}

unsigned px_alloc_count(void)
{
    return n_allocs;
}

int px_alloc_balance(void)
{
    return balance;
}

bool px_alloc_fail_end(void)
{
    counting = false;
    return has_failed;
}

bool px_alloc_next(unsigned *nth)
{
    if (*nth && !has_failed)
        return false;
    px_alloc_fail_at(++*nth);
    return true;
}

bool px_alloc_can_fail(void)
{
    void *(*volatile alloc)(
        size_t) = malloc; /* not inlined: others may have replaced it */

    px_alloc_fail_at(1);
    free(alloc(1));
    return px_alloc_fail_end();
}

#if defined(__GLIBC__) && !defined(SANITIZED)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t unit, size_t size);
extern void __libc_free(void *p);

static _Thread_local bool is_spared; /* allocations of this thread do not fail */

static bool must_fail(void)
{
    if (!counting || is_spared || ++n_allocs != fail_at)
        return false;
    has_failed = true;
    errno = ENOMEM;
    return true;
}

static void *count_new(void *p)
{
    if (counting && p)
        balance++;
    return p;
}

PX_EXPORT void *malloc(size_t size)
{
    return must_fail() ? NULL : count_new(__libc_malloc(size));
}

PX_EXPORT void *calloc(size_t n, size_t size)
{
    return must_fail() ? NULL : count_new(__libc_calloc(n, size));
}

PX_EXPORT void *aligned_alloc(size_t unit, size_t size)
{
    return must_fail() ? NULL : count_new(__libc_memalign(unit, size));
}

PX_EXPORT void *realloc(void *p, size_t size)
{
    if (must_fail())
        return NULL;
    return p ? __libc_realloc(p, size) : count_new(__libc_realloc(NULL, size));
}

PX_EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, n * size);
}

PX_EXPORT void free(void *p)
{
    if (counting && p)
        balance--;
    __libc_free(p);
}

/* Calls libltdl's function, whose own allocations do not fail. */
void *lt_dlopenadvise(const char *file, void *advise);
PX_EXPORT void *lt_dlopenadvise(const char *file, void *advise)
{
    void *(*real)(const char *, void *);

    is_spared = true;
    *(void **)&real = dlsym(RTLD_NEXT, "lt_dlopenadvise");
    void *handle = real ? real(file, advise) : NULL;
    is_spared = false;
    return handle;
}

#endif
