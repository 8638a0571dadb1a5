/* SPDX-License-Identifier: BSD-3-Clause */
/* pmixcc: runs the compiler with the flags that pkg-config has for pmix. */
#include "../os.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *tool_name = "pmixcc";

/* Words of --showme, and the options of pkg-config whose output they show. */
static const struct {
    const char *word, *flags;
    const char
        *begins; /* of the flags that are shown, without these letters; or NULL */
} shows[] = {
    {"compile", "--cflags", NULL},
    {"link", "--libs", NULL},
    {"incdirs", "--cflags-only-I", "-I"},
    {"libdirs", "--libs-only-L", "-L"},
    {"libs", "--libs-only-l", "-l"},
    {"libdirs_static", "--static --libs-only-L", "-L"},
    {"libs_static", "--static --libs-only-l", "-l"},
};

/* ---- pkg-config ------------------------------------------------------------------ */

/* Has pkg-config prefer the tree of this program. */
static void set_path(void)
{
    char self[PATH_MAX];
    const char *before = secure_getenv("PKG_CONFIG_PATH");
    char *slash, *path;

    if (!os_program(self, sizeof(self)))
        return;
    for (int i = 0; i < 2; i++)
        if ((slash = strrchr(self, '/')))
            *slash = '\0';
    path = need_text("%s/%s/pkgconfig%s%s", self, PMIXCC_LIBDIR, before ? ":" : "",
                     before ? before : "");
    if (setenv("PKG_CONFIG_PATH", path, 1))
        need(NULL);
    free(path);
}

/* Appends the words of a line, in which a backslash quotes a character. */
static void add_words(char ***words, const char *line, const char *begins)
{
    char *word = need(malloc(strlen(line) + 1));

    while (*line) {
        size_t n = 0;

        for (; *line && *line != ' ' && *line != '\n'; line++) {
            if (*line == '\\' && line[1])
                line++;
            word[n++] = *line;
        }
        word[n] = '\0';
        const size_t skip = begins && strncmp(word, begins, strlen(begins)) == 0
                                ? strlen(begins)
                                : 0;
        if (n > skip)
            list_add(words, need_text("%s", word + skip));
        line += *line != '\0';
    }
    free(word);
}

/* Appends flags for pmix. */
static void add_flags(char ***words, const char *flags, const char *begins)
{
    char **command = NULL, *line = NULL;
    posix_spawn_file_actions_t actions;
    size_t size = 0;
    int fds[2], status = 0;
    pid_t pid = 0;
    FILE *f;

    add_words(&command, "pkg-config", NULL);
    add_words(&command, flags, NULL);
    add_words(&command, "pmix", NULL);
    if (pipe2(fds, O_CLOEXEC) < 0 || posix_spawn_file_actions_init(&actions) ||
        posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO))
        need(NULL);
    const int failed = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
    close(fds[1]);
    f = need(fdopen(fds[0], "r"));
    while (getline(&line, &size, f) >= 0)
        add_words(words, line, begins);
    fclose(f);
    free(line);
    if (failed || waitpid(pid, &status, 0) < 0 || status)
        fail("cannot find the flags: pkg-config %s pmix failed", flags);
    posix_spawn_file_actions_destroy(&actions);
}

/* ---- the command ----------------------------------------------------------------- */

static void print_words(char **words)
{
    for (char **word = words; word && *word; word++)
        printf("%s%s", word == words ? "" : " ", *word);
    print_and_exit("\n");
}

/* Shows what a word of --showme names, or the whole command. */
static void show(const char *word, char **command)
{
    char **words = NULL;

    if (strcmp(word, "command") == 0)
        command[1] = NULL;
    if (!*word || strcmp(word, "command") == 0)
        print_words(command);
    if (strcmp(word, "version") == 0)
        print_and_exit(need_text("%s\n", PMIx_Get_version()));
    for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++)
        if (strcmp(shows[i].word, word) == 0) {
            add_flags(&words, shows[i].flags, shows[i].begins);
            print_words(words);
        }
    usage("--showme:%s is not known", word);
}

static int run(char **operands)
{
    (void)operands;
    return EXIT_USAGE;
}

static const char *no_text;
/* clang-format off */
static const struct tool_option options[] = {
    TAKES_ARGUMENT("showme|show", "[:WORD]", OPTION_TEXT, no_text, "print the command, or a part of it: command, compile, link, incdirs, libdirs, libs, libdirs_static, libs_static, version or help"),
    {0},
};
/* clang-format on */

static const struct tool tool = {
    .name = "pmixcc",
    .operands = "ARGUMENT...",
    .summary = "Compile a program with the flags that PMIx needs.",
    .description =
        "Runs the compiler that the variable CC names, else cc, with all arguments, and "
        "with the flags that pkg-config has for pmix. Flags for the linker are left out "
        "with -c, -E, -S, -M and -fsyntax-only. The exit status is that of the compiler; "
        "127 if there is none.",
    .options = options,
    .alone = true,
    .one_format = true,
    .run = run,
};

/* Returns the word of --showme, with one or two dashes; NULL: another argument. */
static const char *shown_word(const char *text)
{
    const char *name = *text == '-' ? text + 1 + (text[1] == '-') : "";
    const size_t n = strncmp(name, "showme", 6) == 0 ? 6
                     : strncmp(name, "show", 4) == 0 ? 4
                                                     : 0;

    return n == 0 ? NULL : name[n] == ':' ? name + n + 1 : name[n] ? NULL : name + n;
}

/* True for an option that all programs have. */
static bool is_general(const char *text)
{
    return is_option(text, "--help", "--version") || is_option(text, "--man", NULL) ||
           strncmp(text, "--completion", 12) == 0;
}

int main(int argc, char **argv)
{
    static const char *const unlinked[] = {"-c", "-E",  "-S",
                                           "-M", "-MM", "-fsyntax-only"};
    const char *compiler = secure_getenv("CC"), *word = NULL;
    char **command = NULL;
    bool links = true;

    if (argv[1] && is_general(argv[1]))
        return tool_main(&tool, argv);
    set_path();
    add_words(&command, compiler && *compiler ? compiler : "cc", NULL);
    for (char **at = argv + 1; *at; at++) {
        for (size_t i = 0; i < sizeof(unlinked) / sizeof(unlinked[0]); i++)
            links &= strcmp(*at, unlinked[i]) != 0;
        if (shown_word(*at))
            word = shown_word(*at);
        else
            list_add(&command, *at);
    }
    if (word && strcmp(word, "help") == 0)
        return tool_main(&tool, (char *[]){argv[0], (char[]){"--help"}, NULL});
    if (argc < 2)
        usage("arguments for the compiler are needed");
    add_flags(&command, "--cflags", NULL);
    if (links)
        add_flags(&command, "--libs", NULL);
    if (word)
        show(word, command);
    execvp(command[0], command);
    complain("cannot run %s: %s", command[0], strerror(errno));
    return EXIT_NOT_FOUND;
}
