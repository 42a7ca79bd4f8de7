/* Puts this process under watch: MPI, registration, agent, environment of the probe. */
#include "agent/launch/watch.h"

#include "agent/launch/detect_mpi.h"
#include "agent/launch/process_file.h"
#include "agent/launch/rank_env.h"
#include "agent/launch/rendezvous.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/endpoint.h"
#include "proto/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A launcher's proxy may stand some shells above the rank. */
#define MAX_ANCESTORS 8

/** All that is found out about this process before anything is changed. */
struct plan {
    const char *program;
    struct rank_env rank;
    enum launcher launcher;
    struct mpi_finding finding;
    enum mpi_flavour flavour;
    char probe[PATH_MAX];
    struct session_place at;
    char job[64];
    char note[PATH_MAX]; /**< see HOLTER_NOTE */
    int speaks;          /**< reports errors to the user: one rank of the node does */
};

/* ---- who we are ---------------------------------------------------------- */

/** Command line of a process, its words ended by NUL and one more NUL after them. */
static void watch_read_command(int32_t pid, char *out, size_t capacity)
{
    size_t n = process_file(out, capacity - 1, pid, "cmdline");
    out[n + 1] = '\0';
}

static int32_t watch_read_parent(int32_t pid)
{
    char text[512];
    process_file(text, sizeof text, pid, "stat");
    const char *end = strrchr(text, ')'); /* the name before it may hold anything */
    int parent = 0;
    return end != NULL && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/** Command line of the nearest ancestor that is a proxy of Hydra; empty when there is none. Of
 *  Intel MPI's two, one below the other, the upper one tells the process group. */
static void watch_read_proxy_command(char *out, size_t capacity)
{
    int32_t pid = getppid();
    for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++, pid = watch_read_parent(pid)) {
        watch_read_command(pid, out, capacity);
        if (rank_env_command_option(out, "--control-port") != NULL ||
            rank_env_command_option(out, "--upstream-port") != NULL)
            return;
    }
    memset(out, 0, 2);
}

static void watch_find_rank(struct plan *plan)
{
    char command[4096], host[HOST_NAME_CAPACITY];
    watch_read_proxy_command(command, sizeof command);
    host_name(host);
    struct rank_env_source source = {
        .pid = getpid(),
        .parent = getppid(),
        .parent_start = process_start_time(getppid()),
        .parent_command = command,
        .host = host[0] != '\0' ? host : "host",
    };
    rank_env_read(&plan->rank, &source);
    plan->launcher = rank_env_launcher(&source);
}

/* ---- what is to be done -------------------------------------------------- */

/** @return 1 when a probe fits, 0 after having said why none does */
static int watch_choose_probe(struct plan *plan, int verbose)
{
    int rc = detect_mpi(plan->program, getenv("LD_LIBRARY_PATH"), &plan->finding);
    if (rc < 0) {
        if (plan->speaks)
            terminal_print("%s: cannot be looked at: %s; it runs unwatched", plan->program,
                           holter_strerror(rc));
        return 0;
    }
    plan->flavour = plan->finding.flavour;
    /* A tool that starts the program may be static: what it starts gets the probe. */
    const int starts = plan->finding.kind == PROGRAM_STATIC && plan->launcher != LAUNCHER_NONE;
    if (plan->finding.kind == PROGRAM_STATIC || plan->finding.kind == PROGRAM_ALIEN) {
        if (plan->speaks)
            terminal_print("%s is %s, so no probe can be loaded into it; %s", plan->program,
                           plan->finding.kind == PROGRAM_STATIC
                               ? "statically linked"
                               : "built for another kind of machine",
                           starts ? "only what it starts is watched" : "it runs unwatched");
        if (!starts)
            return 0;
    }
    if (plan->finding.linked_in) {
        if (plan->speaks)
            terminal_print("MPI is linked into %s statically, so its calls cannot be seen; it runs "
                           "unwatched: link it with the shared library of MPI to watch it",
                           plan->program);
        return 0;
    }
    if (plan->flavour == MPI_FLAVOUR_NONE)
        plan->flavour = plan->rank.flavour;
    if (plan->flavour == MPI_FLAVOUR_NONE) {
        if (plan->speaks)
            terminal_print("%s carries no MPI and no launcher of one is known; it runs unwatched",
                           plan->program);
        return 0;
    }
    rc = paths_probe(plan->probe, sizeof plan->probe, plan->flavour);
    if (rc < 0 && plan->speaks)
        terminal_print(
            "no probe for %s is installed (looked beside the program and in HOLTER_LIBDIR); %s "
            "runs "
            "unwatched",
            plan->flavour == MPI_FLAVOUR_OPENMPI ? "Open MPI" : "MPICH", plan->program);
    if (rc == 0 && verbose && plan->speaks)
        terminal_print("%s: %s, probe %s", plan->program,
                       plan->finding.library[0] == '\0' ? "no MPI linked, as the launcher says"
                                                        : plan->finding.library,
                       plan->probe);
    return rc == 0;
}

