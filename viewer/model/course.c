/* Figures of slots of histories, spread over bins. */
#include "viewer/model/course.h"

#include "daemon/analysis/tables/load_balance.h"
#include "holter/bisect.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct course_bins course_bins(uint64_t first, uint64_t last)
{
    uint64_t per = (last - first + COURSE_BINS - 1) / (COURSE_BINS - 1);
    per = per ? per : 1;
    struct course_bins bins = {first - first % per, per, 0};
    bins.count = (uint32_t)((last - bins.first) / per + 1);
    return bins;
}

struct course_bins course_before(struct course_bins bins, uint64_t oldest)
{
    uint64_t space = bins.first > oldest ? (bins.first - oldest + bins.per - 1) / bins.per : 0;
    uint32_t count = space < bins.count ? (uint32_t)space : bins.count;
    return (struct course_bins){bins.first - count * bins.per, bins.per, count};
}

/* What of a slot belongs to a bin. */
struct portion {
    uint32_t bin;
    double windows; /* common to both */
    double share;   /* of the slot */
};

/* The first slot that reaches into the bins. */
static size_t course_first_slot(const struct history *h, const struct course_bins *bins)
{
    return BISECT(i, (size_t)0, h->count, h->slots[i].last < bins->first);
}

static uint64_t course_end(const struct course_bins *bins)
{
    return bins->first + bins->per * bins->count;
}

/* The portion of a slot in a bin; the figures of several windows are spread over them evenly.
 * @return 0: they have nothing in common */
static int course_portion(const struct course_bins *bins, const struct history_slot *slot,
                          uint32_t bin, struct portion *out)
{
    uint64_t begin = bins->first + bin * bins->per, end = begin + bins->per;
    uint64_t from = slot->first > begin ? slot->first : begin,
             to = slot->last + 1 < end ? slot->last + 1 : end;
    if (to <= from)
        return 0;
    double windows = (double)(to - from);
    *out = (struct portion){bin, windows, windows / (double)(slot->last - slot->first + 1)};
    return 1;
}

/* The first bin that a slot reaches into. */
static uint32_t course_first_bin(const struct course_bins *bins, const struct history_slot *slot)
{
    return slot->first > bins->first ? (uint32_t)((slot->first - bins->first) / bins->per) : 0;
}

/* ---- messages within and between nodes ---- */

/* What the ranks sent in a slot, by place. Figures of two reports may differ: what is within a node
 * is never negative. */
static void crossing_sum_slot(const struct history_slot *slot, const uint8_t *marks, uint32_t ranks,
                              double sums[COURSE_PLACES][PAIR_COLUMNS])
{
    static const int sent[] = {[PAIR_MESSAGES] = RANK_SENT, [PAIR_BYTES] = RANK_SENT_BYTES};
    static const int crossing[] = {
        [PAIR_MESSAGES] = RANK_CROSSING, [PAIR_BYTES] = RANK_CROSSING_BYTES};
    memset(sums, 0, COURSE_PLACES * sizeof *sums);
    for (uint32_t i = 0; i < slot->count; i++) {
        const uint64_t *f = slot->values + (size_t)i * RANK_COLUMNS;
        if (marks && (slot->items[i] >= ranks || !marks[slot->items[i]]))
            continue;
        for (int c = 0; c < PAIR_COLUMNS; c++) {
            uint64_t all = f[sent[c]], between = f[crossing[c]];
            sums[COURSE_BETWEEN][c] += (double)between;
            sums[COURSE_WITHIN][c] += all > between ? (double)(all - between) : 0;
        }
    }
}

static void crossing_add_portion(struct crossing *out, const struct portion *p,
                                 double sums[COURSE_PLACES][PAIR_COLUMNS])
{
    out->windows[p->bin] += p->windows;
    for (int place = 0; place < COURSE_PLACES; place++) {
        for (int c = 0; c < PAIR_COLUMNS; c++) {
            out->sums[place][c][p->bin] += sums[place][c] * p->share;
            out->total[place][c] += sums[place][c] * p->share;
        }
    }
}

