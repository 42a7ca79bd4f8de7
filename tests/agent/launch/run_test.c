#include "agent/launch/run.h"

#include "agent/launch/launch_hosts.h"
#include "holter/error.h"
#include "proto/host.h"
#include "tests/directory.h"
#include "tests/stderr_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the command --------------------------------------------------------- */

#define MAX_WORDS 32

struct bed {
    struct run_session session;
    struct run_options options;
    struct run_target target;
    char line[512];
    char *words[MAX_WORDS];
    struct run_command command;
};

static void lay(struct bed *bed, enum launcher launcher, const char *line)
{
    *bed = (struct bed){.target = {.program = "/usr/bin/x", .launcher = launcher}};
    strcpy(bed->session.key, "abc123");
    strcpy(bed->session.job, "77");
    strcpy(bed->session.dir, "/run/h/abc123");
    strcpy(bed->session.local, "ipc:///run/h/abc123/holterd.sock");
    bed->session.daemon_wanted = 1;
    snprintf(bed->line, sizeof bed->line, "%s", line);
    for (char *rest = bed->line, *word; (word = strsep(&rest, " ")) != NULL;)
        bed->words[bed->options.argc++] = word;
    bed->options.argv = bed->words;
    if (launcher != LAUNCHER_NONE)
        assert_int_equal(
            launcher_parse(&bed->target.line, launcher, bed->options.argc, bed->options.argv), 0);
    assert_int_equal(run_command_make(&bed->command, &bed->session, &bed->options, &bed->target),
                     0);
}

static const char *variable(const struct bed *bed, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; bed->command.environment[i] != NULL; i++)
        if (strncmp(bed->command.environment[i], name, length) == 0 &&
            bed->command.environment[i][length] == '=')
            return bed->command.environment[i] + length + 1;
    return NULL;
}

static int count_words(char **words)
{
    int n = 0;
    while (words[n] != NULL)
        n++;
    return n;
}

static void the_line_of_openmpi_is_not_changed(void **state)
{
    (void)state;
    struct bed bed;
    lay(&bed, LAUNCHER_OPENMPI, "mpirun -np 2 ./sim x");
    assert_int_equal(count_words(bed.command.words), 5);
    assert_string_equal(bed.command.words[3], "./sim");
    const char *agent = variable(&bed, "OMPI_MCA_orte_fork_agent");
    assert_non_null(agent);
    assert_non_null(
        strstr(agent, "exec --session abc123 --daemon ipc:///run/h/abc123/holterd.sock"));
    assert_string_equal(variable(&bed, "HOLTER_SESSION"), "abc123");
    run_command_finish(&bed.command);
}

static void every_application_of_hydra_is_wrapped(void **state)
{
    (void)state;
    struct bed bed;
    lay(&bed, LAUNCHER_HYDRA, "mpiexec -n 1 ./a : -n 2 ./b");
    int wrapped = 0;
    for (int i = 1; bed.command.words[i] != NULL; i++)
        if (strcmp(bed.command.words[i], "exec") == 0) {
            wrapped++;
            assert_string_equal(bed.command.words[i + 1], "--session");
        }
    assert_int_equal(wrapped, 2);
    assert_string_equal(bed.command.words[count_words(bed.command.words) - 1], "./b");
    run_command_finish(&bed.command);
}

static void a_program_of_mpi_becomes_a_rank_itself(void **state)
{
    (void)state;
    struct bed bed;
    memset(&bed, 0, sizeof bed);
    lay(&bed, LAUNCHER_NONE, "./sim x");
    run_command_finish(&bed.command);
    bed.target.is_rank = 1;
    assert_int_equal(run_command_make(&bed.command, &bed.session, &bed.options, &bed.target), 0);
    assert_string_equal(bed.command.words[1], "exec");
    assert_string_equal(bed.command.program, bed.command.words[0]);
    assert_string_equal(bed.command.words[count_words(bed.command.words) - 1], "x");
    run_command_finish(&bed.command);
}