static int watch_choose_session(struct plan *plan, const struct watch_options *options)
{
    char why[512];
    const char *job = session_options_or_environment(options->job, "HOLTER_JOB");
    if (session_options_resolve(&plan->at, &options->session, why, sizeof why) != 0) {
        if (plan->speaks)
            terminal_print("%s; %s runs unwatched", why, plan->program);
        return 0;
    }
    session_job_id(plan->job, job == NULL ? plan->rank.base : job, plan->rank.step);
    return 1;
}

/* ---- doing it ------------------------------------------------------------ */

static int watch_start_agent(const struct plan *plan, int lock_fd)
{
    char agent[PATH_MAX];
    int rc = paths_program(agent, sizeof agent, "holter-agent");
    if (rc == 0 && !quiet_child_loads(agent))
        rc = -ELIBACC;
    if (rc < 0) {
        close(lock_fd);
        return rc;
    }
    const char *argv[8] = {agent, "--session", plan->at.session, "--daemon", plan->at.daemon};
    if (plan->at.keys != NULL) {
        argv[5] = "--keys";
        argv[6] = plan->at.keys;
    }
    return rendezvous_spawn(agent, argv, lock_fd);
}

/** A `holter run` wants to know of it until its end; else it is removed with the registrations. */
static void watch_choose_note(struct plan *plan, const struct rendezvous *rendezvous)
{
    char owners[PATH_MAX - 96];
    snprintf(owners, sizeof owners, "%s/owners", rendezvous->session_dir);
    const char *directory = access(owners, F_OK) == 0 ? owners : rendezvous->ranks;
    snprintf(plan->note, sizeof plan->note, "%s/unwatched.%s", directory, plan->job);
}

/** A launcher of one MPI that starts a program of another one may get as many jobs of one rank as
 *  it has processes. Whether it did shows when they have run: the first process leaves a note for
 *  the `holter run`. Without one, and when it cannot be written, there is none. */
static void watch_note_mismatch(const struct plan *plan, const struct rendezvous *rendezvous)
{
    char path[PATH_MAX];
    if (plan->rank.size < 2 || plan->launcher == LAUNCHER_NONE ||
        plan->rank.flavour == MPI_FLAVOUR_NONE || plan->finding.flavour == MPI_FLAVOUR_NONE ||
        plan->rank.flavour == plan->finding.flavour)
        return;
    int n = snprintf(path, sizeof path, "%s/owners/alone.%s", rendezvous->session_dir, plan->job);
    int fd = n < (int)sizeof path
                 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%d processes, each alone: %s started a program of %s", plan->rank.size,
            launcher_name(plan->launcher),
            plan->finding.flavour == MPI_FLAVOUR_OPENMPI ? "Open MPI" : "MPICH");
    close(fd);
}

