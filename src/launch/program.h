/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the executable of a program. */
#pragma once

#include "launch/options.h"

/*
 * The path to execute, relative to the working directory of the program if it does not begin with a
 * slash; `texts` holds it. 0, or a failure with a text for the user; *out_exit is then
 * FM_EXIT_NOT_FOUND or FM_EXIT_NOT_EXECUTABLE.
 */
int fm_program_find(const struct fm_app *app, struct fm_strings *texts, char **out_path,
                    int *out_exit);
