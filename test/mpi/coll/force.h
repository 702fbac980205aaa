/* SPDX-License-Identifier: BSD-3-Clause */
/* Take a certain algorithm, where the library has a control variable for that. */
#ifndef TEST_MPI_COLL_FORCE_H
#define TEST_MPI_COLL_FORCE_H

#include "../knob.h"

/* How many values the variable has (0 is automatic); 1 where the library has no such variable. */
static inline int n_algorithms(const char *variable)
{
    char name[64], desc[256];
    int index, verbosity, bind, scope, n = 1, name_len = 64, desc_len = 256;
    MPI_Datatype type;
    MPI_T_enum items;

    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS) {
        return 1;
    }
    OK(MPI_T_cvar_get_info(index, name, &name_len, &verbosity, &type, &items, desc, &desc_len,
                           &bind, &scope));
    name_len = 64;
    OK(MPI_T_enum_get_info(items, &n, name, &name_len));
    return n;
}

static inline void force(const char *variable, int value)
{
    knob(variable, (unsigned long long)value);
}

/* Run once with each algorithm, and once with the automatic choice. */
#define EACH_ALGORITHM(variable, call)                                                             \
    do {                                                                                           \
        int each_n = n_algorithms(variable);                                                       \
        for (int each = each_n - 1; each >= 0; each--) {                                           \
            force(variable, each);                                                                 \
            call;                                                                                  \
        }                                                                                          \
    } while (0)

/* Elements per rank and steps between roots: in jobs of more than 8 ranks less of each, so that the
   work and the memory of all of them do not grow with the square of the ranks. */
static inline int fewer(int n, int size)
{
    return size <= 8 || n < 64 ? n : (int)((long)n * 64 / size / size) + 1;
}

static inline int next_root(int root, int size)
{
    return root + (size <= 8 ? 1 : size / 4);
}

#endif
