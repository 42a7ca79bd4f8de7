#include "daemon/replay/replay_feeder.h"

#include "daemon/server/publish.h"
#include "daemon/storage/recording_blocks.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_TOPIC "replay"
#define MOST_PAIRS 131072u            /* as in a live daemon */
#define LOST_NS UINT64_C(30000000000) /* likewise */

struct replay_reel {
    struct replay_reel_options options;
    struct recording_cursor *cursor; /* NULL: parked, or nothing is left */
    struct jobs *jobs;
    struct publisher *publisher;
    struct wire_arena arena;
    uint64_t number;   /* of the message fed last, or left out */
    uint64_t time_ns;  /* when it was received */
    uint64_t messages; /* fed */
    uint64_t steps;
    uint64_t next_window; /* see job_next_window() */
    int ended, hushed;
    int over; /* no message follows */
    char fault[257];
    /* The message looked at. */
    int has_next;
    struct recorded head;
    struct wire_message message; /* in the arena */
    size_t length;
    int message_fault; /* of the message; 0: it is good */
};

/* ---- life ------------------------------------------------------------------------ */

static void on_alert(void *user, const struct wire_alert *alert)
{
    struct replay_reel *r = user;
    if (r->options.alert != NULL && !r->hushed)
        r->options.alert(r->options.user, alert);
}

static void on_table(void *user, enum wire_type type, const void *message)
{
    struct replay_reel *r = user;
    r->options.table(r->options.user, type, message);
}

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    (void)user; /* no agent waits for that */
    (void)instance;
    (void)seq;
}

int replay_reel_create(struct replay_reel **out, const struct replay_reel_options *options,
                       char *why, size_t room)
{
    struct replay_reel *r = calloc(1, sizeof(*r));
    const struct options *o = options->options;
    struct job_fault fault = {"no memory"};
    int code = r == NULL ? -ENOMEM : publisher_create(&r->publisher);
    snprintf(why, room, "no memory");
    if (code == 0) {
        r->options = *options;
        struct jobs_options jobs = {
            .job = {.window_ns = o->window_ns,
                    .grace_ns = o->grace_ns,
                    .lost_ns = LOST_NS,
                    .most_pairs = MOST_PAIRS,
                    .modelled = !o->no_collectives,
                    .network = options->network,
                    .rules = options->rules},
            .publisher = publisher_for_jobs(r->publisher),
            .most_bytes = o->most_bytes,
            .user = r,
            .kept = on_kept,
            .alert = on_alert,
            .table = options->table != NULL ? on_table : NULL,
        };
        code = jobs_create(&r->jobs, NULL, &jobs, why, room);
    }
    code = code != 0 ? code : recording_cursor_open(&r->cursor, o->replay, why, room);
    if (code == 0 && (code = jobs_replay_begin(r->jobs, recording_cursor_job(r->cursor), o->replay,
                                               &fault)) != 0)
        snprintf(why, room, "%s: %s", o->replay, fault.text);
    if (code != 0) {
        replay_reel_destroy(r, 0);
        return code;
    }
    *out = r;
    return 0;
}

void replay_reel_destroy(struct replay_reel *r, uint64_t now_ns)
{
    if (r == NULL)
        return;
    replay_reel_park(r);
    wire_arena_finish(&r->arena);
    jobs_destroy(r->jobs, now_ns);
    publisher_destroy(r->publisher);
    free(r);
}

void replay_reel_hush(struct replay_reel *r)
{
    r->hushed = 1;
}

void replay_reel_rest(struct replay_reel *r)
{
    replay_reel_hush(r);
    wire_arena_finish(&r->arena);
    /* What is free would be kept as it is by each state: more than all that is in use. */
    malloc_trim(0);
}

void replay_reel_speak(struct replay_reel *r)
{
    r->hushed = 0;
}

void replay_reel_park(struct replay_reel *r)
{
    recording_cursor_close(r->cursor);
    r->cursor = NULL;
    r->has_next = 0;
}

/* ---- reading --------------------------------------------------------------------- */

static void complain(struct replay_reel *r, const char *what)
{
    if (r->fault[0] != '\0')
        return; /* the first says most */
    snprintf(r->fault, sizeof(r->fault), "message %" PRIu64 ": %.200s", r->number + 1, what);
    if (!r->hushed)
        log_warn("%s: %s", r->options.options->replay, r->fault);
}

static void break_off(struct replay_reel *r, const char *what)
{
    complain(r, what);
    r->over = 1;
}

static int reopen(struct replay_reel *r)
{
    char why[512];
    if (r->cursor != NULL)
        return 0;
    int code = recording_cursor_open(&r->cursor, r->options.options->replay, why, sizeof(why));
    if (code == 0)
        recording_cursor_seek(r->cursor, r->number);
    else
        break_off(r, why);
    return code;
}

