/* Feeds the messages of a recording to the jobs. */
#include "daemon/replay/replay_feeder.h"

#include "daemon/server/publish.h"
#include "daemon/storage/recording_blocks.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_TOPIC "replay"
/* Limits of a job, as in a live daemon. */
#define MAXIMUM_PAIRS 131072u
#define LOST_NS UINT64_C(30000000000)

struct replay_feeder {
    struct replay_feeder_options options;
    struct recording_cursor *cursor; /* NULL: closed, or the end was fed */
    struct jobs *jobs;
    struct publisher *publisher;
    struct wire_arena arena;
    uint64_t number;   /* of the last message that was fed or skipped */
    uint64_t time_ns;  /* when it was received */
    uint64_t messages; /* number of messages fed */
    uint64_t steps;
    uint64_t next_window; /* see job_next_window() */
    int ended, muted;
    int exhausted; /* no message follows */
    char fault[257];
    /* The next message, if it was peeked at. */
    int has_next;
    struct recorded head;
    struct wire_message message; /* in the arena */
    size_t length;
    int message_fault; /* error code of the message; 0: it is valid */
};

/* ---- life ------------------------------------------------------------------------ */

static void replay_feeder_on_alert(void *user, const struct wire_alert *alert)
{
    struct replay_feeder *feeder = user;
    if (feeder->options.alert != NULL && !feeder->muted)
        feeder->options.alert(feeder->options.user, alert);
}

static void replay_feeder_on_table(void *user, enum wire_type type, const void *message)
{
    struct replay_feeder *feeder = user;
    feeder->options.table(feeder->options.user, type, message);
}

static void replay_feeder_on_acknowledged(void *user, uint64_t instance, uint64_t seq)
{
    (void)user; /* there are no agents */
    (void)instance;
    (void)seq;
}

int replay_feeder_create(struct replay_feeder **out, const struct replay_feeder_options *options,
                         char *why, size_t capacity)
{
    struct replay_feeder *feeder = calloc(1, sizeof(*feeder));
    const struct replay_options *o = options->options;
    struct job_fault fault = {"no memory"};
    int code = feeder == NULL ? -ENOMEM : publisher_create(&feeder->publisher);
    snprintf(why, capacity, "no memory");
    if (code == 0) {
        feeder->options = *options;
        struct jobs_options jobs = {
            .job = {.window_ns = o->server.window_ns,
                    .grace_ns = o->grace_ns,
                    .lost_ns = LOST_NS,
                    .most_pairs = MAXIMUM_PAIRS,
                    .most_ranks = o->most_ranks,
                    .modelled = !o->no_collectives,
                    .network = options->network,
                    .rules = options->rules},
            .publisher = publisher_for_jobs(feeder->publisher),
            .most_bytes = o->maximum_record_bytes,
            .user = feeder,
            .kept = replay_feeder_on_acknowledged,
            .alert = replay_feeder_on_alert,
            .table = options->table != NULL ? replay_feeder_on_table : NULL,
        };
        code = jobs_create(&feeder->jobs, NULL, &jobs, why, capacity);
    }
    code = code != 0 ? code : recording_cursor_open(&feeder->cursor, o->file, why, capacity);
    if (code == 0 && (code = jobs_replay_begin(feeder->jobs, recording_cursor_job(feeder->cursor),
                                               o->file, &fault)) != 0)
        snprintf(why, capacity, "%s: %s", o->file, fault.text);
    if (code != 0) {
        replay_feeder_destroy(feeder, 0);
        return code;
    }
    *out = feeder;
    return 0;
}

void replay_feeder_destroy(struct replay_feeder *feeder, uint64_t now_ns)
{
    if (feeder == NULL)
        return;
    replay_feeder_close_file(feeder);
    wire_arena_finish(&feeder->arena);
    jobs_destroy(feeder->jobs, now_ns);
    publisher_destroy(feeder->publisher);
    free(feeder);
}

void replay_feeder_mute_alerts(struct replay_feeder *feeder, int muted)
{
    feeder->muted = muted;
}

