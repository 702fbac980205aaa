/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the arguments of point-to-point calls (MPI-5.0 3.2). */
#include "core/api/pt2pt_args.h"

#include "core/api/dtype_args.h"
#include "core/object/comm.h"

enum { BUF, COUNT, TYPE, PEER, TAG };

static const char *const send_names[] = {"buf", "count", "datatype", "dest", "tag"};
static const char *const recv_names[] = {"buf", "count", "datatype", "source", "tag"};

static const char *name_of(const struct fm_pt2pt_args *a, int which)
{
    if (a->names[which]) {
        return a->names[which];
    }
    return a->is_recv ? recv_names[which] : send_names[which];
}

FM_COLD static int bad_peer(const struct fm_pt2pt_args *a, struct fm_comm *comm, int peer)
{
    if (!a->is_recv && peer == MPI_ANY_SOURCE) {
        return fm_raise(comm, a->call, MPI_ERR_RANK,
                        "%s is MPI_ANY_SOURCE: a message must have one receiver", name_of(a, PEER));
    }
    return fm_raise(comm, a->call, MPI_ERR_RANK,
                    "%s is %d: allowed are the ranks 0 to %d of '%s', MPI_PROC_NULL%s",
                    name_of(a, PEER), peer, comm->n_remote - 1, comm->name,
                    a->is_recv ? " and MPI_ANY_SOURCE" : "");
}

FM_COLD static int bad_tag(const struct fm_pt2pt_args *a, struct fm_comm *comm, int tag)
{
    return fm_raise(comm, a->call, MPI_ERR_TAG,
                    "%s is %d: allowed are 0 to the value of MPI_TAG_UB%s", name_of(a, TAG), tag,
                    a->is_recv ? ", and MPI_ANY_TAG" : "");
}

static int check_peer(const struct fm_pt2pt_args *a, struct fm_comm *comm, int peer, int tag)
{
    if (FM_UNLIKELY((unsigned)peer >= (unsigned)comm->n_remote) && peer != MPI_PROC_NULL &&
        !(a->is_recv && peer == MPI_ANY_SOURCE)) {
        return bad_peer(a, comm, peer);
    }
    if (FM_UNLIKELY(tag < 0) && !(a->is_recv && tag == MPI_ANY_TAG)) {
        return bad_tag(a, comm, tag);
    }
    return MPI_SUCCESS;
}

FM_COLD static int bad_count(const struct fm_pt2pt_args *a, struct fm_comm *comm, MPI_Count count)
{
    return fm_raise(comm, a->call, MPI_ERR_COUNT, "%s is %lld, it must not be negative",
                    name_of(a, COUNT), (long long)count);
}

FM_COLD static int not_committed(const struct fm_pt2pt_args *a, struct fm_comm *comm)
{
    return fm_raise(comm, a->call, MPI_ERR_TYPE, "%s is not committed: call MPI_Type_commit first",
                    name_of(a, TYPE));
}

FM_COLD static int null_buffer(const struct fm_pt2pt_args *a, const struct fm_msg *m)
{
    return fm_raise(m->comm, a->call, MPI_ERR_BUFFER,
                    "%s is NULL, but %s is %lld: pass the address of the data", name_of(a, BUF),
                    name_of(a, COUNT), (long long)m->count);
}

static int check_buffer(const struct fm_pt2pt_args *a, const struct fm_msg *m)
{
    if (FM_UNLIKELY(m->count < 0)) {
        return bad_count(a, m->comm, m->count);
    }
    if (FM_UNLIKELY(!m->dtype->is_committed)) {
        return not_committed(a, m->comm);
    }
    /* NULL is MPI_BOTTOM, which only types with absolute addresses make sense of. */
    if (FM_UNLIKELY(!m->buf) && m->count > 0 && m->dtype->is_predefined && m->dtype->size > 0) {
        return null_buffer(a, m);
    }
    return MPI_SUCCESS;
}

int fm_pt2pt_check(const struct fm_pt2pt_args *a, struct fm_msg *m)
{
    int rc = MPI_SUCCESS;

    m->space = FM_SPACE_USER;
    m->comm = fm_comm_get(a->comm);
    if (FM_UNLIKELY(!m->comm)) {
        return fm_raise_handle(FM_KIND_COMM, a->call, a->comm, "comm");
    }
    m->dtype = dtype_find(a->type);
    if (FM_UNLIKELY(!m->dtype)) {
        return fm_raise_handle_on(m->comm, FM_KIND_DTYPE, a->call, a->type, name_of(a, TYPE));
    }
    if (FM_CHECKS) {
        rc = check_peer(a, m->comm, m->peer, m->tag);
        if (FM_LIKELY(rc == MPI_SUCCESS)) {
            rc = check_buffer(a, m);
        }
    }
    return rc;
}

int fm_pt2pt_check_peer(const char *call, MPI_Comm comm, int peer, int tag,
                        struct fm_comm **out_comm)
{
    const struct fm_pt2pt_args a = {.call = call, .is_recv = true};

    *out_comm = fm_comm_get(comm);
    if (FM_UNLIKELY(!*out_comm)) {
        return fm_raise_handle(FM_KIND_COMM, call, comm, "comm");
    }
    return FM_CHECKS ? check_peer(&a, *out_comm, peer, tag) : MPI_SUCCESS;
}
