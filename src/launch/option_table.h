/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mpiexec: one row for each spelling, with its help text. */
#pragma once

enum fm_option_id {
    FM_OPT_COUNT = 1,
    FM_OPT_PER_NODE,
    FM_OPT_HOSTS,
    FM_OPT_HOSTFILE,
    FM_OPT_ENV,
    FM_OPT_EXPORT,
    FM_OPT_ENVLIST,
    FM_OPT_ENVNONE,
    FM_OPT_ENVALL,
    FM_OPT_GENV,
    FM_OPT_GENVLIST,
    FM_OPT_GENVNONE,
    FM_OPT_GENVALL,
    FM_OPT_WDIR,
    FM_OPT_CONFIGFILE,
    FM_OPT_LABEL,
    FM_OPT_TAG,
    FM_OPT_TIMESTAMP,
    FM_OPT_PATTERN,
    FM_OPT_OUTFILE,
    FM_OPT_ERRFILE,
    FM_OPT_MERGE,
    FM_OPT_STDIN,
    FM_OPT_TIMEOUT,
    FM_OPT_GRACE,
    FM_OPT_SET,
    FM_OPT_CHECK,
    FM_OPT_BIND,
    FM_OPT_REPORT_BINDINGS,
    FM_OPT_PRINT_EXITS,
    FM_OPT_HELP,
    FM_OPT_VERSION,
    FM_OPT_IGNORED, /* accepted for compatibility with other launchers */
};

struct fm_option {
    const char *name;
    int n_values;
    enum fm_option_id id;
    const char *value; /* name of the value in the help */
    const char *help;  /* NULL: another spelling of the row above, or ignored */
};

/*
 * The option that a word of the command line names, with one dash or two; NULL: there is none.
 * *out_value is what follows "=" in the word, or NULL.
 */
const struct fm_option *fm_option_find(const char *word, const char **out_value);
/* The name that differs least from a misspelled word; NULL: none is close. */
const char *fm_option_nearest(const char *word);
/* "-" or "--", as a name is usually written. */
const char *fm_option_dashes(const char *name);

/* Print the text of --help: one line for each option. */
void fm_option_print_help(void);
