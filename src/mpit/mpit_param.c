/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of control variables from outside the program: three files, the environment, the launcher.
 *
 * All settings are gathered once, weakest source first, into one list. A variable takes, in that
 * order, each setting with its name, so the strongest valid one stays; a bad one is reported and
 * passed over. Settings that no variable took are reported by fathom_mpit_warn_unknown().
 *
 * A program that runs with more rights than its user (setuid; AT_SECURE) takes nothing from the
 * environment, nor files or libraries that it names: the system file counts alone.
 */
#include "mpit/mpit_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef FM_SYSCONFDIR
#define FM_SYSCONFDIR "/etc"
#endif

extern char **environ;

struct setting {
    char *name; /* as written */
    char *value;
    char *origin; /* "file:line", "environment", "mpiexec" */
    enum fathom_source source;
    bool is_taken;
};

/* Part of the registry's root; gathered when the first variable is loaded. */
static struct {
    struct setting *list;
    int n;
    bool is_gathered, is_reported;
} settings;

static void setting_add(const char *name, const char *value, const char *origin,
                        enum fathom_source source)
{
    struct setting *s;

    if (fm_t_grow(&settings.list, settings.n, sizeof(*s)) != 0) {
        return;
    }
    s = &settings.list[settings.n];
    s->name = fm_t_got(strdup(name));
    s->value = fm_t_got(strdup(value));
    s->origin = fm_t_got(strdup(origin));
    s->source = source;
    if (s->name && s->value && s->origin) {
        settings.n++;
    } else {
        free(s->name);
        free(s->value);
        free(s->origin);
    }
}

/* Without blanks at both ends, and without one pair of quotes. Changes the text. */
static char *trim(char *text)
{
    size_t n;

    text += strspn(text, " \t\r\n");
    n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) {
        text[--n] = '\0';
    }
    if (n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n - 1] == text[0]) {
        text[n - 1] = '\0';
        text++;
    }
    return text;
}

/* "name = value" with its source. */
static void assignment(char *text, const char *origin, enum fathom_source source)
{
    char *equals = strchr(text, '=');

    if (!equals) {
        text = trim(text);
        if (*text) {
            fm_t_warn("%s: ignored \"%s\": it is not \"variable = value\"", origin, text);
        }
        return;
    }
    *equals = '\0';
    setting_add(trim(text), trim(equals + 1), origin, source);
}

/* Is the file absent, as far as this process can see? HOME may be /dev/null, or the folder of
   another user. */
static bool is_absent(const char *path)
{
    char folder[1024];
    char *slash;

    if (errno != EACCES) {
        return errno == ENOENT || errno == ENOTDIR;
    }
    snprintf(folder, sizeof(folder), "%s", path);
    slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
    }
    return slash && access(folder, X_OK) != 0;
}

static void read_file(const char *path, enum fathom_source source)
{
    FILE *f = fopen(path, "re");
    char *line = NULL, origin[1100];
    size_t room = 0;
    int n = 0;

    if (!f && source != FATHOM_FROM_NAMED_FILE && is_absent(path)) {
        return;
    }
    while (f && getline(&line, &room, f) >= 0) {
        n++;
        if (line[strspn(line, " \t\r\n")] == '#') {
            continue;
        }
        snprintf(origin, sizeof(origin), "%.1000s:%d", path, n);
        assignment(line, origin, source);
    }
    if (!f || ferror(f)) { /* it is a folder, say */
        fm_t_warn("parameter file %s: %s", path, strerror(errno));
    }
    free(line);
    if (f) {
        fclose(f);
    }
}

