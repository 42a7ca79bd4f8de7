/* Collects what the daemon knows of the session's jobs, and prints the closing lines. */
#include "agent/launch/run.h"

#include "agent/launch/rendezvous.h"
#include "agent/terminal/terminal.h"
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "holter/session.h"
#include "holter/waiting.h"
#include "proto/client.h"
#include "proto/host.h"
#include "proto/quantity.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
/* For the agents, which try to send for 5 s, and at most for a minute as long as they succeed. */
#define LEAVE_TIMEOUT (8 * SECOND)
#define LEAVE_MAXIMUM (65 * SECOND)
#define ANSWER_TIMEOUT (10 * SECOND) /**< for one answer of the daemon, which may be busy */
#define MAX_JOBS 4096u
#define KEPT_JOBS 64u /**< the daemon knows at least as many that have ended */

/* ---- asking -------------------------------------------------------------- */

typedef void take(void *user, const struct wire_message *message);

/** Ask and take all answers. @return 0, the daemon's error, or -HOLTER_ETIMEOUT */
static int run_report_ask(struct client *client, const char *op, const char *job,
                          const char *topics, take *each, void *user)
{
    uint64_t deadline = clock_mono_ns() + ANSWER_TIMEOUT;
    int64_t id = client_ask(client, op, job, topics, NULL);
    if (id < 0)
        return (int)id;
    while (clock_mono_ns() < deadline) {
        struct client_message got;
        int rc = client_next(client, 50, &got);
        if (rc < 0)
            return rc;
        if (rc == 0 || got.id != (uint64_t)id)
            continue;
        if (got.message->type == WIRE_TYPE_REPLY)
            return got.message->reply.code < 0 ? (int)got.message->reply.code : 0;
        each(user, got.message);
    }
    return -HOLTER_ETIMEOUT;
}

/* ---- waiting for the agents ---------------------------------------------- */

struct presence {
    const struct run_session *session;
    uint64_t agents;
    uint64_t jobs;     /**< ours */
    uint64_t running;  /**< of our jobs */
    uint64_t messages; /**< that agents have sent to the daemon */
};

/** A daemon of somebody else may have jobs of other commands of the same job of the scheduler. */
static int run_report_is_ours(const struct run_session *s, const char *job, const char *session)
{
    char prefix[64];
    session_job_id(prefix, s->job, "");
    return job != NULL && text_begins(job, prefix) &&
           (session == NULL || session[0] == '\0' || strcmp(session, s->key) == 0);
}

static void run_report_store_status(void *user, const struct wire_message *message)
{
    struct presence *p = user;
    if (message->type != WIRE_TYPE_STATUS)
        return;
    p->agents = message->status.agents;
    p->messages = message->status.messages;
    for (uint64_t i = 0; i < message->status.jobs_count; i++) {
        const struct wire_job_row *job = &message->status.jobs[i];
        int ours = job->daemon[0] == '\0' && run_report_is_ours(p->session, job->job, job->session);
        p->jobs += (uint64_t)ours;
        p->running += ours && strcmp(job->state, "running") == 0;
    }
}

/** The daemon knows only of agents that have reported to it: one that was restarted may know
 *  of none, and another one not of that of a short job. The one of this host has a directory
 *  until it leaves; of those on other hosts, a daemon that was restarted has to know a job. */
static int run_report_is_expecting(const struct run_session *s, const struct presence *p)
{
    char run_dir[PATH_MAX];
    struct rendezvous here;
    if (s->restarted == 0 && p->jobs > 0)
        return 0;
    if (s->restarted > 0 && s->remote[0] != '\0' && p->jobs == 0)
        return 1;
    return session_run_dir(run_dir, sizeof run_dir) == 0 &&
           rendezvous_init(&here, run_dir, s->key) == 0 && access(here.dir, F_OK) == 0;
}

/** @return 1 when all is reported, 0 when patience ended, or a negative error */
static int run_report_await_agents(struct client *client, const struct run_session *s)
{
    const uint64_t last = clock_mono_ns() + LEAVE_MAXIMUM;
    uint64_t deadline = 0, messages = 0;
    for (;;) {
        struct presence p = {.session = s};
        struct client_message unused;
        int rc = run_report_ask(client, "status", NULL, NULL, run_report_store_status, &p);
        if (rc < 0)
            return rc;
        /* A daemon of somebody else keeps agents of other sessions. */
        if (p.running == 0 && (p.agents == 0 || !s->daemon_wanted) &&
            !run_report_is_expecting(s, &p))
            return 1;
        const uint64_t now = clock_mono_ns();
        if (deadline == 0 || p.messages != messages)
            deadline = now + LEAVE_TIMEOUT;
        messages = p.messages;
        if (now > deadline || now > last || run_child_end_requested())
            return 0;
        client_next(client, 20, &unused); /* the pause between two questions */
    }
}

