/* holter-agent: one per node and session; started by the first wrapper of a rank, or by hand. */
#include "agent/launch/session_options.h"
#include "agent/node/agent.h"
#include "agent/node/supervise.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/command_option.h"
#include "proto/log.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_TOPIC "main"

#define SLICE_NS 100000u
#define TIMER_SLACK_NS 200000UL /* timer slack, prctl(2): wake-ups this close may be combined */

static const char usage[] =
    "usage: holter-agent [OPTION]...\n"
    "Collects what the watched ranks on this node do, and reports it to the daemon. Started by\n"
    "`holter exec`; leaves by itself when no rank is left.\n"
    "\n" SESSION_OPTIONS_USAGE
    "  --budget BYTES      bytes a second sent at most, before detail is left out (1000000)\n"
    "  --log FILE          append log lines to FILE instead of standard error\n"
    "  --foreground        stay in the foreground, and wait for the first rank\n"
    "  --lock-fd N         the session's lock on this node, taken over from a wrapper\n"
    "  -v, --verbose       say more (HOLTER_LOG=info)\n"
    "  -V, --version       version and build options\n"
    "  -h, --help          this text\n";

struct command_line {
    struct session_options session;
    const char *log;
    uint64_t budget;  /* 0: not given */
    uint64_t lock_fd; /* UINT64_MAX: not given */
    int foreground, verbose, show_version, show_help;
};

static int agent_main_report_usage(const char *what, const char *value)
{
    fprintf(stderr, "holter-agent: %s: %s; see holter-agent --help\n", value, what);
    return 2;
}

/* @return -1 to go on, or the exit status */
static int agent_main_read_options(struct command_line *line, int argc, char **argv)
{
    const struct command_option options[] = {
        {"daemon", .text = &line->session.daemon},
        {"session", .text = &line->session.session},
        {"keys", .text = &line->session.keys},
        {"budget", .number = &line->budget, .least = 1000, .most = 1e12,
         .expected = "not a number of bytes from 1000 up"},
        {"log", .text = &line->log},
        {"foreground", .flag = &line->foreground},
        {"lock-fd", .number = &line->lock_fd, .least = 3, .most = 1 << 20,
         .expected = "not an open descriptor"},
        {"version", 'V', .flag = &line->show_version},
        {"verbose", 'v', .flag = &line->verbose},
        {"help", 'h', .flag = &line->show_help},
        {0},
    };
    const struct command_option *const tables[] = {options, NULL};
    struct command_option_end end;
    if (command_options_read(tables, false, NULL, argc, argv, &end) != COMMAND_OPTIONS_READ) {
        char why[200];
        if (end.option != NULL)
            return agent_main_report_usage(end.option->expected, end.word);
        command_option_explain(&end, why, sizeof why);
        fprintf(stderr, "holter-agent: %s (see holter-agent --help)\n", why);
        return 2;
    }
    if (line->show_version)
        printf("holter-agent %s (%s)\n", HOLTER_VERSION, HOLTER_BUILD_OPTIONS);
    else if (line->show_help)
        fputs(usage, stdout);
    else if (line->lock_fd != UINT64_MAX && fcntl((int)line->lock_fd, F_GETFD) < 0)
        return agent_main_report_usage("not an open descriptor", "--lock-fd");
    else
        return optind < argc
                   ? agent_main_report_usage("an argument that is not expected", argv[optind])
                   : -1;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

struct setting {
    struct session_place at;
    struct rendezvous rendezvous;
    struct agent_options agent;
    struct journal *journal;
};

/* @return 0 or the exit status */
static int agent_main_find_setting(struct setting *setting, const struct command_line *line)
{
    char run_dir[3072], why[512];
    int rc = session_options_resolve(&setting->at, &line->session, why, sizeof why);
    if (rc != 0) {
        log_error("%s", why);
        return rc == -HOLTER_EUSAGE ? 2 : 1;
    }
    rc = session_explain_run_dir(run_dir, sizeof run_dir, why, sizeof why);
    if (rc != 0) {
        log_error("run directory: %s", why);
        return 1;
    }
    rc = rendezvous_init(&setting->rendezvous, run_dir, setting->at.session);
    if (rc != 0)
        log_error("run directory %s: %s", run_dir, holter_strerror(rc));
    return rc != 0;
}

static int agent_main_open_log(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("log file %s: %s", path, strerror(errno));
        return 1;
    }
    dup2(fd, STDERR_FILENO);
    close(fd);
    return 0;
}

