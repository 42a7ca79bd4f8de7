/* The state of a replay, as the daemon reports it. */
#include "viewer/model/playback.h"

#include "holter/error.h"
#include "holter/order.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum playback_state playback_state_of(const char *text)
{
    return !text                      ? PLAYBACK_PAUSED
           : !strcmp(text, "playing") ? PLAYBACK_PLAYING
           : !strcmp(text, "seeking") ? PLAYBACK_SEEKING
           : !strcmp(text, "ended")   ? PLAYBACK_ENDED
                                      : PLAYBACK_PAUSED;
}

enum mark_severity playback_severity(const char *text)
{
    return !text                       ? MARK_WARNING
           : !strcmp(text, "critical") ? MARK_CRITICAL
           : !strcmp(text, "info")     ? MARK_INFO
                                       : MARK_WARNING;
}

const char *playback_severity_name(enum mark_severity severity)
{
    static const char *const names[] = {"info", "warning", "critical"};
    return names[severity];
}

uint64_t playback_mark_ns(const struct playback_mark *mark)
{
    return mark->fired_ns > mark->since_ns ? mark->fired_ns : mark->since_ns;
}

uint64_t playback_clamp(const struct playback *p, uint64_t ns)
{
    return ns < p->begin_ns ? p->begin_ns : ns > p->end_ns ? p->end_ns : ns;
}

ORDER_FUNCTION(playback_compare_by_begin, struct playback_mark,
               2 * ORDER(a->since_ns, b->since_ns) + ORDER(a->id, b->id))

static int playback_apply_marks(struct playback *p, const struct wire_replay *r)
{
    uint64_t count = r->marks_count < PLAYBACK_MARKS ? r->marks_count : PLAYBACK_MARKS;
    struct playback_mark *marks = malloc((count + 1) * sizeof *marks);
    if (!marks)
        return -ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        const struct wire_mark_row *row = &r->marks[i];
        marks[i] = (struct playback_mark){.id = row->id,
                                          .severity = playback_severity(row->severity),
                                          .since_ns = row->since_ns,
                                          .fired_ns = row->fired_ns,
                                          .end_ns = row->end_ns};
        text_copy(marks[i].kind, sizeof marks[i].kind, row->kind);
        text_copy(marks[i].title, sizeof marks[i].title, row->title);
    }
    qsort(marks, count, sizeof *marks, playback_compare_by_begin);
    free(p->marks);
    p->marks = marks;
    p->mark_count = (uint32_t)count;
    return 0;
}

int playback_apply(struct playback *p, const struct wire_replay *r, int state)
{
    int newer = r->run > p->run || (r->run == p->run && r->change > p->change);
    if (p->known && !newer && !state)
        return 0;
    text_copy(p->file, sizeof p->file, r->file);
    text_copy(p->fault, sizeof p->fault, r->fault);
    p->state = playback_state_of(r->state);
    p->paused = r->paused != 0;
    p->looping = r->looping != 0;
    p->begin_ns = r->begin_ns < UINT64_MAX ? r->begin_ns : UINT64_MAX - 1;
    p->end_ns = r->end_ns > p->begin_ns ? r->end_ns : p->begin_ns + 1;
    p->position_ns = playback_clamp(p, r->position_ns);
    p->indexed_ns = playback_clamp(p, r->indexed_ns);
    p->target_ns = r->target_ns ? playback_clamp(p, r->target_ns) : 0;
    p->reached_ns = r->reached_ns ? playback_clamp(p, r->reached_ns) : 0;
    p->known_ns = r->known_ns ? playback_clamp(p, r->known_ns) : 0;
    p->speed = isfinite(r->speed) && r->speed > 0 ? r->speed : 0;
    p->change = r->change;
    p->run = r->run;
    p->known = 1;
    p->version++;
    int error = r->marked ? playback_apply_marks(p, r) : 0;
    return error ? error : 1;
}

void playback_replied(struct playback *p, int code, const char *text)
{
    text_copy(p->refused, sizeof p->refused,
              !code             ? ""
              : text && text[0] ? text
                                : holter_strerror(code));
    p->version++;
}

void playback_clear(struct playback *p)
{
    uint64_t version = p->version + 1;
    free(p->marks);
    *p = (struct playback){.version = version};
}