static void a_script_finds_our_launchers_first(void **state)
{
    (void)state;
    struct bed bed;
    lay(&bed, LAUNCHER_NONE, "./job.sh");
    const char *path = variable(&bed, "PATH");
    assert_non_null(path);
    assert_int_equal(strncmp(path, "/run/h/abc123/bin:", 18), 0);
    assert_int_equal(count_words(bed.command.words), 1);
    run_command_finish(&bed.command);
}

static void a_launcher_that_is_not_there_is_not_shown_to_scripts(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], found[256];
    struct run_session session = {0};
    char *path = strdup(getenv("PATH") == NULL ? "/bin:/usr/bin" : getenv("PATH"));
    assert_non_null(path);
    assert_int_equal(directory_make(directory), 0);
    snprintf(found, sizeof found, "%s/mpiexec", directory);
    assert_int_equal(symlink("/bin/true", found), 0);
    snprintf(session.dir, sizeof session.dir, "%s", directory);
    setenv("PATH", directory, 1);
    assert_int_equal(run_shim_create_links(&session), 0);
    setenv("PATH", path, 1);
    free(path);
    snprintf(found, sizeof found, "%s/bin/mpiexec", directory);
    assert_int_equal(access(found, X_OK), 0);
    snprintf(found, sizeof found, "%s/bin/srun", directory);
    assert_int_equal(access(found, X_OK), -1);
    assert_int_equal(directory_remove(directory), 0);
}

static void words_that_openmpi_would_split_go_on_the_line(void **state)
{
    (void)state;
    struct bed bed;
    lay(&bed, LAUNCHER_OPENMPI, "mpirun -np 2 ./sim");
    run_command_finish(&bed.command);
    strcpy(bed.session.keys, "/home/a user/keys");
    assert_int_equal(run_command_make(&bed.command, &bed.session, &bed.options, &bed.target), 0);
    assert_null(variable(&bed, "OMPI_MCA_orte_fork_agent"));
    assert_string_equal(bed.command.words[4], "exec");
    assert_string_equal(bed.command.words[count_words(bed.command.words) - 1], "./sim");
    run_command_finish(&bed.command);
}

static void an_agent_of_the_users_own_is_kept(void **state)
{
    (void)state;
    struct bed bed;
    setenv("OMPI_MCA_orte_fork_agent", "numactl -l", 1);
    lay(&bed, LAUNCHER_OPENMPI, "mpirun -np 2 ./sim");
    unsetenv("OMPI_MCA_orte_fork_agent");
    const char *agent = variable(&bed, "OMPI_MCA_orte_fork_agent");
    assert_non_null(agent);
    assert_string_equal(agent + strlen(agent) - strlen(" numactl -l"), " numactl -l");
    run_command_finish(&bed.command);
}

/* ---- running it ---------------------------------------------------------- */

