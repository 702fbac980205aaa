/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mpiexec. */
#include "launch/option_table.h"

#include <stdio.h>
#include <string.h>

#include "launch/option_strings.h"
#include "util/compiler.h"

#define HELP_COLUMN 36

static const struct fm_option options[] = {
    {"n", 1, FM_OPT_COUNT, "N", "number of ranks of the next program (default 1)"},
    {"np", 1, FM_OPT_COUNT, NULL},
    {"c", 1, FM_OPT_COUNT, NULL},
    {"ppn", 1, FM_OPT_PER_NODE, "N", "number of ranks where -n is not given"},
    {"N", 1, FM_OPT_PER_NODE, NULL},
    {"npernode", 1, FM_OPT_PER_NODE, NULL},
    {"hosts", 1, FM_OPT_HOSTS, "A:N,B", "hosts to run on; only the local host is supported"},
    {"host", 1, FM_OPT_HOSTS, NULL},
    {"H", 1, FM_OPT_HOSTS, NULL},
    {"hostfile", 1, FM_OPT_HOSTFILE, "FILE",
     "read the hosts from FILE, one per line: name:N or name slots=N"},
    {"machinefile", 1, FM_OPT_HOSTFILE, NULL},
    {"f", 1, FM_OPT_HOSTFILE, NULL},
    {"env", 2, FM_OPT_ENV, "NAME VALUE", "set an environment variable of the next program"},
    {"x", 1, FM_OPT_EXPORT, "NAME[=VALUE]",
     "pass or set an environment variable of the next program"},
    {"envlist", 1, FM_OPT_ENVLIST, "A,B",
     "pass only these environment variables to the next program"},
    {"envnone", 0, FM_OPT_ENVNONE, "", "pass no environment variables to the next program"},
    {"envall", 0, FM_OPT_ENVALL, "",
     "pass all environment variables to the next program (default)"},
    {"genv", 2, FM_OPT_GENV, "NAME VALUE", "set an environment variable of all programs"},
    {"genvlist", 1, FM_OPT_GENVLIST, "A,B",
     "pass only these environment variables to all programs"},
    {"genvnone", 0, FM_OPT_GENVNONE, "", "pass no environment variables to any program"},
    {"genvall", 0, FM_OPT_GENVALL, "", "pass all environment variables to all programs (default)"},
    {"wdir", 1, FM_OPT_WDIR, "DIR", "working directory of the next program"},
    {"wd", 1, FM_OPT_WDIR, NULL},
    {"configfile", 1, FM_OPT_CONFIGFILE, "FILE",
     "read programs and their options from FILE, one program per line"},
    {"app", 1, FM_OPT_CONFIGFILE, NULL},
    {"l", 0, FM_OPT_LABEL, "", "prefix each line of output with \"[rank] \""},
    {"prepend-rank", 0, FM_OPT_LABEL, NULL},
    {"tag-output", 0, FM_OPT_TAG, "",
     "prefix each line with \"[rank]<stdout>: \" or \"[rank]<stderr>: \""},
    {"timestamp-output", 0, FM_OPT_TIMESTAMP, "", "prefix each line with the time of day"},
    {"prepend-pattern", 1, FM_OPT_PATTERN, "TEXT",
     "prefix each line with TEXT; %r rank, %h host, %p process id"},
    {"outfile-pattern", 1, FM_OPT_OUTFILE, "FILE",
     "write standard output to FILE; %r, %h, %p as above"},
    {"errfile-pattern", 1, FM_OPT_ERRFILE, "FILE",
     "write standard error to FILE; %r, %h, %p as above"},
    {"merge-stderr-to-stdout", 0, FM_OPT_MERGE, "", "redirect standard error to standard output"},
    {"stdin", 1, FM_OPT_STDIN, "RANK|none",
     "rank that reads the standard input of mpiexec (default 0)"},
    {"timeout", 1, FM_OPT_TIMEOUT, "SECONDS",
     "terminate the job after this time, print the state of each rank"},
    {"grace", 1, FM_OPT_GRACE, "SECONDS",
     "time between SIGTERM and SIGKILL: when a rank has failed (default 0.25), after a "
     "SIGTERM to mpiexec (default 10)"},
    {"set", 1, FM_OPT_SET, "NAME=VALUE", "set a control variable (see fathom list)"},
    {"mpit", 1, FM_OPT_SET, NULL},
    {"check", 0, FM_OPT_CHECK, "",
     "compare the calls of collectives across ranks, as --set coll_check=yes does"},
    {"bind-to", 1, FM_OPT_BIND, "none|hwthread|core|socket|numa",
     "bind each rank to processors (default none)"},
    {"bind", 1, FM_OPT_BIND, NULL},
    {"report-bindings", 0, FM_OPT_REPORT_BINDINGS, "", "print the processors of each rank"},
    {"print-all-exitcodes", 0, FM_OPT_PRINT_EXITS, "",
     "print the exit status or signal of each rank"},
    {"help", 0, FM_OPT_HELP, "", "print this text"},
    {"h", 0, FM_OPT_HELP, NULL},
    {"version", 0, FM_OPT_VERSION, "", "print the version"},
    {"V", 0, FM_OPT_VERSION, NULL},
    {"info", 0, FM_OPT_VERSION, NULL},
    {"oversubscribe", 0, FM_OPT_IGNORED, NULL},
    {"map-by", 1, FM_OPT_IGNORED, NULL},
    {"rank-by", 1, FM_OPT_IGNORED, NULL},
    {"membind", 1, FM_OPT_IGNORED, NULL},
    {"cpu-set", 1, FM_OPT_IGNORED, NULL},
    {"cpu-list", 1, FM_OPT_IGNORED, NULL},
    {"nooversubscribe", 0, FM_OPT_IGNORED, NULL},
    {"allow-run-as-root", 0, FM_OPT_IGNORED, NULL},
    {"use-hwthread-cpus", 0, FM_OPT_IGNORED, NULL},
    {"mca", 2, FM_OPT_IGNORED, NULL},
    {"gmca", 2, FM_OPT_IGNORED, NULL},
    {"pmixmca", 2, FM_OPT_IGNORED, NULL},
    {"prtemca", 2, FM_OPT_IGNORED, NULL},
    {"launcher", 1, FM_OPT_IGNORED, NULL},
    {"rmk", 1, FM_OPT_IGNORED, NULL},
    {"iface", 1, FM_OPT_IGNORED, NULL},
    {"launch-agent", 1, FM_OPT_IGNORED, NULL},
    {"display-map", 0, FM_OPT_IGNORED, NULL},
    {"display-allocation", 0, FM_OPT_IGNORED, NULL},
    {"get-stack-traces", 0, FM_OPT_IGNORED, NULL},
    {"report-state-on-timeout", 0, FM_OPT_IGNORED, NULL},
    {"disable-auto-cleanup", 0, FM_OPT_IGNORED, NULL},
    {"quiet", 0, FM_OPT_IGNORED, NULL},
    {"q", 0, FM_OPT_IGNORED, NULL},
};

