#include "daemon/replay/replay_shared.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define TRIES 64

struct replay_shared *replay_shared_map(void)
{
    void *at = mmap(NULL, sizeof(struct replay_shared), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static struct replay_mark *mark_of(struct replay_marks *marks, uint64_t id)
{
    for (uint32_t i = marks->count; i-- > 0;) {
        if (marks->list[i].id == id)
            return &marks->list[i];
    }
    if (marks->count == REPLAY_MARKS) {
        marks->left_out++;
        return NULL;
    }
    return &marks->list[marks->count++];
}

static void copy(char *out, size_t room, const char *text)
{
    snprintf(out, room, "%s", text == NULL ? "" : text);
}

void replay_marks_take(struct replay_marks *marks, const struct wire_alert *alert)
{
    int resolved = strcmp(alert->state, "resolved") == 0;
    if (alert->fired_ns == 0 && strcmp(alert->state, "firing") != 0)
        return;
    /* Of those without a place only the first word counts, that they fire. */
    if (marks->count == REPLAY_MARKS && alert->id > marks->list[REPLAY_MARKS - 1].id &&
        (resolved || alert->updates > 0))
        return;
    struct replay_mark *m = mark_of(marks, alert->id);
    if (m == NULL)
        return;
    *m =
        (struct replay_mark){.id = alert->id,
                             .since_ns = alert->onset_ns != 0 ? alert->onset_ns : alert->since_ns,
                             .fired_ns = alert->fired_ns != 0 ? alert->fired_ns : alert->updated_ns,
                             .end_ns = resolved ? alert->updated_ns : 0};
    copy(m->kind, sizeof(m->kind), alert->kind);
    copy(m->severity, sizeof(m->severity), alert->severity);
    copy(m->title, sizeof(m->title), alert->title);
}

static void change(struct replay_shared *s, const struct wire_alert *alert)
{
    atomic_fetch_add(&s->version, 1);
    if (alert != NULL)
        replay_marks_take(&s->made, alert);
    else
        atomic_store(&s->indexed, 1);
    atomic_fetch_add(&s->version, 1);
}

void replay_shared_alert(struct replay_shared *s, const struct wire_alert *alert)
{
    change(s, alert);
}

void replay_shared_done(struct replay_shared *s)
{
    change(s, NULL);
}

int replay_shared_marks(const struct replay_shared *s, struct replay_marks *out, uint64_t *version)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = atomic_load(&s->version);
        if (before % 2 != 0)
            continue;
        int made = atomic_load(&s->indexed) || s->recorded.count == 0;
        memcpy(out, made ? &s->made : &s->recorded, sizeof(*out));
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load(&s->version) != before)
            continue;
        *version = before;
        return 0;
    }
    return -EAGAIN;
}
