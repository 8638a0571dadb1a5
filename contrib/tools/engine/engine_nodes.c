/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of --host and --hostfile, among those of the allocation. */
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- lists of the command line --------------------------------------------------- */

/* Adds a node, or slots to a node that is there. slots 0: not given. */
static void add(struct engine_nodes *nodes, const char *name, size_t len, int slots)
{
    size_t i = 0;

    while (i < nodes->n &&
           (strlen(nodes->names[i]) != len || strncmp(nodes->names[i], name, len) != 0))
        i++;
    nodes->has_slots |= slots > 0;
    if (i < nodes->n) { /* named twice: a slot more */
        nodes->slots[i] = (nodes->slots[i] ? nodes->slots[i] : 1) + (slots ? slots : 1);
        nodes->has_slots = true;
        return;
    }
    nodes->names = grow(nodes->names, i + 2, sizeof(*nodes->names));
    nodes->slots = grow(nodes->slots, i + 1, sizeof(*nodes->slots));
    nodes->names[i] = need_text("%.*s", (int)len, name);
    nodes->names[i + 1] = NULL;
    nodes->slots[i] = slots;
    nodes->n++;
}

/* Reads "A,B:2". */
static void read_list(struct engine_nodes *nodes, const char *text)
{
    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, ","), name = strcspn(at, ":,");
        int slots = 0;

        if (name == 0)
            usage("--host \"%s\" has an empty name", text);
        if (name < len) {
            char *digits = need_text("%.*s", (int)(len - name - 1), at + name + 1);

            slots = number("--host: slots", digits, INT32_MAX);
            free(digits);
        }
        add(nodes, at, name, slots);
        at += len + (at[len] == ',');
    }
}

/* Reads a line "NAME [slots=N]". Other words have no meaning. */
static void read_line(struct engine_nodes *nodes, char *line)
{
    static const char key[] = "slots=";
    char *rest = line, *name = NULL, *word;
    int slots = 0;

    line[strcspn(line, "#\n")] = '\0';
    while ((word = strsep(&rest, " \t\r"))) {
        if (!*word)
            continue;
        if (!name)
            name = word;
        else if (strncasecmp(word, key, strlen(key)) == 0)
            slots = number("--hostfile: slots", word + strlen(key), INT32_MAX);
    }
    if (name)
        add(nodes, name, strlen(name), slots);
}

void engine_nodes_read(struct engine_nodes *nodes, const char *option, const char *text)
{
    char *line = NULL;
    size_t size = 0;
    FILE *f;

    if (strcmp(option, "--host") == 0) {
        read_list(nodes, text);
        return;
    }
    f = fopen(text, "re");
    if (!f)
        usage("--hostfile %s: %s", text, strerror(errno));
    while (getline(&line, &size, f) >= 0)
        read_line(nodes, line);
    if (ferror(f) || nodes->n == 0)
        usage("--hostfile %s: it names no node", text);
    free(line);
    fclose(f);
}

/* ---- the allocation -------------------------------------------------------------- */

enum { MAX_NODES = 1 << 20 };

/* Returns the length of a member of a list: up to a comma outside of "[]". */
static size_t member_length(const char *list)
{
    size_t n = 0;

    for (bool is_inside = false; list[n] && (is_inside || list[n] != ','); n++)
        is_inside = list[n] == '[' || (is_inside && list[n] != ']');
    return n;
}

/* Adds the names of a member such as "n[01-12,7]r1". head: the part before it. */
static void expand(struct engine_nodes *nodes, const char *head, const char *member)
{
    const size_t n = strcspn(member, "[");
    const char *end = strchr(member, ']');

    if (!member[n] || !end) {
        char *name = need_text("%s%s", head, member);

        add(nodes, name, strlen(name), 0);
        free(name);
        return;
    }
    for (const char *at = member + n + 1; at < end;) {
        char *next;
        const unsigned long first = strtoul(at, &next, 10);
        const int width = (int)(next - at);
        const unsigned long last = *next == '-' ? strtoul(next + 1, &next, 10) : first;

        for (unsigned long i = first; i <= last && nodes->n < MAX_NODES; i++) {
            char *longer = need_text("%s%.*s%0*lu", head, (int)n, member, width, i);

            expand(nodes, longer, end + 1);
            free(longer);
        }
        at = *next == ',' ? next + 1 : end;
    }
}

void engine_nodes_expand(struct engine_nodes *nodes, const char *list)
{
    while (*list) {
        const size_t n = member_length(list);
        char *member = need_text("%.*s", (int)n, list);

        expand(nodes, "", member);
        free(member);
        list += n + (list[n] == ',');
    }
}

bool engine_nodes_has(const struct engine_nodes *nodes, const char *name)
{
    size_t i = 0;

    while (i < nodes->n && strcmp(nodes->names[i], name) != 0)
        i++;
    return i < nodes->n;
}

void engine_nodes_check(const struct engine_nodes *nodes, const char *allocation)
{
    struct engine_nodes all = {0};

    engine_nodes_expand(&all, allocation);
    for (size_t i = 0; i < nodes->n; i++)
        if (!engine_nodes_has(&all, nodes->names[i]))
            usage("host %s is not a node of the allocation, %s", nodes->names[i],
                  allocation);
}

/* ---- lists for the engine -------------------------------------------------------- */

char *engine_nodes_list(const struct engine_nodes *nodes, size_t n)
{
    char *text = need_text("%s", "");

    for (size_t i = 0; i < n; i++) {
        char *before = text;

        text = need_text("%s%s%s", before, i ? "," : "", nodes->names[i]);
        free(before);
    }
    return text;
}

static int slots_of(const struct engine_nodes *nodes, size_t i)
{
    return nodes->slots[i] ? nodes->slots[i] : 1;
}

long engine_nodes_slots(const struct engine_nodes *nodes)
{
    long n = 0;

    for (size_t i = 0; i < nodes->n; i++)
        n += slots_of(nodes, i);
    return n;
}

char *engine_nodes_file(const struct engine_nodes *nodes, int per_node, int ranks,
                        int *n_used)
{
    const int fd = os_memory_file("nodes"); /* srun reads the file by its number */
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    int written = 0;

    *n_used = 0;
    while (f && written < ranks) /* more ranks than places: once more from the first */
        for (size_t i = 0; i < nodes->n && written < ranks; i++) {
            const int n = per_node ? per_node : slots_of(nodes, i);

            *n_used += *n_used < (int)nodes->n;
            for (int k = 0; k < n && written < ranks; k++, written++)
                fprintf(f, "%s\n", nodes->names[i]);
        }
    if (!f || fflush(f) || ferror(f))
        fail("cannot write the list of nodes: %s", strerror(errno));
    return os_path_of_fd(fd);
}
