/* SPDX-License-Identifier: BSD-3-Clause */
/* A disk that cannot be read any more from some place on: ext4 on a loop device, whose file is cut off
 * where the list of one folder begins. Nothing of it outlives its mount. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISK_B    (32 << 20)
#define N_FOLDERS 6
#define BETWEEN_B (1 << 20) /* so that their lists are far from each other */

static bool make_disk(int disk)
{
    char path[64];
    const char *const mkfs[] = {"mkfs.ext4", "-q",           "-F", "-b", "1024",
                                "-O",        "^has_journal", path, NULL};

    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), disk);
    return disk >= 0 && ftruncate(disk, DISK_B) == 0 && run_program(mkfs) == 0;
}

static bool mount_disk(const struct scene *s, int disk)
{
    struct loop_config config = {.fd = (unsigned)disk,
                                 .info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), loop = -1;
    bool good = false;
    char path[64];

    /* Somebody else may take the free one first. */
    for (int i = 0; control >= 0 && i < 10 && !good; i++) {
        snprintf(path, sizeof path, "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
        loop = open(path, O_RDWR | O_CLOEXEC);
        good = loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &config) == 0;
        if (!good && loop >= 0)
            close(loop);
    }
    good = good && mount(path, at(s, "m"), "ext4", MS_NOSUID | MS_NODEV,
                         "errors=continue") == 0;
    if (loop >= 0)
        close(loop);
    if (control >= 0)
        close(control);
    return good;
}

static void fill(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0 || fallocate(fd, 0, 0, BETWEEN_B) || fchown(fd, USER, USER))
        die("cannot make %s", path);
    close(fd);
}

/* Where on the disk the folder's list is. */
static off_t place_of(const char *path)
{
    union {
        struct fiemap map;
        char room[sizeof(struct fiemap) + sizeof(struct fiemap_extent)];
    } all = {.map = {.fm_length = FIEMAP_MAX_OFFSET,
                     .fm_flags = FIEMAP_FLAG_SYNC,
                     .fm_extent_count = 1}};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || ioctl(fd, FS_IOC_FIEMAP, &all.map) || all.map.fm_mapped_extents != 1)
        die("where is %s?", path);
    close(fd);
    return (off_t)all.map.fm_extents[0].fe_physical;
}

static const char *folder(unsigned i)
{
    static char name[32];

    snprintf(name, sizeof name, "m/top/d%u", i);
    return name;
}

/* Returns the folder whose list is the last on the disk, and where that is. */
static unsigned populate(struct scene *s, off_t *place)
{
    char words[120];
    unsigned last = 0;

    make(s, "d:m/top");
    for (unsigned i = 0; i < N_FOLDERS; i++) {
        snprintf(words, sizeof words, "d:%s f:%s/f", folder(i), folder(i));
        make(s, words);
        snprintf(words, sizeof words, "%s/fill", folder(i));
        fill(at(s, words));
    }
    *place = place_of(at(s, "m/top"));
    for (unsigned i = 0; i < N_FOLDERS; i++) {
        off_t here = place_of(at(s, folder(i)));

        if (here < *place)
            continue;
        *place = here;
        last = i;
    }
    if (*place == place_of(at(s, "m/top")))
        die("the top is the last on the disk");
    return last;
}

void case_disk(struct scene *s)
{
    int disk = memfd_create("disk", MFD_CLOEXEC);
    off_t place = 0;
    unsigned torn;

    if (!case_begin(s, "a disk that cannot be read")) {
        close(disk);
        return;
    }
    make(s, "T:top d:m");
    if (!make_disk(disk) || !mount_disk(s, disk))
        s->missing = "ext4 on a loop device";
    if (!left_out(s)) {
        torn = populate(s, &place);
        /* Mounted anew, it has nothing of them in memory. */
        if (umount2(at(s, "m"), 0) || !mount_disk(s, disk) || ftruncate(disk, place))
            die("cannot spoil the disk");
        reg(s, "D:m/top D:top");
        sweep(s);
        gone(s, "top");
        for (unsigned i = 0; i < N_FOLDERS; i++)
            (i == torn ? stays : gone)(s, folder(i));
        umount2(at(s, "m"), MNT_DETACH);
    }
    close(disk);
    case_end(s);
}
