/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing into the user's buffers, and counts of typed data in statuses (MPI-5.0 3.2.5, 5.1.11,
   5.2, 5.3). */
#include "core/api/dtype_args.h"
#include "core/api/find.h"

#include <limits.h>
#include <string.h>

#include "core/dtype/external.h"
#include "core/dtype/pack.h"
#include "core/object/comm.h"
#include "core/object/request.h"

static int comm_arg_for(MPI_Comm handle, const void *position, struct fm_comm **out)
{
    int rc = fm_find_comm(fm_root.call, handle, out);

    return rc ? rc : out_arg_on(*out, position, "position");
}

/* One call of pack or unpack: typed data on one side, a buffer with a position on the other. */
struct move {
    const void *typed;
    MPI_Count count;
    MPI_Datatype datatype;
    const char *buf_name; /* "inbuf" or "outbuf", where the typed data is */
    const void *packed;
    MPI_Count room;
    const char *room_name; /* "insize", "outsize" */
    MPI_Count position;
    struct fm_dtype *t;
    bool is_external;
};

static int check_position(struct fm_comm *comm, const struct move *m)
{
    if (m->room < 0) {
        return fm_raise(comm, fm_root.call, MPI_ERR_ARG, "%s is %lld, but must not be negative",
                        m->room_name, (long long)m->room);
    }
    if (m->position < 0 || m->position > m->room) {
        return fm_raise(comm, fm_root.call, MPI_ERR_ARG,
                        "*position is %lld, but must be from 0 to %s = %lld",
                        (long long)m->position, m->room_name, (long long)m->room);
    }
    return 0;
}

/* Bytes that the call moves, or -1 when the count makes more than MPI_Count holds. */
static MPI_Count packed_len(const struct fm_dtype *t, MPI_Count count, bool is_external)
{
    MPI_Count n;

    return __builtin_mul_overflow(count, is_external ? t->ext_size : t->size, &n) ? -1 : n;
}

static int check_move(struct fm_comm *comm, struct move *m)
{
    MPI_Count len;
    int rc = count_arg_on(comm, m->count, "count");

    rc = rc ? rc : dtype_arg_committed_on(comm, m->datatype, "datatype", &m->t);
    rc = rc ? rc : check_position(comm, m);
    if (rc) {
        return rc;
    }
    len = packed_len(m->t, m->count, m->is_external);
    if (len < 0 || len > m->room - m->position) {
        return fm_raise(comm, fm_root.call, MPI_ERR_TRUNCATE,
                        "%lld bytes are needed from *position on, but %s leaves %lld",
                        (long long)len, m->room_name, (long long)(m->room - m->position));
    }
    if (len > 0 && !m->packed) {
        return fm_raise(comm, fm_root.call, MPI_ERR_BUFFER, "the packed buffer is NULL");
    }
    /* MPI_BOTTOM is NULL, and right with displacements that are addresses. */
    if (len > 0 && (uintptr_t)m->typed + (uintptr_t)m->t->true_lb == 0) {
        return fm_raise(comm, fm_root.call, MPI_ERR_BUFFER, "%s is NULL", m->buf_name);
    }
    return 0;
}

/* ---------------------------------------------------------------- native */

static int pack(struct move *m, struct fm_comm *c, MPI_Count *out_position)
{
    int rc = check_move(c, m);

    if (!rc) {
        fm_pack_all((char *)m->packed + m->position, m->typed, m->count, m->t);
        *out_position = m->position + m->count * m->t->size;
    }
    return rc;
}

static int unpack(struct move *m, struct fm_comm *c, MPI_Count *out_position)
{
    int rc = check_move(c, m);

    if (!rc) {
        MPI_Count len = m->count * m->t->size;

        fm_unpack_all((void *)m->typed, m->count, m->t, (const char *)m->packed + m->position, len);
        *out_position = m->position + len;
    }
    return rc;
}

#define PACK_MOVE()                                                                                \
    {                                                                                              \
        .typed = inbuf, .count = incount, .datatype = datatype, .buf_name = "inbuf",               \
        .packed = outbuf, .room = outsize, .room_name = "outsize"                                  \
    }

