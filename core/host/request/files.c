/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a spawn request: files for output, and copies in the job's folder. */
#include "core/host/request/plan.h"

#include <string.h>

#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"

#define MAX_PRELOAD 1000 /* files of a job */

/* Returns the absolute path, malloc'd. Relative paths start at the inherited
 * directory. */
static char *absolute(const char *path, const struct px_spawn_request *req)
{
    const char *cwd = req && req->parent ? req->parent->cwd : NULL;
    PX_AUTOFREE char *here = *path == '/' || cwd ? NULL : get_current_dir_name();

    return *path == '/'  ? strdup(path)
           : cwd || here ? px_path_join(cwd ? cwd : here, path)
                         : NULL;
}

/* ---- output ---------------------------------------------------------------------- */

static pmix_status_t set_output(struct px_output_plan *o, const pmix_info_t *info,
                                bool of_app, const struct px_spawn_request *req,
                                struct px_err *err)
{
    const char *path = info->value.data.string;

    if (!*path)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: no name is given for files of output");
    if (o->path && o->path_of_app == of_app)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: output is to go to files of two names");
    free(o->path);
    o->path = absolute(path, req);
    o->path_of_app = of_app;
    o->files = strcmp(info->key, PMIX_OUTPUT_TO_FILE) == 0       ? PX_FILES_RANK
               : strcmp(info->key, PMIX_IOF_OUTPUT_TO_FILE) == 0 ? PX_FILES_CHANNEL
                                                                 : PX_FILES_DIR;
    return o->path ? PMIX_SUCCESS : px_err_nomem(err, "spawn");
}

/* ---- copies ---------------------------------------------------------------------- */

static bool goes_up(const char *path)
{
    for (; path; path = strchr(path, '/')) {
        path += *path == '/';
        if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || !path[2]))
            return true;
    }
    return false;
}

/* Adds a file to copy. path: absolute. Each name may occur once, since all copies go to
 * one folder. */
static pmix_status_t add_copy(char ***all, const char *path, struct px_err *err)
{
    const char *name = strrchr(path, '/') + 1;

    if (goes_up(path) || !*name || strcmp(name, ".") == 0)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot preload %.300s: %s", path,
                          goes_up(path) ? "it has \"..\" in its path"
                                        : "it names no file");
    for (char **other = *all; other && *other; other++)
        if (strcmp(strrchr(*other, '/') + 1, name) == 0)
            return strcmp(*other, path) == 0
                       ? PMIX_SUCCESS
                       : px_err_set(err, PMIX_ERR_BAD_PARAM,
                                    "cannot preload %.200s: %.200s has the same name",
                                    path, *other);
    if (px_strv_count(*all) == MAX_PRELOAD)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                          "cannot preload %.300s: more than %d files", path,
                          MAX_PRELOAD);
    return px_strv_append(all, path) ? px_err_nomem(err, "spawn") : PMIX_SUCCESS;
}

static pmix_status_t set_preload(struct px_app_plan *app, const pmix_info_t *info,
                                 const struct px_spawn_request *req, struct px_err *err)
{
    PX_AUTO(px_strv) names = px_strv_split(info->value.data.string, ',', false);
    PX_AUTO(px_strv) all = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && names && names[i]; i++) {
        PX_AUTOFREE char *path = absolute(names[i], req);

        rc = path ? add_copy(&all, path, err) : px_err_nomem(err, "spawn");
    }
    if (rc)
        return rc;
    px_strv_free(app->preload);
    app->preload = px_take(&all);
    return PMIX_SUCCESS;
}

/* Refuses copies with the name of a rank's folder, which is made later. */
static pmix_status_t check_names(const px_plan *plan, struct px_err *err)
{
    for (char **path = plan->preload; path && *path; path++) {
        const char *name = strrchr(*path, '/') + 1;
        uint64_t rank;

        if (px_str_to_u64(name, 0, UINT32_MAX, &rank) && rank < plan->n_tasks)
            return px_err_set(err, PMIX_ERR_EXISTS,
                              "cannot preload %.300s: the folder of rank %u has this "
                              "name",
                              *path, (unsigned)rank);
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_plan_preload(px_plan *plan, struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < plan->n_apps; i++) {
        struct px_app_plan *app = &plan->apps[i];

        if (app->preloaded) {
            char *path = absolute(app->program, NULL);

            if (!path)
                return px_err_nomem(err, "spawn");
            free(app->program);
            app->program = path;
            rc = add_copy(&plan->preload, path, err);
        }
        for (char **path = app->preload; !rc && path && *path; path++)
            rc = add_copy(&plan->preload, *path, err);
    }
    return rc ? rc : check_names(plan, err);
}

/* ---- attributes ------------------------------------------------------------------ */

pmix_status_t px_plan_files(struct px_app_plan *app, const pmix_info_t *info,
                            bool of_app, const struct px_spawn_request *req,
                            struct px_err *err)
{
    return strcmp(info->key, PMIX_PRELOAD_FILES) == 0
               ? set_preload(app, info, req, err)
               : set_output(&app->output, info, of_app, req, err);
}
