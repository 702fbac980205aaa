/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighborhood collectives (MPI-5.0 8.6 - 8.8) in all 30 forms: over grids, in which both neighbors
 * may be one process, and over random graphs with multiple edges and edges to oneself, short and
 * long. What must arrive is found from the lists of all ranks. Any number of ranks.
 */
#include "../check.h"

#include <string.h>

enum { MAX_DEGREE = 64, MAX_RANKS = 128 };

static int rank, size;
static int turn; /* the form that is tried with long blocks */

/* The lists of this rank, and where all others send. */
static struct {
    MPI_Comm comm;
    int is_cart, n_in, n_out, in[MAX_DEGREE], out[MAX_DEGREE];
    int all_n_out[MAX_RANKS], all_out[MAX_RANKS][MAX_DEGREE];
} g;

/* The position at its sender of the block that arrives at a position here. */
static int sent_at(int position)
{
    int source = g.in[position], k = 0;

    if (g.is_cart) {
        return position ^ 1; /* sent in one direction, received from the other */
    }
    for (int i = 0; i < position; i++) {
        k += g.in[i] == source;
    }
    for (int i = 0; i < g.all_n_out[source]; i++) {
        if (g.all_out[source][i] == rank && k-- == 0) {
            return i;
        }
    }
    CHECK(!"an edge that its source does not have");
    return -1;
}

static int value(int source, int position, int i)
{
    return source * 1000000 + position * 10000 + i % 10000;
}

/* A call in one of six forms, once; persistent ones twice. */
static MPI_Request r;

