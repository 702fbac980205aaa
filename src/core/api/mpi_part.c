/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication (MPI-5.0 chapter 4). */
#include "core/api/pt2pt_args.h"
#include "core/object/comm.h"
#include "core/object/info.h"
#include "core/p2p/partition.h"
#include "core/p2p/wait.h"

/* What Psend_init and Precv_init share. */
struct init {
    const char *call;
    int partitions;
    MPI_Info info;
    bool is_recv;
};

static int check_init(const struct init *in, MPI_Datatype type, MPI_Comm comm, struct fm_msg *m)
{
    const struct fm_pt2pt_args a = {.call = in->call,
                                    .type = type,
                                    .comm = comm,
                                    .is_recv = in->is_recv,
                                    .names = {[3] = "dest"}};
    int rc = fm_pt2pt_check(&a, m);
    MPI_Count total;

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (in->info != MPI_INFO_NULL && !fm_info_get(in->info)) {
        return fm_raise_handle_on(m->comm, FM_KIND_INFO, in->call, in->info, "info");
    }
    if (in->partitions <= 0) { /* MPI-5.0 4.2.1 */
        return fm_raise(m->comm, in->call, MPI_ERR_ARG,
                        "partitions is %d, there must be at least 1", in->partitions);
    }
    if (m->peer == MPI_ANY_SOURCE) {
        return fm_raise(m->comm, in->call, MPI_ERR_RANK,
                        "the source is MPI_ANY_SOURCE: partitioned receives have no wildcards");
    }
    if (m->tag == MPI_ANY_TAG) {
        return fm_raise(m->comm, in->call, MPI_ERR_TAG,
                        "tag is MPI_ANY_TAG: partitioned receives have no wildcards");
    }
    if (__builtin_mul_overflow(m->count, in->partitions, &total) ||
        fm_dtype_bytes(m->dtype, total) < 0) {
        return fm_raise(m->comm, in->call, MPI_ERR_COUNT,
                        "the partitions together are more bytes than MPI_Count holds");
    }
    return MPI_SUCCESS;
}

static int do_init(const struct init *in, MPI_Datatype type, MPI_Comm comm, struct fm_msg *m,
                   MPI_Request *request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(in->call);
    rc = check_init(in, type, comm, m);
    rc = fm_pt2pt_out_on(m->comm, rc, in->call, "request", request);
    if (rc == MPI_SUCCESS) {
        rc = in->is_recv ? fm_partition_recv_init(m, in->partitions, &r)
                         : fm_partition_send_init(m, in->partitions, &r);
        rc = rc != 0 ? fm_raise_status(m->comm, in->call, rc) : MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Psend_init(const void *buf, int partitions, int count, MPI_Datatype datatype, int dest,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct init in = {FM_CALL, partitions, info, false};
    struct fm_msg m = {.buf = (void *)buf, .count = count, .peer = dest, .tag = tag};

    return do_init(&in, datatype, comm, &m, request);
}
FM_ALIAS(Psend_init)

int PMPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                      int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct init in = {FM_CALL, partitions, info, false};
    struct fm_msg m = {.buf = (void *)buf, .count = count, .peer = dest, .tag = tag};

    return do_init(&in, datatype, comm, &m, request);
}
FM_ALIAS(Psend_init_c)

int PMPI_Precv_init(void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct init in = {FM_CALL, partitions, info, true};
    struct fm_msg m = {.buf = buf, .count = count, .peer = dest, .tag = tag};

    return do_init(&in, datatype, comm, &m, request);
}
FM_ALIAS(Precv_init)

int PMPI_Precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                      int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct init in = {FM_CALL, partitions, info, true};
    struct fm_msg m = {.buf = buf, .count = count, .peer = dest, .tag = tag};

    return do_init(&in, datatype, comm, &m, request);
}
FM_ALIAS(Precv_init_c)

