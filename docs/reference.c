/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the reference of all variables and events, as MPI_T shows them, in Markdown: the tree of
 * categories, and below each category its control variables, performance variables and events.
 * Nothing but MPI_T is asked, so the page can say nothing that a tool does not see.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN 2048

static const char *type_name(MPI_Datatype type)
{
    return type == MPI_INT                  ? "int"
           : type == MPI_UNSIGNED           ? "unsigned"
           : type == MPI_UNSIGNED_LONG      ? "unsigned long"
           : type == MPI_UNSIGNED_LONG_LONG ? "unsigned long long"
           : type == MPI_COUNT              ? "MPI_Count"
           : type == MPI_DOUBLE             ? "double"
                                            : "string";
}

static const char *class_name(int klass)
{
    static const char *const names[] = {"",           "state",          "level",         "size",
                                        "percentage", "high watermark", "low watermark", "counter",
                                        "aggregate",  "timer",          "generic"};

    return klass >= MPI_T_PVAR_CLASS_STATE && klass <= MPI_T_PVAR_CLASS_GENERIC ? names[klass]
                                                                                : "?";
}

static const char *scope_name(int scope)
{
    static const char *const names[] = {"",      "constant",        "read-only",
                                        "local", "group",           "equal in the group",
                                        "all",   "equal everywhere"};

    return scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ ? names[scope] : "?";
}

static const char *bind_name(int bind)
{
    return bind == MPI_T_BIND_MPI_COMM      ? ", of a communicator"
           : bind == MPI_T_BIND_MPI_FILE    ? ", of a file"
           : bind == MPI_T_BIND_MPI_WIN     ? ", of a window"
           : bind == MPI_T_BIND_MPI_SESSION ? ", of a session"
                                            : "";
}

/* Markdown takes < and | for its own. */
static void put_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '<') {
            fputs("&lt;", stdout);
        } else if (*text == '|') {
            fputs("\\|", stdout);
        } else {
            putchar(*text);
        }
    }
}

static void put_items(MPI_T_enum items)
{
    char name[64];
    int i, n = 0, value, len;

    if (items == MPI_T_ENUM_NULL) {
        return;
    }
    MPI_T_enum_get_info(items, &n, NULL, NULL);
    fputs(" Values:", stdout);
    for (i = 0; i < n; i++) {
        len = sizeof(name);
        MPI_T_enum_get_item(items, i, &value, name, &len);
        printf("%s %s (%d)", i ? "," : "", name, value);
    }
    putchar('.');
}

static void put_cvar(int i)
{
    char name[LEN], desc[LEN];
    int len = LEN, desc_len = LEN, bind, scope;
    MPI_Datatype type;

    MPI_T_cvar_get_info(i, name, &len, NULL, &type, NULL, desc, &desc_len, &bind, &scope);
    printf("- **`%s`** (control variable, %s, %s%s): ", name, type_name(type), scope_name(scope),
           bind_name(bind));
    put_text(desc);
    putchar('\n');
}

static void put_pvar(int i)
{
    char name[LEN], desc[LEN];
    int len = LEN, desc_len = LEN, klass, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum items;

    MPI_T_pvar_get_info(i, name, &len, NULL, &klass, &type, &items, desc, &desc_len, &bind,
                        &readonly, &continuous, &atomic);
    printf("- **`%s`** (%s, %s%s%s%s%s): ", name, class_name(klass), type_name(type),
           bind_name(bind), readonly ? ", read-only" : "", continuous ? ", always running" : "",
           atomic ? ", atomic" : "");
    put_text(desc);
    put_items(items);
    putchar('\n');
}

static void put_event(int i)
{
    char name[LEN], desc[LEN], element[64];
    int len = LEN, desc_len = LEN, bind, k, n = 64;
    MPI_Datatype types[64];
    MPI_T_enum elements;

    MPI_T_event_get_info(i, name, &len, NULL, types, NULL, &n, &elements, NULL, desc, &desc_len,
                         &bind);
    printf("- **`%s`** (event%s): ", name, bind_name(bind));
    put_text(desc);
    for (k = 0; k < n && elements != MPI_T_ENUM_NULL; k++) {
        len = sizeof(element);
        MPI_T_enum_get_item(elements, k, NULL, element, &len);
        printf("%s `%s` %s", k ? "," : " Elements:", element, type_name(types[k]));
    }
    printf("%s\n", n ? "." : "");
}

typedef int (*list_fn)(int category, int len, int indices[]);

static void put_list(int category, int n, list_fn list, void (*put)(int))
{
    int i, *indices = calloc((size_t)n + 1, sizeof(*indices));

    if (!indices) {
        exit(1);
    }
    list(category, n, indices);
    for (i = 0; i < n; i++) {
        put(indices[i]);
    }
    free(indices);
}

static int depth;

static void put_category(int i)
{
    char name[LEN], desc[LEN];
    int len = LEN, desc_len = LEN, n_cvars, n_pvars, n_subs, n_events;

    MPI_T_category_get_info(i, name, &len, desc, &desc_len, &n_cvars, &n_pvars, &n_subs);
    MPI_T_category_get_num_events(i, &n_events);
    printf("\n%.*s %s\n\n", depth < 4 ? depth + 2 : 6, "######", name);
    put_text(desc);
    fputs("\n\n", stdout);
    put_list(i, n_cvars, MPI_T_category_get_cvars, put_cvar);
    put_list(i, n_pvars, MPI_T_category_get_pvars, put_pvar);
    put_list(i, n_events, MPI_T_category_get_events, put_event);
    depth++;
    put_list(i, n_subs, MPI_T_category_get_categories, put_category);
    depth--;
}

static void put_top_categories(void)
{
    int i, k, n = 0, n_subs, *is_sub, *subs;

    MPI_T_category_get_num(&n);
    is_sub = calloc((size_t)n + 1, sizeof(*is_sub));
    subs = calloc((size_t)n + 1, sizeof(*subs));
    if (!is_sub || !subs) {
        exit(1);
    }
    for (i = 0; i < n; i++) {
        MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, &n_subs);
        MPI_T_category_get_categories(i, n, subs);
        for (k = 0; k < n_subs; k++) {
            is_sub[subs[k]] = 1;
        }
    }
    for (i = 0; i < n; i++) {
        if (!is_sub[i]) {
            put_category(i);
        }
    }
    free(is_sub);
    free(subs);
}

int main(void)
{
    int provided, n_cvars = 0, n_pvars = 0, n_events = 0;

    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        return 1;
    }
    MPI_T_cvar_get_num(&n_cvars);
    MPI_T_pvar_get_num(&n_pvars);
    MPI_T_event_get_num(&n_events);
    printf("# Variables and events\n\nWhat a tool finds through MPI_T: %d control variables, %d "
           "performance variables, %d events. Control variables are set by the environment "
           "variable in "
           "brackets, by `mpiexec --set name=value`, in a parameter file, or by MPI_T_cvar_write; "
           "the last of these that is given counts.\n",
           n_cvars, n_pvars, n_events);
    put_top_categories();
    return MPI_T_finalize();
}
