/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing, testing, starting and ending requests (MPI-5.0 3.7.3 - 3.7.6, 3.8.4, 3.9). */
#include <stdio.h>

#include "core/api/pt2pt_args.h"
#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/p2p/progress.h"

/* The request behind a handle: NULL for MPI_REQUEST_NULL. MPI_SUCCESS or the code raised. */
static FM_INLINE int find(const char *call, MPI_Request handle, struct fm_request **out_req)
{
    struct fm_request *r = fm_request_get(handle);

    *out_req = r;
    if (FM_UNLIKELY(!r) && handle != MPI_REQUEST_NULL) {
        return fm_raise_handle(FM_KIND_REQUEST, call, handle, "request");
    }
    return MPI_SUCCESS;
}

/* The same where the handle is to be changed. */
static FM_INLINE int find_at(const char *call, const MPI_Request *handle,
                             struct fm_request **out_req)
{
    int rc = fm_pt2pt_out(MPI_SUCCESS, call, "request", handle);

    return FM_LIKELY(rc == MPI_SUCCESS) ? find(call, *handle, out_req) : rc;
}

/* Nothing is under way for it: it is null, or persistent and not started. */
static FM_INLINE bool is_idle(const struct fm_request *r)
{
    return !r || !r->is_active;
}

static void set_empty(MPI_Status *status)
{
    static const struct fm_status empty = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};

    fm_status_set(status, &empty);
}

/*
 * Give the result of a complete request to the user; a request that is not persistent ends and its
 * handle becomes null. Returns the error class of the result; *out_comm is its communicator then,
 * with a reference.
 */
static FM_INLINE int harvest(struct fm_request *r, MPI_Request *handle, MPI_Status *status,
                             struct fm_comm **out_comm)
{
    struct fm_comm *comm = r->comm;
    bool is_persistent = r->is_persistent;
    struct fm_status st;
    int error;

    if (FM_LIKELY(fm_request_is_plain(r))) {
        if (status != MPI_STATUS_IGNORE) {
            fm_status_set(status, &r->status);
        }
        *handle = MPI_REQUEST_NULL;
        fm_request_drop(r);
        return MPI_SUCCESS;
    }
    if (comm) {
        fm_object_ref(comm);
    }
    error = fm_request_harvest(r, &st);
    if (!is_persistent) {
        *handle = MPI_REQUEST_NULL;
    }
    fm_status_set(status, &st);
    if (FM_LIKELY(error == MPI_SUCCESS)) {
        fm_comm_unref(comm);
    } else {
        *out_comm = comm;
    }
    return error;
}

/* The same for calls on one request: errors are raised. */
static FM_INLINE int harvest_one(const char *call, struct fm_request *r, MPI_Request *handle,
                                 MPI_Status *status)
{
    struct fm_comm *comm;
    int error = harvest(r, handle, status, &comm);

    if (FM_UNLIKELY(error != MPI_SUCCESS)) {
        error = fm_raise_status(comm, call, error);
        fm_comm_unref(comm);
    }
    return error;
}

static struct fm_channel *channel_of(const struct fm_request *r)
{
    return r->comm ? r->comm->ch : fm_channel_main();
}

/* ---- one ---- */

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_at(FM_CALL, request, &r);
    if (FM_UNLIKELY(rc != MPI_SUCCESS)) {
        goto out;
    }
    if (is_idle(r)) {
        set_empty(status);
        goto out;
    }
    rc = fm_wait_done(channel_of(r), r);
    rc = FM_UNLIKELY(rc != 0) ? fm_raise_status(r->comm, FM_CALL, rc)
                              : harvest_one(FM_CALL, r, request, status);
out:
    fm_api_leave();
    return rc;
}
FM_ALIAS(Wait)

