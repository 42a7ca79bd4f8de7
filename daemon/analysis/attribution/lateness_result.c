/* Why ranks are late, as a result of the attribution: figures of their processes since the onset
 * are compared with those of the baseline, and what they show becomes causes with texts. */
#include "daemon/analysis/attribution/attribution_view.h"
#include "daemon/analysis/attribution/lateness.h"
#include "holter/plain_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST_SHARE 0.1 /* of what all signs explain: less is no cause */

static const struct {
    enum attribution_cause_kind kind;
    const char *one, *several; /* what ranks do */
    const char *advice_one;    /* NULL: that for several fits one, too */
    const char *advice;
} lateness_signs[LATENESS_SIGNS] = {
    [LATENESS_COMPUTES] = {CAUSE_COMPUTES, "computes longer", "compute longer",
                           "Balance the work: this rank has more of it than before.",
                           "Balance the work: these ranks have more of it than before."},
    [LATENESS_INTERRUPTED] =
        {CAUSE_INTERRUPTED, "is kept off its core", "are kept off their cores",
         "Look for other processes on the core of this rank, bind it to a core of its own, and "
         "leave a core to the system.",
         "Look for other processes on the cores of these ranks, bind each rank "
         "to cores of its own, and leave a core to the system."},
    [LATENESS_STOPPED] = {CAUSE_STOPPED, "is stopped again and again",
                          "are stopped again and again",
                          "Look for a debugger, a checkpoint or a batch system that stops this "
                          "process (SIGSTOP).",
                          "Look for a debugger, a checkpoint or a batch system that stops these "
                          "processes (SIGSTOP)."},
    [LATENESS_PAGING] = {CAUSE_PAGING, "waits for memory pages", "wait for memory pages", NULL,
                         "The memory of the node does not suffice: use fewer ranks a node, or look "
                         "for other processes that need it."},
    [LATENESS_IO] =
        {CAUSE_IO, "waits for I/O", "wait for I/O",
         "Look at the file system that this rank reads and writes, and write less often or in the "
         "background.",
         "Look at the file system that these ranks read and write, and write less often "
         "or in the background."},
    [LATENESS_CLOCK] =
        {CAUSE_CLOCK, "runs at a lower clock", "run at a lower clock", NULL,
         "Look at the temperature, the power limit and the frequency governor of the "
         "node."},
    [LATENESS_PATTERN] = {CAUSE_PATTERN, "handles more messages", "handle more messages",
                          "Change the communication pattern: combine messages of this rank, or "
                          "spread its part over more ranks.",
                          "Change the communication pattern: combine messages of these ranks, or "
                          "spread their part over more ranks."},
};

const char *attribution_cause_phrase(const char *name, int several)
{
    for (int s = 0; s < LATENESS_SIGNS; s++) {
        if (strcmp(name, attribution_cause_name(lateness_signs[s].kind)) == 0)
            return several ? lateness_signs[s].several : lateness_signs[s].one;
    }
    return NULL;
}

/* ---- figures ------------------------------------------------------------- */

/* @param figures   sums over the ranks
 * @param progress  work done in the time, by that of the baseline
 * @return 0: their processes are not known */
static int lateness_convert(const double figures[RANK_FIGURES], double progress,
                            struct lateness_figures *out)
{
    const double known = figures[RANK_KNOWN] * progress, length = figures[RANK_LENGTH] * progress;
    const double clocked = figures[RANK_CLOCKED];
    /* Some kernels count a part of the time in which it is blocked as one without a core. */
    const double waiting = figures[RANK_RUNNABLE] - figures[RANK_CPU];
    if (known <= 0 || length <= 0)
        return 0;
    *out = (struct lateness_figures){
        .outside = (figures[RANK_LENGTH] - figures[RANK_MPI]) / length,
        .inside = figures[RANK_MPI] / length,
        .cpu = figures[RANK_CPU] / known,
        .queued = (fmin(figures[RANK_QUEUED], fmax(waiting, 0)) + figures[RANK_STOLEN]) / known,
        .stopped = figures[RANK_STOPPED] / known,
        /* Both measure the time in MPI-IO in which it is in uninterruptible sleep. */
        .blocked = fmax(figures[RANK_BLOCKED] / known, figures[RANK_IO] / length),
        .faults = figures[RANK_FAULTS] / known * 1e9,
        .clock = clocked > 0 ? figures[RANK_CLOCK] / clocked * 1e9 : 0,
        .messages = figures[RANK_MESSAGES] / length * 1e9,
    };
    return 1;
}