void replay_feeder_release_memory(struct replay_feeder *feeder)
{
    wire_arena_finish(&feeder->arena);
}

void replay_feeder_close_file(struct replay_feeder *feeder)
{
    recording_cursor_close(feeder->cursor);
    feeder->cursor = NULL;
    feeder->has_next = 0;
}

/* ---- reading --------------------------------------------------------------------- */

static void replay_feeder_set_fault(struct replay_feeder *feeder, const char *what)
{
    if (feeder->fault[0] != '\0')
        return; /* the first fault is the cause of others */
    snprintf(feeder->fault, sizeof(feeder->fault), "message %" PRIu64 ": %.200s",
             feeder->number + 1, what);
    if (!feeder->muted)
        log_warn("%s: %s", feeder->options.options->file, feeder->fault);
}

static void replay_feeder_stop(struct replay_feeder *feeder, const char *what)
{
    replay_feeder_set_fault(feeder, what);
    feeder->exhausted = 1;
}

static int replay_feeder_open_file(struct replay_feeder *feeder)
{
    char why[512];
    if (feeder->cursor != NULL)
        return 0;
    int code =
        recording_cursor_open(&feeder->cursor, feeder->options.options->file, why, sizeof(why));
    if (code == 0)
        recording_cursor_seek(feeder->cursor, feeder->number);
    else
        replay_feeder_stop(feeder, why);
    return code;
}

int replay_feeder_peek(struct replay_feeder *feeder, uint64_t *time_ns)
{
    feeder->exhausted |= feeder->options.last != 0 && feeder->number >= feeder->options.last;
    while (!feeder->has_next && !feeder->ended && !feeder->exhausted &&
           replay_feeder_open_file(feeder) == 0) {
        uint64_t skipped;
        int code =
            recording_cursor_next_decoded(feeder->cursor, &feeder->head, &feeder->message,
                                          &feeder->arena, &feeder->length, &feeder->message_fault);
        if (code == 0) {
            feeder->exhausted = 1;
        } else if (code == 1) {
            feeder->has_next = 1;
            /* When the clock was set back, or the file was merged, time stands still. */
            if (feeder->head.received_ns < feeder->time_ns)
                feeder->head.received_ns = feeder->time_ns;
        } else if (code == -HOLTER_ECORRUPT &&
                   recording_cursor_skip(feeder->cursor, &skipped) == 1) {
            replay_feeder_set_fault(feeder, "it is damaged, and left out");
            feeder->number = recording_cursor_number(feeder->cursor);
        } else {
            replay_feeder_stop(feeder, holter_strerror(code));
        }
    }
    *time_ns = feeder->has_next ? feeder->head.received_ns : feeder->time_ns;
    return feeder->has_next;
}

/* ---- feeding --------------------------------------------------------------------- */

static void replay_feeder_ingest(struct replay_feeder *feeder)
{
    struct job_fault fault = {""};
    const void *bytes = NULL; /* only if the replay is recorded */
    size_t length = feeder->length;
    int code = feeder->message_fault;
    if (code == 0 && jobs_replay_is_recorded(feeder->jobs))
        code = recording_cursor_bytes(feeder->cursor, &bytes, &length);
    if (code == 0)
        code = jobs_replay_ingest(feeder->jobs, &feeder->head, &feeder->message, bytes, length,
                                  &fault);
    /* A damaged message is skipped: it does not invalidate others. */
    if (code != 0)
        replay_feeder_set_fault(feeder, fault.text[0] != '\0' ? fault.text : holter_strerror(code));
    feeder->number = recording_cursor_number(feeder->cursor);
    feeder->time_ns = feeder->head.received_ns;
    feeder->messages++;
    feeder->has_next = 0;
}

int replay_feeder_feed(struct replay_feeder *feeder)
{
    uint64_t time_ns, before = feeder->next_window;
    if (feeder->ended)
        return 0;
    if (replay_feeder_peek(feeder, &time_ns)) {
        replay_feeder_ingest(feeder);
    } else {
        jobs_replay_end(feeder->jobs, feeder->time_ns);
        feeder->ended = 1;
        replay_feeder_close_file(feeder);
    }
    feeder->next_window = job_next_window(jobs_replayed(feeder->jobs));
    feeder->steps += feeder->next_window != before;
    return feeder->next_window != before;
}

