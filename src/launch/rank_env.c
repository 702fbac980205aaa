/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a rank. */
#include "launch/rank_env.h"

#include <string.h>

#include "util/keytable.h"
#include "util/page_socket.h"

/* Variables of one rank. mpiexec may itself be started by a rank, so these are never passed on. */
enum value { VALUE_PLACE, VALUE_RANK, VALUE_SIZE, VALUE_LOCAL_RANK, VALUE_LOCAL_SIZE, VALUE_NONE };

static const struct {
    const char *name;
    enum value value; /* VALUE_NONE: not set */
} own[] = {
    {FM_KEYTABLE_ENV, VALUE_PLACE},
    {FM_PAGE_SOCKET_ENV, VALUE_NONE},
    {"FATHOM_MPIEXEC_SET", VALUE_NONE},
    {"FATHOM_RANK", VALUE_RANK},
    {"FATHOM_SIZE", VALUE_SIZE},
    {"FATHOM_LOCAL_RANK", VALUE_LOCAL_RANK},
    {"FATHOM_LOCAL_SIZE", VALUE_LOCAL_SIZE},
    {"MPI_LOCALRANKID", VALUE_LOCAL_RANK},
    {"MPI_LOCALNRANKS", VALUE_LOCAL_SIZE},
    {"OMPI_COMM_WORLD_RANK", VALUE_RANK},
    {"OMPI_COMM_WORLD_SIZE", VALUE_SIZE},
    {"OMPI_COMM_WORLD_LOCAL_RANK", VALUE_LOCAL_RANK},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", VALUE_LOCAL_SIZE},
};

static bool is_named(const char *entry, const char *name)
{
    size_t len = strlen(name);

    return strncmp(entry, name, len) == 0 && (entry[len] == '=' || entry[len] == '\0');
}

static bool is_own(const char *entry)
{
    for (size_t i = 0; i < FM_ARRAY_LEN(own); i++) {
        if (is_named(entry, own[i].name)) {
            return true;
        }
    }
    return false;
}

static bool is_listed(const struct fm_strings *names, const char *entry)
{
    for (int i = 0; i < names->n; i++) {
        if (is_named(entry, names->items[i])) {
            return true;
        }
    }
    return false;
}

/* Add "NAME=value", or replace the value of the name. */
static int env_replace(struct fm_strings *env, char *entry)
{
    size_t len = strcspn(entry, "=") + 1;

    for (int i = 0; i < env->n; i++) {
        if (strncmp(env->items[i], entry, len) == 0) {
            env->items[i] = entry;
            return 0;
        }
    }
    return fm_strings_add(env, entry);
}

/* The control variables of --set, for the registry of each rank. */
static int add_settings(const struct fm_strings *set, struct fm_strings *texts,
                        struct fm_strings *env)
{
    char *text = NULL;

    for (int i = 0; i < set->n; i++) {
        text = fm_strings_own(texts, "%s%s%s",
                              text ? text : "FATHOM_MPIEXEC_SET=", i > 0 ? ";" : "", set->items[i]);
        if (!text) {
            return -FM_E_NOMEM;
        }
    }
    return text ? fm_strings_add(env, text) : 0;
}

int fm_rank_env_common(const struct fm_options *opts, const struct fm_app *app, char **from,
                       struct fm_strings *texts, struct fm_strings *out_env)
{
    const struct fm_env_spec *genv = &opts->genv;
    int rc = 0;

    for (char **e = from; *e && !rc; e++) {
        bool is_passed = app->env.mode == FM_ENV_ALL || is_listed(&app->env.pass, *e) ||
                         is_listed(&genv->pass, *e);

        if (is_passed && !is_own(*e)) {
            rc = fm_strings_add(out_env, *e);
        }
    }
    for (int i = 0; i < genv->set.n && !rc; i++) {
        rc = env_replace(out_env, genv->set.items[i]);
    }
    for (int i = 0; i < app->env.set.n && !rc; i++) {
        rc = env_replace(out_env, app->env.set.items[i]);
    }
    return rc ? rc : add_settings(&opts->set, texts, out_env);
}

static int value_of(const struct fm_rank_env *r, enum value value)
{
    switch (value) {
    case VALUE_RANK:
        return r->rank;
    case VALUE_SIZE:
        return r->size;
    case VALUE_LOCAL_RANK:
        return r->local_rank;
    default:
        return r->local_size;
    }
}

int fm_rank_env_make(const struct fm_strings *common, const struct fm_rank_env *r,
                     struct fm_strings *texts, struct fm_strings *out_env)
{
    int rc = 0;

    for (int i = 0; i < common->n && !rc; i++) {
        rc = fm_strings_add(out_env, common->items[i]);
    }
    for (size_t i = 0; i < FM_ARRAY_LEN(own) && !rc; i++) {
        const char *name = own[i].name;
        char *text;

        if (own[i].value == VALUE_NONE) {
            continue;
        }
        text = own[i].value == VALUE_PLACE
                   ? fm_strings_own(texts, "%s=%s", name, r->place)
                   : fm_strings_own(texts, "%s=%d", name, value_of(r, own[i].value));
        rc = text ? fm_strings_add(out_env, text) : -FM_E_NOMEM;
    }
    return rc;
}