const char *fm_option_dashes(const char *name)
{
    return strlen(name) > 1 ? "--" : "-";
}

const struct fm_option *fm_option_find(const char *word, const char **out_value)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t len = strcspn(name, "=");

    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0) {
            *out_value = name[len] == '=' ? name + len + 1 : NULL;
            return &options[i];
        }
    }
    return NULL;
}

const char *fm_option_nearest(const char *word)
{
    const char *name = word + strspn(word, "-");
    const char *best = NULL;
    int best_distance = 3;

    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        int d = fm_strings_distance(name, options[i].name);

        if (d < best_distance && 2 * d <= (int)strlen(name)) {
            best = options[i].name;
            best_distance = d;
        }
    }
    return best;
}

/* All spellings of the option whose first row is `i`, and its value. */
static void print_spellings(size_t i, char *out_text, size_t len)
{
    size_t at = 0;

    for (size_t k = i; k == i || (k < FM_ARRAY_LEN(options) && !options[k].help &&
                                  options[k].id == options[i].id);
         k++) {
        at += (size_t)snprintf(out_text + at, len - at, "%s%s%s", k > i ? ", " : "",
                               fm_option_dashes(options[k].name), options[k].name);
    }
    snprintf(out_text + at, len - at, " %s", options[i].value);
}

void fm_option_print_help(void)
{
    char left[160];

    printf("usage: mpiexec [options] PROGRAM [arguments] [: [options] PROGRAM ...]\n"
           "Run MPI programs in parallel on this host.\n\n");
    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        if (options[i].help) {
            print_spellings(i, left, sizeof(left));
            printf("  %-*s", HELP_COLUMN - 2, left);
            if (strlen(left) >= HELP_COLUMN - 2) {
                printf("\n%*s", HELP_COLUMN, "");
            }
            printf("%s\n", options[i].help);
        }
    }
    printf("\nAccepted for compatibility, without effect:");
    for (size_t i = 0; i < FM_ARRAY_LEN(options); i++) {
        if (options[i].id == FM_OPT_IGNORED) {
            printf(" %s%s", fm_option_dashes(options[i].name), options[i].name);
        }
    }
    printf(
        "\n\nExit status: 0, or that of the first rank that failed (128 + N if signal N killed "
        "it); "
        "1 if output\nof the ranks was lost, 2 for wrong options, 124 after --timeout, 126 or 127 "
        "if a program cannot be\nexecuted or found. MPIEXEC_TIMEOUT in the environment sets "
        "--timeout.\n");
}