static int run_shell(const char *script)
{
    static char sh[] = "sh", c[] = "-c", path[] = "/bin/sh";
    char text[512];
    char *words[] = {sh, c, text, NULL};
    struct run_command command = {.words = words, .program = path};
    sigset_t before;
    snprintf(text, sizeof text, "%s", script);
    run_child_hold_signals(&before);
    int status = run_child_run_and_wait(&command, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

static void the_status_is_the_commands(void **state)
{
    (void)state;
    assert_int_equal(run_shell("exit 0"), 0);
    assert_int_equal(run_shell("exit 3"), 3);
    assert_int_equal(run_shell("exit 255"), 255);
    assert_int_equal(run_shell("kill -TERM $$"), 128 + SIGTERM);
    assert_int_equal(run_shell("kill -KILL $$"), 128 + SIGKILL);
}

static void signals_are_passed_on(void **state)
{
    (void)state;
    static const char *const names[] = {"INT", "TERM", "HUP", "USR1", "USR2"};
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char script[256];
        signal(numbers[i], SIG_DFL); /* nohup and shells in the background ignore some */
        snprintf(script, sizeof script, "trap 'exit 7' %s; kill -%s $PPID; while :; do :; done",
                 names[i], names[i]);
        assert_int_equal(run_shell(script), 7);
    }
}

static void signals_that_are_ignored_request_no_end(void **state)
{
    (void)state;
    sigset_t before;
    signal(SIGHUP, SIG_DFL);
    run_child_hold_signals(&before);
    raise(SIGHUP);
    assert_int_equal(run_child_end_requested(), 1);
    signal(SIGHUP, SIG_IGN); /* as nohup does; what is pending is gone */
    raise(SIGHUP);
    assert_int_equal(run_child_end_requested(), 0);
    signal(SIGHUP, SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGHUP, SIG_DFL);
}

static void the_command_has_the_signal_mask_that_we_had(void **state)
{
    (void)state;
    assert_int_equal(run_shell("grep -q '^SigBlk:.0000000000000000' /proc/self/status"), 0);
}

static void a_command_that_cannot_be_run_gives_127(void **state)
{
    (void)state;
    char *words[] = {NULL}, path[] = "/nonexistent/sim";
    struct run_command command = {.words = words, .program = path};
    sigset_t before;
    run_child_hold_signals(&before);
    int status = run_child_run_and_wait(&command, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(status, 127);
}

/* ---- the closing line ---------------------------------------------------- */

static void expect_name(const char *output, unsigned index, const char *expected)
{
    char out[128];
    assert_int_equal(run_output_name(out, sizeof out, output, "77.1", "node1", index), 0);
    assert_string_equal(out, expected);
}

static void recordings_are_named_as_asked(void **state)
{
    (void)state;
    expect_name("a.hrec", 0, "a.hrec");
    expect_name("a.hrec", 1, "a-77.1.hrec");
    expect_name("dir.d/a", 1, "dir.d/a-77.1");
    expect_name("%h-%j.hrec", 1, "node1-77.1.hrec");
    expect_name("100%.hrec", 0, "100%.hrec");
    char out[8];
    assert_int_equal(run_output_name(out, sizeof out, "a.hrec", "77.1", "h", 1), -HOLTER_ERANGE);
}

static void capture_report(const struct run_report *report, char *out, size_t capacity)
{
    struct stderr_capture capture;
    stderr_capture_begin(&capture);
    run_report_print(report);
    stderr_capture_text(&capture, out, capacity);
    stderr_capture_end(&capture);
}

/* The last line about a job. */
static void said_of(struct run_job job, char *out, size_t capacity)
{
    capture_report(&(struct run_report){.jobs = &job, .count = 1, .complete = 1}, out, capacity);
}

static void ranks_that_no_agent_reports_are_missing(void **state)
{
    char line[1000];
    (void)state;
    capture_report(&(struct run_report){.complete = 0}, line, sizeof line);
    assert_string_equal(line,
                        "holter: no agent has reported a job: what its ranks did is missing\n");
    capture_report(&(struct run_report){.complete = 1}, line, sizeof line);
    assert_string_equal(line,
                        "holter: no program that initialised MPI was seen; one whose launcher a "
                        "script calls by a path, or finds through another PATH, needs `holter "
                        "exec` before it, and one into which MPI is linked statically cannot be "
                        "watched\n");
}

static void processes_that_end_in_their_initialisation_are_reported(void **state)
{
    char line[1000];
    (void)state;
    capture_report(&(struct run_report){.complete = 1, .uninitialised = 1}, line, sizeof line);
    assert_string_equal(
        line,
        "holter: no job was seen: its processes ended before MPI_Init had returned, or are in "
        "another PID namespace than the agent\n");
}

static void a_sink_of_alerts_that_fails_is_reported(void **state)
{
    struct run_job job = {.id = "77.1", .app = "/bin/sim", .ranks = 2, .watched = 2, .nodes = 1};
    char line[1000];
    (void)state;
    capture_report(
        &(struct run_report){.jobs = &job, .count = 1, .complete = 1, .sink_error = "file a: full"},
        line, sizeof line);
    assert_non_null(strstr(line, "\nholter: not all alerts were delivered: file a: full\n"));
}

static void the_closing_line_reports_what_is_not_whole(void **state)
{
    struct run_job job = {.id = "77.1", .app = "/bin/sim", .ranks = 2, .watched = 2, .nodes = 1};
    char line[1000];
    (void)state;
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, "2 ranks on 1 node, end not seen, 0 messages"));
    assert_non_null(strstr(line, "nothing lost until its last window\n"));
    assert_null(strstr(line, "record"));
    job.duration_ns = 2000000000;
    strcpy(job.recording, "/proc/self/exe"); /* a file that is there */
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, "1 node, 2.00 s, "));
    assert_non_null(strstr(line, "nothing lost; recorded in /proc/self/exe\n"));
    job.recording_stopped = 1;
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, "; recorded in /proc/self/exe, not to its end\n"));
    strcpy(job.recording, "/no/such.hrec");
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, "nothing lost; not recorded\n"));
    job.rank_ns = 3.2e9; /* one rank ended before the other */
    job.mpi_ns = 800000000;
    job.waiting_ns = 320000000;
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, " 25 % of the time in MPI, 10 % waiting, nothing lost"));
    job.mpi_ns = 4800000000; /* of threads */
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, " 100 % of the time in MPI, 10 % waiting, nothing lost"));
    job.matched = 4385;
    job.unmatched = 363631;
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, " waiting, 1.19 % of 368,016 received messages matched, "
                                 "nothing else lost; not recorded\n"));
    job.unmatched = 0;
    job.watched = 1;
    said_of(job, line, sizeof line);
    assert_non_null(strstr(line, "1 rank not watched, nothing else lost; not recorded\n"));
    job.untracked = 1234;
    said_of(job, line, sizeof line);
    assert_non_null(strstr(
        line, "1 rank not watched, 1,234 requests not tracked, nothing else lost; not recorded\n"));
}

