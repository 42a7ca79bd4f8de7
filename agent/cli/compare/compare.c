/* Compares two runs: figures, links, pairs, phases. */
#include "agent/cli/compare/compare.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ------------------------------------------------------------- */

static void compare_add(struct comparison *c, const char *name, enum compare_unit unit,
                        double before, double after)
{
    struct compare_figure *f = &c->figures[c->figure_count++];
    *f = (struct compare_figure){.unit = unit, .value = {before, after}};
    snprintf(f->name, sizeof(f->name), "%s", name);
}

/* Add the quotient of two figures in both runs; NaN (not known) if a divisor is 0. */
static void compare_add_quotient(struct comparison *c, const char *name, enum compare_unit unit,
                                 const double parts[2], const double wholes[2])
{
    compare_add(c, name, unit, wholes[0] > 0 ? parts[0] / wholes[0] : NAN,
                wholes[1] > 0 ? parts[1] / wholes[1] : NAN);
}

static void compare_add_latency(struct comparison *c, int locality)
{
    static const char *const names[2] = {"intra-node", "inter-node"};
    const struct compare_latency *l[2] = {&c->runs[0]->latency[locality],
                                          &c->runs[1]->latency[locality]};
    const double messages[2] = {l[0]->messages, l[1]->messages},
                 seconds[2] = {l[0]->transfer_ns / 1e9, l[1]->transfer_ns / 1e9},
                 relative[2] = {l[0]->relative, l[1]->relative},
                 delayed[2] = {l[0]->delayed, l[1]->delayed};
    char name[40];
    snprintf(name, sizeof(name), "%s transfer time", names[locality]);
    compare_add_quotient(c, name, COMPARE_SECONDS, seconds, messages);
    snprintf(name, sizeof(name), "%s relative latency", names[locality]);
    compare_add_quotient(c, name, COMPARE_TIMES, relative, messages);
    snprintf(name, sizeof(name), "%s delayed", names[locality]);
    compare_add_quotient(c, name, COMPARE_SHARE, delayed, messages);
}

/* Add the times at which a quarter, a half ... of the messages was sent; the whole is the smaller
 * number of both runs. */
static void compare_add_progress(struct comparison *c)
{
    const double sent[2] = {c->runs[0]->totals.sent, c->runs[1]->totals.sent};
    const int is_known = c->runs[0]->progress_count > 0 && c->runs[1]->progress_count > 0;
    const double common = is_known ? fmin(sent[0], sent[1]) : 0;
    for (unsigned step = 1; step <= COMPARE_STEPS && common > 0; step++) {
        const double messages = common * step / COMPARE_STEPS;
        char name[40];
        snprintf(name, sizeof(name), "%u %% of messages after", 100 * step / COMPARE_STEPS);
        compare_add(c, name, COMPARE_SECONDS, compare_run_reached(c->runs[0], messages),
                    compare_run_reached(c->runs[1], messages));
    }
}

static void compare_add_figures(struct comparison *c)
{
    const struct compare_run *a = c->runs[0], *b = c->runs[1];
    const struct compare_totals *x = &a->totals, *y = &b->totals;
    const double seconds[2] = {a->seconds, b->seconds}, ranks[2] = {x->rank_ns, y->rank_ns};
    compare_add(c, "duration", COMPARE_SECONDS, a->seconds, b->seconds);
    compare_add(c, "messages", COMPARE_COUNT, x->sent, y->sent);
    compare_add(c, "bytes", COMPARE_BYTES, x->sent_bytes, y->sent_bytes);
    compare_add_quotient(c, "messages a second", COMPARE_COUNT, (double[]){x->sent, y->sent},
                         seconds);
    compare_add_quotient(c, "bytes a second", COMPARE_BYTES,
                         (double[]){x->sent_bytes, y->sent_bytes}, seconds);
    compare_add(c, "calls", COMPARE_COUNT, x->calls, y->calls);
    compare_add_quotient(c, "time in MPI", COMPARE_SHARE, (double[]){x->mpi_ns, y->mpi_ns}, ranks);
    compare_add_quotient(c, "time waiting", COMPARE_SHARE, (double[]){x->waiting_ns, y->waiting_ns},
                         ranks);
    for (int locality = 0; locality < 2; locality++)
        compare_add_latency(c, locality);
    compare_add_progress(c);
    compare_add(c, "hop-bytes", COMPARE_BYTES, a->hop_bytes, b->hop_bytes);
    compare_add(c, "fullest link", COMPARE_BYTES, a->largest_load, b->largest_load);
    compare_add(c, "inter-node bytes", COMPARE_BYTES, a->inter_node_bytes, b->inter_node_bytes);
    compare_add(c, "records lost", COMPARE_COUNT, x->lost, y->lost);
}

const struct compare_figure *compare_largest(const struct comparison *c)
{
    const struct compare_figure *largest = NULL, *one_sided = NULL;
    double most = log(1.01);
    for (size_t i = 0; i < c->figure_count; i++) {
        const struct compare_figure *f = &c->figures[i];
        if (one_sided == NULL && fmin(f->value[0], f->value[1]) <= 0 &&
            fmax(f->value[0], f->value[1]) > 0 && !isnan(f->value[0]) && !isnan(f->value[1]))
            one_sided = f;
        if (!(f->value[0] > 0) || !(f->value[1] > 0))
            continue;
        const double ratio = fabs(log(f->value[1] / f->value[0]));
        largest = ratio > most ? f : largest;
        most = fmax(most, ratio);
    }
    return largest != NULL ? largest : one_sided;
}

/* ---- lists --------------------------------------------------------------- */

