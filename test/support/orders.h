/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code under every interleaving: a test makes each atomic operation of the code a call of step(),
 * before it includes the code, and each write a call of moved(). Threads are coroutines; walk()
 * goes through their orders depth first, all of them up to a number of preemptions. Memory is
 * sequentially consistent there.
 */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include "util/compiler.h"

#define MAX_THREADS 3
#define MAX_STEPS   400
#define STACK_LEN   (32 << 10)

struct coroutine {
    ucontext_t context;
    bool is_done;
    bool is_waiting; /* found nothing to do; not before another one has done something */
};

static struct coroutine threads[MAX_THREADS];
static char stacks[MAX_THREADS][STACK_LEN] FM_ALIGNED(64);
static ucontext_t scheduler;
static int n_threads, current;
static unsigned char choice[MAX_STEPS], n_choices[MAX_STEPS];
static int n_steps, n_forced; /* choices made in this run; of them repeated from the last one */
static uint64_t n_runs;
static int max_preemptions, preemptions_left; /* of each run */

static void step(void)
{
    swapcontext(&threads[current].context, &scheduler);
}

/* Nothing to do until another thread has moved. */
static void wait_for_others(void)
{
    threads[current].is_waiting = true;
    step();
}

/* Memory is written to: others may have waited for that. */
static void moved(void)
{
    for (int k = 0; k < n_threads; k++) {
        threads[k].is_waiting &= k == current;
    }
}

static bool can_run(int k)
{
    return !threads[k].is_done && !threads[k].is_waiting;
}

/* One of the threads that can run; first the current one, others cost a preemption. */
static int choose(int last)
{
    int able[MAX_THREADS], n = 0;

    if (can_run(last)) {
        able[n++] = last;
    }
    for (int k = 0; k < n_threads; k++) {
        if (k != last && can_run(k) && (n == 0 || !can_run(last) || preemptions_left > 0)) {
            able[n++] = k;
        }
    }
    if (n == 0) {
        return -1;
    }
    if (n_steps == MAX_STEPS) {
        ck_abort_msg("a run is longer than %d steps", MAX_STEPS);
    }
    if (n_steps >= n_forced) {
        choice[n_steps] = 0;
    }
    n_choices[n_steps] = (unsigned char)n;
    n = able[choice[n_steps++]];
    preemptions_left -= can_run(last) && n != last;
    return n;
}

static void prepare(struct coroutine *c, char *stack, void (*body)(void))
{
    *c = (struct coroutine){.is_done = false};
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = stack;
    c->context.uc_stack.ss_size = STACK_LEN;
    c->context.uc_link = NULL;
    makecontext(&c->context, body, 0);
}

static void run_once(void (*body)(void))
{
    int next;

    for (int k = 0; k < n_threads; k++) {
        prepare(&threads[k], stacks[k], body);
    }
    n_steps = 0;
    current = 0;
    preemptions_left = max_preemptions;
    while ((next = choose(current)) >= 0) {
        current = next;
        swapcontext(&scheduler, &threads[current].context);
    }
    for (int k = 0; k < n_threads; k++) {
        if (!threads[k].is_done) {
            ck_abort_msg("all wait: thread %d has not ended", k);
        }
    }
    n_runs++;
}

/* The next order in depth-first sequence: false when there is none. */
static bool next_order(void)
{
    while (n_steps > 0 && choice[n_steps - 1] + 1 >= n_choices[n_steps - 1]) {
        n_steps--;
    }
    if (n_steps == 0) {
        return false;
    }
    choice[n_steps - 1]++;
    n_forced = n_steps;
    return true;
}

static void finished(void)
{
    threads[current].is_done = true;
    step();
}

static void walk(void (*reset)(void), void (*body)(void), int n, int preemptions)
{
    n_threads = n;
    n_forced = 0;
    n_runs = 0;
    max_preemptions = preemptions;
    do {
        reset();
        run_once(body);
    } while (next_order());
}
