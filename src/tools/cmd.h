/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of fathom; argv[0] is the name of the command. They return the exit status. */
#pragma once

#include <sys/types.h>

/* Print the usage of a command; returns the exit status for wrong usage. */
int fm_cmd_usage(const char *command);
/* Parse a process id; 0: the word is none. */
pid_t fm_cmd_pid(const char *word);

int fm_cmd_list(int argc, char **argv);
int fm_cmd_stat(int argc, char **argv);
int fm_cmd_where(int argc, char **argv);
int fm_cmd_top(int argc, char **argv);
