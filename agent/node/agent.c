/* The agent's loop: a timer that checks who is on the node, drains and closes windows, and ends the
 * process when nobody is left. */
#include "agent/node/agent.h"

#include "agent/host/counters.h"
#include "agent/host/places.h"
#include "agent/node/leave.h"
#include "agent/node/node.h"
#include "agent/node/uplink.h"
#include "agent/node/windows.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/file_limit.h"
#include "proto/host.h"
#include "proto/log.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_TOPIC "agent"

#define CHECK_INTERVAL_NS UINT64_C(1000000000)
#define SYSFS "/sys"
#define STOP_TIMEOUT_NS UINT64_C(1000000000)
#define LEAVE_RETRY_NS UINT64_C(50000000)

struct agent {
    struct agent_options options;
    char host[HOST_NAME_CAPACITY];
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t signals[2], alarm;
    struct journal *journal;
    struct census census;
    struct windows windows;
    struct counters *counters;
    struct places *places;
    struct node *node;
    struct uplink *uplink;
    uint64_t processed_ns; /* last call of windows_process() */
    uint64_t checked_ns;   /* last check of /dev/shm and the registrations */
    struct leave leave;    /* no rank is on the node */
    uint64_t stop_ns;      /* when it was requested to stop; 0: it was not */
    int registered;        /* live registrations */
    int was_needed;        /* there was a rank on the node */
    int is_denied;         /* the daemon does not accept the keys */
    int denial_reported;   /* to a rank */
};

struct denial {
    char text[PATH_MAX + 1024];
    int reported;
};

static void agent_on_timer(uv_timer_t *timer);

static void agent_schedule(struct agent *agent, uint64_t due_ns)
{
    uint64_t now = clock_mono_ns();
    uv_update_time(&agent->loop);
    uv_timer_start(&agent->timer, agent_on_timer,
                   due_ns > now ? (due_ns - now + 999999) / 1000000 : 0, 0);
}

static void agent_wake(void *user)
{
    struct agent *agent = user;
    if (!uv_is_closing((uv_handle_t *)&agent->timer))
        uv_timer_start(&agent->timer, agent_on_timer, 0, 0);
}

/* ---- who is there -------------------------------------------------------- */

static int agent_on_segment(void *user, const char *name, int32_t pid)
{
    struct agent *agent = user;
    int rc = census_add_segment(&agent->census, name, pid);
    if (rc < 0)
        log_error("no memory for segment %s", name);
    return rc == 1;
}

static void agent_on_registration(void *user, const struct registration *registration)
{
    struct agent *agent = user;
    if (!registration->alive) {
        rendezvous_forget(agent->options.rendezvous, registration->pid);
        return;
    }
    agent->registered++;
    for (struct node_job *job = agent->census.jobs; job != NULL; job = job->next)
        job->registered |= strcmp(job->id, registration->word) == 0;
}

/* A job's last window is known only when no further rank can join: the registrations are read again
 * whenever none of its known ranks lives. */
static int agent_has_ending_job(const struct agent *agent)
{
    for (const struct node_job *job = agent->census.jobs; job != NULL; job = job->next)
        if (job->living == 0)
            return 1;
    return 0;
}

static void agent_read_registrations(struct agent *agent)
{
    agent->registered = 0;
    for (struct node_job *job = agent->census.jobs; job != NULL; job = job->next)
        job->registered = 0;
    rendezvous_each(agent->options.rendezvous, agent_on_registration, agent);
}

static void agent_check_node(struct agent *agent, uint64_t now)
{
    int overdue = now - agent->checked_ns >= CHECK_INTERVAL_NS;
    if (overdue) {
        agent->checked_ns = now;
        node_scan_segments(agent->node);
        windows_observe_ticks(&agent->windows);
    }
    /* While ranks live nothing depends on the registrations, and reading each costs a few system
     * calls. */
    int changed = node_registrations_changed(agent->node);
    if (changed || agent_has_ending_job(agent) || (overdue && agent->census.joined == 0))
        agent_read_registrations(agent);
}

/* ---- leaving ------------------------------------------------------------- */

static void agent_close_handles(struct agent *agent)
{
    node_close(agent->node);
    for (const struct node_job *job = agent->census.jobs; job != NULL; job = job->next)
        uplink_send_bye(agent->uplink, job->id, job->last_seq);
    uplink_close(agent->uplink, NULL);
    uv_close((uv_handle_t *)&agent->timer, NULL);
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&agent->signals[i], NULL);
    uv_close((uv_handle_t *)&agent->alarm, NULL);
    census_finish(&agent->census);
}

