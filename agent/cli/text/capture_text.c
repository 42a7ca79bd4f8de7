/* Captures as text. */
#include "agent/cli/text/text.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"
#include "holter/event.h"
#include "holter/order.h"
#include "proto/event_text.h"
#include "proto/quantity.h"

#include <inttypes.h>
#include <stdlib.h>

#define PART_INDENT "  "

void capture_view_finish(struct capture_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        wire_arena_finish(&view->parts[i].arena);
    free(view->parts);
    *view = (struct capture_view){0};
}

int capture_view_add(struct capture_view *view, const struct wire_capture *message)
{
    const struct wire_message whole = {.type = WIRE_TYPE_CAPTURE, .capture = *message};
    int rc = ARRAY_FIT(view->parts, view->capacity, view->count + 1);
    if (rc != 0)
        return rc;
    struct capture_part *part = &view->parts[view->count];
    *part = (struct capture_part){.arena = {0}};
    rc = wire_copy(&part->message, &part->arena, &whole);
    if (rc == 0)
        view->count++;
    else
        wire_arena_finish(&part->arena);
    return rc;
}

/* ---- cells --------------------------------------------------------------- */

/* Time before the reading of the rings. */
static void before_cell(FILE *out, int width, int64_t begin_ns)
{
    tap_cell(
        out, -width,
        quantity_print("-%s", quantity_duration(begin_ns < 0 ? -(double)begin_ns : 0).text).text);
}

static void peer_cell(FILE *out, int width, int64_t peer)
{
    char text[24];
    const char *word = event_peer_text(peer);
    snprintf(text, sizeof text, "%" PRId64, peer);
    tap_cell(out, -width, word != NULL ? word : text);
}

static void tag_cell(FILE *out, int width, int64_t tag)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, tag);
    tap_cell(out, -width, tag == TAG_NONE ? "" : tag == TAG_ANY ? "any" : text);
}

/* Bytes of the message; of collectives what goes in and, where that is another number, comes out.
 */
static void bytes_cell(FILE *out, int width, const struct wire_capture_event_row *event)
{
    struct quantity text = {""};
    if (event->bytes != 0 || event->flags & (EVENT_SEND | EVENT_RECV))
        text = quantity_bytes((double)event->bytes);
    if (event->bytes_in != 0 && event->bytes_in != event->bytes)
        text = quantity_print("%s/%s", quantity_bytes((double)event->bytes).text,
                              quantity_bytes((double)event->bytes_in).text);
    tap_cell(out, -width, text.text);
}

static const char *capture_text_comm_name(const struct wire_capture *m, uint64_t position)
{
    return position < m->comms_count && m->comms[position].id != 0 ? m->comms[position].name : "";
}

static const char *capture_text_region_name(const struct wire_capture *m, uint64_t position)
{
    return position < m->regions_count ? m->regions[position].name : "";
}

/* ---- rows ---------------------------------------------------------------- */

static void capture_text_put_columns(FILE *out)
{
    fputs(PART_INDENT "    before        took  call                      peer   tag        bytes  "
                      "communicator      request and region\n",
          out);
}

static void capture_text_put_request(FILE *out, const struct wire_capture *m,
                                     const struct wire_capture_event_row *e)
{
    char state[EVENT_STATE_ROOM];
    if (e->request != 0)
        fprintf(out, "#%" PRIu64 " ", e->request);
    fputs(event_state_text(e->flags, state), out);
    if (e->started != 0)
        tap_print(out, ", of %s", call_name((uint16_t)e->started));
    if (e->posted_ns != 0 && e->posted_ns < e->begin_ns)
        fprintf(out, ", posted %s before",
                quantity_duration((double)e->begin_ns - (double)e->posted_ns).text);
    if (e->source != PEER_NONE) {
        fputs(", from ", out);
        peer_cell(out, 0, e->source);
    }
    if (e->comm_rank != 0 && e->thread < m->threads_count &&
        e->comm_rank - 1 != m->threads[e->thread].rank)
        fprintf(out, ", rank %" PRIu64 " of the communicator", e->comm_rank - 1);
    if (capture_text_region_name(m, e->region)[0] != '\0')
        tap_print(out, " in %s", capture_text_region_name(m, e->region));
}