/** Register, and start the agent when there is none. @return 1, or 0 after having said why not */
static int watch_join_agent(struct plan *plan)
{
    char run_dir[PATH_MAX], why[300] = "";
    struct rendezvous rendezvous;
    int lock_fd = -1;
    int rc = session_explain_run_dir(run_dir, sizeof run_dir, why, sizeof why);
    if (rc == 0)
        rc = rendezvous_init(&rendezvous, run_dir, plan->at.session);
    if (rc == 0) {
        watch_choose_note(plan, &rendezvous);
        watch_note_mismatch(plan, &rendezvous);
        rc = rendezvous_join(&rendezvous, getpid(), plan->job, &lock_fd);
    }
    if (rc < 0) {
        if (plan->speaks)
            terminal_print("cannot register with the node's agent: %s; %s runs unwatched",
                           why[0] != '\0' ? why : holter_strerror(rc), plan->program);
        return 0;
    }
    if (rc == 0)
        return 1;
    rc = watch_start_agent(plan, lock_fd);
    if (rc == 0)
        return 1;
    /* The rank that starts the agent reports errors, whichever rank it is: the others do not know.
     */
    terminal_print("cannot start holter-agent: %s; %s runs unwatched", holter_strerror(rc),
                   plan->program);
    rendezvous_forget(&rendezvous, getpid());
    return 0;
}

static int watch_is_sanitizer(const char *path, size_t length)
{
    return memmem(path, length, "libasan.so", strlen("libasan.so")) != NULL;
}

int watch_preload(char *out, unsigned long capacity, const char *probe, const char *user,
                  const char *sanitizer)
{
    char first[2048] = "", rest[4096] = "";
    size_t first_used = 0, rest_used = 0;
    if (sanitizer[0] != '\0')
        first_used = (size_t)snprintf(first, sizeof first, "%s:", sanitizer);
    for (const char *p = user == NULL ? "" : user; *p != '\0';) {
        size_t length = strcspn(p, ": ");
        int early = watch_is_sanitizer(p, length);
        if (length > 0 && !(length == strlen(probe) && memcmp(p, probe, length) == 0)) {
            if (early && first_used < sizeof first)
                first_used += (size_t)snprintf(first + first_used, sizeof first - first_used,
                                               "%.*s:", (int)length, p);
            if (!early && rest_used < sizeof rest)
                rest_used += (size_t)snprintf(rest + rest_used, sizeof rest - rest_used, ":%.*s",
                                              (int)length, p);
        }
        p += length;
        p += *p != '\0';
    }
    if (first_used >= sizeof first || rest_used >= sizeof rest)
        return -HOLTER_ERANGE;
    int n = snprintf(out, capacity, "%s%s%s", first, probe, rest);
    return n < 0 || (unsigned long)n >= capacity ? -HOLTER_ERANGE : 0;
}

/** As curve_load() does, without its library.
 *  @param type  S_IFREG or S_IFDIR */
static int watch_check_private(const char *path, mode_t type)
{
    struct stat status;
    if ((type == S_IFDIR ? stat(path, &status) : lstat(path, &status)) != 0)
        return -errno;
    if ((status.st_mode & S_IFMT) != type)
        return -HOLTER_ECORRUPT;
    return status.st_uid == geteuid() && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0
               ? 0
               : -HOLTER_EEXPOSED;
}

/** Keys that the agent would refuse: it is not started, and no memory is made for it.
 *  @return 1, or 0 after having said why not */
static int watch_check_keys(const struct plan *plan)
{
    static const char *const files[] = {"agent.key", "server.pub"};
    const char *daemon = plan->at.daemon, *keys = plan->at.keys;
    char path[PATH_MAX];
    if (keys == NULL) {
        if (endpoint_list_count(daemon) > 1 || endpoint_is_local(daemon))
            return 1;
        if (plan->speaks)
            terminal_print("%s: keys are needed, see --keys; %s runs unwatched", daemon,
                           plan->program);
        return 0;
    }
    int rc = watch_check_private(keys, S_IFDIR);
    snprintf(path, sizeof path, "%s", keys);
    for (size_t i = 0; rc == 0 && i < sizeof files / sizeof *files; i++)
        rc = snprintf(path, sizeof path, "%s/%s", keys, files[i]) < (int)sizeof path
                 ? watch_check_private(path, S_IFREG)
                 : -ENAMETOOLONG;
    if (rc != 0 && plan->speaks)
        terminal_print("%s: %s; %s runs unwatched", path, holter_strerror(rc), plan->program);
    return rc == 0;
}