static void read_files(void)
{
    const char *name = fm_t_host_name(), *dir = secure_getenv("XDG_CONFIG_HOME");
    const char *home = secure_getenv("HOME"), *path;
    char env[FM_T_NAME_LEN + 64], built[1024];

    fm_t_env_name(env, sizeof(env), "SYSTEM_PARAM_FILE");
    path = secure_getenv(env);
    if (!path) {
        snprintf(built, sizeof(built), "%s/%s.conf", FM_SYSCONFDIR, name);
        path = built;
    }
    read_file(path, FATHOM_FROM_SYSTEM_FILE);
    if (dir && *dir) {
        snprintf(built, sizeof(built), "%s/%s/%s.conf", dir, name, name);
        read_file(built, FATHOM_FROM_USER_FILE);
    } else if (home && *home) {
        snprintf(built, sizeof(built), "%s/.config/%s/%s.conf", home, name, name);
        read_file(built, FATHOM_FROM_USER_FILE);
    }
    fm_t_env_name(env, sizeof(env), "PARAM_FILE");
    path = secure_getenv(env);
    if (path && *path) {
        read_file(path, FATHOM_FROM_NAMED_FILE);
    }
}

static void read_launcher(void)
{
    char env[FM_T_NAME_LEN + 64], *copy, *next, *one;
    const char *text;

    fm_t_env_name(env, sizeof(env), "MPIEXEC_SET");
    text = secure_getenv(env);
    copy = text ? fm_t_got(strdup(text)) : NULL;
    for (next = copy; next && (one = strsep(&next, ";")) != NULL;) {
        assignment(one, "mpiexec", FATHOM_FROM_LAUNCHER);
    }
    free(copy);
}

/* Environment variables are kept with the host's prefix off: "P2P_EAGER_LIMIT". */
static void read_environment(void)
{
    char prefix[FM_T_NAME_LEN], name[256];
    const char *equals;
    size_t n;
    char **e;

    if (getauxval(AT_SECURE)) {
        return;
    }
    fm_t_env_name(prefix, sizeof(prefix), "");
    n = strlen(prefix);
    for (e = environ; e && *e; e++) {
        equals = strchr(*e, '=');
        if (strncmp(*e, prefix, n) != 0 || !equals || (size_t)(equals - *e) - n >= sizeof(name)) {
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)(equals - *e - (ptrdiff_t)n), *e + n);
        setting_add(name, equals + 1, "environment", FATHOM_FROM_ENVIRONMENT);
    }
}

static void gather(void)
{
    if (settings.is_gathered) {
        return;
    }
    settings.is_gathered = true;
    read_files();
    read_environment();
    read_launcher();
}

/* ---- one value ---- */

static int unit_shift(const struct fathom_cvar *row, const char *suffix)
{
    static const char units[] = "kmgt";
    const char *u;

    if (!*suffix) {
        return 0;
    }
    if (!row->unit || strcmp(row->unit, "bytes") != 0) {
        return -1;
    }
    u = strchr(units, suffix[0] | 0x20);
    if (!u ||
        (suffix[1] && strcasecmp(suffix + 1, "b") != 0 && strcasecmp(suffix + 1, "ib") != 0)) {
        return -1;
    }
    return (int)(u - units + 1) * 10;
}

static int parse_integer(const struct fathom_cvar *row, const char *text, int64_t *out_value)
{
    char *end;
    long long v;
    int shift;

    errno = 0;
    v = strtoll(text, &end, 0);
    shift = unit_shift(row, end);
    if (end == text || errno == ERANGE || shift < 0 || v > INT64_MAX >> shift ||
        v < INT64_MIN >> shift) {
        return -1;
    }
    *out_value = v * (INT64_C(1) << shift);
    return 0;
}

static int parse_item(const struct fathom_cvar *row, const char *text, int64_t *out_value)
{
    int i;

    for (i = 0; i < row->items->n_items; i++) {
        if (strcasecmp(row->items->items[i].name, text) == 0) {
            *out_value = row->items->items[i].value;
            return 0;
        }
    }
    return parse_integer(row, text, out_value);
}

static int parse_real(const struct fathom_cvar *row, const char *text, void *word, char *out_why,
                      size_t why_len)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || isnan(v)) {
        snprintf(out_why, why_len, "not a number");
        return -1;
    }
    if (v < row->min_real || v > row->max_real) {
        snprintf(out_why, why_len, "out of bounds");
        return -1;
    }
    memcpy(word, &v, sizeof(v));
    return 0;
}

