/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions. */
#include "core/runtime/session.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "core/coll/coll.h"
#include "core/comm/comm_make.h"
#include "core/comm/intercomm.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/p2p/bsend.h"
#include "core/p2p/channel_open.h"
#include "core/runtime/runtime.h"

#define MAX_SESSIONS (1 << 16)

/* By number; that of a set never changes. */
static const char *const psets[FM_SESSION_N_PSETS] = {"mpi://WORLD", "mpi://SELF"};

/* The level that the hint asks for; MPI_THREAD_SINGLE and no question without it. */
static int level_of(const struct fm_info *info, int *out_level, bool *out_is_asked)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                  {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                  {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                  {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};
    const char *text = info ? fm_info_find(info, "thread_level") : NULL;

    *out_is_asked = text != NULL;
    for (size_t i = 0; i < FM_ARRAY_LEN(levels); i++) {
        if (!text || strcmp(text, levels[i].name) == 0) {
            *out_level = levels[i].level;
            return 0;
        }
    }
    return fm_fail(-FM_E_INVAL,
                   "the hint thread_level is \"%.64s\": it must be the name of a level, as in "
                   "\"MPI_THREAD_MULTIPLE\"",
                   text);
}

static const char *level_name(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE:
        return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
        return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
        return "MPI_THREAD_SERIALIZED";
    default:
        return "MPI_THREAD_MULTIPLE";
    }
}

static struct fm_session *new_session(int level, struct fm_errhandler *errhandler)
{
    struct fm_session *s;

    fm_errhandler_place(FM_KIND_SESSION, offsetof(struct fm_session, errhandler));
    if (fm_handle_pool(FM_KIND_SESSION, sizeof(*s), MAX_SESSIONS) != 0) {
        return NULL;
    }
    s = fm_object_new(FM_KIND_SESSION);
    if (s) {
        s->thread_level = level;
        s->errhandler = fm_errhandler_ref(errhandler);
        s->info = fm_info_create();
    }
    return s;
}

static void drop(struct fm_session *s)
{
    if (s->info) {
        fm_info_unref(s->info);
    }
    fm_errhandler_unref(s->errhandler);
    fm_object_free(s);
}

int fm_session_open(const struct fm_info *info, struct fm_errhandler *errhandler,
                    struct fm_session **out_session)
{
    struct fm_session *s;
    int level = MPI_THREAD_SINGLE;
    bool is_asked;
    int rc = level_of(info, &level, &is_asked);

    if (!rc) {
        rc = fm_runtime_open(level);
    }
    if (rc) {
        return rc;
    }
    if (!is_asked) { /* what is in force (11.3.1) */
        level = fm_runtime.thread_level;
    }
    s = new_session(level, errhandler);
    if (!s || !s->info || fm_info_set(s->info, "thread_level", level_name(level)) != 0) {
        if (s) {
            drop(s);
        }
        fm_runtime_close();
        return -FM_E_NOMEM;
    }
    *out_session = s;
    return 0;
}

int fm_session_close(struct fm_session *session)
{
    int rc = fm_channel_drain(fm_runtime.ch);

    if (rc) {
        return rc;
    }
    fm_bsend_orphan(fm_runtime.ch, session);
    drop(session);
    fm_runtime_close();
    return 0;
}

const char *fm_session_pset_name(int n)
{
    return n >= 0 && n < FM_SESSION_N_PSETS ? psets[n] : NULL;
}

int fm_session_pset_find(const char *name)
{
    for (int n = 0; n < FM_SESSION_N_PSETS; n++) {
        if (strcasecmp(name, psets[n]) == 0) {
            return n;
        }
    }
    return -1;
}

int fm_session_pset_group(int n, struct fm_group **out_group)
{
    const struct fm_pm *pm = fm_runtime.pm;

    return n == 0 ? fm_group_create(pm->size, NULL, pm->rank, out_group)
                  : fm_group_create(1, &pm->rank, pm->rank, out_group);
}

/* The same number for the same text in all processes (FNV-1a). */
static int number_of(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 16777619u;
    }
    return (int)(h & FM_COLL_TAG_MASK);
}

int fm_session_make_intercomm(struct fm_group *local, int local_leader, int remote_leader,
                              const char *text, struct fm_comm **out_comm)
{
    struct fm_comm *base;
    int rc = fm_runtime_base_comm(&base);

    return rc ? rc
              : fm_intercomm_from_groups(base, local, local_leader, remote_leader, number_of(text),
                                         out_comm);
}

int fm_session_make_comm(struct fm_group *group, const char *text, struct fm_comm **out_comm)
{
    struct fm_comm *base;
    int rc = fm_runtime_base_comm(&base);

    return rc ? rc : fm_comm_make_create_group(base, group, number_of(text), out_comm);
}
