/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec. */
#include "launch/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/option_strings.h"
#include "util/keytable.h"

enum option_id {
    OPT_COUNT = 1,
    OPT_PER_NODE,
    OPT_HOSTS,
    OPT_HOSTFILE,
    OPT_ENV,
    OPT_EXPORT,
    OPT_ENVLIST,
    OPT_ENVNONE,
    OPT_ENVALL,
    OPT_GENV,
    OPT_GENVLIST,
    OPT_GENVNONE,
    OPT_GENVALL,
    OPT_WDIR,
    OPT_CONFIGFILE,
    OPT_LABEL,
    OPT_TAG,
    OPT_TIMESTAMP,
    OPT_PATTERN,
    OPT_OUTFILE,
    OPT_ERRFILE,
    OPT_MERGE,
    OPT_STDIN,
    OPT_TIMEOUT,
    OPT_GRACE,
    OPT_SET,
    OPT_BIND,
    OPT_REPORT_BINDINGS,
    OPT_PRINT_EXITS,
    OPT_HELP,
    OPT_VERSION,
    OPT_NOTHING, /* accepted so that scripts stay portable */
};

struct option {
    const char *name;
    int n_values;
    enum option_id id;
    const char *value; /* what stands behind it */
    const char *help;  /* NULL: another spelling of the one above, or of no effect */
};