static void finish(int form)
{
    if (form % 3 == 1) {
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else if (form % 3 == 2) {
        for (int k = 0; k < 2; k++) {
            OK(MPI_Start(&r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        OK(MPI_Request_free(&r));
    }
}

static int out_buf[MAX_DEGREE * 4096], in_buf[MAX_DEGREE * 4096];

static void clear(void)
{
    memset(in_buf, 0xff, sizeof(in_buf));
}

static void check_block(int position, int at, int n, int source_position)
{
    for (int i = 0; i < n; i++) {
        int want = g.in[position] == MPI_PROC_NULL ? -1 : value(g.in[position], source_position, i);

        CHECK_EQ(in_buf[at + i], want);
    }
}

static void check_allgather(int form, int n)
{
    MPI_Comm comm = g.comm;

    clear();
    for (int q = 0; q < 1; q++) {
        for (int i = 0; i < n; i++) {
            out_buf[q * n + i] = value(rank, q, i);
        }
    }
    switch (form) {
    case 0:
        OK(MPI_Neighbor_allgather(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm));
        break;
    case 1:
        OK(MPI_Ineighbor_allgather(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm, &r));
        break;
    case 2:
        OK(MPI_Neighbor_allgather_init(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm, MPI_INFO_NULL,
                                       &r));
        break;
    case 3:
        OK(MPI_Neighbor_allgather_c(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm));
        break;
    case 4:
        OK(MPI_Ineighbor_allgather_c(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm, &r));
        break;
    case 5:
        OK(MPI_Neighbor_allgather_init_c(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm,
                                         MPI_INFO_NULL, &r));
        break;
    default:
        break;
    }
    finish(form);
    for (int p = 0; p < g.n_in; p++) {
        check_block(p, p * n, n, g.in[p] == MPI_PROC_NULL ? 0 : 0);
    }
}

static void check_alltoall(int form, int n)
{
    MPI_Comm comm = g.comm;

    clear();
    for (int q = 0; q < g.n_out; q++) {
        for (int i = 0; i < n; i++) {
            out_buf[q * n + i] = value(rank, q, i);
        }
    }
    switch (form) {
    case 0:
        OK(MPI_Neighbor_alltoall(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm));
        break;
    case 1:
        OK(MPI_Ineighbor_alltoall(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm, &r));
        break;
    case 2:
        OK(MPI_Neighbor_alltoall_init(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm, MPI_INFO_NULL,
                                      &r));
        break;
    case 3:
        OK(MPI_Neighbor_alltoall_c(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm));
        break;
    case 4:
        OK(MPI_Ineighbor_alltoall_c(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm, &r));
        break;
    case 5:
        OK(MPI_Neighbor_alltoall_init_c(out_buf, n, MPI_INT, in_buf, n, MPI_INT, comm,
                                        MPI_INFO_NULL, &r));
        break;
    default:
        break;
    }
    finish(form);
    for (int p = 0; p < g.n_in; p++) {
        check_block(p, p * n, n, g.in[p] == MPI_PROC_NULL ? 0 : sent_at(p));
    }
}

/* Blocks of different lengths, from the last place of the buffer to the first. */
static int len_of(int source, int position, int n)
{
    return n + (source + 3 * position) % 4;
}

static struct {
    int counts[MAX_DEGREE], displs[MAX_DEGREE];
    MPI_Count long_counts[MAX_DEGREE];
    MPI_Aint long_displs[MAX_DEGREE], bytes[MAX_DEGREE];
} to, from;

static void lay_out_receive(int n, int is_allgather)
{
    for (int p = 0; p < g.n_in; p++) {
        int is_null = g.in[p] == MPI_PROC_NULL;
        int position = is_null || is_allgather ? 0 : sent_at(p);

        from.counts[p] = is_null ? 2 : len_of(g.in[p], position, n);
        from.displs[p] = (g.n_in - 1 - p) * (n + 5);
        from.long_counts[p] = from.counts[p];
        from.long_displs[p] = from.displs[p];
        from.bytes[p] = from.displs[p] * (MPI_Aint)sizeof(int);
    }
}

static void lay_out_send(int n)
{
    for (int q = 0; q < g.n_out; q++) {
        to.counts[q] = len_of(rank, q, n);
        to.displs[q] = (g.n_out - 1 - q) * (n + 5);
        to.long_counts[q] = to.counts[q];
        to.long_displs[q] = to.displs[q];
        to.bytes[q] = to.displs[q] * (MPI_Aint)sizeof(int);
        for (int i = 0; i < to.counts[q]; i++) {
            out_buf[to.displs[q] + i] = value(rank, q, i);
        }
    }
}

static void check_received(int is_allgather)
{
    for (int p = 0; p < g.n_in; p++) {
        int is_known = !is_allgather && g.in[p] != MPI_PROC_NULL;

        check_block(p, from.displs[p], from.counts[p], is_known ? sent_at(p) : 0);
    }
}

static void check_allgatherv(int form, int n)
{
    MPI_Comm comm = g.comm;
    int mine = len_of(rank, 0, n);

    clear();
    lay_out_receive(n, 1);
    for (int i = 0; i < mine; i++) {
        out_buf[i] = value(rank, 0, i);
    }
    switch (form) {
    case 0:
        OK(MPI_Neighbor_allgatherv(out_buf, mine, MPI_INT, in_buf, from.counts, from.displs,
                                   MPI_INT, comm));
        break;
    case 1:
        OK(MPI_Ineighbor_allgatherv(out_buf, mine, MPI_INT, in_buf, from.counts, from.displs,
                                    MPI_INT, comm, &r));
        break;
    case 2:
        OK(MPI_Neighbor_allgatherv_init(out_buf, mine, MPI_INT, in_buf, from.counts, from.displs,
                                        MPI_INT, comm, MPI_INFO_NULL, &r));
        break;
    case 3:
        OK(MPI_Neighbor_allgatherv_c(out_buf, mine, MPI_INT, in_buf, from.long_counts,
                                     from.long_displs, MPI_INT, comm));
        break;
    case 4:
        OK(MPI_Ineighbor_allgatherv_c(out_buf, mine, MPI_INT, in_buf, from.long_counts,
                                      from.long_displs, MPI_INT, comm, &r));
        break;
    case 5:
        OK(MPI_Neighbor_allgatherv_init_c(out_buf, mine, MPI_INT, in_buf, from.long_counts,
                                          from.long_displs, MPI_INT, comm, MPI_INFO_NULL, &r));
        break;
    default:
        break;
    }
    finish(form);
    check_received(1);
}

static void check_alltoallv(int form, int n)
{
    MPI_Comm comm = g.comm;

    clear();
    lay_out_receive(n, 0);
    lay_out_send(n);
    switch (form) {
    case 0:
        OK(MPI_Neighbor_alltoallv(out_buf, to.counts, to.displs, MPI_INT, in_buf, from.counts,
                                  from.displs, MPI_INT, comm));
        break;
    case 1:
        OK(MPI_Ineighbor_alltoallv(out_buf, to.counts, to.displs, MPI_INT, in_buf, from.counts,
                                   from.displs, MPI_INT, comm, &r));
        break;
    case 2:
        OK(MPI_Neighbor_alltoallv_init(out_buf, to.counts, to.displs, MPI_INT, in_buf, from.counts,
                                       from.displs, MPI_INT, comm, MPI_INFO_NULL, &r));
        break;
    case 3:
        OK(MPI_Neighbor_alltoallv_c(out_buf, to.long_counts, to.long_displs, MPI_INT, in_buf,
                                    from.long_counts, from.long_displs, MPI_INT, comm));
        break;
    case 4:
        OK(MPI_Ineighbor_alltoallv_c(out_buf, to.long_counts, to.long_displs, MPI_INT, in_buf,
                                     from.long_counts, from.long_displs, MPI_INT, comm, &r));
        break;
    case 5:
        OK(MPI_Neighbor_alltoallv_init_c(out_buf, to.long_counts, to.long_displs, MPI_INT, in_buf,
                                         from.long_counts, from.long_displs, MPI_INT, comm,
                                         MPI_INFO_NULL, &r));
        break;
    default:
        break;
    }
    finish(form);
    check_received(0);
}

/* Sent as integers, received as one element of a derived type. */
static void check_alltoallw(int form, int n)
{
    MPI_Comm comm = g.comm;
    MPI_Datatype ints[MAX_DEGREE], derived[MAX_DEGREE];

    clear();
    lay_out_receive(n, 0);
    lay_out_send(n);
    for (int q = 0; q < g.n_out; q++) {
        ints[q] = MPI_INT;
    }
    for (int p = 0; p < g.n_in; p++) {
        OK(MPI_Type_contiguous(from.counts[p], MPI_INT, &derived[p]));
        OK(MPI_Type_commit(&derived[p]));
        from.counts[p] = 1;
        from.long_counts[p] = 1;
    }
    switch (form) {
    case 0:
        OK(MPI_Neighbor_alltoallw(out_buf, to.counts, to.bytes, ints, in_buf, from.counts,
                                  from.bytes, derived, comm));
        break;
    case 1:
        OK(MPI_Ineighbor_alltoallw(out_buf, to.counts, to.bytes, ints, in_buf, from.counts,
                                   from.bytes, derived, comm, &r));
        break;
    case 2:
        OK(MPI_Neighbor_alltoallw_init(out_buf, to.counts, to.bytes, ints, in_buf, from.counts,
                                       from.bytes, derived, comm, MPI_INFO_NULL, &r));
        break;
    case 3:
        OK(MPI_Neighbor_alltoallw_c(out_buf, to.long_counts, to.bytes, ints, in_buf,
                                    from.long_counts, from.bytes, derived, comm));
        break;
    case 4:
        OK(MPI_Ineighbor_alltoallw_c(out_buf, to.long_counts, to.bytes, ints, in_buf,
                                     from.long_counts, from.bytes, derived, comm, &r));
        break;
    case 5:
        OK(MPI_Neighbor_alltoallw_init_c(out_buf, to.long_counts, to.bytes, ints, in_buf,
                                         from.long_counts, from.bytes, derived, comm, MPI_INFO_NULL,
                                         &r));
        break;
    default:
        break;
    }
    finish(form);
    for (int p = 0; p < g.n_in; p++) {
        OK(MPI_Type_free(&derived[p]));
    }
    lay_out_receive(n, 0);
    check_received(0);
}

static void check_all(void)
{
    static const int lengths[] = {1, 0, 20, 1500};

    CHECK(g.n_in <= MAX_DEGREE && g.n_out <= MAX_DEGREE);
    OK(MPI_Allgather(&g.n_out, 1, MPI_INT, g.all_n_out, 1, MPI_INT, g.comm));
    OK(MPI_Allgather(g.out, MAX_DEGREE, MPI_INT, g.all_out, MAX_DEGREE, MPI_INT, g.comm));
    for (int k = 0; k < 4; k++) {
        for (int form = 0; form < 6; form++) {
            if (k == 3 && form != turn) {
                continue; /* long ones take their time */
            }
            check_allgather(form, lengths[k]);
            check_alltoall(form, lengths[k]);
            check_allgatherv(form, lengths[k]);
            check_alltoallv(form, lengths[k]);
            check_alltoallw(form, lengths[k]);
        }
    }
}

static void grid(int n, const int dims[], const int periods[])
{
    turn = (turn + 1) % 6;
    OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, 0, &g.comm));
    if (g.comm == MPI_COMM_NULL) {
        return;
    }
    MPI_Comm_rank(g.comm, &rank);
    g.is_cart = 1;
    g.n_in = g.n_out = 2 * n;
    for (int i = 0; i < n; i++) {
        OK(MPI_Cart_shift(g.comm, i, 1, &g.in[2 * i], &g.in[2 * i + 1]));
    }
    memcpy(g.out, g.in, sizeof(g.in));
    check_all();
    OK(MPI_Comm_free(&g.comm));
}

static void grids(void)
{
    int world = rank;

    for (int n = 0; n <= 3; n++) {
        for (int mask = 0; mask < 1 << n; mask += n == 3 ? 3 : 1) {
            int dims[4] = {0}, periods[4];

            if (n > 0) {
                OK(MPI_Dims_create(size, n, dims));
            }
            for (int i = 0; i < n; i++) {
                periods[i] = mask >> i & 1;
            }
            grid(n, dims, periods);
            rank = world;
        }
    }
}

/* Random edges, the same in all ranks; the graph of MPI_Graph_create is symmetric (8.6). */
static void random_graph(uint64_t seed, int n_edges, int is_dist)
{
    static int index[MAX_RANKS], edges[MAX_RANKS * MAX_DEGREE];
    int from_rank[32], to_rank[32], n = 0;

    turn = (turn + 1) % 6;
    g.is_cart = g.n_in = g.n_out = 0;
    for (int i = 0; i < n_edges; i++) {
        from_rank[i] = random_below(&seed, size);
        to_rank[i] = random_below(&seed, size);
        if (to_rank[i] == rank) {
            g.in[g.n_in++] = from_rank[i];
        }
        if (from_rank[i] == rank) {
            g.out[g.n_out++] = to_rank[i];
        }
    }
    if (is_dist) {
        OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g.n_in, g.in, MPI_UNWEIGHTED, g.n_out,
                                          g.out, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g.comm));
        check_all();
        OK(MPI_Comm_free(&g.comm));
        return;
    }
    for (int node = 0; node < size; node++) {
        for (int i = 0; i < n_edges; i++) {
            if (from_rank[i] == node) {
                edges[n++] = to_rank[i];
            }
            if (to_rank[i] == node && from_rank[i] != node) {
                edges[n++] = from_rank[i];
            }
        }
        index[node] = n;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &g.comm));
    OK(MPI_Graph_neighbors_count(g.comm, rank, &g.n_in));
    OK(MPI_Graph_neighbors(g.comm, rank, MAX_DEGREE, g.in));
    g.n_out = g.n_in;
    memcpy(g.out, g.in, sizeof(g.in));
    check_all();
    OK(MPI_Comm_free(&g.comm));
}

