/* Titles and texts of hangs. */
#include "daemon/analysis/hang/hang_text.h"

#include "holter/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define DESCRIBED 6u /* late ranks that a text describes individually */

static const char *const call_names[CALL_NUMBERS] = {
#define X(number, name, class_) [number] = "MPI_" #name,
    CALL_LIST(X)
#undef X
};

const char *hang_text_call(uint32_t call)
{
    return call < CALL_NUMBERS && call_names[call] ? call_names[call] : "MPI";
}

void hang_text_add(struct hang_text *line, const char *format, ...)
{
    va_list arguments;
    if (line->length + 1 >= line->capacity)
        return;
    va_start(arguments, format);
    int wrote =
        vsnprintf(line->text + line->length, line->capacity - line->length, format, arguments);
    va_end(arguments);
    if (wrote > 0)
        line->length += (size_t)wrote;
    if (line->length >= line->capacity)
        line->length = line->capacity - 1;
}

void hang_text_add_time(struct hang_text *line, const struct hang_watch *w, uint64_t at_ns)
{
    int64_t second = ((int64_t)(at_ns / SECOND_NS % 86400) + w->params.utc_offset_s) % 86400;
    unsigned s = (unsigned)(second < 0 ? second + 86400 : second);
    hang_text_add(line, "%02u:%02u:%02u%s", s / 3600, s / 60 % 60, s % 60, w->zone);
}

/* What has no name of its own has that of the call that made it. */
static const char *hang_text_kind(const char *name)
{
    if (strncmp(name, "MPI_Win_", 8) == 0)
        return "an RMA window of ";
    if (strcmp(name, "unknown origin") == 0 ||
        (strncmp(name, "MPI_", 4) == 0 && strncmp(name, "MPI_COMM_", 9) != 0))
        return "a communicator of ";
    return "";
}

void hang_text_add_comm(struct hang_text *line, const struct hang_watch *w, uint64_t id)
{
    uint32_t at = hang_find_comm(w, id);
    if (id == 0)
        return;
    const char *name = at != KEY_NONE ? w->comm_seats[at].name : "";
    if (name[0] != '\0')
        hang_text_add(line, " on %s%s", hang_text_kind(name), name);
    else if (id == HANG_WORLD)
        hang_text_add(line, " on MPI_COMM_WORLD");
    else
        hang_text_add(line, " on communicator %" PRIx64, id);
}

/* "rank 3", "ranks 3-5" or, where the list is long, "12 ranks". */
static void hang_text_add_list(struct hang_text *line, const char *ranks, uint64_t count)
{
    if (strlen(ranks) <= 24)
        hang_text_add(line, "rank%s %s", count == 1 ? "" : "s", ranks);
    else
        hang_text_add(line, "%" PRIu64 " ranks", count);
}

void hang_text_add_ranks(struct hang_text *line, const struct hang *hang)
{
    hang_text_add_list(line, hang->ranks, hang->behind_count);
}

void hang_text_add_waiters(struct hang_text *line, const struct hang *hang)
{
    hang_text_add_list(line, hang->waiters,
                       hang->kind == HANG_COLLECTIVE ? hang->arrived : hang->waiting);
}

static uint64_t hang_text_seconds(uint64_t ns)
{
    return (ns + SECOND_NS / 2) / SECOND_NS;
}

/* " to rank 3 and from rank 1" */
static void hang_text_add_both_peers(struct hang_text *line, const struct hang_behind *b)
{
    if (b->peer >= 0)
        hang_text_add(line, " to rank %" PRId64, b->peer);
    if (b->source >= 0)
        hang_text_add(line, "%s from rank %" PRId64, b->peer >= 0 ? " and" : "", b->source);
}

/* The call that a rank is in: "in MPI_Recv from rank 5". MPI_Wait may be for a send. */
static void hang_text_add_call(struct hang_text *line, const struct hang_watch *w,
                               const struct hang_behind *b)
{
    hang_text_add(line, "in %s", hang_text_call(b->in_call));
    if (call_is_exchange(b->in_call))
        hang_text_add_both_peers(line, b);
    else if (b->peer >= 0 && hang_counts(b->in_call) == 0 && b->in_call != CALL_Waitall &&
             b->in_call != CALL_Waitany && b->in_call != CALL_Waitsome)
        hang_text_add(line, " %s rank %" PRId64,
                      b->in_call < CALL_Recv                            ? "to"
                      : b->in_call == CALL_Wait && b->source != b->peer ? "for"
                                                                        : "from",
                      b->peer);
    hang_text_add_comm(line, w, b->comm);
}

static void add_state(struct hang_text *line, const struct hang_watch *w,
                      const struct hang_behind *b)
{
    switch (b->state) {
    case HANG_RUNS:
        hang_text_add(line, "goes on making MPI calls");
        break;
    case HANG_POLLS:
        hang_text_add(line, "polls for messages and has found none for %" PRIu64 " s",
                      hang_text_seconds(b->for_ns));
        break;
    case HANG_OUTSIDE:
        hang_text_add(line, "has been outside of MPI for %" PRIu64 " s",
                      hang_text_seconds(b->for_ns));
        break;
    case HANG_IN_CALL:
        hang_text_add(line, "is ");
        hang_text_add_call(line, w, b);
        break;
    case HANG_IS_STOPPED:
        hang_text_add(line, "is ");
        if (b->in_call != 0)
            hang_text_add_call(line, w, b);
        else
            hang_text_add(line, "outside of MPI");
        hang_text_add(line, ", its process is stopped");
        break;
    case HANG_DEAD:
        hang_text_add(line, "died");
        break;
    case HANG_FINISHED:
        hang_text_add(line, "has called MPI_Finalize");
        break;
    case HANG_NO_RECORD:
        hang_text_add(line, "is not heard of");
        break;
    }
}

