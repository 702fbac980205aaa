/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of mpiexec, with the options of Hydra and of ORTE. An option has one dash or
 * two; its value is the next word or follows "=".
 *
 * The whole line is checked before any process is started. Strings belong to argv or to `texts`.
 */
#pragma once

#include <stdbool.h>

#include "launch/option_strings.h"

enum fm_env_mode { FM_ENV_ALL = 0, FM_ENV_NONE, FM_ENV_LIST };

/* Which variables of the environment of mpiexec a program gets, and which are set for it. */
struct fm_env_spec {
    enum fm_env_mode mode;
    bool is_mode_given;
    struct fm_strings pass; /* names */
    struct fm_strings set;  /* "NAME=value" */
};

/* One executable of the job; an MPMD job has several, divided by ":". */
struct fm_app {
    int n_ranks;
    struct fm_strings argv; /* argv[0] is the program as given; ends with NULL */
    const char *wdir;       /* NULL: that of mpiexec */
    struct fm_env_spec env;
};

enum fm_bind_to { FM_BIND_NONE = 0, FM_BIND_HWTHREAD, FM_BIND_CORE, FM_BIND_SOCKET, FM_BIND_NUMA };

struct fm_options {
    struct fm_app *apps;
    int n_apps;
    int n_ranks; /* of all apps */
    int per_node;
    struct fm_env_spec genv;
    struct fm_strings texts; /* strings of configuration files and conversions */
    struct fm_strings hosts; /* as given, "name" or "name:slots" */
    struct fm_strings set;   /* control variables, "name=value" */
    const char *prefix;      /* of each line: %r rank, %h host, %p pid; NULL: none */
    bool has_stream_tag;     /* the prefix names stdout or stderr */
    bool has_timestamp;      /* the prefix begins with the time of day */
    const char *out_pattern; /* files for stdout and stderr, same escapes; NULL: none */
    const char *err_pattern;
    bool is_merged;   /* stderr is redirected to stdout */
    int stdin_rank;   /* the rank that inherits standard input; -1: none */
    double timeout_s; /* 0: none */
    double grace_s;   /* between SIGTERM and SIGKILL; < 0: the default */
    enum fm_bind_to bind;
    bool does_report_bindings;
    bool does_print_exits;    /* print how each rank ended */
    bool is_help, is_version; /* print that and exit */
};

/*
 * Parse argv (argv[0] is skipped). `timeout_env` is the value of MPIEXEC_TIMEOUT or NULL. 0, or
 * -FM_E_INVAL with a text for the user. The caller finishes the options in both cases.
 */
int fm_options_parse(int argc, char **argv, const char *timeout_env, struct fm_options *out_opts);
void fm_options_finish(struct fm_options *o);
