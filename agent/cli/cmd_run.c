/* holter run: watches a command: starts a daemon, launches the job, records it. */
#include "agent/cli/cmd.h"
#include "agent/cli/network_input.h"
#include "agent/launch/run.h"
#include "agent/launch/session_options.h"
#include "agent/terminal/command_line.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "daemon/topology/network_grid.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/endpoint.h"
#include "proto/quantity.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: holter run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "Runs COMMAND, a launcher (mpirun, mpiexec, srun), a job script or an MPI program, and\n"
    "watches every MPI job in it. Input, output, signals and exit status are COMMAND's own.\n"
    "Whatever goes wrong with watching, COMMAND is run all the same.\n"
    "\n"
    "  holter run -- mpirun -n 8 ./sim input\n"
    "\n"
    "  -o, --output FILE   record into FILE; %j in it is the job id, %h the host name\n"
    "      --record DIR    record into DIR/holter-<job id>.hrec (else here); it is made\n"
    "      --max-size SIZE of the recording: it goes on in parts, of which the oldest are removed\n"
    "      --no-record     do not record\n"
    "      --window TIME   length of a window, 100ms to 60s (1s)\n"
    "      --topology NET  the network under the job: a file, see holter-topology(5), or a short\n"
    "                      form such as torus:8,8,8, or cart, the program's grid of processes\n"
    "                      (HOLTER_TOPOLOGY, else hosts below one switch)\n"
    "      --view          open the window, too\n"
    "      --listen ENDP   where the daemon listens for other hosts, tcp://HOST:PORT (found by\n"
    "                      itself when COMMAND uses other hosts)\n"
    "      --daemon ENDP   report to a daemon that is there already (HOLTER_DAEMON)\n"
    "      --keys DIR      directory of CURVE keys (HOLTER_KEYS; made when needed)\n"
    "      --rules FILE    alert rules, see holter-rules(5) (HOLTER_RULES, else built-in ones)\n"
    "      --alert-log FILE  append alerts to FILE, one JSON object a line\n"
    "      --on-alert CMD  run CMD in a shell for each alert and its end, JSON on standard input\n"
    "      --syslog        send alerts to syslog\n"
    "      --alertmanager URL  send alerts to Prometheus' Alertmanager, http://HOST:9093\n"
    "      --cluster NAME  of the cluster, for alerts and metrics (HOLTER_CLUSTER, else Slurm's)\n"
    "      --external-url URL  of a page about the job, for alerts; %j in it is the job id\n"
    "      --metrics ADDRESS  HOST:PORT where Prometheus reads metrics of the job\n"
    "      --strict        refuse to run COMMAND unwatched, or when an option is wrong\n"
    "      --dry-run       print what would be run, and do nothing\n"
    "  -v, --verbose       print what is found and done\n"
    "  -h, --help          this text\n";

/** Options that a daemon which is there already has its own of, whether --daemon names it or the
 *  environment: they are left out. @return 0, or the exit status */
static int cmd_run_leave_out_daemons(struct run_options *o, const int *const strict[2])
{
    char why[200];
    const char *daemon = session_options_or_environment(o->daemon, "HOLTER_DAEMON");
    const char *name = o->daemon != NULL ? "--daemon" : "HOLTER_DAEMON";
    const struct {
        const char *name, **value;
    } options[] = {
        {"--output", &o->output},     {"--record", &o->record},
        {"--max-size", &o->max_size}, {"--window", &o->window},
        {"--listen", &o->listen},     {"--topology", &o->topology},
        {"--rules", &o->rules},       {"--alert-log", &o->alert_log},
        {"--on-alert", &o->on_alert}, {"--alertmanager", &o->alertmanager},
        {"--cluster", &o->cluster},   {"--external-url", &o->external_url},
        {"--metrics", &o->metrics},
    };
    if (daemon == NULL || endpoint_list_check(daemon, why, sizeof why) != 0)
        return 0; /* none is there, or it is reported and not used */
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (*options[i].value == NULL)
            continue;
        snprintf(why, sizeof why, "%s: %s names a daemon that has its own", options[i].name, name);
        if (command_line_leave_out("run", strict, why) != 0)
            return 2;
        *options[i].value = NULL;
    }
    if (!o->no_record && !o->syslog)
        return 0;
    o->no_record = o->syslog = 0;
    snprintf(why, sizeof why, "--no-record or --syslog: %s names a daemon that has its own", name);
    return command_line_leave_out("run", strict, why);
}

