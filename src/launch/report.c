/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports on the ranks. */
#include "launch/report.h"

#include <fathom/page.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/page_socket.h"
#include "util/sync.h"

/* As in the standard ABI; the launcher includes nothing of MPI. */
#define ANY_SOURCE (-1)
#define ANY_TAG    (-2)

static void print_peer(FILE *to, const struct fathom_page_blocked *b)
{
    if (b->peer >= 0) {
        fprintf(to, " with rank %d", (int)b->peer);
    } else if (b->peer == ANY_SOURCE) {
        fprintf(to, " with any rank");
    }
    if (b->tag >= 0) {
        fprintf(to, ", tag %d", (int)b->tag);
    } else if (b->tag == ANY_TAG && b->peer >= ANY_SOURCE) {
        fprintf(to, ", any tag");
    }
}

/* Copy the record. False: the rank is not blocked, or changed the record meanwhile. */
static bool copy_blocked(const struct fathom_page *page, struct fathom_page_blocked *out)
{
    uint64_t since = __atomic_load_n(&page->blocked.since_ns, __ATOMIC_ACQUIRE);

    memcpy(out, &page->blocked, sizeof(*out));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    out->call[sizeof(out->call) - 1] = '\0';
    return since != 0 && since == __atomic_load_n(&page->blocked.since_ns, __ATOMIC_RELAXED);
}

static void print_page(FILE *to, const struct fathom_page *page)
{
    struct fathom_page_blocked b;

    if (page->magic != FATHOM_PAGE_MAGIC || page->state < FATHOM_PAGE_RUNNING) {
        fprintf(to, "has not called MPI_Init");
    } else if (page->state == FATHOM_PAGE_DONE) {
        fprintf(to, "has finished MPI_Finalize");
    } else if (copy_blocked(page, &b)) {
        fprintf(to, "has been blocked in %s", b.call);
        print_peer(to, &b);
        fprintf(to, " for %.1f s", (double)(fm_now_ns() - b.since_ns) / 1e9);
    } else {
        fprintf(to, "is computing (not blocked in MPI)");
    }
}

void fm_report_state(const struct fm_local *l)
{
    for (int r = 0; r < l->n_ranks; r++) {
        struct fathom_page *page =
            mmap(NULL, FATHOM_PAGE_LEN, PROT_READ, MAP_SHARED, l->ranks[r].page_fd, 0);

        fprintf(l->err, "mpiexec:   rank %d (pid %d) ", l->ranks[r].rank, (int)l->ranks[r].pid);
        if (l->ranks[r].is_ended) {
            fprintf(l->err, "has ended");
        } else if (page != MAP_FAILED) {
            print_page(l->err, page);
        }
        fprintf(l->err, "\n");
        if (page != MAP_FAILED) {
            munmap(page, FATHOM_PAGE_LEN);
        }
    }
}

void fm_report_exits(const struct fm_local *l)
{
    for (int r = 0; r < l->n_ranks; r++) {
        const struct fm_local_rank *rank = &l->ranks[r];

        if (rank->pid == 0) {
            fprintf(l->err, "mpiexec: rank %d was not started\n", rank->rank);
        } else if (WIFSIGNALED(rank->wait_status)) {
            fprintf(l->err, "mpiexec: rank %d (pid %d): signal %d (%s)\n", rank->rank,
                    (int)rank->pid, WTERMSIG(rank->wait_status),
                    strsignal(WTERMSIG(rank->wait_status)));
        } else {
            fprintf(l->err, "mpiexec: rank %d (pid %d): exit status %d\n", rank->rank,
                    (int)rank->pid, WEXITSTATUS(rank->wait_status));
        }
    }
}

void fm_report_send_pages(const struct fm_local *l)
{
    const char *socket = secure_getenv(FM_PAGE_SOCKET_ENV);

    for (int r = 0; r < l->n_ranks; r++) {
        if (!fm_page_socket_send(socket, l->ranks[r].rank, l->ranks[r].page_fd)) {
            break; /* no reader (any more) */
        }
    }
}
