/* SPDX-License-Identifier: BSD-3-Clause */
/* fathom: commands that inspect the library and running jobs. */
#include <errno.h>
#include <fathom/abi.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd.h"

static int cmd_api(int argc, char **argv);
static int cmd_info(int argc, char **argv);

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments;
    const char *help;
} commands[] = {
    {"list", fm_cmd_list, "[--json] [--job PID] [PATTERN]",
     "list variables and events with value, source and description"},
    {"stat", fm_cmd_stat, "[--json] [--all] [-o FILE] COMMAND ...",
     "run a command and print the counters of its ranks"},
    {"where", fm_cmd_where, "[JOB]", "print what each rank of a running job is doing"},
    {"top", fm_cmd_top, "[-d SECONDS] [-n ROUNDS] [JOB]",
     "print the rates of each rank of a running job periodically"},
    {"api", cmd_api, "[--missing]",
     "count the implemented functions of the standard, list the others"},
    {"info", cmd_info, "", "print the version of the library"},
};
#define N_COMMANDS (int)(sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *to)
{
    fprintf(to, "usage: fathom COMMAND ...\n\n");
    for (int i = 0; i < N_COMMANDS; i++) {
        fprintf(to, "  %-6s%-40s %s\n", commands[i].name, commands[i].arguments, commands[i].help);
    }
    fprintf(to,
            "\nJOB is the process id of an mpiexec, of a rank or of a program started without one. "
            "It may be\nleft out if only one job is running.\n");
}

int fm_cmd_usage(const char *command)
{
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, command) == 0) {
            fprintf(stderr, "usage: fathom %s%s%s\n", command, commands[i].arguments[0] ? " " : "",
                    commands[i].arguments);
        }
    }
    return 2;
}

pid_t fm_cmd_pid(const char *word)
{
    char *end;
    long pid;

    errno = 0;
    pid = strtol(word, &end, 10);
    return errno || end == word || *end || pid <= 0 || pid > INT_MAX ? 0 : (pid_t)pid;
}

static int cmd_api(int argc, char **argv)
{
    const char *const *missing;
    int n;

    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--missing") != 0)) {
        return fm_cmd_usage("api");
    }
    missing = fathom_unsupported(&n);
    for (int i = 0; i < n; i++) {
        printf("%s%s\n", missing[i], argc == 2 ? "" : " is not implemented");
    }
    printf("%d of %d implemented\n", FATHOM_ABI_FUNCTIONS - n, FATHOM_ABI_FUNCTIONS);
    return 0;
}

static int cmd_info(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;

    if (argc > 1) {
        return fm_cmd_usage("info");
    }
    MPI_Get_library_version(version, &len);
    printf("%s\n", version);
    return 0;
}

static bool wants_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (wants_help(name) || strcmp(name, "help") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0) {
        printf("fathom %s\n", FM_VERSION);
        return 0;
    }
    for (int i = 0; i < N_COMMANDS; i++) {
        const struct command *c = &commands[i];

        if (strcmp(c->name, name) == 0 && argc > 2 && wants_help(argv[2])) {
            printf("usage: fathom %s%s%s\n%s\n", name, c->arguments[0] ? " " : "", c->arguments,
                   c->help);
            return 0;
        }
        if (strcmp(c->name, name) == 0) {
            return c->run(argc - 1, argv + 1);
        }
    }
    if (name[0] != '\0') {
        fprintf(stderr, "fathom: unknown command \"%s\"\n", name);
    }
    print_usage(stderr);
    return 2;
}

int main(int argc, char **argv)
{
    int rc = run(argc, argv);

    /* A full disk is an error. A closed standard output (EBADF) is not. */
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && errno != EBADF) {
        fprintf(stderr, "fathom: cannot write to standard output: %s\n",
                errno ? strerror(errno) : "output error");
        return rc ? rc : 1;
    }
    return rc;
}
