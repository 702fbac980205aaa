/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a rank: what its program gets, and the place of the rank in the job. */
#pragma once

#include "launch/options.h"

/* Values of the variables that differ between ranks. */
struct fm_rank_env {
    const char *place; /* of FM_KEYTABLE_ENV */
    int rank, size;
    int local_rank, local_size;
};

/*
 * The environment that all ranks of a program share: variables of `from` that the options pass on,
 * then those of -genv, -env and --set. New strings belong to `texts`. 0 or -FM_E_NOMEM.
 */
int fm_rank_env_common(const struct fm_options *opts, const struct fm_app *app, char **from,
                       struct fm_strings *texts, struct fm_strings *out_env);

/* The environment of one rank. New strings belong to `texts`. 0 or -FM_E_NOMEM. */
int fm_rank_env_make(const struct fm_strings *common, const struct fm_rank_env *r,
                     struct fm_strings *texts, struct fm_strings *out_env);