/** Options that exclude each other: the second one is left out. @return 0, or the exit status */
static int cmd_run_leave_out_contradictions(struct run_options *o, const int *const strict[2])
{
    static const char no_file[] = "a recording is written into a file, not to standard output, "
                                  "a device or a directory";
    struct stat there;
    const int is_file =
        o->output == NULL ||
        (o->output[0] != '\0' && strcmp(o->output, "-") != 0 &&
         (stat(o->output, &there) != 0 ||
          !(S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode) || S_ISDIR(there.st_mode))));
    const int output = o->output != NULL && is_file && !o->no_record;
    const struct {
        int wrong;
        const char *name, **value, *why;
    } options[] = {
        {!is_file, "--output", &o->output, no_file},
        {o->no_record, "--output", &o->output, "--no-record excludes it"},
        {o->no_record, "--record", &o->record, "--no-record excludes it"},
        {output, "--record", &o->record, "--output excludes it"},
        {output, "--max-size", &o->max_size, "it is of a recording in parts: use --record"},
        {o->no_record, "--max-size", &o->max_size, "--no-record excludes it"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].wrong || *options[i].value == NULL)
            continue;
        char why[200];
        snprintf(why, sizeof why, "%s: %s", options[i].name, options[i].why);
        if (command_line_leave_out("run", strict, why) != 0)
            return 2;
        *options[i].value = NULL;
    }
    return 0;
}

#define RUN_VALUE_IS_PROGRAM 257 /* not an exit status */

/** What reading the command line needs besides the options. */
struct cmd_run_reading {
    struct run_options *options;
    char **words; /* of the command line */
};

/** A duration was forgotten where a program follows: the program is to run, whatever it is called.
 *  Other values are checked later. */
static int cmd_run_set_window(void *user, const struct command_option *option, const char *value)
{
    struct cmd_run_reading *r = user;
    char program[PATH_MAX];
    uint64_t ns;
    (void)option;
    r->options->window = value;
    if (quantity_parse_duration(value, &ns) == 0 ||
        paths_search(program, sizeof program, value, getenv("PATH")) != 0)
        return 0;
    for (char **word = r->words; *word != NULL; word++) {
        if (*word != value)
            continue; /* or it is a part of the word "--window=VALUE" */
        r->options->argv = word;
        return RUN_VALUE_IS_PROGRAM;
    }
    return 0;
}

/** @return -1 to go on, or the exit status 2 */
static int cmd_run_leave_out_window(struct run_options *o, const int *const strict[2])
{
    char why[PATH_MAX + 64];
    snprintf(why, sizeof why, "--window needs a duration, as 1s: '%s' is the program to run",
             o->window);
    o->window = NULL;
    return command_line_leave_out("run", strict, why) == 0 ? -1 : 2;
}

