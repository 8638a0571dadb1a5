/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of one stream of one process on its way from a receiver to a sink. For
 * receiver.c. Loop thread only. */
#ifndef PX_IOF_OUTLET_H
#define PX_IOF_OUTLET_H

#include "core/iof/receivers/receiver.h"

struct px_iof_outlet;

/* Returns the outlet of a stream, new if there is none. NULL: out of memory. */
struct px_iof_outlet *px_iof_outlet_get(struct px_iof_receiver *receiver,
                                        const pmix_proc_t *source,
                                        pmix_iof_channel_t channel);
/* Notes the infos of a piece: bytes that the server has dropped, and for marks the host
 * and pid of the source. */
void px_iof_outlet_note(struct px_iof_outlet *outlet, const px_infos *info);
/* Writes the bytes of a piece, or ends the stream. Bytes without room wait. */
void px_iof_outlet_take(struct px_iof_outlet *outlet, const struct px_args *piece);
/* Passes on gathered bytes, also a line without end. */
void px_iof_outlet_flush(struct px_iof_outlet *outlet);
/* Ends the stream behind the bytes that wait. */
void px_iof_outlet_finish(struct px_iof_outlet *outlet);
/* Goes on if the outlet waits for the receiver's function. */
void px_iof_outlet_wake(struct px_iof_outlet *outlet);
/* Returns the bytes in the stream. */
size_t px_iof_outlet_held(const struct px_iof_outlet *outlet);
void px_iof_outlet_destroy(struct px_iof_outlet *outlet);

#endif
