/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of fathom; argv[0] is the name of the command. They return the exit status. */
#pragma once

/* Print how a command is used; returns the exit status for that. */
int fm_cmd_usage(const char *command);

int fm_cmd_list(int argc, char **argv);
int fm_cmd_stat(int argc, char **argv);
int fm_cmd_where(int argc, char **argv);
int fm_cmd_top(int argc, char **argv);
