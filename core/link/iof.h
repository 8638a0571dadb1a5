/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarded output, and its receivers in this process. Loop thread only. */
#ifndef PX_LINK_IOF_H
#define PX_LINK_IOF_H

#include "core/base/list.h"
#include "core/wire/codec.h"
#include "pmix_tool.h"

/* One PMIx_IOF_pull of this process; in px_iofs. */
struct px_iof {
    struct px_list link;
    size_t id;          /* the user's and the message's name for it; never 0 */
    pmix_proc_t server; /* that was asked; a tool may ask another one next */
    size_t server_id;   /* the server's, once it has answered */
    bool registered;    /* it has */
    pmix_iof_cbfunc_t fn;
};

struct px_iofs {
    struct px_list list;   /* struct px_iof */
    struct px_list pieces; /* which they have not had yet */
    size_t last_id;
};

void px_iofs_init(struct px_iofs *iofs);
void px_iofs_fini(struct px_iofs *iofs);
/* PMIX_ERR_NOMEM. */
pmix_status_t px_iof_add(struct px_iofs *iofs, pmix_iof_cbfunc_t fn,
                         struct px_iof **iof);
struct px_iof *px_iof_find(const struct px_iofs *iofs, size_t id);
void px_iof_remove(struct px_iof *iof);

/* Reads a message of PX_TAG_IOF (px_request_piece; id is its receiver's, no bytes are
 * the end of a stream) and hands it to its receiver. PMIX_ERR_NOT_FOUND if that one has
 * gone; or why it cannot be read. */
pmix_status_t px_iof_receive(struct px_iofs *iofs, px_reader *r);

#endif
