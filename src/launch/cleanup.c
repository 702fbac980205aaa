/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing what ranks that were killed leave behind. */
#include "launch/cleanup.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fm_cleanup fm_cleanup_job(const struct fm_keytable *table)
{
    return (struct fm_cleanup){
        .token = table->head.token, .launcher = table->head.launcher, .group = getpgrp()};
}

/* Is the name "PID:DOMAIN:ENDPOINT", as in "4711:0:2"? */
static bool is_of_provider(const char *name, pid_t *out_pid)
{
    int pid, domain, endpoint, len = -1;

    if (sscanf(name, "%d:%d:%d%n", &pid, &domain, &endpoint, &len) != 3 || len < 0 || name[len] ||
        pid <= 0) {
        return false;
    }
    *out_pid = pid;
    return true;
}

/* The state of a process in /proc, as in ps(1); '\0': there is none. */
static char state_of(pid_t pid)
{
    char path[40], line[512];
    const char *after_name = NULL;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (f) {
        after_name = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
        fclose(f);
    }
    return after_name && after_name[1] == ' ' ? after_name[2] : '\0';
}

static bool has_ended(pid_t pid)
{
    char state = state_of(pid);

    return state == '\0' || state == 'Z' || state == 'X';
}

static bool is_rank(struct fm_keytable *table, pid_t pid)
{
    for (int r = 0; r < table->head.n_ranks; r++) {
        const struct fm_keytable_slot *slot = fm_keytable_slot(table, r);

        if (slot->pid == pid || atomic_load(&slot->claim) == pid) {
            return true;
        }
    }
    return false;
}

int fm_cleanup_files(struct fm_keytable *table)
{
    DIR *dir = opendir("/dev/shm");
    struct dirent *entry;
    int n_left = 0;
    pid_t pid;

    while (dir && (entry = readdir(dir))) {
        if (!is_of_provider(entry->d_name, &pid) || !is_rank(table, pid)) {
            continue;
        }
        if (has_ended(pid)) {
            unlinkat(dirfd(dir), entry->d_name, 0);
        } else {
            n_left++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return n_left;
}

/* Does the environment of a process name this job? */
static bool is_of_job(const struct fm_cleanup *job, pid_t pid)
{
    static const char name[] = FM_KEYTABLE_ENV "=";
    struct fm_keytable_place place;
    char path[32], *entry = NULL;
    size_t capacity = 0;
    bool is_found = false;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    f = fopen(path, "re");
    while (f && !is_found && getdelim(&entry, &capacity, '\0', f) > 0) {
        is_found = strncmp(entry, name, sizeof(name) - 1) == 0 &&
                   fm_keytable_place_parse(entry + sizeof(name) - 1, &place) == 0 &&
                   place.launcher == job->launcher && place.token == job->token;
    }
    if (f) {
        fclose(f);
    }
    free(entry);
    return is_found;
}

int fm_cleanup_processes(const struct fm_cleanup *job)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int n = 0;

    while (dir && (entry = readdir(dir))) {
        pid_t pid = atoi(entry->d_name);

        if (pid > 0 && getpgid(pid) == job->group && is_of_job(job, pid)) {
            kill(pid, SIGKILL);
            n++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}
