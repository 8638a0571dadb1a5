/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/ends.h"

#include "core/base/attr.h"
#include "core/iof/stream.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "frameworks/framework.h"
#include "tenon/piof.h"

#include <errno.h>
#include <sys/stat.h>

/* ---- sinks ----------------------------------------------------------------------- */

/* Makes a sink. arg is the module's own sink, or the function's argument. */
static struct px_iof_sink *make_sink(const struct px_module *module, void *arg,
                                     const char *name)
{
    struct px_iof_sink *sink = calloc(1, sizeof(*sink));

    if (!sink)
        return NULL;
    sink->module = module;
    sink->arg = arg;
    sink->name = name;
    px_list_init(&sink->streams);
    px_list_init(&sink->queue);
    return sink;
}

pmix_status_t px_iof_sink_open(const struct px_piof_target *target, const char *name,
                               struct px_iof_sink **sink, struct px_err *err)
{
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    size_t n;
    const struct px_module *m = px_modules("piof", &n);
    void *made = NULL;

    for (size_t i = 0; i < n && rc == PMIX_ERR_NOT_SUPPORTED; i++) {
        rc = PX_OPS(piof, &m[i])->open_sink(m[i].self, target, &made);
        if (rc)
            continue;
        *sink = make_sink(&m[i], made, name);
        if (*sink)
            return PMIX_SUCCESS;
        PX_OPS(piof, &m[i])->close_sink(m[i].self, made);
        rc = PMIX_ERR_NOMEM;
    }
    return px_err_set(err, rc, "cannot write to %s: %s", name,
                      rc == PMIX_ERR_NOT_SUPPORTED ? "no component of piof takes it"
                      : rc == PMIX_ERR_BAD_PARAM   ? "it is not open for writing"
                                                   : PMIx_Error_string(rc));
}

pmix_status_t px_iof_sink_create(px_iof_write_fn write, void *arg, const char *name,
                                 struct px_iof_sink **sink)
{
    *sink = make_sink(NULL, arg, name);
    if (!*sink)
        return PMIX_ERR_NOMEM;
    (*sink)->write = write;
    return PMIX_SUCCESS;
}

void px_iof_sink_close(struct px_iof_sink *sink)
{
    if (!sink)
        return;
    sink->closed = true;
    if (sink->busy)
        return;
    px_watch_free(sink->watch);
    if (sink->module)
        PX_OPS(piof, sink->module)->close_sink(sink->module->self, sink->arg);
    free(sink);
}

void px_iof_sink_has_room(struct px_iof_sink *sink)
{
    sink->waits = false;
    px_stream_serve(sink);
}

static void on_writable(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct px_iof_sink *sink = arg;

    (void)px_watch_set(sink->watch, 0);
    px_iof_sink_has_room(sink);
}

/* Starts to watch for room in the sink. Returns false if watching is impossible: the
 * kernel is out of resources, or the module has no descriptor for it. */
static bool await_room(struct px_iof_sink *sink)
{
    int fd = sink->module
                 ? PX_OPS(piof, sink->module)->room_fd(sink->module->self, sink->arg)
                 : -1;

    if (!sink->module)
        return true;
    if (sink->watch)
        return px_watch_set(sink->watch, PX_WRITABLE) == PMIX_SUCCESS;
    if (fd >= 0)
        sink->watch = px_watch_create(px_process.loop, fd, PX_WRITABLE, on_writable,
                                      sink);
    return sink->watch;
}

ssize_t px_iof_sink_write(struct px_iof_sink *sink, const void *bytes, size_t n)
{
    const struct iovec v = {(void *)bytes, n};
    ssize_t done =
        sink->module
            ? PX_OPS(piof, sink->module)->writev(sink->module->self, sink->arg, &v, 1)
            : sink->write(sink->arg, &v, 1);

    if (done >= 0 || errno != EAGAIN)
        return done;
    sink->waits = await_room(sink);
    errno = sink->waits ? EAGAIN : ENOMEM;
    return -1;
}

/* ---- this process's own stdout and stderr ---------------------------------------- */

static const char *const std_names[2] = {"standard output", "standard error"};

static void free_std(struct px_iof_std *std)
{
    if (std->of[1] != std->of[0])
        px_iof_sink_close(std->of[1]);
    px_iof_sink_close(std->of[0]);
    free(std);
}

pmix_status_t px_iof_std_get(const struct px_iof_std **out)
{
    struct px_iof_std *std = px_process.iof;
    struct stat output, errors;
    struct px_err err = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    if (!std && !(std = calloc(1, sizeof(*std))))
        return PMIX_ERR_NOMEM;

    for (int i = 0; !rc && i < 2 && !std->of[i]; i++) {
        const struct px_piof_target target = {.size = sizeof(target),
                                              .fd = STDOUT_FILENO + i};

        if (i == 1 && fstat(STDOUT_FILENO, &output) == 0 &&
            fstat(STDERR_FILENO, &errors) == 0 && output.st_dev == errors.st_dev &&
            output.st_ino == errors.st_ino) {
            std->of[1] = std->of[0];
            break;
        }
        rc = px_iof_sink_open(&target, std_names[i], &std->of[i], &err);
        if (rc == PMIX_ERR_NOT_SUPPORTED || rc == PMIX_ERR_BAD_PARAM)
            px_log(PX_LOG_ERROR, "output", "%s", err.text);
        if (rc && rc != PMIX_ERR_NOMEM) {
            rc = px_iof_sink_create(NULL, NULL, std_names[i], &std->of[i]);
            if (!rc)
                std->of[i]->broken = true;
        }
    }
    if (rc) {
        free_std(std);
        return rc;
    }
    std->users++;
    px_process.iof = std;
    *out = std;
    return PMIX_SUCCESS;
}

void px_iof_std_put(void)
{
    struct px_iof_std *std = px_process.iof;

    if (--std->users > 0)
        return;
    px_process.iof = NULL;
    free_std(std);
}

/* ---- sources --------------------------------------------------------------------- */

pmix_status_t px_iof_source_open(const struct px_piof_source *wanted,
                                 struct px_piof_ends *ends, struct px_err *err)
{
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    const char *what = wanted->kind == PX_PIOF_PIPES ? "pipe" : "terminal";
    size_t n;
    const struct px_module *m = px_modules("piof", &n);

    for (size_t i = 0; i < n && rc == PMIX_ERR_NOT_SUPPORTED; i++) {
        errno = 0;
        rc = PX_OPS(piof, &m[i])->open_source(m[i].self, wanted, ends);
    }
    return rc ? px_err_set(err, rc, "cannot make a %s: %s", what,
                           rc == PMIX_ERR_NOT_SUPPORTED ? "no component of piof does"
                           : errno                      ? strerror(errno)
                                                        : PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}