/* ---- asking about the jobs ----------------------------------------------- */

struct listing {
    struct run_report *report;
    const struct run_session *session;
};

static void run_report_store_job(void *user, const struct wire_message *message)
{
    struct listing *l = user;
    struct run_report *r = l->report;
    if (message->type != WIRE_TYPE_JOB || r->count == MAX_JOBS ||
        !run_report_is_ours(l->session, message->job.job, message->job.session))
        return;
    struct run_job *jobs = realloc(r->jobs, (r->count + 1) * sizeof *jobs);
    if (jobs == NULL)
        return;
    r->jobs = jobs;
    struct run_job *job = &jobs[r->count++];
    *job = (struct run_job){.ranks = message->job.world,
                            .watched = message->job.seen,
                            .window_ns = message->job.window_ns,
                            .span = message->job.span};
    text_copy(job->id, sizeof job->id, message->job.job);
    text_copy(job->app, sizeof job->app, message->job.app);
    text_copy(job->state, sizeof job->state, message->job.state);
    text_copy(job->recording, sizeof job->recording, message->job.recording);
    text_copy(job->network, sizeof job->network, message->job.network_fault);
    /* Of a lost job the daemon has the end of the last window that came, not that of the job. */
    if (strcmp(job->state, "lost") != 0 && message->job.end_ns > message->job.start_ns)
        job->windows_ns = message->job.end_ns - message->job.start_ns;
}

static void run_report_store_sums(void *user, const struct wire_message *message)
{
    struct run_job *job = user;
    if (message->type == WIRE_TYPE_PLACES && message->places.hosts_count > job->nodes)
        job->nodes = message->places.hosts_count;
    if (message->type == WIRE_TYPE_NODES)
        for (uint64_t i = 0; i < message->nodes.nodes_count; i++)
            job->windows_dropped += message->nodes.nodes[i].windows_dropped;
    if (message->type == WIRE_TYPE_TOTALS) { /* the last one is the newest */
        job->matched = message->totals.matched;
        job->unmatched = message->totals.unmatched;
        job->of_unwatched = message->totals.unwatched;
    }
    if (message->type == WIRE_TYPE_ALERT && strcmp(message->alert.kind, "recording-stopped") == 0)
        job->recording_stopped = 1;
    if (message->type != WIRE_TYPE_RANK_WINDOW)
        return;
    const uint64_t windows_ns = message->rank_window.length_ns * message->rank_window.windows;
    for (uint64_t i = 0; i < message->rank_window.ranks_count; i++) {
        const struct wire_rank_row *row = &message->rank_window.ranks[i];
        const uint64_t ranks = row->ranks > 1 ? row->ranks : 1; /* of a group */
        const double there_ns =
            job->windows_ns == 0 ? 0 : ranks_time_ns(ranks, windows_ns, row->absent_ns);
        job->rank_ns += there_ns;
        if (there_ns / (double)ranks > (double)job->duration_ns)
            job->duration_ns = (uint64_t)(there_ns / (double)ranks);
        job->messages += row->sent;
        job->bytes += row->sent_bytes;
        job->lost += row->lost;
        job->untracked += row->untracked;
        job->tallied += row->tallied;
        job->mpi_ns += MPI_NS(row);
        job->waiting_ns += WAITING_NS(row);
    }
}

static int run_report_collect_status(struct run_report *report, struct client *client,
                                     const struct run_session *s)
{
    int rc = run_report_await_agents(client, s);
    if (rc < 0)
        return rc;
    report->complete = rc;
    struct listing listing = {report, s};
    rc = run_report_ask(client, "jobs", NULL, NULL, run_report_store_job, &listing);
    for (unsigned i = 0; rc == 0 && i < report->count; i++)
        rc = run_report_ask(client, "snapshot", report->jobs[i].id,
                            "ranks,places,totals,nodes,alerts", run_report_store_sums,
                            &report->jobs[i]);
    return rc;
}