/* Make progress unless it is complete already. 0 or a failure. */
static FM_INLINE int try_one(struct fm_request *r)
{
    int rc;

    if (r->is_done) {
        return 0;
    }
    rc = fm_progress_test(channel_of(r));
    return rc < 0 ? rc : 0;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_at(FM_CALL, request, &r);
    rc = fm_pt2pt_out(rc, FM_CALL, "flag", flag);
    if (FM_UNLIKELY(rc != MPI_SUCCESS)) {
        goto out;
    }
    if (is_idle(r)) {
        *flag = 1;
        set_empty(status);
        goto out;
    }
    rc = try_one(r);
    if (FM_UNLIKELY(rc != 0)) {
        rc = fm_raise_status(r->comm, FM_CALL, rc);
        goto out;
    }
    *flag = r->is_done;
    if (r->is_done) {
        rc = harvest_one(FM_CALL, r, request, status);
    }
out:
    fm_api_leave();
    return rc;
}
FM_ALIAS(Test)

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct fm_request *r;
    struct fm_status st;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find(FM_CALL, request, &r);
    rc = fm_pt2pt_out(rc, FM_CALL, "flag", flag);
    if (rc != MPI_SUCCESS) {
        goto out;
    }
    if (is_idle(r)) {
        *flag = 1;
        set_empty(status);
        goto out;
    }
    rc = try_one(r);
    if (rc != 0) {
        rc = fm_raise_status(r->comm, FM_CALL, rc);
        goto out;
    }
    *flag = r->is_done;
    if (r->is_done) {
        fm_request_peek(r, &st);
        fm_status_set(status, &st);
    }
out:
    fm_api_leave();
    return rc;
}
FM_ALIAS(Request_get_status)

/* ---- arrays ---- */

/* An array of handles, looked up as one goes. */
struct array {
    int n;
    const MPI_Request *handles;
};

static int check_array(const char *call, int n, const MPI_Request *handles)
{
    if (n < 0) {
        return fm_raise(NULL, call, MPI_ERR_COUNT, "count is %d, it must not be negative", n);
    }
    if (n > 0 && !handles) {
        return fm_raise(NULL, call, MPI_ERR_ARG, "array_of_requests is NULL, but count is %d", n);
    }
    for (int k = 0; k < n; k++) {
        if (FM_UNLIKELY(!fm_request_get(handles[k]) && handles[k] != MPI_REQUEST_NULL)) {
            return fm_raise_handle(FM_KIND_REQUEST, call, handles[k], "an array_of_requests entry");
        }
    }
    return MPI_SUCCESS;
}

static FM_INLINE struct fm_request *active(const struct array *a, int k)
{
    struct fm_request *r = fm_request_get(a->handles[k]);

    return is_idle(r) ? NULL : r;
}

/* Index of the first complete one; MPI_UNDEFINED: none is; -1: nothing is active. */
static int first_done(const struct array *a)
{
    bool has_active = false;

    for (int k = 0; k < a->n; k++) {
        const struct fm_request *r = active(a, k);

        if (r && r->is_done) {
            return k;
        }
        has_active = has_active || r;
    }
    return has_active ? MPI_UNDEFINED : -1;
}

static bool any_done(void *ctx)
{
    return first_done(ctx) != MPI_UNDEFINED;
}

static bool all_done(void *ctx)
{
    const struct array *a = ctx;

    for (int k = 0; k < a->n; k++) {
        const struct fm_request *r = active(a, k);

        if (r && !r->is_done) {
            return false;
        }
    }
    return true;
}

/* Wait until the condition holds, or (is_test) only poll if it does not. 0 or a failure. */
static int until(fm_until_fn is_met, struct array *a, bool is_test)
{
    struct fm_channel *ch = fm_channel_main();
    int rc;

    if (is_met(a)) {
        return 0;
    }
    if (!is_test) {
        return fm_wait_until(ch, is_met, a);
    }
    rc = fm_progress_test(ch);
    return rc < 0 ? rc : 0;
}