/* Without edges, arrays may be missing. */
static void no_edges(void)
{
    MPI_Comm none;

    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &none));
    OK(MPI_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, none));
    OK(MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, none));
    OK(MPI_Neighbor_allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, none));
    OK(MPI_Comm_free(&none));
}

static void refused(void)
{
    int periods[1] = {1}, minus[2] = {-1, 1}, ones[2] = {1, 1}, at[2] = {0, 1}, b[2] = {0}, c[2];
    MPI_Aint bytes[2] = {0, 4};
    MPI_Datatype t[2] = {MPI_INT, MPI_INT}, bad[2] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI_Comm cart;

    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 0, &cart));
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    FAILS(MPI_Neighbor_allgather(b, -1, MPI_INT, c, 1, MPI_INT, cart), MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_allgather(b, 1, MPI_DATATYPE_NULL, c, 1, MPI_INT, cart), MPI_ERR_TYPE);
    FAILS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, c, 1, MPI_INT, cart), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_allgather(b, 1, MPI_INT, NULL, 1, MPI_INT, cart), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_alltoall(b, 1, MPI_INT, b, 1, MPI_INT, cart), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_alltoall(b, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, cart), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_allgatherv(b, 1, MPI_INT, c, minus, at, MPI_INT, cart), MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_allgatherv(b, 1, MPI_INT, c, ones, NULL, MPI_INT, cart), MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoallv(b, minus, at, MPI_INT, c, ones, at, MPI_INT, cart), MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_alltoallv(b, NULL, at, MPI_INT, c, ones, at, MPI_INT, cart), MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoallw(b, ones, bytes, bad, c, ones, bytes, t, cart), MPI_ERR_TYPE);
    FAILS(MPI_Neighbor_alltoallw(b, ones, bytes, NULL, c, ones, bytes, t, cart), MPI_ERR_ARG);
    FAILS(MPI_Ineighbor_alltoall(b, 1, MPI_INT, c, 1, MPI_INT, cart, NULL), MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoall_init(b, 1, MPI_INT, c, 1, MPI_INT, cart, (MPI_Info)b, &r),
          MPI_ERR_INFO);
    OK(MPI_Comm_free(&cart));
}

