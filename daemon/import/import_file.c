/* The recording file of an import: job, network, ranks and window messages. A file that cannot be
 * finished is removed. */
#include "daemon/import/import_file.h"

#include "daemon/storage/recording.h"
#include "daemon/topology/network_message.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Messages of a window arrive at most so long after its end. */
#define ARRIVAL_NS UINT64_C(5000000)
/* ... and at most a window divided by this, which is earlier than the daemon's timeout. */
#define ARRIVAL_PART 8u

void import_job_name(char out[IMPORT_JOB_NAME], const char *name, size_t length,
                     const char *otherwise)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < IMPORT_JOB_NAME; i++)
        if (text_is_id_byte(name[i]) && (used > 0 || name[i] != '.'))
            out[used++] = name[i];
    out[used] = '\0';
    if (used == 0)
        snprintf(out, IMPORT_JOB_NAME, "%s", otherwise);
}

struct import_file {
    const struct import_job *job;
    struct recording *recording;
    struct wire_buffer buffer;
    uint64_t *seq;           /* by host: sequence number of its next message */
    uint32_t *ranks, *first; /* ranks by host: ranks[first[h]] .. ranks[first[h + 1] - 1] */
    uint32_t seen;           /* number of ranks that are on a host */
    uint64_t begin_ns;
    const char *error;
    char *path; /* owned */
};

static int import_file_group_ranks(struct import_file *f)
{
    const struct import_job *job = f->job;
    f->seq = calloc((size_t)job->host_count + 1, sizeof(*f->seq));
    f->first = calloc((size_t)job->host_count + 2, sizeof(*f->first));
    f->ranks = calloc((size_t)job->ranks + 1, sizeof(*f->ranks));
    if (f->seq == NULL || f->first == NULL || f->ranks == NULL)
        return -ENOMEM;
    for (uint32_t h = 0; h < job->host_count; h++)
        f->seq[h] = 1;
    for (uint32_t r = 0; r < job->ranks; r++) {
        if (job->host_of[r] == IMPORT_NOWHERE)
            continue;
        f->first[job->host_of[r] + 2]++;
        f->seen++;
    }
    for (uint32_t h = 0; h < job->host_count; h++)
        f->first[h + 2] += f->first[h + 1];
    for (uint32_t r = 0; r < job->ranks; r++)
        if (job->host_of[r] != IMPORT_NOWHERE)
            f->ranks[f->first[job->host_of[r] + 1]++] = r;
    return 0;
}

uint32_t import_file_ranks(const struct import_file *f, uint32_t host, const uint32_t **out)
{
    *out = f->ranks + f->first[host];
    return f->first[host + 1] - f->first[host];
}

uint64_t import_file_first_window(const struct import_file *f)
{
    return f->begin_ns / f->job->window_ns;
}

uint64_t *import_file_seq(struct import_file *f, uint32_t host)
{
    return &f->seq[host];
}

/* ---- messages -------------------------------------------------------------- */

static int import_file_write_message(struct import_file *f, const struct recorded *head,
                                     const void *bytes, size_t length)
{
    int code = recording_write_message(f->recording, head, bytes, length);
    if (code != 0)
        f->error = code == -EIO ? recording_error(f->recording) : holter_strerror(code);
    return code;
}

int import_file_encoded(struct import_file *f, uint32_t host, const struct import_message *message)
{
    uint64_t window_ns = f->job->window_ns, delay = window_ns / ARRIVAL_PART;
    struct recorded head = {.type = message->type,
                            .instance = (uint64_t)host + 1,
                            .seq = message->seq,
                            .window = message->window,
                            .time_ns = message->window * window_ns,
                            .received_ns = (message->window + 1) * window_ns +
                                           (delay < ARRIVAL_NS ? delay : ARRIVAL_NS)};
    return import_file_write_message(f, &head, message->bytes, message->length);
}

int import_file_window(struct import_file *f, uint32_t host, struct wire_window *message)
{
    message->seq = f->seq[host]++;
    int code = wire_encode(&f->buffer, WIRE_TYPE_WINDOW, message);
    if (code != 0) {
        f->error = holter_strerror(code);
        return code;
    }
    return import_file_encoded(f, host,
                               &(struct import_message){WIRE_TYPE_WINDOW, message->seq,
                                                        message->window, f->buffer.bytes,
                                                        f->buffer.length});
}

