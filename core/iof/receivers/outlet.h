/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of one stream of a process on its way from a receiver to a sink. Used by
 * receiver.c. Loop thread only. */
#ifndef PX_IOF_OUTLET_H
#define PX_IOF_OUTLET_H

#include "core/iof/receivers/receiver.h"

struct px_iof_outlet;

/* Returns the outlet of a stream, and creates it if necessary. Returns NULL if memory
 * is exhausted. */
struct px_iof_outlet *px_iof_outlet_get(struct px_iof_receiver *receiver,
                                        const pmix_proc_t *source,
                                        pmix_iof_channel_t channel);
/* Reads the infos of a piece: the count of bytes that the server dropped, and host and
 * pid for heads. */
void px_iof_outlet_note(struct px_iof_outlet *outlet, const px_infos *info);
/* Writes the bytes of a piece, or ends the stream. Bytes beyond the room wait. */
void px_iof_outlet_take(struct px_iof_outlet *outlet, const struct px_args *piece);
/* Passes on gathered bytes, also an incomplete line. */
void px_iof_outlet_flush(struct px_iof_outlet *outlet);
/* Ends the stream after the waiting bytes. */
void px_iof_outlet_finish(struct px_iof_outlet *outlet);
/* Continues an outlet that waits for the receiver's function. */
void px_iof_outlet_wake(struct px_iof_outlet *outlet);
/* Returns the number of bytes in the stream. */
size_t px_iof_outlet_held(const struct px_iof_outlet *outlet);
void px_iof_outlet_destroy(struct px_iof_outlet *outlet);

#endif