void course_crossing(const struct model *m, struct course_bins bins, const uint8_t *marks,
                     struct crossing *out)
{
    const struct history *h = &m->rank_history;
    *out = (struct crossing){0};
    for (size_t i = course_first_slot(h, &bins);
         i < h->count && h->slots[i].first < course_end(&bins); i++) {
        double sums[COURSE_PLACES][PAIR_COLUMNS];
        struct portion p;
        crossing_sum_slot(&h->slots[i], marks, m->rank_count, sums);
        for (uint32_t b = course_first_bin(&bins, &h->slots[i]);
             b < bins.count && course_portion(&bins, &h->slots[i], b, &p); b++)
            crossing_add_portion(out, &p, sums);
    }
}

double crossing_share(const struct crossing *c, enum pair_column column)
{
    double all = c->total[COURSE_WITHIN][column] + c->total[COURSE_BETWEEN][column];
    return all > 0 ? c->total[COURSE_BETWEEN][column] / all : NAN;
}

/* ---- load balance ---- */

/* What is kept of a bin: one rank more than are drawn one by one, so that the largest of the others
 * is among them. */
struct balance_bin {
    struct load_balance balance;
    struct {
        uint32_t rank;
        double lb;
    } most[COURSE_RANKS + 1]; /* of the marked ranks with messages; largest load balance first */
    uint32_t count;
};

/* Working memory for a bin, and sums over bins; arrays are by rank. */
struct balance_work {
    const struct model *model;
    const uint8_t *marks;
    struct course_bins bins;
    double *mc;    /* messages in the bin */
    double *lb;    /* sum of load balances */
    double *total; /* messages in all bins */
    struct balance_bin bin[COURSE_BINS];
    uint32_t bins_used;
};

static double balance_messages(const struct history_slot *slot, uint32_t at)
{
    const uint64_t *f = slot->values + (size_t)at * RANK_COLUMNS;
    return (double)(f[RANK_SENT] + f[RANK_RECEIVED]);
}

static struct course_bins balance_one_bin(const struct balance_work *w, uint32_t bin)
{
    return (struct course_bins){w->bins.first + bin * w->bins.per, w->bins.per, 1};
}

/* Messages of each rank in a bin, and what load balances are taken of.
 * @return 0: no rank communicated */
static int balance_read_bin(struct balance_work *w, uint32_t bin)
{
    const struct model *m = w->model;
    const struct history *h = &m->rank_history;
    struct course_bins one = balance_one_bin(w, bin);
    struct load_balance *balance = &w->bin[bin].balance;
    struct portion p;
    memset(w->mc, 0, m->rank_count * sizeof *w->mc);
    for (size_t i = course_first_slot(h, &one); i < h->count; i++) {
        const struct history_slot *slot = &h->slots[i];
        if (!course_portion(&one, slot, 0, &p))
            break;
        for (uint32_t k = 0; k < slot->count; k++)
            if (slot->items[k] < m->rank_count)
                w->mc[slot->items[k]] += balance_messages(slot, k) * p.share;
    }
    for (uint32_t r = 0; r < m->rank_count; r++)
        load_balance_add(balance, w->mc[r]);
    for (uint32_t r = 0; r < m->rank_count; r++)
        load_balance_deviate(balance, w->mc[r]);
    return balance->processes > 0;
}

static void balance_keep_most(struct balance_bin *bin, uint32_t rank, double lb)
{
    uint32_t at = bin->count;
    while (at > 0 && lb > bin->most[at - 1].lb)
        at--;
    if (at > COURSE_RANKS)
        return;
    bin->count += bin->count <= COURSE_RANKS;
    memmove(&bin->most[at + 1], &bin->most[at], (bin->count - at - 1) * sizeof *bin->most);
    bin->most[at].rank = rank;
    bin->most[at].lb = lb;
}

static void balance_sum_bin(struct balance_work *w, uint32_t b)
{
    struct balance_bin *bin = &w->bin[b];
    if (!balance_read_bin(w, b))
        return;
    w->bins_used++;
    for (uint32_t r = 0; r < w->model->rank_count; r++) {
        double lb = load_balance_of(&bin->balance, w->mc[r]);
        w->lb[r] += lb;
        w->total[r] += w->mc[r];
        if ((!w->marks || w->marks[r]) && w->mc[r] > 0)
            balance_keep_most(bin, r, lb);
    }
}