/*
 * For calls that answer for some: whoever calls them again and again must get at all of them in the
 * end, although one is complete each time (fairness in MPI-5.0 3.7.5 and 3.7.6). 0 or a failure.
 */
static int until_some(struct array *a, bool is_test)
{
    int rc = until(all_done, a, true);

    return rc == 0 && !is_test ? until(any_done, a, false) : rc;
}

/*
 * Results of an array in which errors are told per status (MPI-5.0 3.7.5). MPI_ERROR of the
 * statuses is written if and only if one has failed, when the call answers MPI_ERR_IN_STATUS; of
 * all of them then (3.2.5).
 */
struct results {
    const char *call;
    MPI_Status *statuses; /* MPI_STATUSES_IGNORE: none */
    int n;                /* results so far, which is the place of the next status */
    struct fm_comm *comm; /* of the first failed request; a reference */
    int n_failed;
    char why[256]; /* reason of the first */
};

static MPI_Status *next_status(const struct results *res)
{
    return res->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &res->statuses[res->n];
}

/* The next status has been filled in, but for its error. */
static void add_error(struct results *res, int error)
{
    bool is_first = error != MPI_SUCCESS && res->n_failed == 0;
    int n = res->n++;

    res->n_failed += error != MPI_SUCCESS;
    if (FM_LIKELY(res->n_failed == 0) || res->statuses == MPI_STATUSES_IGNORE) {
        return;
    }
    for (int k = 0; is_first && k < n; k++) {
        res->statuses[k].MPI_ERROR = MPI_SUCCESS;
    }
    res->statuses[n].MPI_ERROR = error;
}

static void add_idle(struct results *res)
{
    set_empty(next_status(res));
    add_error(res, MPI_SUCCESS);
}

static void add_result(struct results *res, struct fm_request *r, MPI_Request *handle)
{
    struct fm_comm *comm;
    int error = harvest(r, handle, next_status(res), &comm);

    add_error(res, error);
    if (FM_LIKELY(error == MPI_SUCCESS)) {
        return;
    }
    if (res->n_failed == 1) {
        res->comm = comm;
        snprintf(res->why, sizeof(res->why), "%s", fm_why());
    } else {
        fm_comm_unref(comm);
    }
}

static int end_results(struct results *res)
{
    int rc;

    if (FM_LIKELY(res->n_failed == 0)) {
        return MPI_SUCCESS;
    }
    rc = fm_raise(res->comm, res->call, MPI_ERR_IN_STATUS,
                  "%d of the operations failed (see MPI_ERROR of %s); the first: %s", res->n_failed,
                  res->statuses ? "the statuses" : "statuses, which were ignored", res->why);
    fm_comm_unref(res->comm);
    return rc;
}

/* The request of a handle that check_array() has seen: it is one, or MPI_REQUEST_NULL; or it has
   just ended, when the handle was given twice. */
static FM_INLINE struct fm_request *checked(MPI_Request handle)
{
    struct fm_request *r = (struct fm_request *)handle;

    return handle != MPI_REQUEST_NULL && FM_LIKELY(r->head.kind == FM_KIND_REQUEST) ? r : NULL;
}

/* Wait for the operation of a handle, and take its result. MPI_SUCCESS, or the code that was raised
   because waiting failed. */
static __attribute__((noinline)) int finish(struct results *res, MPI_Request *handle)
{
    struct fm_request *r = checked(*handle);
    int rc;

    if (is_idle(r)) {
        add_idle(res);
        return MPI_SUCCESS;
    }
    rc = fm_wait_done(channel_of(r), r);
    if (FM_UNLIKELY(rc != 0)) {
        return fm_raise_status(r->comm, res->call, rc);
    }
    add_result(res, r, handle);
    return MPI_SUCCESS;
}

/* The last one first: it is mostly the last to complete, and while it is waited for nobody has to
   look at the others. MPI_SUCCESS or the code raised. */
