/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of mpiexec: words, programs, configuration files. */
#include "launch/options.h"

#include <stdlib.h>
#include <string.h>

#include "launch/option_apply.h"
#include "launch/option_table.h"
#include "util/keytable.h"

/* The words of a command line or of a configuration file, and the position in them. */
struct words {
    char **items;
    int n;
    int at;
    int depth; /* of nested configuration files */
};

static int parse_words(struct fm_options *o, struct words *w);

static int unknown_option(const char *word)
{
    const char *best = fm_option_nearest(word);

    return fm_fail(-FM_E_INVAL, "unknown option %s%s%s%s%s; see mpiexec --help", word,
                   best ? " (did you mean " : "", best ? fm_option_dashes(best) : "",
                   best ? best : "", best ? "?)" : "");
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

/* The option at w->at with its values. */
static int take_option(struct fm_options *o, struct fm_app *app, struct words *w)
{
    char *word = w->items[w->at++];
    const char *inline_value = NULL;
    const struct fm_option *opt = fm_option_find(word, &inline_value);
    char *v[2] = {NULL, NULL};
    int n = 0;

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
    if (opt->id == FM_OPT_CONFIGFILE) {
        return parse_configfile(o, w, v[0]);
    }
    return fm_option_apply(o, app, opt, v);
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

/* Defaults and checks that need the whole command line. */
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

    *o = (struct fm_options){.grace_s = -1};
    if (timeout_env && timeout_env[0] != '\0') {
        rc = fm_option_seconds("MPIEXEC_TIMEOUT", timeout_env, &o->timeout_s);
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
