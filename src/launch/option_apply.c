/* SPDX-License-Identifier: BSD-3-Clause */
/* What each option of mpiexec sets. */
#include "launch/option_apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/keytable.h"

static int to_count(const char *option, const char *text, int min, int *out_n)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (end == text || *end != '\0') {
        return fm_fail(-FM_E_INVAL, "%s %s: \"%s\" is not an integer", option, text, text);
    }
    if (n < min || n > FM_KEYTABLE_MAX_RANKS) {
        return fm_fail(-FM_E_INVAL, "%s %s: must be between %d and %d", option, text, min,
                       FM_KEYTABLE_MAX_RANKS);
    }
    *out_n = (int)n;
    return 0;
}

int fm_option_seconds(const char *option, const char *text, double *out_s)
{
    char *end;
    double s = strtod(text, &end);

    if (end == text || *end != '\0' || !(s >= 0 && s <= 1e9)) {
        return fm_fail(-FM_E_INVAL, "%s %s: \"%s\" is not a number of seconds", option, text, text);
    }
    *out_s = s;
    return 0;
}

static int to_binding(const char *option, const char *text, enum fm_bind_to *out_bind)
{
    static const struct {
        const char *name;
        enum fm_bind_to bind;
    } names[] = {{"none", FM_BIND_NONE},     {"hwthread", FM_BIND_HWTHREAD}, {"core", FM_BIND_CORE},
                 {"socket", FM_BIND_SOCKET}, {"package", FM_BIND_SOCKET},    {"numa", FM_BIND_NUMA},
                 {"user", FM_BIND_NONE}};
    size_t len =
        strcspn(text, ":"); /* qualifiers of ORTE are ignored, as in core:overload-allowed */

    for (size_t i = 0; i < FM_ARRAY_LEN(names); i++) {
        if (strlen(names[i].name) == len && strncmp(names[i].name, text, len) == 0) {
            *out_bind = names[i].bind;
            return 0;
        }
    }
    return fm_fail(-FM_E_INVAL, "%s %s: must be none, hwthread, core, socket or numa", option,
                   text);
}

static int env_mode(struct fm_env_spec *env, enum fm_env_mode mode)
{
    env->mode = mode;
    env->is_mode_given = true;
    return 0;
}

static int env_set(struct fm_options *o, struct fm_env_spec *env, const char *name,
                   const char *value)
{
    char *text;

    if (name[0] == '\0' || strchr(name, '=')) {
        return fm_fail(-FM_E_INVAL, "\"%s\" cannot be the name of an environment variable", name);
    }
    text = fm_strings_own(&o->texts, "%s=%s", name, value);
    return text ? fm_strings_add(&env->set, text) : -FM_E_NOMEM;
}

static int env_export(struct fm_options *o, struct fm_env_spec *env, char *text)
{
    if (text[0] == '\0' || text[0] == '=') {
        return fm_fail(-FM_E_INVAL, "-x needs the name of an environment variable");
    }
    return fm_strings_add(strchr(text, '=') ? &env->set : &env->pass, text);
}

static int add_hosts_of_file(struct fm_options *o, const char *path)
{
    char *text = fm_strings_read_file(&o->texts, path);
    int rc = text ? 0 : -FM_E_INVAL;
    char *save;

    for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l && !rc;
         l = strtok_r(NULL, "\n", &save)) {
        char *slots;

        l[strcspn(l, "#")] = '\0';
        l += strspn(l, " \t");
        slots = strstr(l, "slots=");
        l[strcspn(l, " \t\r")] = '\0';
        if (l[0] != '\0') {
            char *host =
                slots && slots > l ? fm_strings_own(&o->texts, "%s:%d", l, atoi(slots + 6)) : l;

            rc = host ? fm_strings_add(&o->hosts, host) : -FM_E_NOMEM;
        }
    }
    return rc;
}

static int set_label(struct fm_options *o, const char *prefix, bool has_stream_tag)
{
    o->prefix = prefix;
    o->has_stream_tag = has_stream_tag;
    return 0;
}

static int set_variable(struct fm_options *o, char *text)
{
    if (!strchr(text, '=') || text[0] == '=' || strchr(text, ';')) {
        return fm_fail(-FM_E_INVAL, "--set %s: must be NAME=VALUE, without a semicolon", text);
    }
    return fm_strings_add(&o->set, text);
}

