/* SPDX-License-Identifier: BSD-3-Clause */
/* What each option of mpiexec sets. */
#pragma once

#include "launch/option_table.h"
#include "launch/options.h"

/*
 * Apply an option with its values to the options of the job or of the next program. 0, or
 * -FM_E_INVAL with a text for the user. FM_OPT_CONFIGFILE is left to the parser.
 */
int fm_option_apply(struct fm_options *o, struct fm_app *app, const struct fm_option *opt,
                    char **v);

/* Parse a number of seconds; `option` is for the error text. 0 or -FM_E_INVAL. */
int fm_option_seconds(const char *option, const char *text, double *out_s);
