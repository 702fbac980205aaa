/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: start the ranks of a job on this host and wait for their end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/local.h"
#include "launch/option_table.h"
#include "launch/report.h"
#include "launch/rank_exit.h"

/* Descriptors 0, 1 and 2 must be open, or files of mpiexec would take their numbers. */
static int open_standard_fds(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= 2);
    if (fd > 2) {
        close(fd);
    }
    return fd < 0 ? -1 : 0;
}

static int run(const struct fm_options *opts)
{
    struct fm_local local = {.table_fd = -1};
    struct fm_job job;
    int exit_status = 1;
    int rc = fm_job_init(&job, opts, environ, &exit_status);

    if (!rc) {
        exit_status = 1;
        rc = fm_local_init(&local, &job);
    }
    if (rc) {
        fprintf(stderr, "mpiexec: %s\nmpiexec: nothing was started\n", fm_why());
    } else {
        fm_report_send_pages(&local);
        exit_status = fm_local_run(&local);
    }
    fm_local_finish(&local);
    fm_job_finish(&job);
    return exit_status;
}

int main(int argc, char **argv)
{
    struct fm_options opts;
    int exit_status = 0;

    if (open_standard_fds() != 0) {
        return 1;
    }
    if (fm_options_parse(argc, argv, secure_getenv("MPIEXEC_TIMEOUT"), &opts)) {
        fprintf(stderr, "mpiexec: %s\nmpiexec: nothing was started\n", fm_why());
        exit_status = FM_EXIT_USAGE;
    } else if (opts.is_help) {
        fm_option_print_help();
    } else if (opts.is_version) {
        printf("mpiexec (Fathom) %s, MPI 5.0 standard ABI\n", FM_VERSION);
    } else {
        exit_status = run(&opts);
    }
    fm_options_finish(&opts);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "mpiexec: cannot write to standard output: %s\n", strerror(errno));
        exit_status = exit_status ? exit_status : 1;
    }
    return exit_status;
}
