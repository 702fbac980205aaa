/* SPDX-License-Identifier: BSD-3-Clause */
/* Tying ranks to processors. */
#include "launch/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "0-3,8,10-11" to a set; unreadable text ends it. */
static void parse_list(const char *text, cpu_set_t *out_set)
{
    CPU_ZERO(out_set);
    while (*text >= '0' && *text <= '9') {
        char *end;
        long lo = strtol(text, &end, 10);
        long hi = lo;

        if (*end == '-') {
            hi = strtol(end + 1, &end, 10);
        }
        for (long c = lo; c <= hi && c < CPU_SETSIZE; c++) {
            CPU_SET((size_t)c, out_set);
        }
        text = *end == ',' ? end + 1 : end;
    }
}

/* A list of processors in a file of /sys. False when there is no such file. */
static bool read_list(const char *path, cpu_set_t *out_set)
{
    char text[1024];
    FILE *f = fopen(path, "re");
    bool is_read = f && fgets(text, sizeof(text), f);

    if (is_read) {
        parse_list(text, out_set);
    }
    if (f) {
        fclose(f);
    }
    return is_read;
}

/* All processors that share with `cpu` what the policy names. */
static void around(enum fm_bind_to policy, int cpu, cpu_set_t *out_set)
{
    char path[96];
    bool is_known = false;

    if (policy == FM_BIND_CORE || policy == FM_BIND_SOCKET) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
                 policy == FM_BIND_CORE ? "thread_siblings_list" : "core_siblings_list");
        is_known = read_list(path, out_set);
    }
    for (int node = 0; policy == FM_BIND_NUMA && node < 1024 && !is_known; node++) {
        snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
        if (!read_list(path, out_set)) {
            break;
        }
        is_known = CPU_ISSET((size_t)cpu, out_set);
    }
    if (!is_known) {
        CPU_ZERO(out_set);
        CPU_SET((size_t)cpu, out_set);
    }
}

int fm_bind_init(enum fm_bind_to policy, int n_ranks, struct fm_bind *out_bind)
{
    struct fm_bind b = {0};
    cpu_set_t left;

    *out_bind = b;
    if (policy == FM_BIND_NONE || sched_getaffinity(0, sizeof(left), &left) != 0) {
        return 0;
    }
    b.sets = calloc((size_t)CPU_COUNT(&left), sizeof(*b.sets));
    if (!b.sets) {
        return fm_fail(-FM_E_NOMEM, "no memory for the sets of processors");
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t *set = &b.sets[b.n_sets];
        cpu_set_t used;

        if (!CPU_ISSET((size_t)cpu, &left)) {
            continue;
        }
        around(policy, cpu, &used);
        CPU_AND(set, &used, &left);
        CPU_SET((size_t)cpu, set);
        CPU_XOR(&left, &left, set);
        b.n_sets++;
    }
    if (n_ranks > b.n_sets && (policy == FM_BIND_CORE || policy == FM_BIND_HWTHREAD)) {
        free(b.sets);
        return FM_AGAIN;
    }
    *out_bind = b;
    return 0;
}

void fm_bind_finish(struct fm_bind *b)
{
    free(b->sets);
    *b = (struct fm_bind){0};
}

const cpu_set_t *fm_bind_of(const struct fm_bind *b, int rank)
{
    return b->n_sets > 0 ? &b->sets[rank % b->n_sets] : NULL;
}

void fm_bind_print(const cpu_set_t *set, char *out_text, size_t len)
{
    size_t at = 0;

    out_text[0] = '\0';
    for (int c = 0; c < CPU_SETSIZE && at < len; c++) {
        int end = c;

        if (!CPU_ISSET((size_t)c, set)) {
            continue;
        }
        while (end + 1 < CPU_SETSIZE && CPU_ISSET((size_t)(end + 1), set)) {
            end++;
        }
        at += (size_t)snprintf(out_text + at, len - at, end > c ? "%s%d-%d" : "%s%d",
                               at > 0 ? "," : "", c, end);
        c = end;
    }
}
