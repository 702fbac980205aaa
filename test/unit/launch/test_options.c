/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the command line of mpiexec. */
#include "launch/options.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/option_strings.h"
#include "support/suite.h"

static struct fm_options o;

static void teardown(void)
{
    fm_options_finish(&o);
}

/* Parse words behind "mpiexec". The words are taken apart at spaces. */
static int parse(const char *line)
{
    static char text[1024];
    static char *argv[64];
    int argc = 0;
    char *save;

    snprintf(text, sizeof(text), "mpiexec %s", line);
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        argv[argc++] = w;
    }
    argv[argc] = NULL;
    return fm_options_parse(argc, argv, NULL, &o);
}

START_TEST(counts_in_every_dialect)
{
    static const char *const lines[] = {"-n 4 a",   "-np 4 a",       "--np 4 a", "-c 4 a",
                                        "--np=4 a", "--n 4 a",       "-n=4 a",   "-ppn 4 a",
                                        "-N 4 a",   "--npernode 4 a"};

    for (size_t i = 0; i < FM_ARRAY_LEN(lines); i++) {
        ck_assert_msg(parse(lines[i]) == 0, "%s: %s", lines[i], fm_why());
        ck_assert_int_eq(o.n_ranks, 4);
        ck_assert_int_eq(o.n_apps, 1);
        ck_assert_str_eq(o.apps[0].argv.items[0], "a");
        ck_assert_ptr_null(o.apps[0].argv.items[1]);
        fm_options_finish(&o);
    }
    ck_assert_int_eq(parse("a"), 0);
    ck_assert_int_eq(o.n_ranks, 1);
}
END_TEST

START_TEST(programs_keep_their_options)
{
    ck_assert_int_eq(parse("-n 2 a -n 3 --help : -n 1 -env A 1 -wdir /tmp b : c"), 0);
    ck_assert_int_eq(o.n_apps, 3);
    ck_assert_int_eq(o.n_ranks, 4);
    ck_assert_int_eq(o.apps[0].argv.n, 4);
    ck_assert_str_eq(o.apps[0].argv.items[3], "--help");
    ck_assert_str_eq(o.apps[1].wdir, "/tmp");
    ck_assert_str_eq(o.apps[1].env.set.items[0], "A=1");
    ck_assert_int_eq(o.apps[2].n_ranks, 1);
    ck_assert(!o.is_help);
}
END_TEST

START_TEST(environment)
{
    ck_assert_int_eq(parse("-genv G 1 -genvnone -x X -x Y=2 -envlist P,Q a : -envall b"), 0);
    ck_assert_str_eq(o.genv.set.items[0], "G=1");
    ck_assert_int_eq(o.apps[0].env.mode, FM_ENV_LIST);
    ck_assert_int_eq(o.apps[0].env.pass.n, 3);
    ck_assert_str_eq(o.apps[0].env.pass.items[2], "Q");
    ck_assert_str_eq(o.apps[0].env.set.items[0], "Y=2");
    ck_assert_int_eq(o.apps[1].env.mode, FM_ENV_ALL);
    fm_options_finish(&o);
    ck_assert_int_eq(parse("-genvnone a"), 0);
    ck_assert_int_eq(o.apps[0].env.mode, FM_ENV_NONE);
}
END_TEST

START_TEST(scripts_of_others_work)
{
    ck_assert_int_eq(parse("--oversubscribe --allow-run-as-root --mca btl self,tcp --map-by "
                           "ppr:2:node --bind-to core:overload-allowed -l --timeout 2.5 "
                           "--set p2p_eager_limit=10 -mpit a=b a"),
                     0);
    ck_assert_int_eq(o.bind, FM_BIND_CORE);
    ck_assert_str_eq(o.prefix, "[%r] ");
    ck_assert(o.timeout_s > 2.4 && o.timeout_s < 2.6);
    ck_assert_int_eq(o.set.n, 2);
    ck_assert_str_eq(o.set.items[0], "p2p_eager_limit=10");
}
END_TEST