/** A socket that is not there is nobody's: the agent keeps trying, but the user should know. */
static void watch_report_absent_daemon(const struct plan *plan)
{
    static const char scheme[] = "ipc://";
    if (strncmp(plan->at.daemon, scheme, strlen(scheme)) == 0 &&
        endpoint_list_count(plan->at.daemon) == 1 &&
        access(plan->at.daemon + strlen(scheme), F_OK) < 0 && plan->speaks)
        terminal_print("no daemon listens at %s yet: start holterd, or use `holter run`",
                       plan->at.daemon);
}

/** The dynamic linker splits LD_PRELOAD at spaces and colons and has no way to quote them
 *  (ld.so(8)). */
static int watch_preloadable(const struct plan *plan)
{
    if (strpbrk(plan->probe, ": ") == NULL)
        return 1;
    if (plan->speaks)
        terminal_print("%s: a path with a space or colon cannot be preloaded; %s runs unwatched",
                       plan->probe, plan->program);
    return 0;
}

/** @return 1, or 0 after having said why not */
static int watch_choose_preload(const struct plan *plan, char *out, size_t capacity)
{
    if (watch_preload(out, capacity, plan->probe, getenv("LD_PRELOAD"), plan->finding.sanitizer) ==
        0)
        return 1;
    if (plan->speaks)
        terminal_print("LD_PRELOAD is too long for one more library; %s runs unwatched",
                       plan->program);
    return 0;
}

/** Tell a `holter run` that it has been said why a process of the job is not watched, so that it
 *  does not guess at its end. The name is not that of HOLTER_NOTE: what the probe of another
 * process of the job has to say is something else. */
static void watch_note_refusal(struct plan *plan, const struct watch_options *options)
{
    char run_dir[PATH_MAX], path[PATH_MAX];
    struct rendezvous rendezvous;
    if (!plan->speaks)
        return;
    plan->speaks = 0; /* all has been said */
    if (!watch_choose_session(plan, options) || session_run_dir(run_dir, sizeof run_dir) != 0 ||
        rendezvous_init(&rendezvous, run_dir, plan->at.session) != 0)
        return;
    int n = snprintf(path, sizeof path, "%s/owners/unwatched.%s.start", rendezvous.session_dir,
                     plan->job);
    int fd =
        n < (int)sizeof path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd >= 0)
        close(fd);
}

int watch_start_process(const struct watch_options *options, const char *program)
{
    struct plan plan = {.program = program};
    char preload[8192];
    watch_find_rank(&plan);
    unsetenv("HOLTER_LAUNCH"); /* of what this program launches it is not the number */
    plan.speaks = plan.rank.local_rank <= 0;
    int wrong = session_options_check_variables(plan.speaks);
    int ready = watch_choose_probe(&plan, options->verbose) && watch_preloadable(&plan) &&
                watch_choose_session(&plan, options) && watch_check_keys(&plan) &&
                watch_choose_preload(&plan, preload, sizeof preload);
    if (ready) {
        watch_report_absent_daemon(&plan);
        ready = watch_join_agent(&plan);
    }
    if (!ready) {
        watch_note_refusal(&plan, options);
        return -1;
    }
    /* From here on only memory can be wanting. The registration then outlives a process without a
     * probe until the process ends, which the agent sees. */
    int failed = setenv("HOLTER_SESSION", plan.at.session, 1);
    failed |= setenv("HOLTER_JOB_ID", plan.job, 1);
    failed |= setenv("HOLTER_NOTE", plan.note, 1);
    if (!failed)
        setenv("LD_PRELOAD", preload, 1);
    if (options->verbose && plan.speaks)
        terminal_print("%s: job %s, session %s, daemon %s", program, plan.job, plan.at.session,
                       plan.at.daemon);
    return failed || wrong > 0 ? -1 : 0;
}