static int compare_by_name(const void *left, const void *right)
{
    const struct compare_item *a = left, *b = right;
    const int order = strcmp(a->name[0], b->name[0]);
    return order != 0 ? order : strcmp(a->name[1], b->name[1]);
}

/* The largest absolute difference first. */
static int compare_by_difference(const void *left, const void *right)
{
    const struct compare_item *a = left, *b = right;
    const double x = fabs(a->value[1] - a->value[0]), y = fabs(b->value[1] - b->value[0]);
    return x != y ? (x < y) - (x > y) : compare_by_name(left, right);
}

static struct compare_item *compare_list_add(struct compare_list *list)
{
    if (ARRAY_FIT(list->items, list->capacity, list->count + 1) != 0)
        return NULL;
    struct compare_item *item = &list->items[list->count++];
    *item = (struct compare_item){.value = {0, 0}};
    return item;
}

/* Add up items of the same name, then sort by difference. */
static void compare_list_finish(struct compare_list *list)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), compare_by_name);
    for (size_t i = 0; i < list->count; i++) {
        const struct compare_item item = list->items[i];
        if (kept > 0 && compare_by_name(&list->items[kept - 1], &item) == 0) {
            list->items[kept - 1].value[0] += item.value[0];
            list->items[kept - 1].value[1] += item.value[1];
        } else {
            list->items[kept++] = item;
        }
    }
    list->count = kept;
    if (kept > 0)
        qsort(list->items, kept, sizeof(*list->items), compare_by_difference);
}

static double compare_scale(const struct comparison *c, int which)
{
    return c->per_second ? 1 / c->runs[which]->seconds : 1;
}

/* Name of a vertex: that of its host, except in Cartesian networks. */
static void compare_name_vertex(const struct compare_run *run, uint32_t vertex, char *out,
                                size_t capacity)
{
    const char *host = run->input.hosts[vertex];
    const struct topology *t = run->input.network.topology;
    if (host != NULL && host[0] != '\0' && topology_grid(t) == NULL)
        snprintf(out, capacity, "%s", host);
    else
        topology_vertex_name(t, vertex, out, capacity);
}

static int compare_list_links(struct comparison *c, int which)
{
    const struct compare_run *run = c->runs[which];
    const struct topology *t = run->input.network.topology;
    for (uint32_t link = 0; link < topology_links(t); link++) {
        uint32_t from, to;
        if (run->loads[link] == 0 || topology_link(t, link, &from, &to) == 0)
            continue;
        struct compare_item *item = compare_list_add(&c->links);
        if (item == NULL)
            return -ENOMEM;
        compare_name_vertex(run, from, item->name[0], sizeof(item->name[0]));
        compare_name_vertex(run, to, item->name[1], sizeof(item->name[1]));
        item->value[which] = (double)run->loads[link] * compare_scale(c, which);
    }
    return 0;
}

/* Pairs of ranks, and ranks that send to themselves. */
static int compare_list_pairs(struct comparison *c, int which)
{
    const struct pairs *p = &c->runs[which]->input.pairs;
    for (size_t i = 0; i < p->edge_count; i++) {
        const struct remap_edge *edge = &p->edges[i];
        struct compare_item *item = compare_list_add(&c->pairs);
        if (item == NULL)
            return -ENOMEM;
        snprintf(item->name[0], sizeof(item->name[0]), "%" PRIu64, p->ids[edge->from]);
        snprintf(item->name[1], sizeof(item->name[1]), "%" PRIu64, p->ids[edge->to]);
        item->value[which] = (double)edge->bytes * compare_scale(c, which);
    }
    return 0;
}

static int compare_list_phases(struct comparison *c)
{
    for (uint32_t i = 0; c->alignment.by_phase && i < c->alignment.count; i++) {
        const uint32_t other = c->alignment.match[i];
        if (other == ALIGNMENT_NONE)
            continue;
        const struct run_phase *x = &c->runs[0]->phases[i], *y = &c->runs[1]->phases[other];
        struct compare_item *item = compare_list_add(&c->phases);
        if (item == NULL)
            return -ENOMEM;
        snprintf(item->name[0], sizeof(item->name[0]), "%" PRIu32, i + 1);
        snprintf(item->name[1], sizeof(item->name[1]), "%" PRIu32, other + 1);
        item->value[0] = (x->end_ns - x->begin_ns) / 1e9;
        item->value[1] = (y->end_ns - y->begin_ns) / 1e9;
    }
    return 0;
}

/* ---- all ----------------------------------------------------------------- */

int compare_make(struct comparison *out, const struct compare_run *before,
                 const struct compare_run *after)
{
    *out = (struct comparison){.runs = {before, after}};
    int code = alignment_make(&out->alignment, before->phases, (uint32_t)before->phase_count,
                              after->phases, (uint32_t)after->phase_count);
    out->per_second = !out->alignment.by_phase && before->seconds > 0 && after->seconds > 0;
    compare_add_figures(out);
    for (int which = 0; code == 0 && which < 2; which++) {
        code = compare_list_links(out, which);
        code = code != 0 ? code : compare_list_pairs(out, which);
    }
    code = code != 0 ? code : compare_list_phases(out);
    compare_list_finish(&out->links);
    compare_list_finish(&out->pairs);
    compare_list_finish(&out->phases);
    if (code != 0)
        compare_finish(out);
    return code;
}

void compare_finish(struct comparison *c)
{
    alignment_finish(&c->alignment);
    array_release(&c->links.items);
    array_release(&c->pairs.items);
    array_release(&c->phases.items);
}