static const struct option options[] = {
    {"n", 1, OPT_COUNT, "N", "number of ranks of the next program (default 1)"},
    {"np", 1, OPT_COUNT, NULL},
    {"c", 1, OPT_COUNT, NULL},
    {"ppn", 1, OPT_PER_NODE, "N", "number of ranks where -n is not given"},
    {"N", 1, OPT_PER_NODE, NULL},
    {"npernode", 1, OPT_PER_NODE, NULL},
    {"hosts", 1, OPT_HOSTS, "A:N,B", "hosts to run on; only the local host is supported"},
    {"host", 1, OPT_HOSTS, NULL},
    {"H", 1, OPT_HOSTS, NULL},
    {"hostfile", 1, OPT_HOSTFILE, "FILE",
     "read the hosts from FILE, one per line: name:N or name slots=N"},
    {"machinefile", 1, OPT_HOSTFILE, NULL},
    {"f", 1, OPT_HOSTFILE, NULL},
    {"env", 2, OPT_ENV, "NAME VALUE", "set an environment variable of the next program"},
    {"x", 1, OPT_EXPORT, "NAME[=VALUE]", "pass or set an environment variable of the next program"},
    {"envlist", 1, OPT_ENVLIST, "A,B", "pass only these environment variables to the next program"},
    {"envnone", 0, OPT_ENVNONE, "", "pass no environment variables to the next program"},
    {"envall", 0, OPT_ENVALL, "", "pass all environment variables to the next program (default)"},
    {"genv", 2, OPT_GENV, "NAME VALUE", "set an environment variable of all programs"},
    {"genvlist", 1, OPT_GENVLIST, "A,B", "pass only these environment variables to all programs"},
    {"genvnone", 0, OPT_GENVNONE, "", "pass no environment variables to any program"},
    {"genvall", 0, OPT_GENVALL, "", "pass all environment variables to all programs (default)"},
    {"wdir", 1, OPT_WDIR, "DIR", "working directory of the next program"},
    {"wd", 1, OPT_WDIR, NULL},
    {"configfile", 1, OPT_CONFIGFILE, "FILE",
     "read programs and their options from FILE, one program per line"},
    {"app", 1, OPT_CONFIGFILE, NULL},
    {"l", 0, OPT_LABEL, "", "prefix each line of output with \"[rank] \""},
    {"prepend-rank", 0, OPT_LABEL, NULL},
    {"tag-output", 0, OPT_TAG, "",
     "prefix each line with \"[rank]<stdout>: \" or \"[rank]<stderr>: \""},
    {"timestamp-output", 0, OPT_TIMESTAMP, "", "prefix each line with the time of day"},
    {"prepend-pattern", 1, OPT_PATTERN, "TEXT",
     "prefix each line with TEXT; %r rank, %h host, %p process id"},
    {"outfile-pattern", 1, OPT_OUTFILE, "FILE",
     "write standard output to FILE; %r, %h, %p as above"},
    {"errfile-pattern", 1, OPT_ERRFILE, "FILE",
     "write standard error to FILE; %r, %h, %p as above"},
    {"merge-stderr-to-stdout", 0, OPT_MERGE, "", "redirect standard error to standard output"},
    {"stdin", 1, OPT_STDIN, "RANK|none",
     "rank that reads the standard input of mpiexec (default 0)"},
    {"timeout", 1, OPT_TIMEOUT, "SECONDS",
     "terminate the job after this time and report what each rank is doing; exit status 124"},
    {"grace", 1, OPT_GRACE, "SECONDS",
     "time between SIGTERM and SIGKILL when a job is terminated (default 0.25)"},
    {"set", 1, OPT_SET, "NAME=VALUE", "set a control variable (see fathom list)"},
    {"mpit", 1, OPT_SET, NULL},
    {"bind-to", 1, OPT_BIND, "none|hwthread|core|socket|numa",
     "bind each rank to processors (default none)"},
    {"bind", 1, OPT_BIND, NULL},
    {"report-bindings", 0, OPT_REPORT_BINDINGS, "", "print the processors of each rank"},
    {"print-all-exitcodes", 0, OPT_PRINT_EXITS, "", "print the exit status or signal of each rank"},
    {"help", 0, OPT_HELP, "", "print this text"},
    {"h", 0, OPT_HELP, NULL},
    {"version", 0, OPT_VERSION, "", "print the version"},
    {"V", 0, OPT_VERSION, NULL},
    {"info", 0, OPT_VERSION, NULL},
    {"oversubscribe", 0, OPT_NOTHING, NULL},
    {"map-by", 1, OPT_NOTHING, NULL},
    {"rank-by", 1, OPT_NOTHING, NULL},
    {"membind", 1, OPT_NOTHING, NULL},
    {"cpu-set", 1, OPT_NOTHING, NULL},
    {"cpu-list", 1, OPT_NOTHING, NULL},
    {"nooversubscribe", 0, OPT_NOTHING, NULL},
    {"allow-run-as-root", 0, OPT_NOTHING, NULL},
    {"use-hwthread-cpus", 0, OPT_NOTHING, NULL},
    {"mca", 2, OPT_NOTHING, NULL},
    {"gmca", 2, OPT_NOTHING, NULL},
    {"pmixmca", 2, OPT_NOTHING, NULL},
    {"prtemca", 2, OPT_NOTHING, NULL},
    {"launcher", 1, OPT_NOTHING, NULL},
    {"rmk", 1, OPT_NOTHING, NULL},
    {"iface", 1, OPT_NOTHING, NULL},
    {"launch-agent", 1, OPT_NOTHING, NULL},
    {"display-map", 0, OPT_NOTHING, NULL},
    {"display-allocation", 0, OPT_NOTHING, NULL},
    {"get-stack-traces", 0, OPT_NOTHING, NULL},
    {"report-state-on-timeout", 0, OPT_NOTHING, NULL},
    {"disable-auto-cleanup", 0, OPT_NOTHING, NULL},
    {"quiet", 0, OPT_NOTHING, NULL},
    {"q", 0, OPT_NOTHING, NULL},
};

/* The words of the command line, and where we are in them. */
struct words {
    char **items;
    int n;
    int at;
    int depth; /* of configuration files */
};

static int parse_words(struct fm_options *o, struct words *w);