static int wait_for_last(const char *call, int n, const MPI_Request *handles)
{
    struct fm_request *last = n > 0 ? checked(handles[n - 1]) : NULL;
    int rc;

    if (is_idle(last) || last->is_done) {
        return MPI_SUCCESS;
    }
    rc = fm_wait_done(channel_of(last), last);
    return FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(last->comm, call, rc);
}

/* Those from k on which are complete and successful, up to the first that is not; its place, or n.
 */
static int finish_plain(int k, int n, MPI_Request *handles, MPI_Status *statuses)
{
    for (; k < n; k++) {
        struct fm_request *r = checked(handles[k]);

        if (FM_UNLIKELY(!r || !fm_request_is_plain(r))) {
            break;
        }
        if (statuses != MPI_STATUSES_IGNORE) {
            fm_status_set(&statuses[k], &r->status);
        }
        handles[k] = MPI_REQUEST_NULL;
        fm_request_drop(r);
    }
    return k;
}

/* All of them, which have been checked. */
static int finish_all(const char *call, int n, MPI_Request *handles, MPI_Status *statuses)
{
    struct results res;
    int rc = wait_for_last(call, n, handles);

    res.call = call;
    res.statuses = statuses;
    res.comm = NULL;
    res.n = res.n_failed = 0;
    while (rc == MPI_SUCCESS && res.n < n) {
        if (FM_LIKELY(res.n_failed == 0)) {
            res.n = finish_plain(res.n, n, handles, statuses);
        }
        if (res.n < n) {
            rc = finish(&res, &handles[res.n]);
        }
    }
    if (FM_UNLIKELY(rc != MPI_SUCCESS)) {
        fm_comm_unref(res.comm);
        return rc;
    }
    return end_results(&res);
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = check_array(FM_CALL, count, array_of_requests);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        rc = finish_all(FM_CALL, count, array_of_requests, array_of_statuses);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Waitall)

int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                 MPI_Status *array_of_statuses)
{
    struct array a = {count, array_of_requests};
    int rc;

    fm_api_enter(FM_CALL);
    rc = check_array(FM_CALL, count, array_of_requests);
    rc = fm_pt2pt_out(rc, FM_CALL, "flag", flag);
    if (rc == MPI_SUCCESS) {
        rc = until(all_done, &a, true);
        rc = rc != 0 ? fm_raise_status(NULL, FM_CALL, rc) : MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS) {
        *flag = all_done(&a);
        if (*flag) {
            rc = finish_all(FM_CALL, count, array_of_requests, array_of_statuses);
        }
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Testall)

/* MPI_Waitany and MPI_Testany: *out_done is false only when a test found none complete. */
static int do_any(const char *call, int n, MPI_Request *handles, bool is_test, int *indx,
                  bool *out_done, MPI_Status *status)
{
    struct array a = {n, handles};
    int rc = fm_pt2pt_out(check_array(call, n, handles), call, "index", indx);
    int k;

    *out_done = false;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = until(any_done, &a, is_test);
    if (FM_UNLIKELY(rc != 0)) {
        return fm_raise_status(NULL, call, rc);
    }
    k = first_done(&a);
    if (k >= 0) {
        *indx = k;
        *out_done = true;
        return harvest_one(call, active(&a, k), &handles[k], status);
    }
    *indx = MPI_UNDEFINED;
    if (k == -1) { /* nothing is active */
        *out_done = true;
        set_empty(status);
    }
    return MPI_SUCCESS;
}

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
    bool is_done;
    int rc;

    fm_api_enter(FM_CALL);
    rc = do_any(FM_CALL, count, array_of_requests, false, indx, &is_done, status);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Waitany)

int PMPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                 MPI_Status *status)
{
    bool is_done;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_out(MPI_SUCCESS, FM_CALL, "flag", flag);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        rc = do_any(FM_CALL, count, array_of_requests, true, indx, &is_done, status);
        *flag = is_done;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Testany)