START_TEST(refuses_with_a_reason)
{
    static const struct {
        const char *line;
        const char *why;
    } bad[] = {
        {"-n 0 a", "between 1 and"},
        {"-n -3 a", "between 1 and"},
        {"-n x a", "not an integer"},
        {"-n 2x a", "not an integer"},
        {"-n 99999999999 a", "between 1 and"},
        {"-n 40000 a : -n 40000 b", "80000 ranks"},
        {"-n", "needs 1 value"},
        {"-env A", "needs 2 values"},
        {"-env A=B C a", "cannot be the name"},
        {"--tiemout 3 a", "did you mean --timeout"},
        {"--hlep", "did you mean --help"},
        {"--zzzzzzzz a", "unknown option --zzzzzzzz;"},
        {"--timeout soon a", "not a number of seconds"},
        {"--timeout -1 a", "not a number of seconds"},
        {"--timeout nan a", "not a number of seconds"},
        {"--bind-to cpu a", "must be none"},
        {"--stdin 2 -n 2 a", "the ranks of this job are 0 to 1"},
        {"--stdin all a", "is not supported"},
        {"--set eager a", "NAME=VALUE"},
        {"--configfile /nonexistent", "/nonexistent"},
        {"--hostfile /nonexistent a", "/nonexistent"},
        {"", "no program given"},
        {"-n 2", "no program given"},
        {"a :", "no program follows"},
        {": a", "no program given"},
        {"a : : b", "no program given"},
    };

    for (size_t i = 0; i < FM_ARRAY_LEN(bad); i++) {
        ck_assert_msg(parse(bad[i].line) == -FM_E_INVAL, "took: %s", bad[i].line);
        ck_assert_msg(strstr(fm_why(), bad[i].why), "%s: %s", bad[i].line, fm_why());
        fm_options_finish(&o);
    }
}
END_TEST

START_TEST(timeout_of_the_environment)
{
    char *argv[] = {(char *)"mpiexec", (char *)"a", NULL};

    ck_assert_int_eq(fm_options_parse(2, argv, "12", &o), 0);
    ck_assert(o.timeout_s > 11.9 && o.timeout_s < 12.1);
    fm_options_finish(&o);
    ck_assert_int_eq(fm_options_parse(2, argv, "", &o), 0);
    fm_options_finish(&o);
    ck_assert_int_eq(fm_options_parse(2, argv, "soon", &o), -FM_E_INVAL);
}
END_TEST

START_TEST(help_needs_nothing_else)
{
    ck_assert_int_eq(parse("--help"), 0);
    ck_assert(o.is_help);
    fm_options_finish(&o);
    ck_assert_int_eq(parse("-n 2 --version"), 0);
    ck_assert(o.is_version);
}
END_TEST

START_TEST(configuration_file)
{
    static const char content[] = "# a comment\n"
                                  "-n 2 -env A \"x y\" \\\n"
                                  "   one 'a b' c\\ d # more\n"
                                  "\n"
                                  "-n 3 two\n";
    char path[] = "configfile.XXXXXX";
    char line[64];
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, sizeof(content) - 1), sizeof(content) - 1);
    close(fd);
    snprintf(line, sizeof(line), "-l -configfile %s", path);
    ck_assert_msg(parse(line) == 0, "%s", fm_why());
    unlink(path);
    ck_assert_int_eq(o.n_apps, 2);
    ck_assert_int_eq(o.n_ranks, 5);
    ck_assert_ptr_nonnull(o.prefix);
    ck_assert_str_eq(o.apps[0].env.set.items[0], "A=x y");
    ck_assert_int_eq(o.apps[0].argv.n, 3);
    ck_assert_str_eq(o.apps[0].argv.items[1], "a b");
    ck_assert_str_eq(o.apps[0].argv.items[2], "c d");
    ck_assert_str_eq(o.apps[1].argv.items[0], "two");
}
END_TEST

START_TEST(words_of_a_file)
{
    struct fm_strings s = {0};
    char open_quote[] = "a 'b";
    char joined[] = "a\\\nb \"c\\\"d\" e\\\\f\n\n\nlast";

    ck_assert_int_eq(fm_strings_split(&s, open_quote, "f"), -FM_E_INVAL);
    fm_strings_finish(&s);
    ck_assert_int_eq(fm_strings_split(&s, joined, "f"), 0);
    ck_assert_int_eq(s.n, 5);
    ck_assert_str_eq(s.items[0], "ab");
    ck_assert_str_eq(s.items[1], "c\"d");
    ck_assert_str_eq(s.items[2], "e\\f");
    ck_assert_str_eq(s.items[3], ":");
    ck_assert_str_eq(s.items[4], "last");
    fm_strings_finish(&s);
}
END_TEST

START_TEST(distance_of_words)
{
    ck_assert_int_eq(fm_strings_distance("abc", "abc"), 0);
    ck_assert_int_eq(fm_strings_distance("", "abc"), 3);
    ck_assert_int_eq(fm_strings_distance("tiemout", "timeout"), 2);
    ck_assert_int_eq(fm_strings_distance("verison", "version"), 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("options");
    TCase *t = tcase_create("options");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, counts_in_every_dialect);
    tcase_add_test(t, programs_keep_their_options);
    tcase_add_test(t, environment);
    tcase_add_test(t, scripts_of_others_work);
    tcase_add_test(t, refuses_with_a_reason);
    tcase_add_test(t, timeout_of_the_environment);
    tcase_add_test(t, help_needs_nothing_else);
    tcase_add_test(t, configuration_file);
    tcase_add_test(t, words_of_a_file);
    tcase_add_test(t, distance_of_words);
    suite_add_tcase(s, t);
    return suite_run(s);
}
