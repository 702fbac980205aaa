/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes in the file that ORACLE_LOG names which variables were held against an independent count;
   test_oracles.py then prints those that never are. Nothing but libc. */
#ifndef TEST_SUPPORT_ORACLE_LOG_H
#define TEST_SUPPORT_ORACLE_LOG_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void oracle_log(const char *name)
{
    static char noted[512][64]; /* each once; if there are ever more, some twice */
    static int n_noted;
    static const char *file;
    char line[128];
    int n, fd;

    if (!file) {
        file = getenv("ORACLE_LOG");
        file = file ? file : "";
    }
    if (!*file) {
        return;
    }
    for (n = 0; n < n_noted; n++) {
        if (strcmp(noted[n], name) == 0) {
            return;
        }
    }
    if (n_noted < 512) {
        snprintf(noted[n_noted++], sizeof(noted[0]), "%s", name);
    }
    n = snprintf(line, sizeof(line), "%s\n", name);
    fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, line, (size_t)n) != n) { /* one write: lines of processes do not mix */
        abort();
    }
    close(fd);
}

#endif
