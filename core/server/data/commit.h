/* SPDX-License-Identifier: BSD-3-Clause */
/* Commits of values by clients. */
#ifndef PX_SERVER_DATA_COMMIT_H
#define PX_SERVER_DATA_COMMIT_H

#include "core/types/type.h"

struct px_req;
struct px_server;

/* Serves PX_OP_COMMIT. Stores all values of a commit, or none if one is damaged. */
pmix_status_t px_commit_request(struct px_server *srv, struct px_req *req);

#endif
