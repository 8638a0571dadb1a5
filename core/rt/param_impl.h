/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the parameters share, and what the loader tells them: param.c
 * (settings and tables), param_source.c (files and environment), param_type.c (text to
 * value). */
#ifndef PX_RT_PARAM_IMPL_H
#define PX_RT_PARAM_IMPL_H

#include "core/rt/param.h"

/* Where to read from; px_params_create fills it in for this process. */
struct px_param_origin {
    const char *sysconfdir;
    const char *home; /* NULL: no user file */
    char *const *env; /* NULL: none */
    bool guarded;     /* more rights than its user: mistrust files of others */
};

pmix_status_t px_params_create_from(const struct px_param_origin *origin,
                                    struct px_params **out, struct px_err *err);

/* An absent file is fine, and so is one that cannot be read, with a warning. A line
 * that is not "name = value" is an error that names it: configuration half read is
 * worse than none. */
pmix_status_t px_params_read_file(struct px_params *p, const char *path,
                                  enum px_param_source source, bool guarded,
                                  struct px_err *err);
pmix_status_t px_params_read_env(struct px_params *p, char *const *env);

/* Names that begin so are ours to judge: px_params_warn_unknown looks at no other. */
pmix_status_t px_params_judge(struct px_params *p, const char *prefix);
/* Names that begin so belong to a component that this process has not opened. */
pmix_status_t px_params_pardon(struct px_params *p, const char *prefix);

/* Stores text in *member as param's kind wants it; false, and *member unchanged, if it
 * is not such a value or out of range. A string is borrowed. */
bool px_param_from_text(const struct px_param *param, const char *text, void *member);
/* "an integer from 1 to 65535", for messages. */
void px_param_expected(const struct px_param *param, char *text, size_t size);
/* How many bytes of the configuration structure a parameter of this kind takes; 0: no
 * such kind. */
size_t px_param_size(enum px_param_kind kind);

#endif
