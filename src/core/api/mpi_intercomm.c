/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators (MPI-5.0 7.6). */
#include "core/api/find.h"

#include "core/coll/coll.h"
#include "core/comm/intercomm.h"
#include "core/object/comm.h"

/* MPI-5.0 7.6.1: only the leader's peer, remote leader and tag count. */
static int check_leader(const char *call, struct fm_comm *local, MPI_Comm peer_comm,
                        struct fm_agree *who)
{
    int rc = fm_find_comm(call, peer_comm, &who->peer);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (who->remote_leader < 0 || who->remote_leader >= who->peer->n_remote) {
        return fm_raise(local, call, MPI_ERR_RANK,
                        "remote_leader is %d but peer_comm '%s' has ranks 0..%d",
                        who->remote_leader, who->peer->name, who->peer->n_remote - 1);
    }
    if (!who->peer->is_inter && who->remote_leader == who->peer->rank) {
        return fm_raise(local, call, MPI_ERR_RANK,
                        "remote_leader is the calling process: the leaders must be two");
    }
    if (who->tag < 0) {
        return fm_raise(local, call, MPI_ERR_TAG, "tag is %d, it must not be negative", who->tag);
    }
    who->tag = (who->tag & FM_COLL_TAG_MASK) | FM_COLL_TAG_GROUP | FM_COLL_TAG_INTER;
    return MPI_SUCCESS;
}

static int create(const char *call, struct fm_agree *who, MPI_Comm peer_comm,
                  MPI_Comm *newintercomm)
{
    struct fm_comm *local = who->local, *made = NULL;
    int rc;

    if (who->local_leader < 0 || who->local_leader >= local->size) {
        return fm_raise(local, call, MPI_ERR_RANK,
                        "local_leader is %d but local_comm '%s' has ranks 0..%d", who->local_leader,
                        local->name, local->size - 1);
    }
    if (local->rank == who->local_leader) {
        rc = check_leader(call, local, peer_comm, who);
        if (rc != MPI_SUCCESS) {
            return rc;
        }
    } else {
        who->peer = local; /* not NULL: there is another side, whose leader ours knows */
    }
    rc = fm_intercomm_create(who, &made);
    *newintercomm = rc == 0 ? fm_handle_of(made) : MPI_COMM_NULL;
    if (rc == -FM_E_INVAL) {
        return fm_raise(local, call, MPI_ERR_GROUP, "%s", fm_why());
    }
    return rc != 0 ? fm_raise_status(local, call, rc) : MPI_SUCCESS;
}

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, MPI_Comm *newintercomm)
{
    struct fm_agree who = {
        .local_leader = local_leader, .remote_leader = remote_leader, .tag = tag};
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, local_comm, "newintercomm", newintercomm, &who.local);
    rc = rc == MPI_SUCCESS ? create(FM_CALL, &who, peer_comm, newintercomm) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Intercomm_create)

static int merge(const char *call, struct fm_comm *inter, int high, MPI_Comm *newintracomm)
{
    struct fm_comm *made = NULL;
    int rc;

    if (!inter->is_inter) {
        return fm_raise(inter, call, MPI_ERR_COMM,
                        "intercomm is an intracommunicator: there is nothing to merge");
    }
    rc = fm_intercomm_merge(inter, high != 0, &made);
    *newintracomm = rc == 0 ? fm_handle_of(made) : MPI_COMM_NULL;
    return rc != 0 ? fm_raise_status(inter, call, rc) : MPI_SUCCESS;
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, intercomm, "newintracomm", newintracomm, &c);
    rc = rc == MPI_SUCCESS ? merge(FM_CALL, c, high, newintracomm) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Intercomm_merge)
