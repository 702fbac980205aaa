/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that behaves as its arguments say, one word after the other, so that a test can write
 * down what each rank does: "1:kill" is done by rank 1 only.
 *
 *     init finalize barrier      the MPI functions
 *     who                        a line with the rank and size that MPI tells
 *     talk                       messages and collectives of every length, in a new communicator
 *     say:TEXT                   a line with the rank and the process id
 *     print:TEXT                 a line through stdio, which nobody checks
 *     wait                       until a signal ends it
 *     exit:N abort:N kill:N      end by exit, MPI_Abort, signal
 *     trap:N                     from now on, say "got N" when signal N comes
 *     ignore:N                   ignore signal N
 *     close                      close all descriptors above 2, as some parents do
 *     shut                       close standard output
 *     fork                       a child that sleeps on and holds all that is open
 *     tool                       use MPI_T from now on
 *     run:WORDS exec:WORDS       this program with other words, as a child or in its own place
 *     nest                       run another MPI program, which is no rank, and say how it ended
 *     scribble:head|slots        overwrite the job table, as a program with a stray pointer does
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static const char *program;

static void say(const char *text, int n)
{
    char line[128];
    int len = snprintf(line, sizeof(line), "%s %d rank %d pid %d\n", text, n, rank, (int)getpid());

    if (write(1, line, (size_t)len) != len) {
        _exit(99);
    }
}

static void got(int sig)
{
    say("got", sig);
}

/* Short, long, and through memory that a communicator shares. */
static void talk(void)
{
    static char big[1 << 20];
    MPI_Comm comm;
    int size, me, sum = 0, one = 1;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int len = 1; len <= (int)sizeof(big); len *= 32) {
        MPI_Sendrecv_replace(big, len, MPI_CHAR, (me + 1) % size, 1, (me + size - 1) % size, 1,
                             comm, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    if (sum != size) {
        _exit(98);
    }
}

static void leave_child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    say("child", (int)pid);
}

static void who(void)
{
    int me = -1, size = -1;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    say(size == 1 ? "alone" : "of", size * 100 + me);
}

static void nest(void)
{
    char command[4200];

    snprintf(command, sizeof(command), "%s init barrier say:nested finalize", program);
    say("nest", system(command));
}

static void other_words(const char *words, int is_exec)
{
    char command[4200];

    snprintf(command, sizeof(command), "%s%s %s", is_exec ? "exec " : "", program, words);
    if (is_exec) {
        execl("/bin/sh", "sh", "-c", command, (char *)0);
        _exit(97);
    }
    if (system(command) != 0) {
        exit(96);
    }
}

/* The head is the first page of the first mapping; the slots are all that can be written. */
static void scribble(int is_head)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], access[8];
    unsigned long begin, end;

    while (maps && fgets(line, sizeof(line), maps)) {
        if (!strstr(line, "fathom-job") || sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3) {
            continue;
        }
        if (is_head) {
            memset((void *)begin, 0x5a, 128);
        } else if (access[1] == 'w') {
            memset((void *)begin, 0x5a, end - begin);
        }
    }
    if (maps) {
        fclose(maps);
    }
}

static void close_all(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        close(fd);
    }
}

static void act(const char *word)
{
    const char *colon = strchr(word, ':');
    int n = colon ? atoi(colon + 1) : 0;

    if (strcmp(word, "init") == 0) {
        MPI_Init(NULL, NULL);
    } else if (strcmp(word, "finalize") == 0) {
        MPI_Finalize();
    } else if (strcmp(word, "barrier") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strncmp(word, "say:", 4) == 0) {
        say(colon + 1, 0);
    } else if (strncmp(word, "print:", 6) == 0) {
        puts(colon + 1);
    } else if (strcmp(word, "wait") == 0) {
        for (;;) {
            pause();
        }
    } else if (strncmp(word, "exit:", 5) == 0) {
        exit(n);
    } else if (strncmp(word, "abort:", 6) == 0) {
        MPI_Abort(MPI_COMM_WORLD, n);
    } else if (strncmp(word, "kill:", 5) == 0) {
        kill(getpid(), n);
    } else if (strncmp(word, "trap:", 5) == 0) {
        signal(n, got);
    } else if (strncmp(word, "ignore:", 7) == 0) {
        signal(n, SIG_IGN);
    } else if (strcmp(word, "close") == 0) {
        close_all();
    } else if (strcmp(word, "shut") == 0) {
        fclose(stdout);
    } else if (strcmp(word, "talk") == 0) {
        talk();
    } else if (strcmp(word, "who") == 0) {
        who();
    } else if (strncmp(word, "scribble:", 9) == 0) {
        scribble(strcmp(colon + 1, "head") == 0);
    } else if (strcmp(word, "nest") == 0) {
        nest();
    } else if (strcmp(word, "tool") == 0) {
        MPI_T_init_thread(MPI_THREAD_SINGLE, &n);
    } else if (strncmp(word, "run:", 4) == 0 || strncmp(word, "exec:", 5) == 0) {
        other_words(colon + 1, word[0] == 'e');
    } else if (strcmp(word, "fork") == 0) {
        leave_child();
    } else {
        fprintf(stderr, "actor: what is %s?\n", word);
        exit(98);
    }
}

int main(int argc, char **argv)
{
    const char *text = getenv("FATHOM_RANK");

    program = argv[0];
    rank = text ? atoi(text) : 0;
    for (int i = 1; i < argc; i++) {
        char *end;
        long who = strtol(argv[i], &end, 10);

        if (end == argv[i] || *end != ':') {
            act(argv[i]);
        } else if (who == rank) {
            act(end + 1);
        }
    }
    return 0;
}