/** Asked for last: what a job's end raised has been given to the sinks by then. */
static void run_report_store_sink(void *user, const struct wire_message *message)
{
    struct run_report *r = user;
    if (message->type == WIRE_TYPE_STATUS && message->status.sink_error != NULL)
        text_copy(r->sink_error, sizeof r->sink_error, message->status.sink_error);
}

int run_report_collect(struct run_report *report, const struct run_session *session,
                       uint64_t elapsed_ns)
{
    struct client *client = NULL;
    struct client_options options = {
        .endpoint = session->local,
        .key_dir = session->keys[0] == '\0' ? NULL : session->keys,
        .role = ROLE_VIEWER,
    };
    int rc = client_create(&client, &options);
    if (rc == 0)
        rc = run_report_collect_status(report, client, session);
    if (rc == 0 && session->daemon_wanted)
        run_report_ask(client, "status", NULL, NULL, run_report_store_sink, report);
    client_destroy(client);
    report->explained = run_owners_have_note(session, "unwatched.");
    report->uninitialised = run_owners_have_note(session, "uninitialised");
    for (unsigned i = 0; i < report->count; i++) {
        struct run_job *job = &report->jobs[i];
        /* A job that ended before its agent knew the daemon's clock: its ranks are absent in all of
         * its windows. Its end is known all the same. */
        if (job->duration_ns == 0)
            job->duration_ns = job->windows_ns;
        if (job->duration_ns > elapsed_ns)
            job->duration_ns = elapsed_ns;
        if (job->ranks <= 1)
            run_owners_read_alone(session, job->id, job->alone, sizeof job->alone);
    }
    return rc;
}

void run_report_finish(struct run_report *report)
{
    free(report->jobs);
    *report = (struct run_report){0};
}

/* ---- names of recordings ------------------------------------------------- */

static int run_report_append(char *out, size_t capacity, const char *text, size_t length)
{
    size_t used = strlen(out);
    if (used + length >= capacity)
        return -HOLTER_ERANGE;
    memcpy(out + used, text, length);
    out[used + length] = '\0';
    return 0;
}

int run_output_name(char *out, size_t capacity, const char *output, const char *job,
                    const char *host, unsigned index)
{
    int named = 0, rc = 0;
    const char *end = strrchr(output, '.');
    if (capacity == 0)
        return -HOLTER_ERANGE;
    if (end == NULL || strchr(end, '/') != NULL)
        end = output + strlen(output);
    out[0] = '\0';
    for (const char *p = output; rc == 0; p++) {
        if (p == end && index > 0 && !named) {
            rc = run_report_append(out, capacity, "-", 1);
            if (rc == 0)
                rc = run_report_append(out, capacity, job, strlen(job));
        }
        if (*p == '\0' || rc < 0)
            break;
        const char *value = p[0] != '%' ? NULL : p[1] == 'j' ? job : p[1] == 'h' ? host : NULL;
        named |= value == job && value != NULL;
        rc = value == NULL ? run_report_append(out, capacity, p, 1)
                           : run_report_append(out, capacity, value, strlen(value));
        p += value != NULL;
    }
    return rc;
}

/** Nothing is, where not even the first second could be written, or where somebody took the file
 * away. */
static int run_report_is_recorded(const struct run_job *job)
{
    return access(job->recording, F_OK) == 0;
}

void run_report_rename(struct run_report *report, const char *output)
{
    char host[HOST_NAME_CAPACITY];
    host_name(host);
    for (unsigned i = 0; i < report->count; i++) {
        struct run_job *job = &report->jobs[i];
        char name[sizeof job->recording];
        if (job->recording[0] == '\0' || !run_report_is_recorded(job))
            continue;
        int rc = run_output_name(name, sizeof name, output, job->id, host, i);
        char renamed[sizeof job->recording];
        if (rc == 0)
            rc = recording_rename(job->recording, name, renamed, sizeof renamed);
        if (rc < 0)
            terminal_print("%s: cannot be renamed as -o wants: %s", job->recording,
                           holter_strerror(rc));
        else
            strcpy(job->recording, renamed);
    }
}

/* ---- the closing line ---------------------------------------------------- */

/** A path as short as it can be said here. */
static const char *run_report_describe_path(const char *path)
{
    static char here[PATH_MAX];
    if (getcwd(here, sizeof here) == NULL || strncmp(path, here, strlen(here)) != 0 ||
        path[strlen(here)] != '/')
        return path;
    return path + strlen(here) + 1;
}

