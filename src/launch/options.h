/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of mpiexec, in the dialects of Hydra and of ORTE: options are taken with one
 * dash or two, and with the value behind a space or an equals sign.
 *
 * Nothing is started before the whole line was understood. Strings belong to argv or to `texts`.
 */
#pragma once

#include <stdbool.h>

#include "util/status.h"

/* A list of strings, grown at the end. */
struct fm_strings {
    char **items;
    int n;
};

enum fm_env_mode { FM_ENV_ALL = 0, FM_ENV_NONE, FM_ENV_LIST };

/* What is passed from our environment, and what is set on top of it. */
struct fm_env_spec {
    enum fm_env_mode mode;
    bool is_mode_given;
    struct fm_strings pass; /* names */
    struct fm_strings set;  /* "NAME=value" */
};

/* One executable of the job; an MPMD job has several, divided by ":". */
struct fm_app {
    int n_ranks;
    struct fm_strings argv; /* argv[0] is the program as given; NULL behind the last */
    const char *wdir;       /* NULL: ours */
    struct fm_env_spec env;
};

enum fm_bind_to { FM_BIND_NONE = 0, FM_BIND_HWTHREAD, FM_BIND_CORE, FM_BIND_SOCKET, FM_BIND_NUMA };

struct fm_options {
    struct fm_app *apps;
    int n_apps;
    int n_ranks; /* of all apps */
    int per_node;
    struct fm_env_spec genv;
    struct fm_strings texts; /* what configuration files and conversions hold */
    struct fm_strings hosts; /* as given, "name" or "name:slots" */
    struct fm_strings set;   /* control variables, "name=value" */
    const char *prefix;      /* in front of each line: %r rank, %h host, %p pid; NULL: none */
    bool has_stream_tag;     /* the prefix tells stdout from stderr */
    bool has_timestamp;      /* the prefix begins with the time */
    const char *out_pattern; /* files for stdout and stderr, same escapes; NULL: none */
    const char *err_pattern;
    bool is_merged;   /* stderr goes where stdout goes */
    int stdin_rank;   /* who inherits our standard input; -1: nobody */
    double timeout_s; /* 0: none */
    double grace_s;   /* between asking ranks to end and killing them */
    enum fm_bind_to bind;
    bool does_report_bindings;
    bool does_print_exits;    /* a line for each rank's end */
    bool is_help, is_version; /* only that is asked for */
};

/*
 * Understand argv (argv[0] is skipped). `timeout_env` is the value of MPIEXEC_TIMEOUT or NULL.
 * 0, or -FM_E_INVAL with a text for the user. Options are to be finished in both cases.
 */
int fm_options_parse(int argc, char **argv, const char *timeout_env, struct fm_options *out_opts);
void fm_options_finish(struct fm_options *o);

/* The text of --help: one line for each option. */
void fm_options_help(void);