static int unknown_option(const char *word)
{
    const char *name = word + strspn(word, "-");
    const char *best = NULL;
    int best_distance = 3;

    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        int d = fm_strings_distance(name, options[i].name);

        if (d < best_distance && 2 * d <= (int)strlen(name)) {
            best = options[i].name;
            best_distance = d;
        }
    }
    return fm_fail(-FM_E_INVAL, "unknown option %s%s%s%s%s; see mpiexec --help", word,
                   best ? " (did you mean " : "", best ? (strlen(best) > 1 ? "--" : "-") : "",
                   best ? best : "", best ? "?)" : "");
}

/* The option that a word names, its value if it has one behind "=". */
static const struct option *find_option(const char *word, const char **out_value)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t len = strcspn(name, "=");

    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0) {
            *out_value = name[len] == '=' ? name + len + 1 : NULL;
            return &options[i];
        }
    }
    return NULL;
}

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

static int to_seconds(const char *option, const char *text, double *out_s)
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
    size_t len = strcspn(text, ":"); /* ORTE's qualifiers, as in core:overload-allowed */

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

/* A configuration file: words as a shell divides them; each line is one program. */
static int parse_configfile(struct fm_options *o, struct words *outer, const char *path)
{
    struct fm_strings tokens = {0};
    struct words w = {.depth = outer->depth + 1};
    char *text;
    int rc;

    if (w.depth > 4) {
        return fm_fail(-FM_E_INVAL, "configuration file %s: files are nested too deeply", path);
    }
    text = fm_strings_read_file(&o->texts, path);
    if (!text) {
        return -FM_E_INVAL;
    }
    rc = fm_strings_split(&tokens, text, path);
    if (!rc) {
        w.items = tokens.items;
        w.n = tokens.n;
        rc = parse_words(o, &w);
    }
    fm_strings_finish(&tokens);
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

/* Options of one program. 0, a failure, or FM_AGAIN: it is none of these. */
static int take_app_option(struct fm_options *o, struct fm_app *app, const struct option *opt,
                           char **v)
{
    switch (opt->id) {
    case OPT_COUNT:
        return to_count("-n", v[0], 1, &app->n_ranks);
    case OPT_ENV:
        return env_set(o, &app->env, v[0], v[1]);
    case OPT_EXPORT:
        return env_export(o, &app->env, v[0]);
    case OPT_ENVLIST:
        env_mode(&app->env, FM_ENV_LIST);
        return fm_strings_add_parts(&app->env.pass, &o->texts, v[0], ',');
    case OPT_ENVNONE:
        return env_mode(&app->env, FM_ENV_NONE);
    case OPT_ENVALL:
        return env_mode(&app->env, FM_ENV_ALL);
    case OPT_WDIR:
        app->wdir = v[0];
        return 0;
    default:
        return FM_AGAIN;
    }
}

static int take_job_option(struct fm_options *o, const struct option *opt, char **v)
{
    switch (opt->id) {
    case OPT_PER_NODE:
        return to_count("-ppn", v[0], 1, &o->per_node);
    case OPT_HOSTS:
        return fm_strings_add_parts(&o->hosts, &o->texts, v[0], ',');
    case OPT_HOSTFILE:
        return add_hosts_of_file(o, v[0]);
    case OPT_GENV:
        return env_set(o, &o->genv, v[0], v[1]);
    case OPT_GENVLIST:
        env_mode(&o->genv, FM_ENV_LIST);
        return fm_strings_add_parts(&o->genv.pass, &o->texts, v[0], ',');
    case OPT_GENVNONE:
        return env_mode(&o->genv, FM_ENV_NONE);
    case OPT_GENVALL:
        return env_mode(&o->genv, FM_ENV_ALL);
    case OPT_TIMEOUT:
        return to_seconds("--timeout", v[0], &o->timeout_s);
    case OPT_GRACE:
        return to_seconds("--grace", v[0], &o->grace_s);
    case OPT_SET:
        return set_variable(o, v[0]);
    case OPT_BIND:
        return to_binding("--bind-to", v[0], &o->bind);
    case OPT_STDIN:
        return set_stdin(o, v[0]);
    default:
        return FM_AGAIN;
    }
}

static int take_flag(struct fm_options *o, const struct option *opt, char **v)
{
    switch (opt->id) {
    case OPT_LABEL:
        return set_label(o, "[%r] ", false);
    case OPT_TAG:
        return set_label(o, "[%r]", true);
    case OPT_PATTERN:
        return set_label(o, v[0], false);
    case OPT_TIMESTAMP:
        o->has_timestamp = true;
        return 0;
    case OPT_OUTFILE:
        o->out_pattern = v[0];
        return 0;
    case OPT_ERRFILE:
        o->err_pattern = v[0];
        return 0;
    case OPT_MERGE:
        o->is_merged = true;
        return 0;
    case OPT_REPORT_BINDINGS:
        o->does_report_bindings = true;
        return 0;
    case OPT_PRINT_EXITS:
        o->does_print_exits = true;
        return 0;
    case OPT_HELP:
        o->is_help = true;
        return 0;
    case OPT_VERSION:
        o->is_version = true;
        return 0;
    default:
        return 0; /* OPT_NOTHING */
    }
}

/* The option at w->at with its values. */
static int take_option(struct fm_options *o, struct fm_app *app, struct words *w)
{
    char *word = w->items[w->at++];
    const char *inline_value = NULL;
    const struct option *opt = find_option(word, &inline_value);
    char *v[2] = {NULL, NULL};
    int n = 0;
    int rc;

    if (!opt) {
        return unknown_option(word);
    }
    if (inline_value) {
        v[n++] = (char *)inline_value;
    }
    while (n < opt->n_values && w->at < w->n) {
        v[n++] = w->items[w->at++];
    }
    if (n != opt->n_values) {
        return fm_fail(-FM_E_INVAL, "option %s needs %d value%s, got %d", word, opt->n_values,
                       opt->n_values == 1 ? "" : "s", n);
    }
    if (opt->id == OPT_CONFIGFILE) {
        return parse_configfile(o, w, v[0]);
    }
    rc = take_app_option(o, app, opt, v);
    if (rc == FM_AGAIN) {
        rc = take_job_option(o, opt, v);
    }
    return rc == FM_AGAIN ? take_flag(o, opt, v) : rc;
}

static int add_app(struct fm_options *o, const struct fm_app *app)
{
    struct fm_app *apps = realloc(o->apps, (size_t)(o->n_apps + 1) * sizeof(*apps));

    if (!apps) {
        return fm_fail(-FM_E_NOMEM, "no memory for the options");
    }
    apps[o->n_apps] = *app;
    o->apps = apps;
    o->n_apps++;
    return 0;
}

static void finish_app(struct fm_app *app)
{
    fm_strings_finish(&app->argv);
    fm_strings_finish(&app->env.pass);
    fm_strings_finish(&app->env.set);
}

/* One program with its options, up to the ":" or the end. */
static int parse_app(struct fm_options *o, struct words *w)
{
    struct fm_app app = {0};
    int n_before = o->n_apps;
    int rc = 0;

    while (!rc && w->at < w->n && w->items[w->at][0] == '-' && w->items[w->at][1] != '\0') {
        if (strcmp(w->items[w->at], "--") == 0) {
            w->at++;
            break;
        }
        rc = take_option(o, &app, w);
    }
    while (!rc && w->at < w->n && strcmp(w->items[w->at], ":") != 0) {
        rc = fm_strings_add(&app.argv, w->items[w->at++]);
    }
    if (!rc && !o->is_help && !o->is_version && app.argv.n > 0) {
        rc = add_app(o, &app);
        if (!rc) {
            return 0;
        }
    } else if (!rc && !o->is_help && !o->is_version && o->n_apps == n_before) {
        rc = fm_fail(-FM_E_INVAL, "no program given%s; see mpiexec --help",
                     w->at < w->n || n_before > 0 ? " beside a \":\"" : "");
    }
    finish_app(&app);
    return rc;
}

static int parse_words(struct fm_options *o, struct words *w)
{
    int rc;

    do {
        rc = parse_app(o, w);
        if (w->at < w->n) {
            w->at++; /* the ":" */
            if (w->at == w->n && !rc) {
                rc = fm_fail(-FM_E_INVAL, "no program follows the last \":\"");
            }
        }
    } while (!rc && w->at < w->n);
    return rc;
}

/* What can only be said when all is known. */
static int complete(struct fm_options *o)
{
    long total = 0;

    for (int i = 0; i < o->n_apps; i++) {
        struct fm_app *app = &o->apps[i];

        if (app->n_ranks == 0) {
            app->n_ranks = o->per_node > 0 ? o->per_node : 1;
        }
        total += app->n_ranks;
        if (!app->env.is_mode_given) {
            app->env.mode = o->genv.mode;
        }
    }
    if (total > FM_KEYTABLE_MAX_RANKS) {
        return fm_fail(-FM_E_INVAL, "%ld ranks exceed the limit of %d", total,
                       FM_KEYTABLE_MAX_RANKS);
    }
    o->n_ranks = (int)total;
    if (o->stdin_rank >= o->n_ranks && o->n_ranks > 0) {
        return fm_fail(-FM_E_INVAL, "--stdin %d: the ranks of this job are 0 to %d", o->stdin_rank,
                       o->n_ranks - 1);
    }
    return 0;
}

int fm_options_parse(int argc, char **argv, const char *timeout_env, struct fm_options *out_opts)
{
    struct words w = {.items = argv, .n = argc, .at = 1};
    struct fm_options *o = out_opts;
    int rc = 0;

    *o = (struct fm_options){.grace_s = 0.25};
    if (timeout_env && timeout_env[0] != '\0') {
        rc = to_seconds("MPIEXEC_TIMEOUT", timeout_env, &o->timeout_s);
    }
    if (!rc) {
        rc = parse_words(o, &w);
    }
    return rc ? rc : complete(o);
}

void fm_options_finish(struct fm_options *o)
{
    for (int i = 0; i < o->n_apps; i++) {
        finish_app(&o->apps[i]);
    }
    free(o->apps);
    fm_strings_finish(&o->genv.pass);
    fm_strings_finish(&o->genv.set);
    fm_strings_finish(&o->hosts);
    fm_strings_finish(&o->set);
    fm_strings_free_all(&o->texts);
    *o = (struct fm_options){0};
}

void fm_options_help(void)
{
    printf("usage: mpiexec [options] PROGRAM [arguments] [: [options] PROGRAM ...]\n"
           "Run MPI programs in parallel on this host.\n\n");
    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        char left[160];
        size_t at = 0;

        if (!options[i].help) {
            continue;
        }
        for (size_t k = i; k == i || (k < FM_ARRAY_LEN(options) && !options[k].help &&
                                      options[k].id == options[i].id);
             k++) {
            at += (size_t)snprintf(left + at, sizeof(left) - at, "%s%s%s", k > i ? ", " : "",
                                   strlen(options[k].name) > 1 ? "--" : "-", options[k].name);
        }
        snprintf(left + at, sizeof(left) - at, " %s", options[i].value);
        printf("  %-34s%s%s\n", left,
               strlen(left) >= 34 ? "\n                                    " : "", options[i].help);
    }
    printf("\nAccepted for compatibility, without effect:");
    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        if (options[i].id == OPT_NOTHING) {
            printf(" %s%s", strlen(options[i].name) > 1 ? "--" : "-", options[i].name);
        }
    }
    printf(
        "\n\nExit status: 0, or that of the first rank that failed (128 + N if signal N killed "
        "it); "
        "1 if output\nof the ranks was lost, 2 for wrong options, 124 after --timeout, 126 or 127 "
        "if a program cannot be\nexecuted or found. MPIEXEC_TIMEOUT in the environment sets "
        "--timeout.\n");
}
