/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows leave the descriptors of the program alone: standard input stays open, none is left. */
#include "../check.h"

#include <fcntl.h>
#include <unistd.h>

/* The lowest descriptor that is free. */
static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY);

    CHECK(fd >= 0 && close(fd) == 0);
    return fd;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[] = {MPI_COMM_SELF, MPI_COMM_WORLD};
    MPI_Win win;
    void *base;
    int before = -1, word = 0;

    MPI_Init(&argc, &argv);
    CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    for (int round = 0; round < 30; round++) {
        for (int k = 0; k < 2; k++) {
            OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comms[k], &base, &win));
            OK(MPI_Win_free(&win));
            OK(MPI_Win_create(&word, sizeof(word), 1, MPI_INFO_NULL, comms[k], &win));
            OK(MPI_Win_free(&win));
        }
        CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0);
        if (round == 20) { /* what is opened once, for connections and collectives, is open now */
            before = lowest_free();
        }
    }
    CHECK_EQ(lowest_free(), before);
    MPI_Finalize();
    return 0;
}
