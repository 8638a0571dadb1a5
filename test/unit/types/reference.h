/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference implementation as installed on the system, to compare answers with. */
#ifndef REFERENCE_H
#define REFERENCE_H

/* Handle for dlsym; NULL if no OpenPMIx 4.2 is installed. */
void *reference_open(void);

#endif