/* ---- sessions -------------------------------------------------------------- */

static void make_file(const char *directory, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void jobs_that_the_daemon_has_forgotten_for_later_ones_are_counted(void **state)
{
    struct run_session session = {.job = "night"};
    struct run_job jobs[65] = {0};
    struct stderr_capture capture;
    char said[300], name[96];
    (void)state;
    assert_int_equal(directory_make(session.record), 0);
    for (unsigned i = 0; i < 70; i++) {
        snprintf(name, sizeof name, "holter-night.%u.hrec", i);
        make_file(session.record, name);
        if (i >= 5)
            snprintf(jobs[i - 5].id, sizeof jobs->id, "night.%u", i);
    }
    stderr_capture_begin(&capture);
    run_report_print_earlier(&(struct run_report){.jobs = jobs, .count = 3}, &session);
    run_report_print_earlier(&(struct run_report){.jobs = jobs, .count = 65}, &session);
    stderr_capture_text(&capture, said, sizeof said);
    stderr_capture_end(&capture);
    assert_non_null(strstr(said, "holter: 5 more jobs ended before these, recorded in /"));
    assert_null(strstr(said, "67 more"));
    directory_remove(session.record);
}

static void commands_of_one_second_have_jobs_of_their_own_in_one_daemon(void **state)
{
    (void)state;
    static const char *const told[] = {"HOLTER_JOB",  "SLURM_JOB_ID", "PBS_JOBID",  "LSB_JOBID",
                                       "FLUX_JOB_ID", "PJM_JOBID",    "OAR_JOB_ID", "SGE_TASK_ID"};
    struct run_session first, second;
    struct run_options options = {.daemon = "ipc:///run/h/d", .no_record = 1};
    struct run_target target = {.program = "/usr/bin/x"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        unsetenv(told[i]);
    char directory[DIRECTORY_ROOM];
    assert_int_equal(directory_make(directory), 0);
    setenv("HOLTER_RUN_DIR", directory, 1);
    assert_int_equal(run_session_plan(&first, &options, &target), 0);
    assert_int_equal(run_session_plan(&second, &options, &target), 0);
    assert_string_not_equal(first.job, second.job);
    setenv("HOLTER_JOB", "77", 1); /* the value of the user has precedence */
    assert_int_equal(run_session_plan(&first, &options, &target), 0);
    assert_string_equal(first.job, "77");
    unsetenv("HOLTER_JOB");
    unsetenv("HOLTER_RUN_DIR");
    assert_int_equal(directory_remove(directory), 0);
}

/* ---- hosts --------------------------------------------------------------- */

static void this_host_is_not_elsewhere(void **state)
{
    (void)state;
    char own[HOST_NAME_CAPACITY], list[600], out[64] = "";
    host_name(own);
    snprintf(list, sizeof list, "localhost:4,127.0.0.1:2, %s", own);
    assert_int_equal(launch_hosts_find_other(list, out, sizeof out), 0);
    assert_int_equal(launch_hosts_find_other("", out, sizeof out), 0);
    assert_int_equal(launch_hosts_find_other("localhost,node9.invalid:8", out, sizeof out), 1);
    assert_string_equal(out, "node9.invalid");
}

static void host_files_are_read_as_launchers_read_them(void **state)
{
    (void)state;
    char path[] = "/tmp/holter-hosts-XXXXXX", out[64] = "";
    static const char text[] = "# the front\nlocalhost slots=4\n\n  node9.invalid:8 # far\n";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(fd);
    int rc = launch_hosts_find_other_in_file(path, out, sizeof out);
    unlink(path);
    assert_int_equal(rc, 1);
    assert_string_equal(out, "node9.invalid");
    assert_true(launch_hosts_find_other_in_file("/nonexistent/hosts", out, sizeof out) < 0);
}

/* Does the daemon of a command listen for other hosts? */
static int uses_other_hosts(const char *program)
{
    char *words[] = {(char *)(uintptr_t)program, "./sim", NULL};
    const struct run_options options = {.argc = 2, .argv = words};
    struct run_target target;
    assert_int_equal(run_target_find(&target, &options), 0);
    return target.other_hosts;
}

static void a_job_of_one_other_node_uses_other_hosts(void **state)
{
    (void)state;
    char own[HOST_NAME_CAPACITY], directory[DIRECTORY_ROOM], srun[256], salloc[256];
    host_name(own);
    assert_int_equal(directory_make(directory), 0);
    snprintf(srun, sizeof srun, "%s/srun", directory);
    assert_int_equal(symlink("/bin/true", srun), 0);
    snprintf(salloc, sizeof salloc, "%s/salloc", directory);
    assert_int_equal(symlink("/bin/true", salloc), 0);
    unsetenv("SLURM_JOB_ID");
    assert_int_equal(uses_other_hosts("/bin/true"), 0);
    assert_int_equal(uses_other_hosts(salloc), 1);
    assert_int_equal(uses_other_hosts(srun), 1); /* it makes an allocation */
    setenv("SLURM_JOB_ID", "77", 1);
    setenv("SLURM_NNODES", "1", 1);
    setenv("SLURM_JOB_NODELIST", "node9.invalid", 1);
    assert_int_equal(uses_other_hosts(srun), 1);
    assert_int_equal(uses_other_hosts("/bin/true"), 1);
    setenv("SLURMD_NODENAME", "node9.invalid", 1); /* its name in slurm.conf */
    assert_int_equal(uses_other_hosts(srun), 0);
    unsetenv("SLURMD_NODENAME");
    setenv("SLURM_JOB_NODELIST", own, 1);
    assert_int_equal(uses_other_hosts(srun), 0);
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_NNODES");
    unsetenv("SLURM_JOB_ID");
    assert_int_equal(directory_remove(directory), 0);
}

static void the_hosts_of_grid_engine_are_found(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM], path[256];
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof path, "%s/pe_hostfile", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("node9.invalid 4 all.q@node9.invalid UNDEFINED\n", file);
    assert_int_equal(fclose(file), 0);
    setenv("PE_HOSTFILE", path, 1);
    assert_int_equal(uses_other_hosts("/bin/true"), 1);
    unsetenv("PE_HOSTFILE");
    assert_int_equal(directory_remove(directory), 0);
}

static void what_is_given_of_alerts_and_metrics_goes_to_the_daemon(void **state)
{
    (void)state;
    struct run_session session = {.key = "abc123", .local = "ipc:///run/h/d"};
    struct run_options options = {.rules = "r.yaml",
                                  .alert_log = "a.jsonl",
                                  .on_alert = "cat >x",
                                  .alertmanager = "http://h:9093",
                                  .cluster = "meteor",
                                  .external_url = "http://d/%j",
                                  .metrics = "[::1]:9464",
                                  .syslog = 1};
    static const char *const wanted[] = {
        "--rules",        "r.yaml",         "--alert-log",   "a.jsonl",    "--on-alert",
        "cat >x",         "--alertmanager", "http://h:9093", "--cluster",  "meteor",
        "--external-url", "http://d/%j",    "--metrics",     "[::1]:9464", "--syslog"};
    const char **words = run_daemon_command(&session, &options, "holterd");
    int all = 0, first = 0;
    assert_non_null(words);
    while (words[all] != NULL)
        all++;
    while (words[first] != NULL && strcmp(words[first], "--rules") != 0)
        first++;
    assert_int_equal(all - first, RUN_ALERT_WORDS);
    for (int i = 0; i < RUN_ALERT_WORDS; i++)
        assert_string_equal(words[first + i], wanted[i]);
    free(words);
}

static void make_directories(const char *directory, const char *session, int owners)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, session);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%s/owners", directory, session);
    assert_int_equal(owners ? mkdir(path, 0700) : 0, 0);
}