/** @return -1 to go on, or the exit status */
static int cmd_run_read_options(int argc, char **argv, struct run_options *o)
{
    const struct command_option options[] = {
        {"output", 'o', .text = &o->output},
        {"record", .text = &o->record},
        {"no-record", .flag = &o->no_record},
        {"max-size", .text = &o->max_size},
        {"window", .set = cmd_run_set_window},
        {"topology", .text = &o->topology},
        {"view", .flag = &o->view},
        {"listen", .text = &o->listen},
        {"daemon", .text = &o->daemon},
        {"keys", .text = &o->keys},
        {"rules", .text = &o->rules},
        {"alert-log", .text = &o->alert_log},
        {"on-alert", .text = &o->on_alert},
        {"syslog", .flag = &o->syslog},
        {"alertmanager", .text = &o->alertmanager},
        {"cluster", .text = &o->cluster},
        {"external-url", .text = &o->external_url},
        {"metrics", .text = &o->metrics},
        {"strict", .flag = &o->strict},
        {"dry-run", .flag = &o->dry_run},
        {"verbose", 'v', .flag = &o->verbose},
        {0},
    };
    struct cmd_run_reading reading = {o, argv};
    const struct command_line line = {"run",
                                      usage,
                                      options,
                                      .stops = true,
                                      .user = &reading,
                                      .strict = {&o->strict, &o->dry_run}};
    int status = command_line_read(&line, argc, argv);
    if (status == RUN_VALUE_IS_PROGRAM)
        status = cmd_run_leave_out_window(o, line.strict);
    else if (status < 0)
        o->argv = argv + optind;
    if (status >= 0)
        return status;
    status = cmd_run_leave_out_daemons(o, line.strict);
    if (status == 0)
        status = cmd_run_leave_out_contradictions(o, line.strict);
    if (status > 0)
        return status;
    if (o->argv[0] == NULL) {
        terminal_print("run: no command is given; see `holter run --help`");
        return 2;
    }
    while (o->argv[o->argc] != NULL)
        o->argc++;
    return -1;
}