/** Write "3 ranks not watched, " if there are any. */
static void run_report_write_count(FILE *out, uint64_t count, const char *noun, const char *what)
{
    if (count > 0)
        fprintf(out, "%s %s%s %s, ", quantity_grouped(count).text, noun, count == 1 ? "" : "s",
                what);
}

static void run_report_write_losses(FILE *out, const struct run_job *job)
{
    uint64_t unwatched = job->watched < job->ranks ? job->ranks - job->watched : 0;
    long begin = ftell(out);
    run_report_write_count(out, unwatched, "rank", "not watched");
    run_report_write_count(out, job->untracked, "request", "not tracked");
    run_report_write_count(out, job->tallied, "record", "summed unread");
    if (job->of_unwatched > 0)
        fprintf(out, "%s received from ranks that are not watched, ",
                quantity_grouped(job->of_unwatched).text);
    if (job->unmatched > 0)
        fprintf(out, "%s of %s received messages matched, ",
                quantity_matched(job->matched, job->unmatched).text,
                quantity_grouped(job->matched + job->unmatched).text);
    if (job->lost == 0 && job->windows_dropped == 0)
        fprintf(out, "nothing%s lost%s", ftell(out) > begin ? " else" : "",
                job->duration_ns == 0 ? " until its last window" : "");
    else if (job->windows_dropped == 0)
        fprintf(out, "%s events lost", quantity_grouped(job->lost).text);
    else
        fprintf(out, "%s events and %s windows lost", quantity_grouped(job->lost).text,
                quantity_grouped(job->windows_dropped).text);
}

static void run_report_write_recording(FILE *out, const struct run_job *job)
{
    const char *path = run_report_describe_path(job->recording);
    int recorded = run_report_is_recorded(job);
    if (recorded)
        fprintf(out, "; recorded in %s%s", path, job->recording_stopped ? ", not to its end" : "");
    else if (job->recording_stopped)
        fprintf(out, "; not recorded");
    else
        fprintf(out, "; its recording %s has another name now, or is gone", path);
}

/* Threads of a rank that are in MPI at the same time count each: their share may be over 1. */
static unsigned run_report_percent(double share)
{
    return (unsigned)lround(100 * fmin(share, 1));
}

static void run_report_print_job(const struct run_job *job)
{
    char *line = NULL;
    size_t length;
    FILE *out = open_memstream(&line, &length);
    if (out == NULL)
        return;
    fprintf(out, "job %s (%s): %s%" PRIu64 " rank%s on %" PRIu64 " node%s, %s, %s message%s, %s, ",
            job->id, text_base_name(job->app), strcmp(job->state, "died") == 0 ? "died; " : "",
            job->ranks, job->ranks == 1 ? "" : "s", job->nodes, job->nodes == 1 ? "" : "s",
            job->duration_ns == 0 ? "end not seen"
                                  : quantity_duration((double)job->duration_ns).text,
            quantity_grouped(job->messages).text, job->messages == 1 ? "" : "s",
            quantity_bytes((double)job->bytes).text);
    if (job->rank_ns > 0)
        fprintf(out, "%u %% of the time in MPI, %u %% waiting, ",
                run_report_percent((double)job->mpi_ns / job->rank_ns),
                run_report_percent((double)job->waiting_ns / job->rank_ns));
    run_report_write_losses(out, job);
    if (job->recording[0] != '\0')
        run_report_write_recording(out, job);
    fclose(out);
    terminal_print("%s", line);
    free(line);
}

static void run_report_print_span(const struct run_job *job)
{
    terminal_print("job %s: windows of %s hold less than two iterations; growth is judged more "
                   "surely with windows of %s (--window)",
                   job->id, quantity_duration((double)job->window_ns).text,
                   quantity_duration((double)(job->span * job->window_ns)).text);
}