static int lateness_read(const struct view *v, const uint32_t *ranks, size_t count,
                         struct lateness_figures *calm, struct lateness_figures *now)
{
    double before[RANK_FIGURES] = {0}, since[RANK_FIGURES] = {0};
    for (size_t i = 0; i < count; i++) {
        for (int f = 0; ranks[i] < v->a->rank_count && f < RANK_FIGURES; f++) {
            before[f] += v->base.ranks[ranks[i]][f];
            since[f] += v->now.ranks[ranks[i]][f];
        }
    }
    return !v->absolute && lateness_convert(before, 1, calm) &&
           lateness_convert(since, v->progress, now);
}

/* ---- texts --------------------------------------------------------------- */

/* Work may be done by other threads, or by an accelerator. */
static void lateness_describe_work(const struct lateness_figures *calm,
                                   const struct lateness_figures *now, double progress, char *out,
                                   size_t capacity)
{
    const int asleep = now->cpu < now->outside / 2;
    const double share = (asleep ? now->outside : fmin(now->outside, now->cpu)) * progress;
    const double before = asleep ? calm->outside : fmin(calm->outside, calm->cpu);
    snprintf(out, capacity, "%soutside of MPI for %.0f %% of the time, before for %.0f %%%s",
             asleep ? "" : "busy ", 100 * share, 100 * before,
             asleep ? ", and asleep for most of it" : "");
    if (share <= before) /* others have waited for it all the time */
        text_append(out, capacity, "; in the same time it does %.0f %% of the work",
                    100 * progress);
}

static void lateness_describe(enum lateness_sign sign, const struct lateness_figures *calm,
                              const struct lateness_figures *now, double progress, char *out,
                              size_t capacity)
{
    switch (sign) {
    case LATENESS_INTERRUPTED:
        snprintf(out, capacity,
                 "without a core, though it could run, for %.0f %% of the time, before for %.0f %%",
                 100 * now->queued * progress, 100 * calm->queued);
        break;
    case LATENESS_STOPPED:
        snprintf(out, capacity, "stopped by a signal for %.0f %% of the time, before for %.0f %%",
                 100 * now->stopped * progress, 100 * calm->stopped);
        break;
    case LATENESS_PAGING:
        snprintf(out, capacity, "%s major page faults a second, before %s",
                 attribution_figure(now->faults * progress).text,
                 attribution_figure(calm->faults).text);
        break;
    case LATENESS_IO:
        snprintf(out, capacity, "blocked in I/O for %.0f %% of the time, before for %.0f %%",
                 100 * now->blocked * progress, 100 * calm->blocked);
        break;
    case LATENESS_CLOCK:
        snprintf(out, capacity, "cores run at %.2f GHz, before at %.2f GHz", now->clock / 1e6,
                 calm->clock / 1e6);
        break;
    case LATENESS_PATTERN:
        snprintf(out, capacity, "%s times as many messages for the same work as before",
                 attribution_figure(now->messages / calm->messages).text);
        break;
    case LATENESS_COMPUTES:
    case LATENESS_SIGNS:
        lateness_describe_work(calm, now, progress, out, capacity);
        break;
    }
}

static const char *lateness_advise(int sign, size_t ranks)
{
    const char *one = lateness_signs[sign].advice_one;
    return ranks == 1 && one ? one : lateness_signs[sign].advice;
}

static void lateness_write(const struct view *v, size_t ranks, const struct lateness_figures *calm,
                           const struct lateness_figures *now, double delays[LATENESS_SIGNS],
                           struct attribution_result *out)
{
    double all = 0;
    for (int s = 0; s < LATENESS_SIGNS; s++)
        all += delays[s];
    for (;;) {
        int first = 0;
        for (int s = 1; s < LATENESS_SIGNS; s++)
            first = delays[s] > delays[first] ? s : first;
        if (delays[first] < LEAST_SHARE * all || out->cause_count == ATTRIBUTION_CAUSES)
            return;
        struct attribution_cause *c = &out->causes[out->cause_count++];
        c->kind = lateness_signs[first].kind;
        c->delay = delays[first];
        c->share = delays[first] / all;
        lateness_describe((enum lateness_sign)first, calm, now, v->progress, c->text,
                          sizeof(c->text));
        snprintf(c->advice, sizeof(c->advice), "%s", lateness_advise(first, ranks));
        delays[first] = 0;
    }
}

int attribution_explain(const struct attribution *a, uint64_t onset, const uint32_t *ranks,
                        size_t count, struct attribution_result *out)
{
    struct view v;
    struct lateness_figures calm, now;
    double delays[LATENESS_SIGNS];
    int error = view_begin(&v, a, onset);
    if (error == 0) {
        memset(out, 0, sizeof(*out));
        out->windows = v.now.windows;
        out->baseline = v.absolute ? 0 : v.base.windows;
        if (lateness_read(&v, ranks, count, &calm, &now) &&
            lateness_judge(&calm, &now, delays) != LATENESS_SIGNS)
            lateness_write(&v, count, &calm, &now, delays, out);
    }
    view_finish(&v);
    return error;
}