static int do_some(const char *call, int n, MPI_Request *handles, bool is_test, int *outcount,
                   int *indices, MPI_Status *statuses)
{
    struct results res = {.call = call, .statuses = statuses};
    struct array a = {n, handles};
    int rc = fm_pt2pt_out(check_array(call, n, handles), call, "outcount", outcount);

    rc = n > 0 ? fm_pt2pt_out(rc, call, "array_of_indices", indices) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = until_some(&a, is_test);
    if (FM_UNLIKELY(rc != 0)) {
        return fm_raise_status(NULL, call, rc);
    }
    if (first_done(&a) == -1) { /* nothing is active */
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    for (int k = 0; k < n; k++) {
        struct fm_request *r = active(&a, k);

        if (r && r->is_done) {
            indices[res.n] = k;
            add_result(&res, r, &handles[k]);
        }
    }
    *outcount = res.n;
    return end_results(&res);
}

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = do_some(FM_CALL, incount, array_of_requests, false, outcount, array_of_indices,
                 array_of_statuses);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Waitsome)

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = do_some(FM_CALL, incount, array_of_requests, true, outcount, array_of_indices,
                 array_of_statuses);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Testsome)

/* ---- looking without completing (MPI-5.0 3.7.6) ---- */

/* As add_result(), but the request stays as it is. */
static void add_peek(struct results *res, const struct array *a, int k)
{
    struct fm_request *r = active(a, k);
    struct fm_status st;
    int error;

    if (!r) {
        add_idle(res);
        return;
    }
    error = fm_request_peek(r, &st);
    fm_status_set(next_status(res), &st);
    add_error(res, error);
}

