/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/os/os.h"

#include "core/base/attr.h"

#include "px_test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

enum { N_PAGES = 64 };

static size_t page_b;
static char *pages;

static void setup(void)
{
    page_b = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, N_PAGES * page_b, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
}

static void teardown(void)
{
    munmap(pages, N_PAGES * page_b);
}

/* Returns the number of pages that are backed. */
static size_t n_backed(void)
{
    unsigned char in[N_PAGES];
    size_t n = 0;

    ck_assert_int_eq(mincore(pages, N_PAGES * page_b, in), 0);
    for (size_t i = 0; i < N_PAGES; i++)
        n += in[i] & 1;
    return n;
}

static bool populates(void)
{
    char *one = mmap(NULL, page_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    bool can = madvise(one, page_b, MADV_POPULATE_WRITE) == 0;

    munmap(one, page_b);
    return can;
}

/* Begin and end of a range, and the number of pages that are backed. */
static const struct {
    size_t begin_b, end_pages, end_b, n;
} ranges[] = {
    {0, 0, 0, 0},  {9, 0, 9, 0},
    {0, 0, 1, 1},  {1, 1, 0, 1},
    {0, 1, 1, 2},  {7, N_PAGES, 0, N_PAGES},
    {5, 2, 17, 3}, {0, N_PAGES, 0, N_PAGES},
};

PX_TEST_LOOP(pages_of_a_range_are_backed, PX_COUNT(ranges))
{
    const size_t end = ranges[_i].end_pages * page_b + ranges[_i].end_b;

    PX_TEST_NEEDS(populates(), "MADV_POPULATE_WRITE");
    px_os_populate(pages + ranges[_i].begin_b, end - ranges[_i].begin_b);
    ck_assert_uint_eq(n_backed(), ranges[_i].n);
}

PX_TEST(content_remains)
{
    memset(pages, 7, page_b);
    px_os_populate(pages, 2 * page_b);
    ck_assert(pages[0] == 7 && pages[page_b - 1] == 7 && pages[page_b] == 0);
}

PX_TEST_MAIN("os/pages", setup, teardown)
