/* holter sql: runs SQL statements on a recording. */
#include "agent/cli/cmd.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/terminal.h"
#include "daemon/export/query.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const char help[] =
    "usage: holter sql [OPTION]... FILE.hrec [SQL]\n"
    "\n"
    "Runs SQL statements on a recording, which is only read. Without SQL, or with -, they are\n"
    "read from standard input. Tables are those of hrec(5), and for each window\n"
    "\n"
    "  window_pair      messages and bytes by source and destination\n"
    "  window_rank      what each rank did\n"
    "  window_call      calls, bytes and time by rank and MPI call\n"
    "  window_link      messages and bytes on each link of the network\n"
    "  window_latency   transfer times of the job, of localities and regions\n"
    "\n"
    "with the columns window, begin_ns, end_ns, time and second. moment('10:05'), moment('+90s')\n"
    "and moment('40%') are points in time to compare begin_ns with; moment_text(begin_ns) is a\n"
    "point in time as text.\n"
    "\n"
    "  -f, --format text|csv|json   default: text\n"
    "      --no-header              text, csv: omit the names of the columns\n"
    "  -h, --help                   this text\n"
    "\n"
    "  holter sql sim.hrec \"SELECT source, destination, sum(bytes) FROM window_pair\n"
    "      WHERE begin_ns >= moment('10:00') AND begin_ns < moment('10:05')\n"
    "      GROUP BY source, destination ORDER BY sum(bytes) DESC LIMIT 10\"\n"
    "\n"
    "Status: 0, 1 when a statement is invalid, fails or is interrupted, 2 for wrong usage.\n";

static const char *const formats[] = {"text", "csv", "json", NULL};

#define MAX_SQL ((size_t)16 << 20) /* bytes read from standard input */

struct asking {
    const char *path, *sql; /* NULL: standard input */
    int format;             /* enum row_format */
    int no_header;
    int signals; /* signalfd of Ctrl-C; -1: none */
};

/* @return -1 to go on, or the exit status */
static int cmd_sql_parse(struct asking *a, int argc, char **argv)
{
    const struct command_option options[] = {
        {"format", 'f', .word = &a->format, .words = formats},
        {"no-header", .flag = &a->no_header},
        {0},
    };
    const struct command_line line = {"sql", help, options, .user = a};
    int status = command_line_read(&line, argc, argv);
    if (status >= 0)
        return status;
    if (optind == argc || optind + 2 < argc) {
        terminal_print("sql: expected a recording, and statements as one argument; see `holter sql "
                       "--help`");
        return 2;
    }
    a->path = argv[optind];
    if (optind + 1 < argc && strcmp(argv[optind + 1], "-") != 0)
        a->sql = argv[optind + 1];
    return -1;
}

/* @return owned by the caller; NULL after printing an error */
static char *cmd_sql_read_input(void)
{
    char *text = malloc(MAX_SQL + 1);
    size_t length = text == NULL ? 0 : fread(text, 1, MAX_SQL + 1, stdin);
    const char *why = text == NULL              ? strerror(ENOMEM)
                      : ferror(stdin)           ? strerror(errno)
                      : length > MAX_SQL        ? "more than 16 MiB"
                      : memchr(text, 0, length) ? "not a text"
                                                : NULL;
    if (why != NULL) {
        terminal_print("sql: standard input: %s", why);
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

static int cmd_sql_is_interrupted(void *user)
{
    const struct asking *a = user;
    struct signalfd_siginfo signal;
    return a->signals >= 0 && read(a->signals, &signal, sizeof signal) == (ssize_t)sizeof signal;
}

static int cmd_sql_run(struct asking *a, const char *sql)
{
    const struct query_output output = {stdout, (enum row_format)a->format, a->no_header};
    struct query *query;
    char why[600];
    if (query_open(&query, a->path, why, sizeof why) != 0) {
        terminal_print("sql: %s: %s", a->path, why);
        return 1;
    }
    a->signals = end_signals_open(1);
    query_set_interrupt(query, cmd_sql_is_interrupted, a);
    int code = query_run(query, sql, &output, why, sizeof why);
    if (a->signals >= 0)
        close(a->signals);
    query_close(query);
    int flushed = terminal_flush_output("sql");
    if (code != 0 && code != -EIO)
        terminal_print("sql: %s", why);
    return code != 0 ? 1 : flushed;
}

int cmd_sql(int argc, char **argv)
{
    struct asking a = {.signals = -1};
    int status = cmd_sql_parse(&a, argc, argv);
    if (status >= 0)
        return status;
    char *input = a.sql == NULL ? cmd_sql_read_input() : NULL;
    if (a.sql == NULL && input == NULL)
        return 1;
    status = cmd_sql_run(&a, a.sql != NULL ? a.sql : input);
    free(input);
    return status;
}