static int set_stdin(struct fm_options *o, const char *text)
{
    if (strcmp(text, "none") == 0) {
        o->stdin_rank = -1;
        return 0;
    }
    if (strcmp(text, "all") == 0) {
        return fm_fail(-FM_E_INVAL, "--stdin all is not supported: standard input goes to one rank "
                                    "or to none");
    }
    return to_count("--stdin", text, 0, &o->stdin_rank);
}

/* Options of one program. 0, a failure, or FM_AGAIN: another option. */
static int take_app_option(struct fm_options *o, struct fm_app *app, const struct fm_option *opt,
                           char **v)
{
    switch (opt->id) {
    case FM_OPT_COUNT:
        return to_count("-n", v[0], 1, &app->n_ranks);
    case FM_OPT_ENV:
        return env_set(o, &app->env, v[0], v[1]);
    case FM_OPT_EXPORT:
        return env_export(o, &app->env, v[0]);
    case FM_OPT_ENVLIST:
        env_mode(&app->env, FM_ENV_LIST);
        return fm_strings_add_parts(&app->env.pass, &o->texts, v[0], ',');
    case FM_OPT_ENVNONE:
        return env_mode(&app->env, FM_ENV_NONE);
    case FM_OPT_ENVALL:
        return env_mode(&app->env, FM_ENV_ALL);
    case FM_OPT_WDIR:
        app->wdir = v[0];
        return 0;
    default:
        return FM_AGAIN;
    }
}

static int take_job_option(struct fm_options *o, const struct fm_option *opt, char **v)
{
    switch (opt->id) {
    case FM_OPT_PER_NODE:
        return to_count("-ppn", v[0], 1, &o->per_node);
    case FM_OPT_HOSTS:
        return fm_strings_add_parts(&o->hosts, &o->texts, v[0], ',');
    case FM_OPT_HOSTFILE:
        return add_hosts_of_file(o, v[0]);
    case FM_OPT_GENV:
        return env_set(o, &o->genv, v[0], v[1]);
    case FM_OPT_GENVLIST:
        env_mode(&o->genv, FM_ENV_LIST);
        return fm_strings_add_parts(&o->genv.pass, &o->texts, v[0], ',');
    case FM_OPT_GENVNONE:
        return env_mode(&o->genv, FM_ENV_NONE);
    case FM_OPT_GENVALL:
        return env_mode(&o->genv, FM_ENV_ALL);
    case FM_OPT_TIMEOUT:
        return fm_option_seconds("--timeout", v[0], &o->timeout_s);
    case FM_OPT_GRACE:
        return fm_option_seconds("--grace", v[0], &o->grace_s);
    case FM_OPT_SET:
        return set_variable(o, v[0]);
    case FM_OPT_CHECK:
        return fm_strings_add(&o->set, (char *)"coll_check=yes");
    case FM_OPT_BIND:
        return to_binding("--bind-to", v[0], &o->bind);
    case FM_OPT_STDIN:
        return set_stdin(o, v[0]);
    default:
        return FM_AGAIN;
    }
}

static int take_flag(struct fm_options *o, const struct fm_option *opt, char **v)
{
    switch (opt->id) {
    case FM_OPT_LABEL:
        return set_label(o, "[%r] ", false);
    case FM_OPT_TAG:
        return set_label(o, "[%r]", true);
    case FM_OPT_PATTERN:
        return set_label(o, v[0], false);
    case FM_OPT_TIMESTAMP:
        o->has_timestamp = true;
        return 0;
    case FM_OPT_OUTFILE:
        o->out_pattern = v[0];
        return 0;
    case FM_OPT_ERRFILE:
        o->err_pattern = v[0];
        return 0;
    case FM_OPT_MERGE:
        o->is_merged = true;
        return 0;
    case FM_OPT_REPORT_BINDINGS:
        o->does_report_bindings = true;
        return 0;
    case FM_OPT_PRINT_EXITS:
        o->does_print_exits = true;
        return 0;
    case FM_OPT_HELP:
        o->is_help = true;
        return 0;
    case FM_OPT_VERSION:
        o->is_version = true;
        return 0;
    default:
        return 0; /* FM_OPT_IGNORED */
    }
}

int fm_option_apply(struct fm_options *o, struct fm_app *app, const struct fm_option *opt, char **v)
{
    int rc = take_app_option(o, app, opt, v);

    if (rc == FM_AGAIN) {
        rc = take_job_option(o, opt, v);
    }
    return rc == FM_AGAIN ? take_flag(o, opt, v) : rc;
}