/* Check, and poll unless the condition holds. */
static int look(const char *call, struct array *a, fm_until_fn is_met)
{
    int rc = check_array(call, a->n, a->handles);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = until(is_met, a, true);
    return rc != 0 ? fm_raise_status(NULL, call, rc) : MPI_SUCCESS;
}

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                MPI_Status *array_of_statuses)
{
    struct results res = {.call = FM_CALL, .statuses = array_of_statuses};
    struct array a = {count, array_of_requests};
    int rc;

    fm_api_enter(FM_CALL);
    rc = look(FM_CALL, &a, all_done);
    rc = fm_pt2pt_out(rc, FM_CALL, "flag", flag);
    if (rc == MPI_SUCCESS) {
        *flag = all_done(&a);
        for (int k = 0; *flag && k < count; k++) {
            add_peek(&res, &a, k);
        }
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Request_get_status_all)

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx,
                                int *flag, MPI_Status *status)
{
    struct array a = {count, array_of_requests};
    struct fm_status st;
    int rc;

    fm_api_enter(FM_CALL);
    rc = look(FM_CALL, &a, any_done);
    rc = fm_pt2pt_out(rc, FM_CALL, "flag", flag);
    rc = fm_pt2pt_out(rc, FM_CALL, "index", indx);
    if (rc == MPI_SUCCESS) {
        int k = first_done(&a);

        *flag = k != MPI_UNDEFINED;
        *indx = k >= 0 ? k : MPI_UNDEFINED;
        if (k >= 0) {
            fm_request_peek(active(&a, k), &st);
            fm_status_set(status, &st);
        } else if (*flag) {
            set_empty(status);
        }
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Request_get_status_any)

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                 int array_of_indices[], MPI_Status *array_of_statuses)
{
    struct results res = {.call = FM_CALL, .statuses = array_of_statuses};
    struct array a = {incount, array_of_requests};
    int rc;

    fm_api_enter(FM_CALL);
    rc = look(FM_CALL, &a, all_done);
    rc = fm_pt2pt_out(rc, FM_CALL, "outcount", outcount);
    rc = incount > 0 ? fm_pt2pt_out(rc, FM_CALL, "array_of_indices", array_of_indices) : rc;
    if (rc == MPI_SUCCESS) {
        for (int k = 0; k < incount; k++) {
            struct fm_request *r = active(&a, k);

            if (r && r->is_done) {
                array_of_indices[res.n] = k;
                add_peek(&res, &a, k);
            }
        }
        *outcount = first_done(&a) == -1 ? MPI_UNDEFINED : res.n;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Request_get_status_some)

/* ---- freeing, cancelling, starting ---- */

/* The request that is to be freed or cancelled. */
static int find_loose(const char *call, const MPI_Request *request, struct fm_request **out_req)
{
    int rc = find_at(call, request, out_req);
    const struct fm_request *r;

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    r = *out_req;
    if (!r) {
        return fm_raise_handle(FM_KIND_REQUEST, call, MPI_REQUEST_NULL, "request");
    }
    if (r->ops->must_complete && r->is_active && !(r->is_persistent && r->is_done)) {
        return fm_raise(r->comm, call, MPI_ERR_REQUEST,
                        "the request of a collective or partitioned operation (%s) is active: "
                        "complete it with MPI_Wait or MPI_Test",
                        r->ops->name);
    }
    return MPI_SUCCESS;
}

/* An operation ends that nobody can ask for: its error is fatal (MPI-5.0 3.7.3). At the end of MPI
   what is still pending may end any way it likes. */
static void ended_unseen(struct fm_request *r)
{
    if (r->status.error != MPI_SUCCESS && fm_root.phase == FM_PHASE_RUNNING) {
        fm_raise_fatal("MPI_Request_free", r->status.error, "the %s of a freed request failed: %s",
                       r->ops->name, r->why ? r->why : fm_error_string(r->status.error));
    }
}

int PMPI_Request_free(MPI_Request *request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_loose(FM_CALL, request, &r);
    if (rc == MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        if (r->is_active && !r->is_done) {
            r->on_done = ended_unseen;
        }
        fm_request_unref(r);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Request_free)

int PMPI_Cancel(MPI_Request *request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_loose(FM_CALL, request, &r);
    if (rc == MPI_SUCCESS) {
        rc = fm_request_cancel(r);
        rc = rc != 0 ? fm_raise_status(r->comm, FM_CALL, rc) : MPI_SUCCESS;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cancel)

/* May it be started? `which` is its place in the array. */
static int check_start(const char *call, MPI_Request handle, int which)
{
    const struct fm_request *r = fm_request_get(handle);

    if (!r) {
        return fm_raise_handle(FM_KIND_REQUEST, call, handle, "request");
    }
    if (!r->is_persistent) {
        return fm_raise(r->comm, call, MPI_ERR_REQUEST,
                        "the request (entry %d) is not persistent: only those of MPI_Send_init "
                        "and the like can be started",
                        which);
    }
    if (r->is_active) {
        return fm_raise(r->comm, call, MPI_ERR_REQUEST,
                        "the request (entry %d) is active: complete it with MPI_Wait or MPI_Test "
                        "before it is started again",
                        which);
    }
    return MPI_SUCCESS;
}

static int start(const char *call, MPI_Request handle, int which)
{
    int rc = check_start(call, handle, which); /* an array may name it twice */

    if (rc == MPI_SUCCESS) {
        struct fm_request *r = fm_request_get(handle);
        int status = fm_request_start(r);

        rc = status != 0 ? fm_raise_status(r->comm, call, status) : MPI_SUCCESS;
    }
    return rc;
}

int PMPI_Start(MPI_Request *request)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_out(MPI_SUCCESS, FM_CALL, "request", request);
    rc = rc == MPI_SUCCESS ? start(FM_CALL, *request, 0) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Start)

int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = check_array(FM_CALL, count, array_of_requests);
    for (int k = 0; rc == MPI_SUCCESS && k < count; k++) { /* all of them, or none */
        rc = check_start(FM_CALL, array_of_requests[k], k);
    }
    for (int k = 0; rc == MPI_SUCCESS && k < count; k++) {
        rc = start(FM_CALL, array_of_requests[k], k);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Startall)