#define UNPACK_MOVE()                                                                              \
    {                                                                                              \
        .typed = outbuf, .count = outcount, .datatype = datatype, .buf_name = "outbuf",            \
        .packed = inbuf, .room = insize, .room_name = "insize"                                     \
    }

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
              int *position, MPI_Comm comm)
{
    struct move m = PACK_MOVE();
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = comm_arg_for(comm, position, &c);
    if (!rc) {
        MPI_Count at;

        m.position = *position;
        rc = pack(&m, c, &at);
        *position = rc ? *position : (int)at;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pack)

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    struct move m = PACK_MOVE();
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = comm_arg_for(comm, position, &c);
    if (!rc) {
        m.position = *position;
        rc = pack(&m, c, position);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pack_c)

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    struct move m = UNPACK_MOVE();
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = comm_arg_for(comm, position, &c);
    if (!rc) {
        MPI_Count at;

        m.position = *position;
        rc = unpack(&m, c, &at);
        *position = rc ? *position : (int)at;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Unpack)

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    struct move m = UNPACK_MOVE();
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = comm_arg_for(comm, position, &c);
    if (!rc) {
        m.position = *position;
        rc = unpack(&m, c, position);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Unpack_c)

static int size_of_packed(struct fm_comm *c, MPI_Count incount, MPI_Datatype datatype,
                          bool is_external, const void *size, MPI_Count *out)
{
    struct fm_dtype *t;
    MPI_Count n;
    int rc = count_arg_on(c, incount, "incount");

    rc = rc ? rc : dtype_arg_on(c, datatype, "datatype", &t);
    rc = rc ? rc : out_arg_on(c, size, "size");
    if (rc) {
        return rc;
    }
    n = packed_len(t, incount, is_external);
    if (n < 0) {
        return fm_raise(c, fm_root.call, MPI_ERR_COUNT,
                        "incount elements are more bytes than MPI_Count can say");
    }
    *out = n;
    return MPI_SUCCESS;
}

static int pack_size(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, const void *size,
                     MPI_Count *out)
{
    struct fm_comm *c;
    int rc = fm_find_comm(fm_root.call, comm, &c);

    return rc ? rc : size_of_packed(c, incount, datatype, false, size, out);
}

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    MPI_Count n;
    int rc;

    fm_api_enter(FM_CALL);
    rc = pack_size(incount, datatype, comm, size, &n);
    if (!rc) {
        *size = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pack_size)

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = pack_size(incount, datatype, comm, size, size);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pack_size_c)

/* ---------------------------------------------------------------- external32 */

static int datarep_arg(const char *datarep)
{
    if (!datarep || strcmp(datarep, "external32") != 0) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                        "datarep is \"%s\", but must be "
                        "\"external32\"",
                        datarep ? datarep : "(NULL)");
    }
    return 0;
}

static int external(const char *datarep, struct move *m, bool is_out, MPI_Count *out_position)
{
    char *packed;
    int rc = datarep_arg(datarep);

    m->is_external = true;
    rc = rc ? rc : check_move(NULL, m);
    if (rc) {
        return rc;
    }
    packed = (char *)m->packed + m->position;
    rc = is_out ? fm_external_pack(packed, m->typed, m->count, m->t)
                : fm_external_unpack((void *)m->typed, m->count, m->t, packed);
    if (rc == -FM_E_INVAL) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_CONVERSION, "%s", fm_why());
    }
    if (rc) {
        return fm_raise_status(NULL, fm_root.call, rc);
    }
    *out_position = m->position + m->count * m->t->ext_size;
    return MPI_SUCCESS;
}

#define EXTERNAL(args, is_out, type)                                                               \
    do {                                                                                           \
        struct move external_m = args;                                                             \
        MPI_Count external_at = 0;                                                                 \
        int external_rc;                                                                           \
                                                                                                   \
        fm_api_enter(FM_CALL);                                                                     \
        external_rc = out_arg(position, "position");                                               \
        if (!external_rc) {                                                                        \
            external_m.position = *position;                                                       \
            external_rc = external(datarep, &external_m, is_out, &external_at);                    \
            *position = external_rc ? *position : (type)external_at;                               \
        }                                                                                          \
        fm_api_leave();                                                                            \
        return external_rc;                                                                        \
    } while (0)

