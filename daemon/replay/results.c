#include "daemon/replay/results.h"

#include "daemon/replay/replay_feeder.h"
#include "daemon/replay/replay_network.h"
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "holter/error.h"

#include <stdlib.h>
#include <string.h>

#define PROGRESS_NS UINT64_C(100000000)

struct results {
    struct replay_options options;
    struct network network;
    struct recording *recording;
    FILE *progress;
    uint64_t begin_ns, end_ns;
    uint64_t progress_ns; /* CLOCK_MONOTONIC */
    int code;             /* of writing */
};

/* The row of the job says already what it is of, and how it came about. */
static void results_on_table(void *user, enum wire_type type, const void *message)
{
    struct results *s = user;
    if (s->code == 0 && type != WIRE_TYPE_JOB)
        s->code = recording_table(s->recording, type, message);
}

static int results_on_message(void *user, const struct replay_place *place)
{
    struct results *s = user;
    uint64_t now = clock_mono_ns();
    if (s->progress == NULL || now - s->progress_ns < PROGRESS_NS)
        return s->code == 0;
    s->progress_ns = now;
    uint64_t all = s->end_ns - s->begin_ns, done = place->time_ns - s->begin_ns;
    fprintf(s->progress, "%.4f\n",
            all == 0 || place->time_ns < s->begin_ns || done > all ? 0
                                                                   : (double)done / (double)all);
    fflush(s->progress);
    return s->code == 0;
}

/* What the recording says of itself; it says how long its windows are. */
static int results_read_recording(struct results *s, char *why, size_t capacity)
{
    struct replay_options *o = &s->options;
    struct recording_cursor *cursor;
    int code = recording_cursor_open(&cursor, o->file, why, capacity);
    if (code != 0)
        return code;
    o->server.window_ns = recording_cursor_window_ns(cursor);
    o->grace_ns = o->grace_given ? o->grace_ns : server_default_grace(o->server.window_ns);
    code = replay_network_read(&s->network, o, cursor, why, capacity);
    int told = code != 0;
    code = code != 0 ? code : recording_cursor_span(cursor, &s->begin_ns, &s->end_ns);
    recording_cursor_close(cursor);
    if (code != 0 && !told)
        snprintf(why, capacity, "%s: %s", o->file, holter_strerror(code));
    return code;
}

static int results_run(struct results *s, const struct rules *rules, char *why, size_t capacity)
{
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    const struct replay_feeder_options feeder_options = {.options = &s->options,
                                                         .network = &s->network,
                                                         .rules = rules,
                                                         .user = s,
                                                         .table = results_on_table};
    struct replay_feeder *feeder;
    int code = replay_feeder_create(&feeder, &feeder_options, why, capacity);
    if (code != 0)
        return code;
    replay_feeder_run(feeder, &end, results_on_message, s);
    replay_feeder_destroy(feeder, s->end_ns);
    if (s->code != 0)
        snprintf(why, capacity, "%s: %s", s->options.file,
                 s->code == -EIO ? recording_error(s->recording) : holter_strerror(s->code));
    return s->code;
}

int results_make(const struct replay_options *options, const struct rules *rules, FILE *progress,
                 char *why, size_t capacity)
{
    struct results s = {.options = *options, .progress = progress};
    int code = results_read_recording(&s, why, capacity);
    if (code == 0)
        code = recording_open(&s.recording, options->file, why, capacity);
    if (code == 0) {
        code = results_run(&s, rules, why, capacity);
        if (code != 0) {
            recording_abandon(s.recording);
        } else {
            char said[200];
            code = recording_close_telling(s.recording, said, sizeof(said));
            if (code != 0)
                snprintf(why, capacity, "%s: %s", options->file, said);
        }
    }
    network_finish(&s.network);
    return code;
}