int replay_reel_peek(struct replay_reel *r, uint64_t *time_ns)
{
    r->over |= r->options.last != 0 && r->number >= r->options.last;
    while (!r->has_next && !r->ended && !r->over && reopen(r) == 0) {
        uint64_t skipped;
        int code = recording_cursor_decoded(r->cursor, &r->head, &r->message, &r->arena, &r->length,
                                            &r->message_fault);
        if (code == 0) {
            r->over = 1;
        } else if (code == 1) {
            r->has_next = 1;
            /* A clock that was set back, or a file put together by hand: time stands still. */
            if (r->head.received_ns < r->time_ns)
                r->head.received_ns = r->time_ns;
        } else if (code == -HOLTER_ECORRUPT && recording_cursor_skip(r->cursor, &skipped) == 1) {
            complain(r, "it is damaged, and left out");
            r->number = recording_cursor_number(r->cursor);
        } else {
            break_off(r, holter_strerror(code));
        }
    }
    *time_ns = r->has_next ? r->head.received_ns : r->time_ns;
    return r->has_next;
}

/* ---- feeding --------------------------------------------------------------------- */

static void take(struct replay_reel *r)
{
    struct job_fault fault = {""};
    const void *bytes = NULL; /* for those who record */
    size_t length = r->length;
    int code = r->message_fault;
    if (code == 0 && jobs_replay_records(r->jobs))
        code = recording_cursor_bytes(r->cursor, &bytes, &length);
    if (code == 0)
        code = jobs_replay_take(r->jobs, &r->head, &r->message, bytes, length, &fault);
    /* It was good when it was kept; one that is not any more harms no other. */
    if (code != 0)
        complain(r, fault.text[0] != '\0' ? fault.text : holter_strerror(code));
    r->number = recording_cursor_number(r->cursor);
    r->time_ns = r->head.received_ns;
    r->messages++;
    r->has_next = 0;
}

int replay_reel_feed(struct replay_reel *r)
{
    uint64_t time_ns, before = r->next_window;
    if (r->ended)
        return 0;
    if (replay_reel_peek(r, &time_ns)) {
        take(r);
    } else {
        jobs_replay_end(r->jobs, r->time_ns);
        r->ended = 1;
        replay_reel_park(r);
    }
    r->next_window = job_next_window(jobs_replayed(r->jobs));
    r->steps += r->next_window != before;
    return r->next_window != before;
}

int replay_reel_run(struct replay_reel *r, const struct replay_target *target,
                    int (*goes_on)(void *user, const struct replay_place *place), void *user)
{
    uint64_t time_ns;
    while (!r->ended) {
        if (target->kind == REPLAY_TO_STEP && r->steps >= target->value)
            break;
        int left = replay_reel_peek(r, &time_ns);
        if (target->kind == REPLAY_TO_TIME && left && time_ns > target->value)
            break;
        replay_reel_feed(r);
        struct replay_place place = replay_reel_place(r);
        if (goes_on != NULL && !goes_on(user, &place))
            return 0;
    }
    return 1;
}

/* ---- jumping --------------------------------------------------------------------- */

#define JUMP_BLOCKS 24u /* with what was said about ranks: of those behind them it is not known */

/* Feed what is said in a block before the jump as if it came with what is fed next: else the job
 * would seem to have been silent since. */
static void take_others(struct replay_reel *r, uint64_t last, uint64_t since_ns)
{
    uint64_t time_ns;
    while (replay_reel_peek(r, &time_ns) && recording_cursor_number(r->cursor) <= last) {
        if (r->head.type == WIRE_TYPE_WINDOW) {
            r->number = recording_cursor_number(r->cursor);
            r->has_next = 0;
            continue;
        }
        r->head.received_ns = since_ns;
        take(r);
    }
}

static void move_to(struct replay_reel *r, uint64_t number)
{
    recording_cursor_seek(r->cursor, number);
    r->number = number;
    r->has_next = 0;
}

int replay_reel_jump(struct replay_reel *r, uint64_t time_ns, uint64_t *since_ns)
{
    uint64_t first = 0, at = 0, last = 0,
             back = REPLAY_PREVIEW_WINDOWS * r->options.options->window_ns;
    int code = reopen(r);
    if (code == 0)
        code = recording_block_before(r->cursor, time_ns, time_ns > back ? time_ns - back : 0,
                                      REPLAY_PREVIEW_BYTES, &first, since_ns);
    for (unsigned i = 0; code == 0 && i < JUMP_BLOCKS; i++) {
        int more = recording_block_of_others(r->cursor, &at, &last);
        code = more < 0 ? more : 0;
        if (more != 1 || at >= first)
            break;
        move_to(r, at - 1);
        take_others(r, last < first ? last : first - 1, *since_ns);
    }
    if (code != 0 || r->over)
        return code != 0 ? code : -HOLTER_ECORRUPT;
    move_to(r, first == 0 ? 0 : first - 1);
    return 0;
}

/* ---- small questions --------------------------------------------------------------- */

struct replay_place replay_reel_place(const struct replay_reel *r)
{
    return (struct replay_place){r->time_ns, r->steps, r->ended};
}

uint64_t replay_reel_window(const struct replay_reel *r)
{
    return r->next_window == 0 ? 0 : r->next_window - 1;
}

uint64_t replay_reel_messages(const struct replay_reel *r)
{
    return r->messages;
}

const char *replay_reel_fault(const struct replay_reel *r)
{
    return r->fault;
}

struct jobs *replay_reel_jobs(struct replay_reel *r)
{
    return r->jobs;
}

struct publisher *replay_reel_publisher(struct replay_reel *r)
{
    return r->publisher;
}