int replay_feeder_run(struct replay_feeder *feeder, const struct replay_target *target,
                      int (*goes_on)(void *user, const struct replay_place *place), void *user)
{
    uint64_t time_ns;
    while (!feeder->ended) {
        if (target->kind == REPLAY_TO_STEP && feeder->steps >= target->value)
            break;
        int left = replay_feeder_peek(feeder, &time_ns);
        if (target->kind == REPLAY_TO_TIME && left && time_ns > target->value)
            break;
        replay_feeder_feed(feeder);
        struct replay_place place = replay_feeder_place(feeder);
        if (goes_on != NULL && !goes_on(user, &place))
            return 0;
    }
    return 1;
}

/* ---- jumping --------------------------------------------------------------------- */

#define JUMP_BLOCKS 24u /* blocks with messages about ranks that are read; later ones are not */

/* Feed the messages of a block before the jump, but for windows, as if they had been received with
 * the first message after it: else the job would seem to have been silent in between. */
static void replay_feeder_feed_others(struct replay_feeder *feeder, uint64_t last,
                                      uint64_t since_ns)
{
    uint64_t time_ns;
    while (replay_feeder_peek(feeder, &time_ns) &&
           recording_cursor_number(feeder->cursor) <= last) {
        if (feeder->head.type == WIRE_TYPE_WINDOW) {
            feeder->number = recording_cursor_number(feeder->cursor);
            feeder->has_next = 0;
            continue;
        }
        feeder->head.received_ns = since_ns;
        replay_feeder_ingest(feeder);
    }
}

static void replay_feeder_move(struct replay_feeder *feeder, uint64_t number)
{
    recording_cursor_seek(feeder->cursor, number);
    feeder->number = number;
    feeder->has_next = 0;
}

int replay_feeder_jump(struct replay_feeder *feeder, uint64_t time_ns, uint64_t *since_ns)
{
    uint64_t first = 0, at = 0, last = 0,
             back = REPLAY_PREVIEW_WINDOWS * feeder->options.options->server.window_ns;
    int code = replay_feeder_open_file(feeder);
    if (code == 0)
        code = recording_block_before(feeder->cursor, time_ns, time_ns > back ? time_ns - back : 0,
                                      REPLAY_PREVIEW_BYTES, &first, since_ns);
    for (unsigned i = 0; code == 0 && i < JUMP_BLOCKS; i++) {
        int more = recording_block_with_other_messages(feeder->cursor, &at, &last);
        code = more < 0 ? more : 0;
        if (more != 1 || at >= first)
            break;
        replay_feeder_move(feeder, at - 1);
        replay_feeder_feed_others(feeder, last < first ? last : first - 1, *since_ns);
    }
    if (code != 0 || feeder->exhausted)
        return code != 0 ? code : -HOLTER_ECORRUPT;
    replay_feeder_move(feeder, first == 0 ? 0 : first - 1);
    return 0;
}

/* ---- accessors --------------------------------------------------------------------- */

struct replay_place replay_feeder_place(const struct replay_feeder *feeder)
{
    return (struct replay_place){feeder->time_ns, feeder->steps, feeder->ended};
}

uint64_t replay_feeder_window(const struct replay_feeder *feeder)
{
    return feeder->next_window == 0 ? 0 : feeder->next_window - 1;
}

uint64_t replay_feeder_messages(const struct replay_feeder *feeder)
{
    return feeder->messages;
}

const char *replay_feeder_fault(const struct replay_feeder *feeder)
{
    return feeder->fault;
}

struct jobs *replay_feeder_jobs(struct replay_feeder *feeder)
{
    return feeder->jobs;
}

struct publisher *replay_feeder_publisher(struct replay_feeder *feeder)
{
    return feeder->publisher;
}
