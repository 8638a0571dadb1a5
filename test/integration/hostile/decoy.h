/* SPDX-License-Identifier: BSD-3-Clause */
/* The remover that has to lose. */
#ifndef TEST_HOSTILE_DECOY_H
#define TEST_HOSTILE_DECOY_H

#include "hostile.h"

extern const struct level decoy;

#endif