/* Adds what each late rank does. */
static void hang_text_add_suffix(struct hang_text *line, const struct hang_watch *w,
                                 const struct hang *hang)
{
    if (hang->behind_count == 1) {
        hang_text_add(line, "; it ");
        add_state(line, w, &hang->behind[0]);
        return;
    }
    for (uint32_t i = 0; i < DESCRIBED && i < HANG_NAMED && i < hang->behind_count; i++) {
        hang_text_add(line, "; rank %" PRIu32 " ", hang->behind[i].rank);
        add_state(line, w, &hang->behind[i]);
    }
    if (hang->behind_count > DESCRIBED)
        hang_text_add(line, "; and %" PRIu64 " more", hang->behind_count - DESCRIBED);
}

static void add_collective(struct hang_text *line, const struct hang_watch *w,
                           const struct hang *hang)
{
    if (hang->few_wait) {
        hang_text_add(line, "only ");
        hang_text_add_waiters(line, hang);
        hang_text_add(line, " %s in %s", hang->arrived == 1 ? "is" : "are",
                      hang_text_call(hang->call));
        hang_text_add_comm(line, w, hang->comm);
        hang_text_add(line, ", %" PRIu64 " other%s not", hang->absent,
                      hang->absent == 1 ? " is" : "s are");
        return;
    }
    const int one = hang->behind_count == 1;
    hang_text_add_ranks(line, hang);
    if (hang->inside == hang->behind_count)
        hang_text_add(line, " %s not go on in", one ? "does" : "do");
    else if (hang->inside > 0)
        hang_text_add(line, " hold up");
    else
        hang_text_add(line, " %s not arrived in", one ? "has" : "have");
    hang_text_add(line, " %s", hang_text_call(hang->call));
    hang_text_add_comm(line, w, hang->comm);
}

static void hang_text_add_receive(struct hang_text *line, const struct hang_watch *w,
                                  const struct hang *hang)
{
    if (hang->few_wait)
        hang_text_add_waiters(line, hang);
    else
        hang_text_add_ranks(line, hang);
    if (hang->few_wait)
        hang_text_add(line, " wait%s in ", hang->waiting == 1 ? "s" : "");
    else
        hang_text_add(line, " keep%s others waiting in ", hang->behind_count == 1 ? "s" : "");
    hang_text_add(line, "%s", hang_text_call(hang->call));
    hang_text_add_comm(line, w, hang->comm);
    if (hang->few_wait)
        hang_text_add(line, " for %" PRIu64 " others", hang->behind_count);
}

static void hang_text_add_head(struct hang_text *line, const struct hang_watch *w,
                               const struct hang *hang)
{
    switch (hang->kind) {
    case HANG_COLLECTIVE:
        add_collective(line, w, hang);
        break;
    case HANG_RECEIVE:
        hang_text_add_receive(line, w, hang);
        break;
    case HANG_DEADLOCK:
        hang_text_add(line, "deadlock: ");
        hang_text_add_ranks(line, hang);
        hang_text_add(line, hang->behind_count == 1 ? " waits for itself" : " wait for each other");
        break;
    case HANG_MISMATCH:
        hang_text_add_ranks(line, hang);
        hang_text_add(line, " %s in %s, %" PRIu64 " other%s in %s",
                      hang->behind_count == 1 ? "is" : "are",
                      hang_text_call(hang->behind[0].in_call), hang->arrived,
                      hang->arrived == 1 ? "" : "s", hang_text_call(hang->call));
        hang_text_add_comm(line, w, hang->comm);
        break;
    case HANG_STOPPED:
        hang_text_add(line, hang->behind_count == 1 ? "the process of " : "the processes of ");
        hang_text_add_ranks(line, hang);
        hang_text_add(line, hang->behind_count == 1 ? " is stopped" : " are stopped");
        break;
    case HANG_STANDSTILL:
    case HANG_KINDS:
        hang_text_add(line, "%" PRIu64 " %s and none goes on", hang->waiting,
                      hang->waiting == 1 ? "rank waits" : "ranks wait");
        if (hang->behind_count > 0) {
            hang_text_add(line, ", except ");
            hang_text_add_ranks(line, hang);
        }
        break;
    }
}

/* "7 of 8 ranks wait since 12:31:05" */
static void add_waiting(struct hang_text *line, const struct hang_watch *w, const struct hang *hang)
{
    uint64_t world = w->world > w->seat_count ? w->world : w->seat_count;
    if (hang->kind == HANG_STOPPED)
        hang_text_add(line, " since ");
    else
        hang_text_add(line, ": %" PRIu64 " of %" PRIu64 " ranks wait%s since ", hang->waiting,
                      world, hang->waiting == 1 ? "s" : "");
    hang_text_add_time(line, w, hang->since_ns);
    if (hang->operation != 0)
        hang_text_add(line, " (collective call %" PRIu64 " there)", hang->operation);
}

void hang_describe(const struct hang_watch *watch, struct hang *hang)
{
    struct hang_text title = {.text = hang->title, .capacity = sizeof(hang->title)};
    struct hang_text text = {.text = hang->text, .capacity = sizeof(hang->text)};
    struct hang_text advice = {.text = hang->advice, .capacity = sizeof(hang->advice)};
    hang->title[0] = hang->text[0] = hang->advice[0] = '\0';
    hang_text_add_head(&title, watch, hang);
    hang_text_add_head(&text, watch, hang);
    add_waiting(&text, watch, hang);
    hang_text_add_suffix(&text, watch, hang);
    if (hang->kind == HANG_RECEIVE)
        hang_text_add(&text, "; rank %" PRIu32 " has waited longest for it", hang->waiter);
    hang_advise(&advice, watch, hang);
}