static void capture_text_put_event(FILE *out, const struct wire_capture *m,
                                   const struct wire_capture_event_row *e)
{
    const char *name = e->kind == EVENT_REGION ? e->peer > 0 ? "region begins" : "region ends"
                                               : call_name((uint16_t)e->call);
    int is_part = e->kind == EVENT_PART;
    fputs(PART_INDENT, out);
    if (is_part) {
        fprintf(out, "%10s  %10s  ", "", "");
        tap_cell(out, 22, "  and");
    } else {
        before_cell(out, 10, e->begin_ns);
        fputs("  ", out);
        if (e->running)
            tap_cell(out, -10, "in it");
        else
            tap_duration(out, 10, (double)e->length_ns);
        fputs("  ", out);
        tap_cell(out, 22, name);
    }
    fputc(' ', out);
    peer_cell(out, 7, e->kind == EVENT_REGION ? PEER_NONE : e->peer);
    fputc(' ', out);
    tag_cell(out, 5, e->kind == EVENT_REGION ? TAG_NONE : e->tag);
    fputc(' ', out);
    bytes_cell(out, 12, e);
    fputs("  ", out);
    tap_cell(out, 17, capture_text_comm_name(m, e->comm));
    fputc(' ', out);
    capture_text_put_request(out, m, e);
    fputc('\n', out);
}

static void put_thread(FILE *out, const struct wire_capture *m,
                       const struct wire_capture_thread_row *thread)
{
    fprintf(out, "rank %" PRIu64, thread->rank);
    if (thread->thread > 0)
        fprintf(out, ", thread %" PRIu64 " (%" PRIu64 ")", thread->thread, thread->tid);
    tap_print(out, " on %s", m->host);
    if (thread->lapped > 0)
        fprintf(out, ", %" PRIu64 " records were overwritten while they were read", thread->lapped);
    fputc('\n', out);
}

/* ---- a capture ----------------------------------------------------------- */

/* One line about a capture: number, time, why, how much. */
static void capture_head(FILE *out, const struct wire_capture *m)
{
    tap_print(out, "capture %" PRIu64 " of %s, %s: %s\n", m->id, m->job,
              quantity_clock(m->at_ns).text,
              m->reason[0] != '\0' ? m->reason : "no reason was given");
}

/* A thread of a part. */
struct place {
    uint64_t rank, thread;
    size_t part, row;
};

ORDER_FUNCTION(capture_text_compare_places, struct place,
               4 * ORDER(a->rank, b->rank) + 2 * ORDER(a->thread, b->thread) +
                   ORDER(a->part, b->part))

/* @return owned by the caller; NULL without memory */
static struct place *list_places(const struct capture_view *view, size_t *count)
{
    size_t all = 0;
    for (size_t i = 0; i < view->count; i++)
        all += view->parts[i].message.capture.threads_count;
    struct place *places = malloc((all + 1) * sizeof *places);
    *count = 0;
    for (size_t i = 0; places != NULL && i < view->count; i++) {
        const struct wire_capture *m = &view->parts[i].message.capture;
        for (size_t k = 0; k < m->threads_count; k++)
            places[(*count)++] = (struct place){m->threads[k].rank, m->threads[k].thread, i, k};
    }
    if (places != NULL)
        qsort(places, *count, sizeof *places, capture_text_compare_places);
    return places;
}

static uint64_t capture_text_print_place(FILE *out, const struct capture_view *view,
                                         const struct place *place, int again)
{
    const struct wire_capture *m = &view->parts[place->part].message.capture;
    uint64_t printed = 0;
    if (!again) {
        put_thread(out, m, &m->threads[place->row]);
        capture_text_put_columns(out);
    }
    for (uint64_t i = 0; i < m->events_count; i++) {
        if (m->events[i].thread != place->row)
            continue;
        capture_text_put_event(out, m, &m->events[i]);
        printed++;
    }
    return printed;
}

void capture_print(FILE *out, const struct capture_view *view)
{
    size_t count;
    uint64_t records = 0, threads = 0;
    if (view->count == 0)
        return;
    capture_head(out, &view->parts[0].message.capture);
    struct place *places = list_places(view, &count);
    for (size_t i = 0; places != NULL && i < count; i++) {
        int again = i > 0 && places[i].rank == places[i - 1].rank &&
                    places[i].thread == places[i - 1].thread;
        threads += !again;
        records += capture_text_print_place(out, view, &places[i], again);
    }
    free(places);
    for (size_t i = 0; i < view->count; i++) {
        const struct wire_capture *m = &view->parts[i].message.capture;
        if (m->fault[0] != '\0')
            tap_print(out, "%s: %s\n", m->host, m->fault);
    }
    fprintf(out, "%s of %s\n", quantity_things(records, "record").text,
            quantity_things(threads, "thread").text);
}

void capture_brief(FILE *out, const struct wire_capture *m)
{
    capture_head(out, m);
    for (uint64_t i = 0; i < m->events_count; i++) {
        const struct wire_capture_event_row *e = &m->events[i];
        int last = i + 1 == m->events_count || m->events[i + 1].thread != e->thread;
        if (!last || e->thread >= m->threads_count)
            continue;
        put_thread(out, m, &m->threads[e->thread]);
        capture_text_put_event(out, m, e);
    }
    if (m->fault[0] != '\0')
        tap_print(out, "%s\n", m->fault);
}