bool fm_t_param_in_bounds(const struct fathom_cvar *row, int64_t value)
{
    if (row->items) {
        return fm_t_enum_has(row->items, value);
    }
    if (value < row->min || value > row->max) {
        return false;
    }
    switch (row->type) {
    case FATHOM_INT:
        return value >= INT_MIN && value <= INT_MAX;
    case FATHOM_UNSIGNED:
        return value >= 0 && value <= UINT_MAX;
    case FATHOM_UNSIGNED_LONG:
    case FATHOM_UNSIGNED_LONG_LONG:
        return value >= 0;
    default:
        return true;
    }
}

int fm_t_param_parse(const struct fathom_cvar *row, const char *text, void *word, char *out_why,
                     size_t why_len)
{
    int64_t v = 0;

    if (row->type == FATHOM_CHAR) {
        if (strlen(text) >= (size_t)row->count) {
            snprintf(out_why, why_len, "too long");
            return -1;
        }
        memset(word, 0, (size_t)row->count);
        memcpy(word, text, strlen(text));
        return 0;
    }
    if (row->type == FATHOM_DOUBLE) {
        return parse_real(row, text, word, out_why, why_len);
    }
    if ((row->items ? parse_item(row, text, &v) : parse_integer(row, text, &v)) != 0) {
        snprintf(out_why, why_len, row->items ? "no such item" : "not a number");
        return -1;
    }
    if (!fm_t_param_in_bounds(row, v)) {
        snprintf(out_why, why_len, "out of bounds");
        return -1;
    }
    memcpy(word, &v, sizeof(v));
    return 0;
}

void fm_t_param_bounds(const struct fathom_cvar *row, char *out, size_t len)
{
    size_t n = 0;
    int i;

    if (row->items) {
        out[0] = '\0';
        for (i = 0; i < row->items->n_items && n < len; i++) {
            n += (size_t)snprintf(out + n, len - n, "%s%s=%d", i ? ", " : "",
                                  row->items->items[i].name, row->items->items[i].value);
        }
        return;
    }
    if (row->type == FATHOM_CHAR) {
        snprintf(out, len, "at most %d characters", row->count - 1);
    } else if (row->type == FATHOM_DOUBLE) {
        snprintf(out, len, "%g..%g%s%s", row->min_real, row->max_real, row->unit ? " " : "",
                 row->unit ? row->unit : "");
    } else {
        snprintf(out, len, "%" PRId64 "..%" PRId64 "%s%s", row->min, row->max, row->unit ? " " : "",
                 row->unit ? row->unit : "");
    }
}

static void load_default(const struct fathom_cvar *row, void *word)
{
    if (row->type == FATHOM_CHAR) {
        memcpy(word, row->def_text, strlen(row->def_text) + 1);
    } else if (row->type == FATHOM_DOUBLE) {
        memcpy(word, &row->def_real, sizeof(row->def_real));
    } else {
        memcpy(word, &row->def, sizeof(row->def));
    }
}

/* Files and launcher may write the name either way: p2p_eager or FATHOM_P2P_EAGER. */
static bool is_for(const struct setting *s, const char *name)
{
    char env[FM_T_NAME_LEN + 64];

    if (strcasecmp(s->name, name) == 0) {
        return true;
    }
    fm_t_env_name(env, sizeof(env), name);
    return s->source != FATHOM_FROM_ENVIRONMENT && strcasecmp(s->name, env) == 0;
}

void fm_t_param_load(struct fm_t_cvar *var)
{
    void *word = var->table->block + var->row->at;
    char why[64], bounds[512];
    struct setting *s;
    int i;

    gather();
    load_default(var->row, word);
    for (i = 0; i < settings.n; i++) {
        s = &settings.list[i];
        if (!is_for(s, var->name)) {
            continue;
        }
        s->is_taken = true;
        if (fm_t_param_parse(var->row, s->value, word, why, sizeof(why)) == 0) {
            var->source = (uint32_t)s->source;
            continue;
        }
        fm_t_param_bounds(var->row, bounds, sizeof(bounds));
        fm_t_warn("%s (%s): ignored \"%s\": %s; it takes %s", var->name, s->origin, s->value, why,
                  bounds);
    }
}

