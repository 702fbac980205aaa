/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions (MPI-5.0 15.3.7): groups of handles that do not touch those of others. */
#include "mpit/mpit_live.h"

struct session {
    struct fm_slot slot;
};

/* Found without a lock, changed with the registry's (mpit_slots.h). */
static struct fm_slots sessions = {.slot_len = sizeof(struct session), .kind = FM_SLOT_SESSION};

bool fm_session_is_valid(uint64_t session)
{
    return fm_slots_find(&sessions, session) != NULL;
}

int fm_session_create(uint64_t *out_session)
{
    struct session *s;
    int rc = FM_T_OK;

    fm_mpit_lock();
    s = fm_slots_take(&sessions);
    if (s) {
        fm_slots_publish(&sessions, s);
        *out_session = fm_slots_value(&sessions, s);
        fathom_level_set(&fm_mpit_words->sessions, sessions.n_live);
    } else {
        rc = fm_slots_is_full(&sessions) ? FM_T_OUT_OF_SESSIONS : FM_T_MEMORY;
    }
    fm_mpit_unlock();
    return rc;
}

int fm_session_free(uint64_t session)
{
    struct session *s;

    fm_mpit_lock();
    s = fm_slots_find(&sessions, session);
    if (s) {
        fm_pvar_end_session(session);
        fm_slots_drop(&sessions, s);
        fathom_level_set(&fm_mpit_words->sessions, sessions.n_live);
    }
    fm_mpit_unlock();
    return s ? FM_T_OK : FM_T_INVALID_SESSION;
}

void fm_session_finish(void)
{
    fm_slots_finish(&sessions);
    fathom_level_set(&fm_mpit_words->sessions, 0);
}