/* @return 1 when the loop ends */
static int agent_leave_if_done(struct agent *agent, uint64_t now)
{
    int alone =
        census_empty(&agent->census) && agent->census.jobs == NULL && agent->registered == 0;
    if (!alone) {
        agent->leave = (struct leave){0};
        agent->was_needed = 1;
        return 0;
    }
    if (agent->options.by_hand && !agent->was_needed)
        return 0;
    if (agent->leave.since_ns == 0)
        agent->leave.since_ns = now;
    if (journal_has_pending(agent->journal)) {
        if (!agent->is_denied &&
            leave_is_worth_waiting(&agent->leave, journal_backlog(agent->journal),
                                   uplink_connected(agent->uplink), now))
            return 0;
        log_error("the daemon at %s did not take the last messages: they are lost",
                  agent->options.endpoint);
    }
    if (agent->census.uninitialised > 0)
        rendezvous_note_uninitialised(agent->options.rendezvous);
    int rc = rendezvous_leave(agent->options.rendezvous, agent->options.lock_fd);
    if (rc != 0) {
        agent->checked_ns = 0; /* a rank appeared: check now */
        return 0;
    }
    log_info("nobody is left on this node: leaving");
    agent_close_handles(agent);
    return 1;
}

static int agent_stop_if_asked(struct agent *agent, uint64_t now)
{
    if (agent->stop_ns == 0)
        return 0;
    if (journal_has_pending(agent->journal) && now - agent->stop_ns < STOP_TIMEOUT_NS)
        return 0;
    agent_close_handles(agent);
    rendezvous_leave(agent->options.rendezvous, agent->options.lock_fd); /* no ranks left */
    return 1;
}

/* ---- the loop ------------------------------------------------------------ */

static void agent_process(struct agent *agent)
{
    uint64_t now = clock_mono_ns();
    agent->processed_ns = now;
    agent_check_node(agent, now);
    agent->windows.connected = uplink_connected(agent->uplink);
    agent->windows.uplink_bytes = uplink_bytes(agent->uplink);
    if (agent->stop_ns == 0 && windows_process(&agent->windows, now))
        uplink_send_pending(agent->uplink);
}

static void agent_on_timer(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    agent_process(agent);
    uint64_t now = clock_mono_ns();
    if (agent_stop_if_asked(agent, now) || agent_leave_if_done(agent, now))
        return;
    uint64_t due = windows_next_due(&agent->windows, now);
    int closing = agent->stop_ns != 0 || agent->leave.since_ns != 0;
    if (closing && due > now + LEAVE_RETRY_NS)
        due = now + LEAVE_RETRY_NS;
    agent_schedule(agent, due);
}

static void agent_on_signal(uv_signal_t *handle, int number)
{
    struct agent *agent = handle->data;
    if (agent->stop_ns != 0)
        return;
    agent->stop_ns = clock_mono_ns();
    log_info("signal %d: stopping", number);
    windows_close_now(&agent->windows, agent->stop_ns);
    uplink_send_pending(agent->uplink);
    agent_wake(agent);
}

/* A ring fills faster than expected. Whatever its rate, ranks are not disturbed more often than
 * DRAIN_MINIMUM_NS. */
static void agent_on_ring_alarm(uv_signal_t *handle, int number)
{
    struct agent *agent = handle->data;
    (void)number;
    windows_ask_drain(&agent->windows);
    agent_schedule(agent, agent->processed_ns + DRAIN_MINIMUM_NS);
}

static void agent_on_welcome(void *user, const struct wire_welcome *welcome, int fresh)
{
    struct agent *agent = user;
    agent->is_denied = 0;
    uint64_t own = agent->options.budget != 0 ? agent->options.budget : WINDOWS_BUDGET;
    uint64_t budget = welcome->budget != 0 && welcome->budget < own ? welcome->budget : own;
    windows_welcome(&agent->windows, welcome->window_ns, budget);
    if (!fresh)
        return;
    daemon_clock_restart(&agent->windows.clock);
    windows_announce_all(&agent->windows);
}

static int agent_on_clock(void *user, const struct wire_clock_answer *answer, uint64_t t4_mono)
{
    struct agent *agent = user;
    windows_observe_daemon(&agent->windows, answer, t4_mono);
    return daemon_clock_slow(&agent->windows.clock);
}

static void agent_on_criteria(void *user, const struct wire_criteria *criteria)
{
    struct agent *agent = user;
    windows_criteria(&agent->windows, criteria);
}

static void agent_on_capture(void *user, const struct wire_capture_ask *ask)
{
    struct agent *agent = user;
    if (agent->stop_ns == 0 && windows_capture(&agent->windows, ask, clock_mono_ns()))
        uplink_send_pending(agent->uplink);
}

