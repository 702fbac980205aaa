/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of functions that are not built: sorted, and each of them ends the program with its
 * name when the default error handler is in charge. Needs no launcher.
 */
#include <fathom/abi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

static int n_faults;

static void fault(const char *name, const char *text)
{
    printf("%s: %s\n", name, text);
    n_faults++;
}

/* What a child that calls the function by this symbol says on stderr; its status is returned. */
static int call(const char *symbol, char *said, size_t room)
{
    int (*function)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, symbol);
    int fds[2], status = -1;
    size_t at = 0;
    ssize_t n;
    pid_t child;

    if (!found || pipe(fds) != 0) {
        fault(symbol, "is not there");
        return -1;
    }
    memcpy(&function, &found, sizeof(found));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        _exit(function() == 0 ? 0 : 99); /* it came back: the handler did not end the job */
    }
    close(fds[1]);
    while ((n = read(fds[0], said + at, room - 1 - at)) > 0) {
        at += (size_t)n;
    }
    said[at] = '\0';
    close(fds[0]);
    waitpid(child, &status, 0);
    return status;
}

static void check(const char *name)
{
    char symbol[80], said[4096];

    for (int p = 0; p < 2; p++) {
        snprintf(symbol, sizeof(symbol), "%s%s", p ? "P" : "", name);
        int status = call(symbol, said, sizeof(said));

        if (!WIFEXITED(status) || WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 99) {
            fault(symbol, "did not end the program with a status");
        }
        if (!strstr(said, name) || !strstr(said, "MPI_ERR_UNSUPPORTED_OPERATION")) {
            fault(symbol, "did not say its name and the error class");
        }
    }
}

int main(void)
{
    int n = -1;
    const char *const *names = fathom_unsupported(&n);

    if (n < 0 || n > FATHOM_ABI_FUNCTIONS || names[n]) {
        fault("fathom_unsupported", "the number does not agree with the list");
        return 1;
    }
    for (int i = 0; i < n; i++) {
        if (i > 0 && strcasecmp(names[i - 1], names[i]) >= 0) {
            fault(names[i], "is not in its place");
        }
    }
    /* Some of them, spread over the list: a process each. */
    for (int i = 0; i < n; i += n / 16 + 1) {
        check(names[i]);
    }
    printf("%d of %d functions are not built, %d faults\n", n, FATHOM_ABI_FUNCTIONS, n_faults);
    return n_faults != 0;
}
