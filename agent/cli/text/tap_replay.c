/* Topic "replay" as text. */
#include "agent/cli/text/text.h"

#include "proto/quantity.h"

#include <inttypes.h>
#include <math.h>

/* "12.5 s of 60 s" */
static void tap_replay_print_place(FILE *out, const struct wire_replay *r, uint64_t at_ns)
{
    uint64_t passed = at_ns > r->begin_ns ? at_ns - r->begin_ns : 0,
             length = r->end_ns > r->begin_ns ? r->end_ns - r->begin_ns : 0;
    fprintf(out, "%s of %s", quantity_duration((double)passed).text,
            quantity_duration((double)length).text);
}

static void print_mark(FILE *out, const struct wire_replay *r, const struct wire_mark_row *m)
{
    uint64_t since = m->since_ns > r->begin_ns ? m->since_ns - r->begin_ns : 0;
    fprintf(out, "  alert #%" PRIu64 " at +%s ", m->id, quantity_duration((double)since).text);
    tap_cell(out, 8, m->severity);
    tap_print(out, " %s%s\n",
              m->fired_ns == 0 ? "(pending) "
              : m->end_ns == 0 ? "(to the end) "
                               : "",
              m->title);
}

void tap_replay(FILE *out, const struct wire_replay *r)
{
    tap_head(out, "replay", r->job);
    tap_cell(out, 8, r->state);
    fprintf(out, " at %s, ", quantity_clock(r->position_ns).text);
    tap_replay_print_place(out, r, r->position_ns);
    if (isfinite(r->speed) && r->speed > 0)
        fprintf(out, ", speed %g", r->speed);
    else
        fputs(", speed max", out);
    fputs(r->looping ? ", in a loop" : "", out);
    if (r->known_ns != 0) {
        fputs(", a preview that knows the job from ", out);
        tap_replay_print_place(out, r, r->known_ns);
    }
    if (r->reached_ns != 0) {
        fputs(", on its way at ", out);
        tap_replay_print_place(out, r, r->reached_ns);
    }
    if (r->indexed_ns < r->end_ns) {
        fputs(", indexed ", out);
        tap_replay_print_place(out, r, r->indexed_ns);
    }
    tap_print(out, ", run %" PRIu64 "; %s%s%s\n", r->run, r->file, r->fault[0] ? "; " : "",
              r->fault);
    for (uint64_t i = 0; i < r->marks_count; i++)
        print_mark(out, r, &r->marks[i]);
}
