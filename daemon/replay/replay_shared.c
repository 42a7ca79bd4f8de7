/* The memory that the processes of a replay share. Marks are written under a sequence lock. */
#include "daemon/replay/replay_shared.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define READ_ATTEMPTS 64

struct replay_shared *replay_shared_map(void)
{
    void *at = mmap(NULL, sizeof(struct replay_shared), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static struct replay_mark *replay_marks_find(struct replay_marks *marks, uint64_t id)
{
    for (uint32_t i = marks->count; i-- > 0;) {
        if (marks->list[i].id == id)
            return &marks->list[i];
    }
    return NULL;
}

/* An alert without a place in the list is counted once: when it fires, or when a recording has it
 * as it was in the end. */
static void replay_marks_leave_out(struct replay_marks *marks, const struct wire_alert *alert,
                                   int resolved)
{
    if (alert->id > marks->newest_left_out)
        marks->newest_left_out = alert->id;
    else if (resolved || alert->updates > 0)
        return;
    marks->left_out++;
}

void replay_marks_add(struct replay_marks *marks, const struct wire_alert *alert)
{
    int resolved = strcmp(alert->state, "resolved") == 0;
    if (alert->fired_ns == 0 && strcmp(alert->state, "firing") != 0)
        return;
    struct replay_mark *mark = replay_marks_find(marks, alert->id);
    if (mark == NULL && marks->count == REPLAY_MARKS_MAXIMUM) {
        replay_marks_leave_out(marks, alert, resolved);
        return;
    }
    mark = mark != NULL ? mark : &marks->list[marks->count++];
    *mark =
        (struct replay_mark){.id = alert->id,
                             .since_ns = alert->onset_ns != 0 ? alert->onset_ns : alert->since_ns,
                             .fired_ns = alert->fired_ns != 0 ? alert->fired_ns : alert->updated_ns,
                             .end_ns = resolved ? alert->updated_ns : 0};
    text_copy(mark->kind, sizeof(mark->kind), alert->kind);
    text_copy(mark->severity, sizeof(mark->severity), alert->severity);
    text_copy(mark->title, sizeof(mark->title), alert->title);
}

void replay_shared_add_alert(struct replay_shared *shared, const struct wire_alert *alert)
{
    atomic_fetch_add(&shared->version, 1);
    replay_marks_add(&shared->made, alert);
    atomic_fetch_add(&shared->version, 1);
}

void replay_shared_finish(struct replay_shared *shared, uint64_t end_ns)
{
    atomic_store(&shared->end_ns, end_ns);
    atomic_store(&shared->indexed_ns, end_ns);
    atomic_fetch_add(&shared->version, 1);
    atomic_store(&shared->indexed, 1);
    atomic_fetch_add(&shared->version, 1);
}

int replay_shared_read_marks(const struct replay_shared *shared, struct replay_marks *out,
                             uint64_t *version)
{
    for (int i = 0; i < READ_ATTEMPTS; i++) {
        uint64_t before = atomic_load(&shared->version);
        if (before % 2 != 0)
            continue;
        int made = atomic_load(&shared->indexed) || shared->recorded.count == 0;
        memcpy(out, made ? &shared->made : &shared->recorded, sizeof(*out));
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load(&shared->version) != before)
            continue;
        *version = before;
        return 0;
    }
    return -EAGAIN;
}
