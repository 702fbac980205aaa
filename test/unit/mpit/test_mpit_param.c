/* SPDX-License-Identifier: BSD-3-Clause */
/* Where values of control variables come from: precedence, malformed values, misspelt names. One
   process is one set of settings, so each case is a child that prints what it found. */
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/mpit/mpit_test.h"

static char dir[] = "/tmp/mpit_param_XXXXXX";
static char seen[4096]; /* what the child wrote */

static void write_file(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void set_path(const char *env, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    setenv(env, path, 1);
}

/* In the child: the registry comes up and says its values. */
static void child(FILE *out)
{
    double ratio;
    int n_warnings;

    tool_begin();
    fathom_mpit_warn_unknown();
    n_warnings = fake_n_warnings;
    fathom_mpit_warn_unknown();
    ck_assert_int_eq(fake_n_warnings, n_warnings); /* not once more */
    memcpy(&ratio, &fake->ratio, sizeof(ratio));
    fprintf(out, "limit %llu from %d\n", (unsigned long long)fake->limit,
            fathom_mpit_cvar_source(cvar_named("fake_limit"), NULL, NULL));
    fprintf(out, "ratio %g\nmode %d\nfixed %d\nbound %d\ntext %s\n%s", ratio, (int)fake->mode,
            (int)fake->fixed, (int)fake->bound, fake->text, fake_warnings);
    tool_end();
}

/* Run the child in this environment and keep what it says. */
static void look(void)
{
    int fds[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    ck_assert_int_eq(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        FILE *out = fdopen(fds[1], "w");

        close(fds[0]);
        child(out);
        fclose(out);
        _exit(0);
    }
    close(fds[1]);
    while ((got = read(fds[0], seen + n, sizeof(seen) - 1 - n)) > 0) {
        n += (size_t)got;
    }
    seen[n] = '\0';
    close(fds[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static void has(const char *text)
{
    ck_assert_msg(strstr(seen, text) != NULL, "\"%s\" is not in:\n%s", text, seen);
}

static void has_not(const char *text)
{
    ck_assert_msg(strstr(seen, text) == NULL, "\"%s\" is in:\n%s", text, seen);
}

static void clear(void)
{
    unsetenv("FAKE_FAKE_LIMIT");
    unsetenv("FAKE_FAKE_RATIO");
    unsetenv("FAKE_FAKE_MODE");
    unsetenv("FAKE_FAKE_FIXED");
    unsetenv("FAKE_FAKE_TEXT");
    unsetenv("FAKE_FAKE_LIMITT");
    unsetenv("FAKE_FAKE_NEVR");
    unsetenv("FAKE_FAKE_TINT");
    unsetenv("FAKE_FAKE_BOUND_COMM");
    unsetenv("FAKE_OTHER_THING");
    unsetenv("FAKE_OTHER_THIN");
    unsetenv("FAKE_FOO");
    unsetenv("FAKE_NOTHING_LIKE_IT");
    unsetenv("FAKE_PARAM_FILE");
    unsetenv("FAKE_MPIEXEC_SET");
    setenv("FAKE_SYSTEM_PARAM_FILE", "/nonexistent", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
}

/* Before the children are forked, and after all of them. */
static void make_dir(void)
{
    static const char *const dirs[] = {"fake", ".config", ".config/fake"};
    char path[256];

    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
}

static void remove_dir(void)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

/* Run a copy of this program as a setuid program of another user. False: that cannot be done. */
static bool look_as_setuid(void)
{
    char command[600];
    FILE *f;
    size_t n;
    int status;

    snprintf(command, sizeof(command),
             "cp /proc/%d/exe %s/copy && chmod 755 %s && chown 65534 %s/copy && "
             "chmod 4755 %s/copy && %s/copy setuid",
             (int)getpid(), dir, dir, dir, dir, dir);
    f = geteuid() == 0 ? popen(command, "r") : NULL;
    if (!f) {
        return false;
    }
    n = fread(seen, 1, sizeof(seen) - 1, f);
    seen[n] = '\0';
    status = pclose(f);
    ck_assert_msg(status == 0 || WEXITSTATUS(status) == 77, "%s: %d", seen, status);
    return status == 0;
}

/* That copy: 77 when the system does not take it for one (a mount with nosuid). */
START_TEST(in_setuid_program)
{
    child(stdout);
}
END_TEST

static int setuid_main(void)
{
    Suite *suite = suite_create("setuid");
    TCase *tc = tcase_create("setuid");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    if (!getauxval(AT_SECURE)) {
        return 77;
    }
    tcase_add_test(tc, in_setuid_program);
    suite_add_tcase(suite, tc);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_MINIMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    fflush(stdout);
    _exit(n_failed); /* LeakSanitizer cannot look into a setuid program */
}

START_TEST(setuid_programs_trust_no_environment)
{
    write_file("named.conf", "fake_limit=3000\nroot:secret\n");
    write_file("fake/fake.conf", "fake_ratio=1\n");
    write_file(".config/fake/fake.conf", "fake_ratio=1\n");
    set_path("FAKE_SYSTEM_PARAM_FILE", "named.conf");
    set_path("FAKE_PARAM_FILE", "named.conf");
    setenv("XDG_CONFIG_HOME", dir, 1);
    setenv("HOME", dir, 1);
    setenv("FAKE_FAKE_MODE", "red", 1);
    setenv("FAKE_FAKE_LIMITT", "5", 1);
    setenv("FAKE_MPIEXEC_SET", "fake_text=hallo", 1);
    if (!look_as_setuid()) {
        printf(
            "setuid_programs_trust_no_environment: skipped, no setuid program can be run here\n");
        return;
    }
    has("limit 4096 from 0\n");
    has("ratio 0.5\n");
    has("mode 5\n");
    has("text calm sea\n");
    has_not("secret");
    has_not("LIMITT");
}
END_TEST

START_TEST(sources_in_their_order)
{
    look();
    has("limit 4096 from 0\n");
    has("text calm sea\n");
    write_file("system.conf", "# of the machine\n\nfake_limit = 1k  \n fake_ratio=1\n");
    set_path("FAKE_SYSTEM_PARAM_FILE", "system.conf");
    look();
    has("limit 1024 from 1\n");
    write_file("fake/fake.conf", "FAKE_FAKE_LIMIT = 2KiB\nfake_text = \"a b\"\n");
    setenv("XDG_CONFIG_HOME", dir, 1);
    look();
    has("limit 2048 from 2\n");
    has("text a b\n");
    has("ratio 1\n"); /* the weaker file still counts for others */
    write_file(".config/fake/fake.conf", "fake_limit = 2049\n");
    setenv("HOME", dir, 1);
    look();
    has("limit 2048 from 2\n"); /* one file of the user */
    setenv("XDG_CONFIG_HOME", "", 1);
    look();
    has("limit 2049 from 2\n");
    unsetenv("XDG_CONFIG_HOME");
    look();
    has("limit 2049 from 2\n");
    unsetenv("HOME");
    look();
    has("limit 1024 from 1\n");
    setenv("HOME", "", 1);
    look();
    has("limit 1024 from 1\n");
    has_not("ignored");
    setenv("HOME", "/nonexistent", 1);
    setenv("XDG_CONFIG_HOME", dir, 1);
    write_file("named.conf", "fake_limit=3000");
    set_path("FAKE_PARAM_FILE", "named.conf");
    look();
    has("limit 3000 from 3\n");
    setenv("FAKE_FAKE_LIMIT", "0x10", 1);
    look();
    has("limit 16 from 4\n");
    setenv("FAKE_MPIEXEC_SET", "fake_limit=17;fake_bound=99", 1);
    look();
    has("limit 17 from 5\n");
    has("bound 99\n");
    has_not("ignored");
}
END_TEST

START_TEST(malformed_values_are_passed_over)
{
    write_file("named.conf", "fake_limit=3000\nfake_ratio\nfake_mode=purple\n");
    set_path("FAKE_PARAM_FILE", "named.conf");
    setenv("FAKE_FAKE_LIMIT", "lots", 1);
    setenv("FAKE_FAKE_RATIO", "7", 1);
    setenv("FAKE_FAKE_FIXED", "5k", 1); /* not a number of bytes */
    setenv("FAKE_FAKE_TEXT", "this text is much longer than the variable can be", 1);
    look();
    has("limit 3000 from 3\n");
    has("fake_limit (environment): ignored \"lots\": not a number; it takes 0..1048576 bytes\n");
    has("fake_ratio (environment): ignored \"7\": out of bounds; it takes 0..2\n");
    has("named.conf:2: ignored \"fake_ratio\": it is not \"variable = value\"\n");
    has("named.conf:3): ignored \"purple\": no such item; it takes red=1, green=5, blue=9\n");
    has("ignored \"5k\"");
    has("too long; it takes at most 31 characters");
    has("mode 5\n");
    has("fixed -3\n");
    setenv("FAKE_FAKE_LIMIT", "99999999999999999999", 1);
    look();
    has("fake_limit (environment): ignored \"99999999999999999999\"");
    setenv("FAKE_FAKE_LIMIT", "9999999999999t", 1);
    look();
    has("ignored \"9999999999999t\"");
}
END_TEST

START_TEST(files_that_are_none)
{
    char text[3000];

    snprintf(text, sizeof(text), "fake_ratio=1\nfake_text = %02000d\n\x1b[2J\a\nfake_limit = 5\n",
             0);
    write_file("named.conf", text);
    set_path("FAKE_PARAM_FILE", "named.conf");
    look();
    has("named.conf:2): ignored \"0000"); /* one line, and all that is said of it */
    has("named.conf:3: ignored \"?[2J?\": it is not \"variable = value\"\n");
    has("limit 5 from 3\n");
    has_not("named.conf:4");
    setenv("FAKE_PARAM_FILE", dir, 1);
    look();
    has(": Is a directory\n");
}
END_TEST

START_TEST(bytes_have_units)
{
    static const struct {
        const char *text;
        unsigned long long bytes; /* 0: it is none */
    } cases[] = {{"1k", 1024},    {"2K", 2048},     {"3kb", 3072}, {"4KB", 4096}, {"5KiB", 5120},
                 {"1m", 1 << 20}, {"1MB", 1 << 20}, {"07", 7},     {"0x1f", 31},  {"1x", 0},
                 {"1ki", 0},      {"1kbb", 0},      {"1kibb", 0},  {"k", 0},      {"1 k", 0},
                 {"1b", 0},       {"", 0},          {"1,", 0}};
    char line[64];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("FAKE_FAKE_LIMIT", cases[i].text, 1);
        look();
        snprintf(line, sizeof(line), "limit %llu from %d\n", cases[i].bytes ? cases[i].bytes : 4096,
                 cases[i].bytes ? FATHOM_FROM_ENVIRONMENT : FATHOM_FROM_DEFAULT);
        has(line);
        snprintf(line, sizeof(line), "ignored \"%s\": not a number", cases[i].text);
        (cases[i].bytes ? has_not : has)(line);
    }
    setenv("FAKE_FAKE_LIMIT", "1025K", 1);
    look();
    has("ignored \"1025K\": out of bounds");
    setenv("FAKE_FAKE_LIMIT", "1g", 1);
    look();
    has("ignored \"1g\": out of bounds");
    setenv("FAKE_FAKE_LIMIT", "1T", 1);
    look();
    has("ignored \"1T\": out of bounds");
}
END_TEST

START_TEST(reals_are_numbers)
{
    static const struct {
        const char *text, *seen;
    } cases[] = {{"2", "ratio 2\n"},
                 {"0", "ratio 0\n"},
                 {"1.25e0", "ratio 1.25\n"},
                 {"2.001", "ignored \"2.001\": out of bounds"},
                 {"-.001", "ignored \"-.001\": out of bounds"},
                 {"nan", "ignored \"nan\": not a number"},
                 {"much", "ignored \"much\": not a number"},
                 {"1x", "ignored \"1x\": not a number"},
                 {"", "ignored \"\": not a number"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("FAKE_FAKE_RATIO", cases[i].text, 1);
        look();
        has(cases[i].seen);
        (i < 3 ? has_not : has)("ratio 0.5\n");
    }
}
END_TEST

START_TEST(items_by_name_or_number)
{
    setenv("FAKE_FAKE_MODE", "Blue", 1);
    look();
    has("mode 9\n");
    setenv("FAKE_FAKE_MODE", "1", 1);
    look();
    has("mode 1\n");
    setenv("FAKE_FAKE_MODE", "2", 1);
    look();
    has("mode 5\n");
}
END_TEST

START_TEST(misspelt_names_are_reported)
{
    write_file("named.conf", "fake_modee=red\nother_think=1\n");
    set_path("FAKE_PARAM_FILE", "named.conf");
    setenv("FAKE_FAKE_LIMITT", "4", 1);
    setenv("FAKE_FAKE_BOUND_COMM", "4", 1); /* what only a tool can set */
    setenv("FAKE_FAKE_NEVR", "4", 1);       /* nearer than to fake_seen */
    setenv("FAKE_OTHER_THING", "4", 1);
    setenv("FAKE_OTHER_THIN", "4", 1);
    setenv("FAKE_FOO", "4", 1);
    setenv("FAKE_NOTHING_LIKE_IT", "4", 1);
    look();
    has("unknown variable FAKE_FAKE_BOUND_COMM\n");
    has("unknown variable FAKE_FAKE_NEVR; did you mean FAKE_FAKE_NEVER?\n");
    has("unknown variable FAKE_FAKE_LIMITT; did you mean FAKE_FAKE_LIMIT?\n");
    has("named.conf:1: unknown variable fake_modee; did you mean fake_mode?\n");
    has("unknown variable FAKE_NOTHING_LIKE_IT\n");
    has("unknown variable FAKE_FOO\n"); /* to change two letters of three is no typing error */
    has("unknown variable FAKE_OTHER_THIN; did you mean FAKE_OTHER_THING?\n");
    has("named.conf:2: unknown variable other_think\n"); /* what only the environment has */
    has_not("called FAKE_OTHER_THING");
    has_not("PARAM_FILE");
    set_path("FAKE_PARAM_FILE", "missing.conf");
    look();
    has("missing.conf: No such file or directory");
}
END_TEST

START_TEST(renamed_variables_are_reported)
{
    write_file("named.conf", "fake_tint=red\nFAKE_FAKE_TINT=blue\n");
    set_path("FAKE_PARAM_FILE", "named.conf");
    setenv("FAKE_FAKE_TINT", "red", 1);
    setenv("FAKE_MPIEXEC_SET", "Fake_Tint=1", 1);
    look();
    has("named.conf:1: ignored fake_tint: it was renamed to fake_mode\n");
    has("named.conf:2: ignored FAKE_FAKE_TINT: it was renamed to fake_mode\n");
    has("environment: ignored FAKE_FAKE_TINT: it was renamed to FAKE_FAKE_MODE\n");
    has("mpiexec: ignored Fake_Tint: it was renamed to fake_mode\n");
    has("mode 5\n"); /* the old name sets nothing */
    has_not("did you mean");
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite;
    TCase *tc;

    if (argc > 1 && strcmp(argv[1], "setuid") == 0) {
        return setuid_main();
    }
    suite = suite_create("mpit_param");
    tc = tcase_create("mpit_param");

    tcase_add_unchecked_fixture(tc, make_dir, remove_dir);
    tcase_add_checked_fixture(tc, clear, NULL);
    tcase_add_test(tc, setuid_programs_trust_no_environment);
    tcase_add_test(tc, sources_in_their_order);
    tcase_add_test(tc, malformed_values_are_passed_over);
    tcase_add_test(tc, files_that_are_none);
    tcase_add_test(tc, bytes_have_units);
    tcase_add_test(tc, reals_are_numbers);
    tcase_add_test(tc, items_by_name_or_number);
    tcase_add_test(tc, misspelt_names_are_reported);
    tcase_add_test(tc, renamed_variables_are_reported);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