int PMPI_Pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype,
                       void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
    EXTERNAL(PACK_MOVE(), true, MPI_Aint);
}
FM_ALIAS(Pack_external)

int PMPI_Pack_external_c(const char datarep[], const void *inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                         MPI_Count *position)
{
    EXTERNAL(PACK_MOVE(), true, MPI_Count);
}
FM_ALIAS(Pack_external_c)

int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize,
                         MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{
    EXTERNAL(UNPACK_MOVE(), false, MPI_Aint);
}
FM_ALIAS(Unpack_external)

int PMPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize,
                           MPI_Count *position, void *outbuf, MPI_Count outcount,
                           MPI_Datatype datatype)
{
    EXTERNAL(UNPACK_MOVE(), false, MPI_Count);
}
FM_ALIAS(Unpack_external_c)

int PMPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype,
                            MPI_Aint *size)
{
    MPI_Count n;
    int rc;

    fm_api_enter(FM_CALL);
    rc = datarep_arg(datarep);
    rc = rc ? rc : size_of_packed(NULL, incount, datatype, true, size, &n);
    if (!rc) {
        *size = n == (MPI_Aint)n ? (MPI_Aint)n : MPI_UNDEFINED;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pack_external_size)

int PMPI_Pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype,
                              MPI_Count *size)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = datarep_arg(datarep);
    rc = rc ? rc : size_of_packed(NULL, incount, datatype, true, size, size);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Pack_external_size_c)

/* ---------------------------------------------------------------- statuses */

static int status_arg(const MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                        "status is MPI_STATUS_IGNORE, which has no contents: pass a status that a "
                        "call has filled in");
    }
    return 0;
}

/* Elements of the type in a message, or basic elements; MPI_UNDEFINED if it ends within one. */
static int status_count(const MPI_Status *status, MPI_Datatype datatype, bool is_basic,
                        const void *count, MPI_Count *out)
{
    struct fm_dtype *t;
    MPI_Count len, n;
    int rc = status_arg(status);

    rc = rc ? rc : dtype_arg(datatype, "datatype", &t);
    rc = rc ? rc : out_arg(count, "count");
    if (rc) {
        return rc;
    }
    len = fm_status_bytes(status);
    if (t->size == 0) {
        n = len == 0 ? 0 : -1;
    } else if (is_basic) {
        n = fm_dtype_elements(t, len);
    } else {
        n = len % t->size == 0 ? len / t->size : -1;
    }
    *out = n < 0 ? MPI_UNDEFINED : n;
    return MPI_SUCCESS;
}

static int status_count_int(const MPI_Status *status, MPI_Datatype datatype, bool is_basic,
                            int *count)
{
    MPI_Count n;
    int rc = status_count(status, datatype, is_basic, count, &n);

    if (!rc) {
        *count = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    }
    return rc;
}

int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = status_count_int(status, datatype, false, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Get_count)

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = status_count(status, datatype, false, count, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Get_count_c)

int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = status_count_int(status, datatype, true, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Get_elements)

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = status_count(status, datatype, true, count, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Get_elements_c)

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = status_count(status, datatype, true, count, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Get_elements_x)

static int set_elements(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    struct fm_status s = FM_STATUS_EMPTY;
    struct fm_dtype *t;
    int rc = status_arg(status);

    rc = rc ? rc : dtype_arg(datatype, "datatype", &t);
    rc = rc ? rc : count_arg(count, "count");
    if (rc) {
        return rc;
    }
    s.n_bytes = fm_dtype_elements_bytes(t, count);
    if (s.n_bytes < 0) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_COUNT,
                        "count elements are more bytes than a status can say");
    }
    s.source = status->MPI_SOURCE;
    s.tag = status->MPI_TAG;
    s.is_cancelled = fm_status_is_cancelled(status);
    fm_status_set(status, &s);
    return MPI_SUCCESS;
}

int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = set_elements(status, datatype, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Status_set_elements)

int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = set_elements(status, datatype, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Status_set_elements_c)

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = set_elements(status, datatype, count);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Status_set_elements_x)