/* Insert a rank among those kept, in order: who stands out, then by mean. */
static void balance_keep(struct balance *out, const struct balance_rank *rank)
{
    uint32_t at = out->count;
    while (at > 0 && (rank->stands_out > out->ranks[at - 1].stands_out ||
                      (rank->stands_out == out->ranks[at - 1].stands_out &&
                       rank->mean > out->ranks[at - 1].mean)))
        at--;
    if (at == COURSE_RANKS)
        return;
    out->count += out->count < COURSE_RANKS;
    memmove(&out->ranks[at + 1], &out->ranks[at], (out->count - at - 1) * sizeof *out->ranks);
    out->ranks[at] = *rank;
}

/* Sums over all bins, and from them the ranks to keep. */
static void balance_choose(struct balance_work *w, const struct balance *like, struct balance *out)
{
    const struct model *m = w->model;
    double sum = 0, spread = 0;
    for (uint32_t b = 0; b < w->bins.count; b++)
        balance_sum_bin(w, b);
    for (uint32_t r = 0; r < m->rank_count; r++) {
        sum += w->total[r];
        out->communicating += w->total[r] > 0;
    }
    double mean = out->communicating ? sum / out->communicating : NAN;
    for (uint32_t r = 0; r < m->rank_count; r++) {
        struct balance_rank rank = {.rank = r, .mean = w->lb[r] / fmax(w->bins_used, 1)};
        spread += w->total[r] > 0 ? fabs(w->total[r] - mean) : 0;
        rank.load = mean > 0 ? w->total[r] / mean : NAN;
        rank.stands_out = rank.mean >= COURSE_OVERLOAD && rank.load >= COURSE_OVERLOAD;
        int marked = !w->marks || w->marks[r];
        out->standing_out += (uint32_t)(marked && rank.stands_out);
        if (!like && marked && w->total[r] > 0)
            balance_keep(out, &rank);
        for (uint32_t i = 0; like && i < like->count; i++)
            if (like->ranks[i].rank == r)
                out->ranks[i] = rank;
    }
    out->count = like ? like->count : out->count;
    out->spread = out->communicating ? spread / sum : NAN;
}

/* Index of a rank among those kept. */
static uint32_t balance_find(const struct balance *balance, uint32_t rank)
{
    uint32_t i = 0;
    while (i < balance->count && balance->ranks[i].rank != rank)
        i++;
    return i;
}

static double balance_in_bin(const struct balance_work *w, uint32_t bin, uint32_t rank)
{
    const struct history *h = &w->model->rank_history;
    struct course_bins one = balance_one_bin(w, bin);
    struct portion p;
    double messages = 0;
    for (size_t i = course_first_slot(h, &one); i < h->count; i++) {
        const struct history_slot *slot = &h->slots[i];
        if (!course_portion(&one, slot, 0, &p))
            break;
        uint32_t at = BISECT(k, 0, slot->count, slot->items[k] < rank);
        if (at < slot->count && slot->items[at] == rank)
            messages += balance_messages(slot, at) * p.share;
    }
    return load_balance_of(&w->bin[bin].balance, messages);
}

static void balance_draw(const struct balance_work *w, struct balance *out)
{
    for (uint32_t b = 0; b < w->bins.count; b++) {
        const struct balance_bin *bin = &w->bin[b];
        for (uint32_t i = 0; i < out->count; i++)
            out->ranks[i].lb[b] =
                bin->balance.processes > 0 ? balance_in_bin(w, b, out->ranks[i].rank) : NAN;
        uint32_t at = 0;
        while (at < bin->count && balance_find(out, bin->most[at].rank) < out->count)
            at++;
        out->others[b] = at < bin->count ? bin->most[at].lb : NAN;
    }
}