static int import_file_write_ranks(struct import_file *f, uint32_t host)
{
    const uint32_t *ranks;
    uint32_t count = import_file_ranks(f, host, &ranks);
    if (count == 0)
        return 0;
    struct wire_member_row *members = calloc(count, sizeof(*members));
    if (members == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        members[i].rank = ranks[i];
    struct wire_ranks message = {.seq = f->seq[host]++,
                                 .job = f->job->name,
                                 .world = f->job->ranks,
                                 .app = f->job->app,
                                 .mpi = f->job->mpi,
                                 .command = f->job->command,
                                 .host = f->job->hosts[host],
                                 .members = members,
                                 .members_count = count};
    struct recorded head = {.type = WIRE_TYPE_RANKS,
                            .instance = (uint64_t)host + 1,
                            .seq = message.seq,
                            .time_ns = f->begin_ns,
                            .received_ns = f->begin_ns};
    int code = wire_encode(&f->buffer, WIRE_TYPE_RANKS, &message);
    if (code != 0)
        f->error = holter_strerror(code);
    else
        code = import_file_write_message(f, &head, f->buffer.bytes, f->buffer.length);
    free(members);
    return code;
}

/* ---- tables ---------------------------------------------------------------- */

struct keeping {
    struct import_file *file;
    int code;
};

static void import_file_copy_network(void *user, const struct wire_topology *message)
{
    struct keeping *k = user;
    if (k->code == 0)
        k->code = recording_write_result(k->file->recording, WIRE_TYPE_TOPOLOGY, message);
}

static int import_file_write_network(struct import_file *f)
{
    struct keeping keeping = {f, 0};
    struct wire_seat_row none = {0};
    if (f->job->network == NULL)
        return 0;
    struct network_publication telling = {.job = f->job->name,
                                          .source = f->job->network_source,
                                          .fault = "",
                                          .spec = topology_spec(f->job->network),
                                          .seats = &none};
    network_message(&telling, import_file_copy_network, &keeping);
    return keeping.code;
}

static int import_file_write_job(struct import_file *f, uint64_t windows)
{
    const struct import_job *job = f->job;
    struct wire_job row = {.job = job->name,
                           .state = "ended",
                           .app = job->app,
                           .command = job->command,
                           .mpi = job->mpi,
                           .world = job->ranks,
                           .seen = f->seen,
                           .start_ns = f->begin_ns,
                           .end_ns = f->begin_ns + windows * job->window_ns,
                           .window_ns = job->window_ns};
    return recording_write_result(f->recording, WIRE_TYPE_JOB, &row);
}

/* ---- begin and end --------------------------------------------------------- */

static int import_file_begin(struct import_file *f, const char *path, char *why, size_t capacity)
{
    struct stat status;
    int code = import_file_group_ranks(f);
    if (code != 0)
        return code;
    if (stat(path, &status) == 0 && status.st_size > 0) {
        snprintf(why, capacity, "%s", holter_strerror(-EEXIST));
        return -EEXIST;
    }
    char recorded_why[600];
    code = recording_open(&f->recording, path, recorded_why, sizeof(recorded_why));
    if (code != 0) {
        snprintf(why, capacity, "%s", recording_error_without_path(recorded_why, path));
        return code;
    }
    code = import_file_write_network(f);
    for (uint32_t h = 0; code == 0 && h < f->job->host_count; h++)
        code = import_file_write_ranks(f, h);
    if (code != 0)
        snprintf(why, capacity, "%s", f->error[0] != '\0' ? f->error : holter_strerror(code));
    return code;
}

static void import_file_finish(struct import_file *f)
{
    wire_buffer_finish(&f->buffer);
    free(f->path);
    free(f->seq);
    free(f->first);
    free(f->ranks);
    free(f);
}

int import_file_create(struct import_file **out, const char *path, const struct import_job *job,
                       char *why, size_t capacity)
{
    struct import_file *f = calloc(1, sizeof(*f));
    snprintf(why, capacity, "no memory");
    if (f == NULL)
        return -ENOMEM;
    uint64_t begin_ns = job->begin_ns != 0 ? job->begin_ns : IMPORT_BEGIN_NS;
    f->job = job;
    f->begin_ns = begin_ns / job->window_ns * job->window_ns;
    f->error = "";
    f->path = strdup(path);
    int code = f->path == NULL ? -ENOMEM : import_file_begin(f, path, why, capacity);
    if (code != 0) {
        import_file_close(f, code, 0, NULL, 0);
        return code;
    }
    *out = f;
    return 0;
}

/* Write the job's end record, which marks it as complete, and close the recording. */
static int import_file_end(struct import_file *f, uint64_t windows, char *why, size_t capacity)
{
    int code = import_file_write_job(f, windows);
    if (code == 0)
        return recording_close_with_error(f->recording, why, capacity);
    snprintf(why, capacity, "%s", recording_error(f->recording));
    recording_abandon(f->recording);
    return code;
}

int import_file_close(struct import_file *f, int code, uint64_t windows, char *why, size_t capacity)
{
    if (f == NULL)
        return code;
    if (f->recording != NULL) {
        if (code == 0)
            code = import_file_end(f, windows, why, capacity);
        else
            recording_abandon(f->recording);
        if (code != 0)
            recording_remove(f->path);
    }
    import_file_finish(f);
    return code;
}

const char *import_file_error(const struct import_file *f)
{
    return f->error;
}
