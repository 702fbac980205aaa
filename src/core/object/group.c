/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: made once, never changed, so that they may be shared by communicators. */
#include "core/object/group.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

#define MAX_GROUPS (1 << 20)

/* MPI_GROUP_EMPTY; immutable but for its reference count, which never falls to 0. */
static struct fm_group empty = {
    .head = {.kind = FM_KIND_GROUP, .refs = 1}, .size = 0, .rank = MPI_UNDEFINED};

int fm_group_init(void)
{
    int rc = fm_handle_pool(FM_KIND_GROUP, sizeof(struct fm_group), MAX_GROUPS);

    if (rc == 0) {
        fm_handle_predefine(MPI_GROUP_EMPTY, &empty);
    }
    return rc;
}

static bool is_identity(int size, const int *procs)
{
    for (int i = 0; i < size; i++) {
        if (procs[i] != i) {
            return false;
        }
    }
    return true;
}

int fm_group_create(int size, const int *procs, int self, struct fm_group **out_group)
{
    struct fm_group *group;
    int rc = fm_group_init();

    if (rc != 0) {
        return rc;
    }
    group = fm_object_new(FM_KIND_GROUP);
    if (!group) {
        return -FM_E_NOMEM;
    }
    group->size = size;
    if (procs && !is_identity(size, procs)) {
        group->procs = malloc((size_t)size * sizeof(int));
        if (!group->procs) {
            fm_object_free(group);
            return fm_fail(-FM_E_NOMEM, "no memory for a group of %d processes", size);
        }
        memcpy(group->procs, procs, (size_t)size * sizeof(int));
    }
    group->rank = fm_group_rank_of(group, self);
    *out_group = group;
    return 0;
}

void fm_group_unref(struct fm_group *group)
{
    if (!group || --group->head.refs > 0) {
        return;
    }
    free(group->procs);
    fm_object_free(group);
}

int fm_group_rank_of(const struct fm_group *group, int proc)
{
    if (!group->procs) {
        return proc >= 0 && proc < group->size ? proc : MPI_UNDEFINED;
    }
    for (int i = 0; i < group->size; i++) {
        if (group->procs[i] == proc) {
            return i;
        }
    }
    return MPI_UNDEFINED;
}
