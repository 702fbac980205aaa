/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing and testing arrays of requests (MPI-5.0 3.7.5, 3.7.6). */
#include <stdio.h>

#include "core/api/req_args.h"

int fm_req_check_array(const char *call, int n, const MPI_Request *handles)
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

/* An array of handles, looked up as one goes. */
struct array {
    int n;
    const MPI_Request *handles;
};

static FM_INLINE struct fm_request *active(const struct array *a, int k)
{
    struct fm_request *r = fm_request_get(a->handles[k]);

    return fm_req_is_idle(r) ? NULL : r;
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
    rc = fm_wait_test(ch);
    return rc < 0 ? rc : 0;
}

/*
 * For calls that complete some: one poll comes first even if a request is complete, so that
 * repeated calls reach every request in the end (fairness, MPI-5.0 3.7.5, 3.7.6). 0 or a failure.
 */
static int until_some(struct array *a, bool is_test)
{
    int rc = until(all_done, a, true);

    return rc == 0 && !is_test ? until(any_done, a, false) : rc;
}

/*
 * Results of an array, with an error per status (MPI-5.0 3.7.5). MPI_ERROR of the
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
    fm_req_set_empty(next_status(res));
    add_error(res, MPI_SUCCESS);
}

static void add_result(struct results *res, struct fm_request *r, MPI_Request *handle)
{
    struct fm_comm *comm;
    int error = fm_req_finish(r, handle, next_status(res), &comm);

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

/* The request of a handle that fm_req_check_array() has accepted, or NULL: for MPI_REQUEST_NULL,
   and for a request that has just ended because its handle was given twice. */
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

    if (fm_req_is_idle(r)) {
        add_idle(res);
        return MPI_SUCCESS;
    }
    rc = fm_wait_done(fm_req_channel(r), r);
    if (FM_UNLIKELY(rc != 0)) {
        return fm_raise_status(r->comm, res->call, rc);
    }
    add_result(res, r, handle);
    return MPI_SUCCESS;
}

/* Wait for the last request first: it mostly completes last, and the wait checks no other request.
   MPI_SUCCESS or the code raised. */
static int wait_for_last(const char *call, int n, const MPI_Request *handles)
{
    struct fm_request *last = n > 0 ? checked(handles[n - 1]) : NULL;
    int rc;

    if (fm_req_is_idle(last) || last->is_done) {
        return MPI_SUCCESS;
    }
    rc = fm_wait_done(fm_req_channel(last), last);
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
    rc = fm_req_check_array(FM_CALL, count, array_of_requests);
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
    rc = fm_req_check_array(FM_CALL, count, array_of_requests);
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
    int rc = fm_pt2pt_out(fm_req_check_array(call, n, handles), call, "index", indx);
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
        return fm_req_finish_one(call, active(&a, k), &handles[k], status);
    }
    *indx = MPI_UNDEFINED;
    if (k == -1) { /* nothing is active */
        *out_done = true;
        fm_req_set_empty(status);
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
    int rc = fm_pt2pt_out(fm_req_check_array(call, n, handles), call, "outcount", outcount);

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

/* ---- reading statuses without completing (MPI-5.0 3.7.6) ---- */

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

/* Check the array, and poll once unless the condition holds. */
static int poll_once(const char *call, struct array *a, fm_until_fn is_met)
{
    int rc = fm_req_check_array(call, a->n, a->handles);

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
    rc = poll_once(FM_CALL, &a, all_done);
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
    rc = poll_once(FM_CALL, &a, any_done);
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
            fm_req_set_empty(status);
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
    rc = poll_once(FM_CALL, &a, all_done);
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