static int is_there(const char *directory, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static void a_session_whose_run_was_killed_before_it_was_registered_is_swept(void **state)
{
    (void)state;
    char directory[DIRECTORY_ROOM];
    assert_int_equal(directory_make(directory), 0);
    make_directories(directory, "a1", 0);
    make_directories(directory, "b2", 1);
    make_directories(directory, "c3", 1);
    make_file(directory, "c3/owners/.4711");
    make_directories(directory, "d4", 0); /* of a daemon that was started without a run */
    make_file(directory, "d4/holterd.sock");
    run_owners_sweep(directory);
    assert_false(is_there(directory, "a1"));
    assert_false(is_there(directory, "b2"));
    assert_false(is_there(directory, "c3"));
    assert_true(is_there(directory, "d4/holterd.sock"));
    struct run_session session = {.key = "e5"};
    snprintf(session.dir, sizeof session.dir, "%s/e5", directory);
    assert_int_equal(run_owners_join(&session), 0);
    run_owners_sweep(directory);
    assert_true(is_there(directory, "e5/owners"));
    run_owners_leave(&session);
    assert_false(is_there(directory, "e5"));
    assert_int_equal(directory_remove(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_of_openmpi_is_not_changed),
        cmocka_unit_test(every_application_of_hydra_is_wrapped),
        cmocka_unit_test(a_program_of_mpi_becomes_a_rank_itself),
        cmocka_unit_test(a_script_finds_our_launchers_first),
        cmocka_unit_test(a_launcher_that_is_not_there_is_not_shown_to_scripts),
        cmocka_unit_test(words_that_openmpi_would_split_go_on_the_line),
        cmocka_unit_test(an_agent_of_the_users_own_is_kept),
        cmocka_unit_test(the_status_is_the_commands),
        cmocka_unit_test(signals_are_passed_on),
        cmocka_unit_test(signals_that_are_ignored_request_no_end),
        cmocka_unit_test(the_command_has_the_signal_mask_that_we_had),
        cmocka_unit_test(a_command_that_cannot_be_run_gives_127),
        cmocka_unit_test(what_is_given_of_alerts_and_metrics_goes_to_the_daemon),
        cmocka_unit_test(recordings_are_named_as_asked),
        cmocka_unit_test(processes_that_end_in_their_initialisation_are_reported),
        cmocka_unit_test(a_sink_of_alerts_that_fails_is_reported),
        cmocka_unit_test(the_closing_line_reports_what_is_not_whole),
        cmocka_unit_test(ranks_that_no_agent_reports_are_missing),
        cmocka_unit_test(jobs_that_the_daemon_has_forgotten_for_later_ones_are_counted),
        cmocka_unit_test(commands_of_one_second_have_jobs_of_their_own_in_one_daemon),
        cmocka_unit_test(a_session_whose_run_was_killed_before_it_was_registered_is_swept),
        cmocka_unit_test(this_host_is_not_elsewhere),
        cmocka_unit_test(host_files_are_read_as_launchers_read_them),
        cmocka_unit_test(a_job_of_one_other_node_uses_other_hosts),
        cmocka_unit_test(the_hosts_of_grid_engine_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