/* SIGBUS: a page of a segment that its owner truncated, or for which there is no memory. It is
 * replaced by zeros, which readers see as an empty or corrupt ring. Otherwise another process could
 * kill the agent. */
static void agent_main_on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    if (mmap((void *)page, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* On a node whose cores are all busy the agent should run soon after it wakes, for a short time. A
 * short slice requests that from the scheduler (EEVDF, Linux 6.12: sched_attr.sched_runtime of
 * SCHED_OTHER) without a larger share of the core. Older kernels refuse; the rings then need to be
 * larger on full nodes. */
static void agent_main_request_short_slices(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = 48,
                    .policy = SCHED_OTHER,
                    .runtime = SLICE_NS,
                    .nice = getpriority(PRIO_PROCESS, 0)};
    if (syscall(SYS_sched_setattr, 0, &attributes, 0u) != 0)
        log_debug("no short slices: %s", strerror(errno));
}

/* The agent is started by the first rank of the node, which its launcher may have bound to a core.
 * It may run on all cores that the job may use (cpuset(7) still holds), to find one that is idle.
 */
static void agent_main_leave_binding(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    if (sched_setaffinity(0, sizeof all, &all) != 0)
        log_debug("still bound as the rank that started this agent: %s", strerror(errno));
}

static void agent_main_set_up_process(void)
{
    struct sigaction bus = {.sa_sigaction = agent_main_on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &bus, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log file at its size limit, setrlimit(2) */
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    agent_main_request_short_slices();
    agent_main_leave_binding();
}

static int agent_main_run_worker(void *user)
{
    struct setting *setting = user;
    int rc = agent_run(&setting->agent, setting->journal);
    if (rc != 0)
        log_error("cannot start: %s", holter_strerror(rc));
    return rc != 0;
}

static void agent_main_on_restart(void *user)
{
    journal_count_restart(((struct setting *)user)->journal);
}

int main(int argc, char **argv)
{
    struct command_line line = {.lock_fd = UINT64_MAX};
    struct setting setting = {0};
    log_start("holter-agent", -1);
    int status = agent_main_read_options(&line, argc, argv);
    if (status >= 0)
        return status;
    status = agent_main_find_setting(&setting, &line);
    if (status != 0)
        return status;
    if (line.verbose)
        log_start("holter-agent", LOG_INFO);
    if (line.log != NULL && agent_main_open_log(line.log) != 0)
        return 1;
    const int by_hand = line.lock_fd == UINT64_MAX;
    int lock_fd = by_hand ? -1 : (int)line.lock_fd;
    int rc = !by_hand ? 0 : rendezvous_lock(&setting.rendezvous, &lock_fd);
    if (rc != 0) {
        log_error("session %s: %s", setting.at.session,
                  rc == -EEXIST ? "an agent serves it on this node already" : holter_strerror(rc));
        return 1;
    }
    fcntl(lock_fd, F_SETFD, FD_CLOEXEC);
    if (by_hand && !line.foreground && daemon(1, line.log != NULL) != 0) {
        log_error("cannot go to the background: %s", strerror(errno));
        return 1;
    }
    agent_main_set_up_process();
    rc = journal_create(&setting.journal, JOURNAL_BYTES);
    if (rc != 0) {
        log_error("no memory for the journal: %s", holter_strerror(rc));
        return 1;
    }
    setting.agent = (struct agent_options){
        .rendezvous = &setting.rendezvous,
        .lock_fd = lock_fd,
        .endpoint = setting.at.daemon,
        .key_dir = setting.at.keys,
        .face = (int32_t)getpid(),
        .by_hand = by_hand,
        .budget = (uint64_t)line.budget,
    };
    status = supervise_worker(agent_main_run_worker, agent_main_on_restart, &setting);
    journal_destroy(setting.journal);
    return status;
}
