/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of messages, in the form of PMI-1 and of PMI-2. */
#include "core/host/pmi/link.h"

#include <string.h>

/* Returns the end of a value: a separator that is not escaped. PMI-1 escapes with a
 * backslash, PMI-2 by a second separator. */
static char *value_end(char *at, int version)
{
    const char separator = version == 1 ? ' ' : ';';

    for (; *at; at++) {
        if (version == 1 && at[0] == '\\' && at[1])
            at++;
        else if (version == 2 && at[0] == ';' && at[1] == ';')
            at++;
        else if (*at == separator)
            return at;
    }
    return at;
}

bool px_pmi_parse(char *text, int version, struct px_pmi_message *m)
{
    const char *separators = version == 1 ? " " : ";";

    *m = (struct px_pmi_message){0};
    for (char *at = text + strspn(text, separators); *at;) {
        char *key = at, *end = value_end(at, version);

        /* The text of an abort has spaces without escapes, and comes last. */
        if (version == 1 && strncmp(key, "message=", strlen("message=")) == 0)
            end += strlen(end);
        const bool last = *end == '\0';

        *end = '\0';
        char *value = strchr(key, '=');
        if (value)
            *value++ = '\0';
        if (!m->name) {
            if (strcmp(key, "cmd") != 0 || !value)
                return false;
            m->name = value;
        } else if (m->n == PX_PMI_PAIRS) {
            return false;
        } else {
            m->pairs[m->n].key = key;
            m->pairs[m->n++].value = value ? value : "";
        }
        if (last)
            break;
        at = end + 1 + strspn(end + 1, separators);
    }
    return m->name != NULL;
}

const char *px_pmi_find(const struct px_pmi_message *m, const char *key)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->pairs[i].key, key) == 0)
            return m->pairs[i].value;
    return NULL;
}
