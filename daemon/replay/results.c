/* Replays a recording into its own tables. */
#include "daemon/replay/results.h"

#include "daemon/replay/replay_feeder.h"
#include "daemon/replay/replay_network.h"
#include "daemon/storage/recording.h"
#include "holter/clock.h"
#include "holter/error.h"

#define PROGRESS_NS UINT64_C(100000000)

struct results {
    struct replay_options options;
    struct network network;
    struct recording *recording;
    FILE *progress;
    uint64_t begin_ns, end_ns;
    uint64_t progress_ns; /* CLOCK_MONOTONIC */
    int code;             /* error of writing; 0: none */
};

/* The recording has the row of its job already. */
static void results_on_table(void *user, enum wire_type type, const void *message)
{
    struct results *results = user;
    if (results->code == 0 && type != WIRE_TYPE_JOB)
        results->code = recording_write_result(results->recording, type, message);
}

static int results_on_message(void *user, const struct replay_place *place)
{
    struct results *results = user;
    uint64_t now = clock_mono_ns();
    if (results->progress == NULL || now - results->progress_ns < PROGRESS_NS)
        return results->code == 0;
    results->progress_ns = now;
    uint64_t all = results->end_ns - results->begin_ns, done = place->time_ns - results->begin_ns;
    fprintf(results->progress, "%.4f\n",
            all == 0 || place->time_ns < results->begin_ns || done > all
                ? 0
                : (double)done / (double)all);
    fflush(results->progress);
    return results->code == 0;
}

/* Read the length of windows, the network and the span of the recording. */
static int results_read_recording(struct results *results, char *why, size_t capacity)
{
    struct replay_options *o = &results->options;
    struct recording_cursor *cursor;
    int code = recording_cursor_open(&cursor, o->file, why, capacity);
    if (code != 0)
        return code;
    o->server.window_ns = recording_cursor_window_ns(cursor);
    o->grace_ns = o->grace_given ? o->grace_ns : server_default_grace(o->server.window_ns);
    code = replay_network_read(&results->network, o, cursor, why, capacity);
    int explained = code != 0;
    code = code != 0 ? code : recording_cursor_span(cursor, &results->begin_ns, &results->end_ns);
    recording_cursor_close(cursor);
    if (code != 0 && !explained)
        snprintf(why, capacity, "%s: %s", o->file, holter_strerror(code));
    return code;
}

static int results_run(struct results *results, const struct rules *rules, char *why,
                       size_t capacity)
{
    const struct replay_target end = {REPLAY_TO_TIME, UINT64_MAX};
    const struct replay_feeder_options feeder_options = {.options = &results->options,
                                                         .network = &results->network,
                                                         .rules = rules,
                                                         .user = results,
                                                         .table = results_on_table};
    struct replay_feeder *feeder;
    int code = replay_feeder_create(&feeder, &feeder_options, why, capacity);
    if (code != 0)
        return code;
    replay_feeder_run(feeder, &end, results_on_message, results);
    replay_feeder_destroy(feeder, results->end_ns);
    if (results->code != 0)
        snprintf(why, capacity, "%s: %s", results->options.file,
                 results->code == -EIO ? recording_error(results->recording)
                                       : holter_strerror(results->code));
    return results->code;
}

int results_make(const struct replay_options *options, const struct rules *rules, FILE *progress,
                 char *why, size_t capacity)
{
    struct results results = {.options = *options, .progress = progress};
    int code = results_read_recording(&results, why, capacity);
    if (code == 0)
        code = recording_open(&results.recording, options->file, why, capacity);
    if (code == 0) {
        code = results_run(&results, rules, why, capacity);
        if (code != 0) {
            recording_abandon(results.recording);
        } else {
            char fault[200];
            code = recording_close_with_error(results.recording, fault, sizeof(fault));
            if (code != 0)
                snprintf(why, capacity, "%s: %s", options->file, fault);
        }
    }
    network_finish(&results.network);
    return code;
}