/* Every form wants a topology. */
static void no_topology_to_gather(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int n = 1, b[1] = {0};

    FAILS(MPI_Neighbor_allgather(b, n, MPI_INT, in_buf, n, MPI_INT, comm), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_allgather(b, n, MPI_INT, in_buf, n, MPI_INT, comm, &r), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgather_init(b, n, MPI_INT, in_buf, n, MPI_INT, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgather_c(b, n, MPI_INT, in_buf, n, MPI_INT, comm), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_allgather_c(b, n, MPI_INT, in_buf, n, MPI_INT, comm, &r), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgather_init_c(b, n, MPI_INT, in_buf, n, MPI_INT, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgatherv(b, n, MPI_INT, in_buf, from.counts, from.displs, MPI_INT, comm),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_allgatherv(b, n, MPI_INT, in_buf, from.counts, from.displs, MPI_INT, comm,
                                   &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgatherv_init(b, n, MPI_INT, in_buf, from.counts, from.displs, MPI_INT,
                                       comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgatherv_c(b, n, MPI_INT, in_buf, from.long_counts, from.long_displs,
                                    MPI_INT, comm),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_allgatherv_c(b, n, MPI_INT, in_buf, from.long_counts, from.long_displs,
                                     MPI_INT, comm, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgatherv_init_c(b, n, MPI_INT, in_buf, from.long_counts, from.long_displs,
                                         MPI_INT, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
}

static void no_topology_to_exchange(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int n = 1, b[1] = {0};

    FAILS(MPI_Neighbor_alltoall(b, n, MPI_INT, in_buf, n, MPI_INT, comm), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoall(b, n, MPI_INT, in_buf, n, MPI_INT, comm, &r), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoall_init(b, n, MPI_INT, in_buf, n, MPI_INT, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoall_c(b, n, MPI_INT, in_buf, n, MPI_INT, comm), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoall_c(b, n, MPI_INT, in_buf, n, MPI_INT, comm, &r), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoall_init_c(b, n, MPI_INT, in_buf, n, MPI_INT, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallv(b, to.counts, to.displs, MPI_INT, in_buf, from.counts, from.displs,
                                 MPI_INT, comm),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoallv(b, to.counts, to.displs, MPI_INT, in_buf, from.counts,
                                  from.displs, MPI_INT, comm, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallv_init(b, to.counts, to.displs, MPI_INT, in_buf, from.counts,
                                      from.displs, MPI_INT, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallv_c(b, to.long_counts, to.long_displs, MPI_INT, in_buf,
                                   from.long_counts, from.long_displs, MPI_INT, comm),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoallv_c(b, to.long_counts, to.long_displs, MPI_INT, in_buf,
                                    from.long_counts, from.long_displs, MPI_INT, comm, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallv_init_c(b, to.long_counts, to.long_displs, MPI_INT, in_buf,
                                        from.long_counts, from.long_displs, MPI_INT, comm,
                                        MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallw(b, to.counts, to.bytes, NULL, in_buf, from.counts, from.bytes,
                                 NULL, comm),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoallw(b, to.counts, to.bytes, NULL, in_buf, from.counts, from.bytes,
                                  NULL, comm, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallw_init(b, to.counts, to.bytes, NULL, in_buf, from.counts, from.bytes,
                                      NULL, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallw_c(b, to.long_counts, to.bytes, NULL, in_buf, from.long_counts,
                                   from.bytes, NULL, comm),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoallw_c(b, to.long_counts, to.bytes, NULL, in_buf, from.long_counts,
                                    from.bytes, NULL, comm, &r),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoallw_init_c(b, to.long_counts, to.bytes, NULL, in_buf, from.long_counts,
                                        from.bytes, NULL, comm, MPI_INFO_NULL, &r),
          MPI_ERR_TOPOLOGY);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(size <= MAX_RANKS);
    grids();
    for (int i = 0; i < 6; i++) {
        random_graph((uint64_t)i + 1, i * 6, 1);
        random_graph((uint64_t)i + 7, i * 5, 0);
    }
    no_edges();
    refused();
    no_topology_to_gather();
    no_topology_to_exchange();
    MPI_Finalize();
    return 0;
}