/* ---- names that no variable has ---- */

/* A name without the prefix of environment variables. */
static const char *bare_name(const char *name)
{
    char prefix[FM_T_NAME_LEN];

    fm_t_env_name(prefix, sizeof(prefix), "");
    return strncasecmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : name;
}

/* Is it an environment variable that the host reads by itself? */
static bool is_of_host(const struct setting *s)
{
    const char *const *also = fm_t_root.host ? fm_t_root.host->environment : NULL;
    int i;

    for (i = 0; also && also[i]; i++) {
        if (s->source == FATHOM_FROM_ENVIRONMENT && strcasecmp(s->name, bare_name(also[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* The name that is nearest to that of a setting; NULL where all differ by more than a typing error
   does. */
static const char *nearest_name(const struct setting *s)
{
    const char *const *also = fm_t_root.host ? fm_t_root.host->environment : NULL;
    const char *best = NULL, *name = s->name;
    int i, d, best_d = (int)strlen(name) / 2;

    best_d = best_d < 4 ? best_d : 4;
    for (i = 0; i < fm_t_root.n_cvars; i++) {
        if (fm_t_root.cvars[i].bind == FATHOM_BIND_NONE) {
            d = fm_t_name_distance(name, fm_t_root.cvars[i].name);
            best = d < best_d ? fm_t_root.cvars[i].name : best;
            best_d = d < best_d ? d : best_d;
        }
    }
    for (i = 0; also && also[i] && s->source == FATHOM_FROM_ENVIRONMENT; i++) {
        d = fm_t_name_distance(name, bare_name(also[i]));
        best = d < best_d ? bare_name(also[i]) : best;
        best_d = d < best_d ? d : best_d;
    }
    return best;
}

/* The new name of a variable that was renamed. As for present names, files and launcher may write
   the old one either way. */
static const char *successor_of(const struct setting *s)
{
    const char *successor = fathom_mpit_successor(s->name);

    return successor || s->source == FATHOM_FROM_ENVIRONMENT
               ? successor
               : fathom_mpit_successor(bare_name(s->name));
}

/* Warn that no variable has the name of this setting; `other` is what the user may have meant. */
static void warn_one(const struct setting *s)
{
    bool is_env = s->source == FATHOM_FROM_ENVIRONMENT;
    char prefix[FM_T_NAME_LEN] = "", env[FM_T_NAME_LEN + 64];
    const char *successor = successor_of(s);
    const char *other = successor ? successor : nearest_name(s);

    if (is_env) {
        fm_t_env_name(prefix, sizeof(prefix), "");
    }
    if (other && is_env) { /* as it would have to be written there */
        fm_t_env_name(env, sizeof(env), other);
        other = env;
    }
    if (successor) {
        fm_t_warn("%s: ignored %s%s: it was renamed to %s", s->origin, prefix, s->name, other);
    } else {
        fm_t_warn("%s: unknown variable %s%s%s%s%s", s->origin, prefix, s->name,
                  other ? "; did you mean " : "", other ? other : "", other ? "?" : "");
    }
}

void fathom_mpit_warn_unknown(void)
{
    static const char *const own[] = {"PARAM_FILE", "SYSTEM_PARAM_FILE", "MPIEXEC_SET"};
    size_t k;
    int i;

    fm_t_lock();
    gather();
    for (i = 0; i < settings.n && !settings.is_reported; i++) {
        bool is_own = false;

        for (k = 0; k < sizeof(own) / sizeof(own[0]); k++) {
            is_own |= strcmp(settings.list[i].name, own[k]) == 0;
        }
        if (!settings.list[i].is_taken && !is_own && !is_of_host(&settings.list[i])) {
            warn_one(&settings.list[i]);
        }
    }
    settings.is_reported = true;
    fm_t_unlock();
}
