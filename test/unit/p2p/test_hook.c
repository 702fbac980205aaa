/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress hooks: any number of them, which add, remove and free one another while they run. */
#include "p2p_net.h"

enum { N_HOOKS = 1000 };

struct counting_hook {
    struct fm_hook hook;
    int n_calls;
    struct fm_hook *to_remove; /* NULL: none */
    struct fm_hook *to_add;    /* NULL: none */
};

static int count_call(struct fm_hook *hook)
{
    struct counting_hook *h = fm_container_of(hook, struct counting_hook, hook);

    h->n_calls++;
    if (h->to_remove) {
        fm_hook_remove(net.ch[0], h->to_remove);
        h->to_remove = NULL;
    }
    if (h->to_add) {
        fm_hook_add(net.ch[0], h->to_add);
        h->to_add = NULL;
    }
    return 1;
}

static void setup(void)
{
    net_start(1, NULL);
}

static void teardown(void)
{
    ck_assert_int_eq(net.ch[0]->n_hooks, 0);
    net_stop();
}

START_TEST(every_hook_is_called_once_a_round)
{
    static struct counting_hook hooks[N_HOOKS];

    for (int k = 0; k < N_HOOKS; k++) {
        hooks[k] = (struct counting_hook){.hook.fn = count_call};
        fm_hook_add(net.ch[0], &hooks[k].hook);
    }
    ck_assert_int_eq(fm_progress(net.ch[0]), N_HOOKS);
    ck_assert_int_eq(fm_progress(net.ch[0]), N_HOOKS);
    for (int k = 0; k < N_HOOKS; k++) {
        ck_assert_int_eq(hooks[k].n_calls, 2);
        fm_hook_remove(net.ch[0], &hooks[k].hook);
        fm_hook_remove(net.ch[0], &hooks[k].hook); /* the second time does nothing */
    }
    ck_assert_int_eq(fm_progress(net.ch[0]), 0);
}
END_TEST

/* Hook 1 removes another one: before it, itself, behind it. */
START_TEST(a_hook_removes_hooks_while_they_run)
{
    for (int victim = 0; victim < 3; victim++) {
        struct counting_hook hooks[3] = {
            {.hook.fn = count_call}, {.hook.fn = count_call}, {.hook.fn = count_call}};

        for (int k = 0; k < 3; k++) {
            fm_hook_add(net.ch[0], &hooks[k].hook);
        }
        hooks[1].to_remove = &hooks[victim].hook;
        fm_progress(net.ch[0]);
        ck_assert_int_eq(hooks[1].n_calls, 1);
        ck_assert(!fm_hook_is_added(&hooks[victim].hook));
        fm_progress(net.ch[0]);
        fm_progress(net.ch[0]);
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(hooks[k].n_calls > 1, k != victim);
            fm_hook_remove(net.ch[0], &hooks[k].hook);
        }
    }
}
END_TEST

START_TEST(a_hook_adds_a_hook_while_they_run)
{
    struct counting_hook late = {.hook.fn = count_call};
    struct counting_hook early = {.hook.fn = count_call, .to_add = &late.hook};

    fm_hook_add(net.ch[0], &early.hook);
    fm_progress(net.ch[0]);
    fm_progress(net.ch[0]);
    ck_assert_int_ge(late.n_calls, 1);
    ck_assert_int_eq(early.n_calls, 2);
    fm_hook_remove(net.ch[0], &early.hook);
    fm_hook_remove(net.ch[0], &late.hook);
}
END_TEST

/* Its memory may be used for something else from then on: ASan reports any access. */
static int free_itself(struct fm_hook *hook)
{
    fm_hook_remove(net.ch[0], hook);
    free(hook);
    return 1;
}

START_TEST(a_hook_frees_itself)
{
    for (int k = 0; k < 3; k++) {
        struct fm_hook *hook = calloc(1, sizeof(*hook));

        hook->fn = free_itself;
        fm_hook_add(net.ch[0], hook);
    }
    ck_assert_int_eq(fm_progress(net.ch[0]), 3);
    ck_assert_int_eq(fm_progress(net.ch[0]), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hook");
    TCase *tc = tcase_create("hooks");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, every_hook_is_called_once_a_round);
    tcase_add_test(tc, a_hook_removes_hooks_while_they_run);
    tcase_add_test(tc, a_hook_adds_a_hook_while_they_run);
    tcase_add_test(tc, a_hook_frees_itself);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
