/* Titles and texts of hangs. */
#include "daemon/analysis/hang/hang_watch.h"
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

static const char *name_of_call(uint32_t call)
{
    return call < CALL_NUMBERS && call_names[call] ? call_names[call] : "MPI";
}

/* A text that is appended to within a fixed capacity. */
struct line {
    char *text;
    size_t capacity, length;
};

static void hang_text_add(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void hang_text_add(struct line *line, const char *format, ...)
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

static void add_time(struct line *line, const struct hang_watch *w, uint64_t at_ns)
{
    int64_t second = ((int64_t)(at_ns / SECOND_NS % 86400) + w->params.utc_offset_s) % 86400;
    unsigned s = (unsigned)(second < 0 ? second + 86400 : second);
    hang_text_add(line, "%02u:%02u:%02u%s", s / 3600, s / 60 % 60, s % 60, w->zone);
}

static void hang_text_add_comm(struct line *line, const struct hang_watch *w, uint64_t id)
{
    uint32_t at = hang_find_comm(w, id);
    if (id == 0)
        return;
    if (at != KEY_NONE && w->comm_seats[at].name[0] != '\0')
        hang_text_add(line, " on %s", w->comm_seats[at].name);
    else if (id == HANG_WORLD)
        hang_text_add(line, " on MPI_COMM_WORLD");
    else
        hang_text_add(line, " on communicator %" PRIx64, id);
}

/* "rank 3" or "ranks 3-5" or "12 ranks". */
static void hang_text_add_ranks(struct line *line, const struct hang *hang)
{
    if (hang->behind_count == 1)
        hang_text_add(line, "rank %" PRIu32, hang->behind[0].rank);
    else if (strlen(hang->ranks) <= 24)
        hang_text_add(line, "ranks %s", hang->ranks);
    else
        hang_text_add(line, "%" PRIu64 " ranks", hang->behind_count);
}

static uint64_t hang_text_seconds(uint64_t ns)
{
    return (ns + SECOND_NS / 2) / SECOND_NS;
}

/* The call that a rank is in: "in MPI_Recv from rank 5". */
static void hang_text_add_call(struct line *line, const struct hang_watch *w,
                               const struct hang_behind *b)
{
    hang_text_add(line, "in %s", name_of_call(b->in_call));
    if (b->peer >= 0 && hang_counts(b->in_call) == 0 && b->in_call != CALL_Waitall &&
        b->in_call != CALL_Waitany && b->in_call != CALL_Waitsome)
        hang_text_add(line, " %s rank %" PRId64, b->in_call < CALL_Recv ? "to" : "from", b->peer);
    hang_text_add_comm(line, w, b->comm);
}

static void add_state(struct line *line, const struct hang_watch *w, const struct hang_behind *b)
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
static void hang_text_add_suffix(struct line *line, const struct hang_watch *w,
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

static void add_collective(struct line *line, const struct hang_watch *w, const struct hang *hang)
{
    if (2 * hang->arrived < hang->members && 2 * hang->behind_count > hang->members) {
        hang_text_add(line, "%" PRIu64 " of %" PRIu64 " ranks arrived in %s", hang->arrived,
                      hang->members, name_of_call(hang->call));
        hang_text_add_comm(line, w, hang->comm);
        hang_text_add(line, ", not ");
        hang_text_add_ranks(line, hang);
        return;
    }
    const struct hang_behind *b = &hang->behind[0];
    int inside = hang->behind_count == 1 && b->state == HANG_IS_STOPPED &&
                 b->in_call == hang->call && b->comm == hang->comm;
    hang_text_add_ranks(line, hang);
    if (inside)
        hang_text_add(line, " does not go on in %s", name_of_call(hang->call));
    else
        hang_text_add(line, " %s not arrived in %s", hang->behind_count == 1 ? "has" : "have",
                      name_of_call(hang->call));
    hang_text_add_comm(line, w, hang->comm);
}

static void hang_text_add_head(struct line *line, const struct hang_watch *w,
                               const struct hang *hang)
{
    switch (hang->kind) {
    case HANG_COLLECTIVE:
        add_collective(line, w, hang);
        break;
    case HANG_RECEIVE:
        hang_text_add_ranks(line, hang);
        hang_text_add(line, " keep%s others waiting in %s", hang->behind_count == 1 ? "s" : "",
                      name_of_call(hang->call));
        hang_text_add_comm(line, w, hang->comm);
        break;
    case HANG_DEADLOCK:
        hang_text_add(line, "deadlock: ");
        hang_text_add_ranks(line, hang);
        hang_text_add(line, hang->behind_count == 1 ? " waits for itself" : " wait for each other");
        break;
    case HANG_MISMATCH:
        hang_text_add_ranks(line, hang);
        hang_text_add(line, " %s in %s, %" PRIu64 " other%s in %s",
                      hang->behind_count == 1 ? "is" : "are", name_of_call(hang->behind[0].in_call),
                      hang->arrived, hang->arrived == 1 ? "" : "s", name_of_call(hang->call));
        hang_text_add_comm(line, w, hang->comm);
        break;
    case HANG_STOPPED:
        hang_text_add(line, "the process of ");
        hang_text_add_ranks(line, hang);
        hang_text_add(line, hang->behind_count == 1 ? " is stopped" : " are stopped");
        break;
    case HANG_STANDSTILL:
    case HANG_KINDS:
        hang_text_add(line, "%" PRIu64 " ranks wait and none goes on", hang->waiting);
        if (hang->behind_count > 0) {
            hang_text_add(line, ", except ");
            hang_text_add_ranks(line, hang);
        }
        break;
    }
}

/* "7 of 8 ranks wait since 12:31:05" */
static void add_waiting(struct line *line, const struct hang_watch *w, const struct hang *hang)
{
    uint64_t world = w->world > w->seat_count ? w->world : w->seat_count;
    if (hang->kind == HANG_STOPPED)
        hang_text_add(line, " since ");
    else
        hang_text_add(line, ": %" PRIu64 " of %" PRIu64 " ranks wait%s since ", hang->waiting,
                      world, hang->waiting == 1 ? "s" : "");
    add_time(line, w, hang->since_ns);
    if (hang->operation != 0)
        hang_text_add(line, " (collective call %" PRIu64 " there)", hang->operation);
}

void hang_describe(const struct hang_watch *watch, struct hang *hang)
{
    struct line title = {.text = hang->title, .capacity = sizeof(hang->title)};
    struct line text = {.text = hang->text, .capacity = sizeof(hang->text)};
    hang->title[0] = hang->text[0] = '\0';
    hang_text_add_head(&title, watch, hang);
    hang_text_add_head(&text, watch, hang);
    add_waiting(&text, watch, hang);
    hang_text_add_suffix(&text, watch, hang);
    if (hang->kind == HANG_RECEIVE)
        hang_text_add(&text, "; rank %" PRIu32 " has waited longest for it", hang->waiter);
}
