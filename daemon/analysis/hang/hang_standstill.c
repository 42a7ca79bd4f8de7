/* Hangs of jobs that are kept by groups of ranks. Of a group only sums are known, and not who waits
 * for whom. When no call of the whole job ends although most of its ranks are in calls, all wait
 * for ranks that do not arrive: these are in the groups whose ranks were not in calls all the time.
 */
#include "daemon/analysis/hang/hang_text.h"

#include "daemon/analysis/tables/rank_list.h"
#include "holter/waiting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the ranks of a window, or of a group, did in it. */
struct standstill {
    uint64_t ended; /* calls, without polls that found nothing */
    uint64_t ranks, waiting;
};

/* A rank waits when it was in calls all the time, but not in those that use files: these may take
 * long. */
static struct standstill standstill_of_group(const struct wire_rank_row *row, uint64_t length_ns)
{
    const uint64_t ranks = row->ranks > 0 ? row->ranks : 1,
                   inside =
                       length_ns == 0 ? 0 : (MPI_NS(row) - row->io_ns + length_ns / 2) / length_ns;
    return (struct standstill){row->calls > row->polls ? row->calls - row->polls : 0, ranks,
                               inside < ranks ? inside : ranks};
}

static struct standstill standstill_of_job(const struct hang_window *window)
{
    struct standstill sum = {0};
    for (size_t i = 0; i < window->rank_count; i++) {
        const struct standstill one = standstill_of_group(&window->ranks[i], window->length_ns);
        sum.ended += one.ended;
        sum.ranks += one.ranks;
        sum.waiting += one.waiting;
    }
    return sum;
}

static void standstill_describe(const struct hang_watch *w, struct hang *hang)
{
    struct hang_text title = {.text = hang->title, .capacity = sizeof(hang->title)};
    struct hang_text text = {.text = hang->text, .capacity = sizeof(hang->text)};
    const uint64_t late = hang->members - hang->waiting;
    hang_text_add(&title, "%" PRIu64 " ranks wait and none goes on", hang->waiting);
    if (late > 0)
        hang_text_add(&title, ", except %" PRIu64 " of ranks %s", late,
                      strlen(hang->ranks) <= 24 ? hang->ranks : "in several groups");
    hang_text_add(&text, "%s: no call has ended since ", hang->title);
    hang_text_add_time(&text, w, hang->since_ns);
    if (late > 0)
        hang_text_add(&text, "; not in a call are %" PRIu64 " of ranks %s", late, hang->ranks);
    snprintf(hang->advice, sizeof(hang->advice),
             late > 0 ? "Look at where the ranks are that make no call, for example with gdb -p: "
                        "all others wait for them."
                      : "Look at where the ranks are, for example with gdb -p: all of them wait.");
}

static void standstill_report(struct hang_watch *w, const struct hang_window *window,
                              const struct standstill *job)
{
    struct hang *hang = &w->hangs[w->hang_count++];
    struct rank_runs runs;
    *hang = (struct hang){.id = w->still_ns,
                          .kind = HANG_STANDSTILL,
                          .since_ns = w->still_ns,
                          .members = job->ranks,
                          .waiting = job->waiting};
    rank_runs_begin(&runs, hang->ranks, sizeof(hang->ranks), "...");
    for (size_t i = 0; i < window->rank_count; i++) {
        const struct standstill one = standstill_of_group(&window->ranks[i], window->length_ns);
        if (one.waiting < one.ranks)
            rank_runs_add_row(&runs, window->ranks[i].rank, window->group, window->world);
    }
    rank_runs_end(&runs);
    standstill_describe(w, hang);
}

void hang_standstill(struct hang_watch *w, const struct hang_window *window)
{
    const struct standstill job = standstill_of_job(window);
    const uint64_t begin_ns = window->end_ns - window->length_ns;
    if (window->world == 0 || job.ranks < window->world)
        return; /* ranks of which nothing is known may go on */
    w->hang_count = 0;
    w->moved = job.ended > 0 || job.waiting * 2 < job.ranks;
    if (w->moved) {
        const uint64_t still_ns = w->still_ns == 0 ? 0 : begin_ns - w->still_ns;
        if (still_ns > w->longest[HANG_WAIT_COLLECTIVE])
            w->longest[HANG_WAIT_COLLECTIVE] = still_ns;
        w->still_ns = 0;
        return;
    }
    if (w->still_ns == 0)
        w->still_ns = begin_ns;
    if (window->end_ns - w->still_ns >= hang_threshold(w, HANG_WAIT_COLLECTIVE))
        standstill_report(w, window, &job);
}