/** Start holter-view as a process of its own, which continues after the job has ended. */
static void open_view(const struct run_session *s)
{
    char viewer[PATH_MAX];
    int rc = paths_program(viewer, sizeof viewer, "holter-view");
    if (rc < 0) {
        terminal_print("holter-view is not installed beside holter: %s", holter_strerror(rc));
        return;
    }
    pid_t pid = quiet_child_fork(QUIET_INPUT | QUIET_OUTPUT);
    if (pid != 0) {
        if (pid < 0)
            terminal_print("cannot start holter-view: %s", strerror(errno));
        return;
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    if (s->keys[0] == '\0')
        execl(viewer, viewer, "--connect", s->local, (char *)NULL);
    else
        execl(viewer, viewer, "--connect", s->local, "--keys", s->keys, (char *)NULL);
    _exit(127);
}

static void cmd_run_announce(const struct run_session *s, const struct run_options *o,
                             const struct run_target *t)
{
    const char *where = !s->daemon_wanted      ? s->local
                        : s->record[0] == '\0' ? ""
                        : o->output != NULL    ? o->output
                                               : s->record;
    terminal_print("watching%s%s, session %s%s%s; see it with: holter view",
                   t->launcher == LAUNCHER_NONE ? "" : " ",
                   t->launcher == LAUNCHER_NONE ? "" : launcher_name(t->launcher), s->key,
                   !s->daemon_wanted      ? ", reporting to "
                   : s->record[0] == '\0' ? ", not recorded"
                                          : ", recording into ",
                   where);
}

/* Check the network here, because errors of the daemon go to a log that is removed with the
 * session. @return how much is wrong */
static int check_network(const struct run_options *o)
{
    struct topology_file file = {.topology = NULL};
    const char *given = o->topology != NULL ? o->topology : getenv("HOLTER_TOPOLOGY");
    if (given == NULL || given[0] == '\0' || (o->verbose && !o->dry_run) ||
        strcmp(given, NETWORK_GRID) == 0) /* it is known only after the job has started */
        return 0;
    int wrong = topology_file_given(&file, given, network_input_report, "run") != 0;
    if (wrong)
        terminal_print("continuing without the network of %s", given);
    topology_file_finish(&file);
    return wrong;
}

static int run_unwatched(const struct run_options *o, const struct run_target *t,
                         const sigset_t *before)
{
    struct run_command command;
    terminal_print("%s runs unwatched", o->argv[0]);
    if (run_command_make(&command, NULL, o, t) < 0)
        return 126;
    int status = run_child_run_and_wait(&command, NULL, before);
    run_command_finish(&command);
    return status;
}

/** Ask the daemon how the jobs went; again if it crashed meanwhile and was started again.
 *  @return 0, or -1 after having said what is wrong */
static int cmd_run_collect(struct run_report *report, struct run_session *s, uint64_t elapsed)
{
    int rc = -1;
    if (s->daemon_wanted && s->daemon <= 0)
        return -1; /* has been said */
    if (endpoint_list_count(s->local) > 1) {
        terminal_print("a fleet has the jobs: see how they went with holter status -c "
                       "nats://SERVERS");
        return -1;
    }
    do {
        run_report_finish(report);
        rc = run_report_collect(report, s, elapsed);
    } while (rc < 0 && run_daemon_revive(s));
    if (rc == -ENOENT && s->keys[0] != '\0')
        terminal_print("how the jobs went is not known: %s has no key of a viewer", s->keys);
    else if (rc < 0)
        terminal_print("the daemon does not answer how the jobs went: %s", holter_strerror(rc));
    return rc < 0 ? -1 : 0;
}

static int run_watched(struct run_session *s, const struct run_options *o,
                       const struct run_target *t, const struct run_command *command,
                       const sigset_t *before)
{
    struct run_report report = {0};
    cmd_run_announce(s, o, t);
    if (o->view)
        open_view(s);
    uint64_t start = clock_mono_ns();
    int status = run_child_run_and_wait(command, s, before);
    uint64_t elapsed = clock_mono_ns() - start;
    int collected = cmd_run_collect(&report, s, elapsed);
    run_session_close(s);
    if (collected == 0) {
        if (o->output != NULL)
            run_report_rename(&report, o->output);
        run_report_print(&report);
        run_report_print_earlier(&report, s);
    }
    run_report_print_crashes(&report, s, collected == 0);
    run_report_finish(&report);
    return status;
}

/** What is planned without an option of the user's. @return how much is wrong */
static int cmd_run_check_plan(const struct run_session *s, const struct run_options *o)
{
    return s->daemon_wanted ? check_network(o) + (s->record[0] == '\0' && !o->no_record) : 0;
}

/** Run the command, watched if that is possible. @return its exit status */
static int cmd_run_start(struct run_session *session, const struct run_options *o,
                         const struct run_target *target, const struct run_command *command)
{
    sigset_t before;
    run_child_hold_signals(&before);
    if (command != NULL && run_session_open(session, o) == 0) {
        if (!run_child_end_requested())
            return run_watched(session, o, target, command, &before);
        run_session_close(session);
        sigprocmask(SIG_SETMASK, &before, NULL); /* a pending signal ends this process */
        return 1;
    }
    return o->strict ? 2 : run_unwatched(o, target, &before);
}

/** A command of a batch system that hands a job in and ends: the job would run with the environment
 *  of a session that is over. @return 1 after saying so */
static int cmd_run_only_submits(const struct run_options *o, const struct run_session *s)
{
    static const char *const names[] = {"sbatch", "qsub", "bsub", "pjsub", "oarsub"};
    const char *name = text_base_name(o->argv[0]);
    int submits = 0, waits = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        submits |= strcmp(name, names[i]) == 0;
    for (int i = 1; i < o->argc && strcmp(name, "sbatch") == 0; i++)
        waits |= strcmp(o->argv[i], "--wait") == 0 || strcmp(o->argv[i], "-W") == 0;
    if (!submits || waits || !s->daemon_wanted || o->listen != NULL)
        return 0;
    terminal_print("%s only submits a job: use `holter run` in its script", name);
    return 1;
}

int cmd_run(int argc, char **argv)
{
    struct run_options o = {0};
    struct run_target target;
    struct run_session session;
    struct run_command command;
    int status = cmd_run_read_options(argc, argv, &o);
    if (status >= 0)
        return status;
    if (run_options_check(&o) > 0 && (o.strict || o.dry_run))
        return 2;
    status = run_target_find(&target, &o);
    if (status != 0)
        return status;
    int planned = run_session_plan(&session, &o, &target) == 0 &&
                  !cmd_run_only_submits(&o, &session) &&
                  run_command_make(&command, &session, &o, &target) == 0;
    int wrong = planned ? cmd_run_check_plan(&session, &o) : 1;
    if (wrong > 0 && (o.strict || o.dry_run)) {
        status = 2;
    } else if (o.dry_run) {
        run_command_print(&session, &o, &command);
    } else {
        status = cmd_run_start(&session, &o, &target, planned ? &command : NULL);
    }
    if (planned)
        run_command_finish(&command);
    return status;
}
