# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests share; times.h is the same for C."""
import os


def times(short_form, long_form):
    """How often to try: the first number, or the second in the long form (PX_TEST_LONG)."""
    factor = int(os.environ.get("PX_TEST_LONG") or 0)
    return long_form * factor if factor > 0 else short_form
