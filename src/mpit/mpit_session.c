/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions (MPI-5.0 15.3.7): groups of handles that do not touch those of others. */
#include "mpit/mpit_pvar.h"

struct session {
    struct fm_t_slot slot;
};

/* See mpit_pvar.h. */
struct fm_t_slots fm_t_sessions = {.slot_len = sizeof(struct session), .kind = FM_T_SLOT_SESSION};

int fm_t_session_create(uint64_t *out_session)
{
    struct session *s;
    int rc = FM_T_OK;

    fm_t_lock();
    s = fm_t_slots_take(&fm_t_sessions);
    if (s) {
        fm_t_slots_publish(&fm_t_sessions, s);
        *out_session = fm_t_slots_value(&fm_t_sessions, s);
        fathom_level_set(&fm_t_counters->sessions, fm_t_sessions.n_live);
    } else {
        rc = fm_t_slots_is_full(&fm_t_sessions) ? FM_T_OUT_OF_SESSIONS : FM_T_MEMORY;
    }
    fm_t_unlock();
    return rc;
}

int fm_t_session_free(uint64_t session)
{
    struct session *s;

    fm_t_lock();
    s = fm_t_slots_find(&fm_t_sessions, session);
    if (s) {
        fm_t_pvar_end_session(session);
        fm_t_slots_drop(&fm_t_sessions, s);
        fathom_level_set(&fm_t_counters->sessions, fm_t_sessions.n_live);
    }
    fm_t_unlock();
    return s ? FM_T_OK : FM_T_INVALID_SESSION;
}

void fm_t_session_finish(void)
{
    fm_t_slots_finish(&fm_t_sessions);
    fathom_level_set(&fm_t_counters->sessions, 0);
}
