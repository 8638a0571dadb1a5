/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario.h"

#include <string.h>

const char *clients;

static int play(const struct scenario *s)
{
    s->play();
    printf("OK %s\n", s->name);
    return 0;
}

int scenario_main(int argc, char **argv, const struct scenario *const *lists)
{
    clients = argc > 2 ? argv[2] : NULL;
    for (; *lists; lists++)
        for (const struct scenario *s = *lists; s->name; s++) {
            if (!clients)
                printf("%s%s\n", s->name, s->foreign ? " *" : "");
            else if (strcmp(s->name, argv[1]) == 0)
                return play(s);
        }
    if (!clients)
        return 0;
    fprintf(stderr, "no scenario %s\n", argv[1]);
    return 2;
}