void run_report_print(const struct run_report *report)
{
    for (unsigned i = 0; i < report->count; i++) {
        run_report_print_job(&report->jobs[i]);
        if (report->jobs[i].alone[0] != '\0')
            terminal_print("job %s: %s", report->jobs[i].id, report->jobs[i].alone);
        if (report->jobs[i].network[0] != '\0')
            terminal_print("job %s: network: %s", report->jobs[i].id, report->jobs[i].network);
        if (report->jobs[i].span > 1)
            run_report_print_span(&report->jobs[i]);
    }
    if (report->sink_error[0] != '\0')
        terminal_print("not all alerts were delivered: %s", report->sink_error);
    if (report->count == 0 && report->uninitialised && report->complete)
        terminal_print("no job was seen: its processes ended before MPI_Init had returned, or are "
                       "in another PID namespace than the agent");
    else if (report->count == 0 && !report->explained && report->complete)
        terminal_print(
            "no program that initialised MPI was seen; one whose launcher a script calls "
            "by a path, or finds through another PATH, needs `holter exec` before it, "
            "and one into which MPI is linked statically cannot be watched");
    if (!report->complete)
        terminal_print(report->count > 0
                           ? "some agents had not left yet: the last figures may be missing"
                           : "no agent has reported a job: what its ranks did is missing");
}

/** Is it a recording of one of these jobs? */
static int run_report_is_listed(const struct run_report *report, const char *name)
{
    for (unsigned i = 0; i < report->count; i++) {
        size_t length = strlen(report->jobs[i].id);
        const char *end = name + strlen("holter-") + length;
        if (strncmp(name + strlen("holter-"), report->jobs[i].id, length) == 0 &&
            (*end == '.' || *end == '-'))
            return 1;
    }
    return 0;
}

/** Recordings of jobs that the daemon does not know any more: they had ended before a restart, or
 * before many others. */
static unsigned run_report_count_unlisted(const struct run_report *report,
                                          const struct run_session *s)
{
    char begin[96] = "holter-";
    unsigned count = 0;
    DIR *d = s->record[0] == '\0' ? NULL : opendir(s->record);
    session_job_id(begin + strlen(begin), s->job, "");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct stat status;
        count += text_begins(e->d_name, begin) && text_ends(e->d_name, ".hrec") &&
                 !recording_is_part(e->d_name) && fstatat(dirfd(d), e->d_name, &status, 0) == 0 &&
                 status.st_mtime >= s->started && !run_report_is_listed(report, e->d_name);
    }
    if (d != NULL)
        closedir(d);
    return count;
}

void run_report_print_earlier(const struct run_report *report, const struct run_session *s)
{
    if (report->count < KEPT_JOBS || s->crashes.count > 0)
        return;
    const unsigned earlier = run_report_count_unlisted(report, s);
    if (earlier > 0)
        terminal_print("%u more job%s ended before these, recorded in %s", earlier,
                       earlier == 1 ? "" : "s", s->record);
}

static const char *run_report_describe_restarts(char *out, size_t capacity,
                                                const struct run_session *s)
{
    out[0] = '\0';
    if (s->restarted > 0)
        text_append(out, capacity, "was restarted %u time%s", s->restarted,
                    s->restarted == 1 ? "" : "s");
    if (s->start_fault[0] != '\0')
        text_append(out, capacity, "%s not be restarted: %s",
                    out[0] != '\0' ? "; then it could" : "could", s->start_fault);
    return out;
}

void run_report_print_crashes(const struct run_report *report, const struct run_session *s,
                              int collected)
{
    char text[512] = "", restarts[400];
    uint64_t windows = 0, ends = 0;
    if (s->crashes.count == 0)
        return;
    FILE *missing = fmemopen(text, sizeof text, "w");
    if (missing == NULL)
        return;
    for (unsigned i = 0; i < report->count; i++) {
        windows += report->jobs[i].windows_dropped;
        ends += report->jobs[i].duration_ns == 0;
    }
    unsigned earlier = collected ? run_report_count_unlisted(report, s) : 0;
    if (!collected)
        fprintf(missing, ", all since its last end");
    if (s->record[0] == '\0')
        fprintf(missing, ", what it had counted before, as nothing is recorded");
    if (windows > 0)
        fprintf(missing, ", %" PRIu64 " windows", windows);
    if (ends > 0)
        fprintf(missing, ", the end of %" PRIu64 " job%s", ends, ends == 1 ? "" : "s");
    if (earlier > 0)
        fprintf(missing, ", the line%s of %u job%s that ended before, recorded in %s",
                earlier == 1 ? "" : "s", earlier, earlier == 1 ? "" : "s", s->record);
    fclose(missing);
    terminal_print("holterd crashed and %s; missing: %s",
                   run_report_describe_restarts(restarts, sizeof restarts, s),
                   text[0] == '\0' ? "nothing" : text + 2);
}