static int bad_partition(const char *call, const struct fm_request *r, int part)
{
    return fm_raise(r->comm, call, MPI_ERR_ARG, "partition is %d: allowed are 0 to %d", part,
                    fm_partition_count(r) - 1);
}

/* An active request of MPI_Psend_init. */
static int find_sender(const char *call, MPI_Request handle, struct fm_request **out_req)
{
    struct fm_request *r = fm_request_get(handle);

    *out_req = r;
    if (!r) {
        return fm_raise_handle(FM_KIND_REQUEST, call, handle, "request");
    }
    if (!fm_partition_is_send(r) || !r->is_active) {
        return fm_raise(r->comm, call, MPI_ERR_REQUEST,
                        "the request is not a started one of MPI_Psend_init");
    }
    return MPI_SUCCESS;
}

static int check_partition(const char *call, const struct fm_request *r, int part)
{
    return part < 0 || part >= fm_partition_count(r) ? bad_partition(call, r, part) : MPI_SUCCESS;
}

static int ready(const char *call, struct fm_request *r, int part)
{
    int rc = fm_partition_ready(r, part);

    return rc != 0 ? fm_raise_status(r->comm, call, rc) : MPI_SUCCESS;
}

int PMPI_Pready(int partition, MPI_Request request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_sender(FM_CALL, request, &r);
    rc = rc == MPI_SUCCESS ? check_partition(FM_CALL, r, partition) : rc;
    rc = rc == MPI_SUCCESS ? ready(FM_CALL, r, partition) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pready)

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_sender(FM_CALL, request, &r);
    if (rc == MPI_SUCCESS && partition_low > partition_high) {
        rc = fm_raise(r->comm, FM_CALL, MPI_ERR_ARG, "partition_low is %d, partition_high only %d",
                      partition_low, partition_high);
    }
    rc = rc == MPI_SUCCESS ? check_partition(FM_CALL, r, partition_low) : rc;
    rc = rc == MPI_SUCCESS ? check_partition(FM_CALL, r, partition_high) : rc;
    for (int k = partition_low; rc == MPI_SUCCESS && k <= partition_high; k++) {
        rc = ready(FM_CALL, r, k);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pready_range)

int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_sender(FM_CALL, request, &r);
    if (rc == MPI_SUCCESS && (length < 0 || (length > 0 && !array_of_partitions))) {
        rc = fm_raise(r->comm, FM_CALL, MPI_ERR_ARG, "length is %d and array_of_partitions is %p",
                      length, (const void *)array_of_partitions);
    }
    for (int k = 0; rc == MPI_SUCCESS && k < length; k++) {
        rc = check_partition(FM_CALL, r, array_of_partitions[k]);
    }
    for (int k = 0; rc == MPI_SUCCESS && k < length; k++) {
        rc = ready(FM_CALL, r, array_of_partitions[k]);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pready_list)

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    r = fm_request_get(request);
    rc = fm_pt2pt_out(MPI_SUCCESS, FM_CALL, "flag", flag);
    if (rc != MPI_SUCCESS) {
        goto out;
    }
    if (!r && request == MPI_REQUEST_NULL) {
        *flag = 1;
    } else if (!r) {
        rc = fm_raise_handle(FM_KIND_REQUEST, FM_CALL, request, "request");
    } else if (!fm_partition_is_recv(r)) {
        rc =
            fm_raise(r->comm, FM_CALL, MPI_ERR_REQUEST, "the request is not one of MPI_Precv_init");
    } else if (partition < 0 || partition >= fm_partition_count(r)) {
        rc = bad_partition(FM_CALL, r, partition);
    } else {
        *flag = fm_partition_has_arrived(r, partition);
        if (!*flag) {
            rc = fm_wait_test(r->comm->ch);
            rc = rc < 0 ? fm_raise_status(r->comm, FM_CALL, rc) : MPI_SUCCESS;
            *flag = fm_partition_has_arrived(r, partition);
        }
    }
out:
    fm_api_leave();
    return rc;
}
FM_ALIAS(Parrived)