int course_balance(const struct model *m, struct course_bins bins, const uint8_t *marks,
                   const struct balance *like, struct balance *out)
{
    struct balance_work w = {.model = m, .marks = marks, .bins = bins};
    double *memory = calloc((size_t)m->rank_count * 3 + 1, sizeof *memory);
    if (!memory)
        return -ENOMEM;
    w.mc = memory;
    w.lb = memory + m->rank_count;
    w.total = w.lb + m->rank_count;
    *out = (struct balance){0};
    balance_choose(&w, like, out);
    balance_draw(&w, out);
    free(memory);
    return 0;
}

/* ---- transfer time by size ---- */

/* Sums of a size class: messages, and logarithms of times. */
struct size_sum {
    double messages, logs;
};

static void sizes_spread(const struct history_slot *slot, const struct course_bins *bins,
                         struct size_sum (*sums)[SIZE_CLASSES])
{
    struct portion p;
    for (uint32_t b = course_first_bin(bins, slot);
         b < bins->count && course_portion(bins, slot, b, &p); b++) {
        for (uint32_t i = 0; i < slot->count; i++) {
            uint32_t item = slot->items[i];
            if (item < LATENCY_CLASS(1, 0) || item >= LATENCY_CLASS(2, 0))
                continue;
            const uint64_t *f = slot->values + (size_t)i * CLASS_COLUMNS;
            struct size_sum *sum = &sums[b][item - LATENCY_CLASS(1, 0)];
            sum->messages += (double)f[CLASS_MESSAGES] * p.share;
            sum->logs += (double)f[CLASS_LOGS] * p.share;
        }
    }
}

static void sizes_draw(struct size_course *size, const struct course_bins *bins,
                       struct size_sum (*sums)[SIZE_CLASSES])
{
    double n = 0, sum = 0, squares = 0;
    size->messages = 0;
    for (uint32_t b = 0; b < bins->count; b++) {
        const struct size_sum *at = &sums[b][size->size_class];
        double ns = latency_mean(at->messages, at->logs);
        size->ns[b] = ns;
        size->messages += at->messages;
        if (isnan(ns))
            continue;
        n++;
        sum += ns;
        squares += ns * ns;
    }
    size->mean_ns = n > 0 ? sum / n : NAN;
    double variance = n > 0 ? squares / n - size->mean_ns * size->mean_ns : 0;
    size->variation = n > 0 ? sqrt(fmax(variance, 0)) / size->mean_ns : NAN;
}

/* The classes with most messages, in order of size. */
static void sizes_choose(const struct course_bins *bins, struct size_sum (*sums)[SIZE_CLASSES],
                         struct size_courses *out)
{
    double messages[SIZE_CLASSES] = {0};
    for (uint32_t b = 0; b < bins->count; b++)
        for (uint32_t s = 0; s < SIZE_CLASSES; s++)
            messages[s] += sums[b][s].messages;
    for (uint32_t s = 0; s < SIZE_CLASSES; s++) {
        uint32_t larger = 0;
        for (uint32_t o = 0; o < SIZE_CLASSES; o++)
            larger += messages[o] > messages[s] || (o < s && messages[o] >= messages[s]);
        if (messages[s] > 0 && larger < COURSE_SIZES)
            out->sizes[out->count++].size_class = (uint16_t)s;
        out->more += messages[s] > 0 && larger >= COURSE_SIZES;
    }
}

int course_sizes(const struct model *m, struct course_bins bins, const struct size_courses *like,
                 struct size_courses *out)
{
    const struct history *h = &m->latency.classes;
    struct size_sum(*sums)[SIZE_CLASSES] = calloc((size_t)bins.count + 1, sizeof *sums);
    if (!sums)
        return -ENOMEM;
    *out = (struct size_courses){0};
    for (size_t i = course_first_slot(h, &bins);
         i < h->count && h->slots[i].first < course_end(&bins); i++)
        sizes_spread(&h->slots[i], &bins, sums);
    if (like)
        *out = (struct size_courses){.count = like->count};
    else
        sizes_choose(&bins, sums, out);
    for (uint32_t i = 0; i < out->count; i++) {
        out->sizes[i].size_class = like ? like->sizes[i].size_class : out->sizes[i].size_class;
        sizes_draw(&out->sizes[i], &bins, sums);
    }
    free(sums);
    return 0;
}