/* Not into files, where ranks write at positions of their own. Held open, a pipe would keep
 * launchers from seeing the end of a rank's output. */
static void agent_write_to_rank(void *user, const struct registration *registration)
{
    struct denial *denial = user;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/2", registration->pid);
    int fd = registration->alive && !denial->reported
                 ? open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                 : -1;
    if (fd < 0)
        return;
    struct stat status;
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        denial->reported = write(fd, denial->text, strlen(denial->text)) > 0;
    close(fd);
}

/* The user sees the output of ranks only: one of them gets a line, once. */
static void agent_on_denied(void *user, const char *why)
{
    struct agent *agent = user;
    struct denial denial = {.reported = agent->denial_reported};
    agent->is_denied = 1;
    snprintf(denial.text, sizeof denial.text, "holter: %s; ranks on %s run unwatched\n", why,
             agent->host);
    rendezvous_each(agent->options.rendezvous, agent_write_to_rank, &denial);
    agent->denial_reported = denial.reported;
}

static void agent_on_refused(void *user, uint64_t seq)
{
    struct agent *agent = user;
    windows_drop_refused(&agent->windows, seq);
}

/* ---- starting ------------------------------------------------------------ */

static int agent_start_parts(struct agent *agent)
{
    const struct agent_options *options = &agent->options;
    struct node_options node = {&agent->loop, options->rendezvous, agent_on_segment, agent_wake,
                                agent};
    struct uplink_options uplink = {
        .loop = &agent->loop,
        .journal = agent->journal,
        .endpoint = options->endpoint,
        .key_dir = options->key_dir,
        .host = agent->host,
        .session = options->rendezvous->session,
        .welcome = agent_on_welcome,
        .clock = agent_on_clock,
        .criteria = agent_on_criteria,
        .capture = agent_on_capture,
        .denied = agent_on_denied,
        .refused = agent_on_refused,
        .user = agent,
    };
    int rc = node_create(&agent->node, &node);
    if (rc == 0)
        rc = uplink_create(&agent->uplink, &uplink);
    if (rc != 0) {
        node_close(agent->node);
        agent->node = NULL;
    }
    return rc;
}

static void agent_start_loop(struct agent *agent)
{
    static const int numbers[2] = {SIGTERM, SIGINT};
    uv_timer_init(&agent->loop, &agent->timer);
    agent->timer.data = agent;
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&agent->loop, &agent->signals[i]);
        agent->signals[i].data = agent;
        uv_signal_start(&agent->signals[i], agent_on_signal, numbers[i]);
    }
    uv_signal_init(&agent->loop, &agent->alarm);
    agent->alarm.data = agent;
    uv_signal_start(&agent->alarm, agent_on_ring_alarm, RING_ALARM_SIGNAL);
    agent->checked_ns = 0;
    agent_wake(agent);
    uv_run(&agent->loop, UV_RUN_DEFAULT);
}

/* Finds interfaces and cores. The job is watched without them, too. */
static void agent_find_surroundings(struct agent *agent)
{
    int rc = places_create(&agent->places, NULL);
    if (rc != 0)
        log_warn("cores, sockets and NUMA nodes are not known: %s", holter_strerror(rc));
    rc = counters_create(&agent->counters, SYSFS, 1);
    if (rc != 0)
        log_warn("network interfaces are not watched: %s", holter_strerror(rc));
    agent->census.places = agent->places;
    agent->windows.counters = agent->counters;
}

int agent_run(const struct agent_options *options, struct journal *journal)
{
    struct agent agent = {.options = *options, .journal = journal};
    agent.census = (struct census){
        .loop = &agent.loop,
        .session = options->rendezvous->session,
        .reader = options->face,
        .journal = journal,
        .wake = agent_wake,
        .user = &agent,
    };
    host_name(agent.host);
    file_limit_raise(); /* a descriptor for each rank (pidfd), and those of the loop */
    journal_resume(journal);
    int rc = uv_loop_init(&agent.loop);
    if (rc != 0)
        return rc;
    rc = windows_init(&agent.windows, &agent.census, journal, agent.host);
    if (rc == 0 && options->budget != 0)
        agent.windows.budget = options->budget;
    if (rc == 0)
        agent_find_surroundings(&agent);
    if (rc == 0)
        rc = agent_start_parts(&agent);
    if (rc == 0)
        agent_start_loop(&agent);
    uv_run(&agent.loop, UV_RUN_DEFAULT); /* runs the close callbacks, after a failed start too */
    uv_loop_close(&agent.loop);
    windows_finish(&agent.windows);
    counters_destroy(agent.counters);
    places_destroy(agent.places);
    return rc;
}
