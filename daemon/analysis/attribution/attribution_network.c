/* Delay that begins between nodes: a link, traffic of other jobs, the mapping, slow collectives. */
#include "daemon/analysis/attribution/attribution_view.h"

#include "daemon/analysis/tables/arena.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pair of nodes with fewer matched messages has no level of its own. */
#define MINIMUM_PAIR_MESSAGES 8.0
/* Nodes cannot be distinguished when the shares of their contacts differ by less. */
#define SHARE_TOLERANCE 0.05
#define MINIMUM_OTHERS 1 /* ranks that a node's contacts are compared with */
#define FEW_OTHERS                                                                                 \
    0.7 /* of a node's excess: what other links may have if its own link is slow ... */
/* ... and of the excess that is there in both directions. With 0.35 both are named of 14 of 40 jobs
 * with two slow links, not of 16, and 55 of 60 jobs with traffic of others, not 57. */
#define FEW_BOTH_WAYS 0.2
/* The same of the waits of ranks that exchange messages with the node. */
#define FEW_CONTACTS 0.35
/* The same where most links that do not touch the node are slow as well. Of 600 programs on three
 * nodes with traffic of others between all of them 88 % are named rightly, without it 82; of 600
 * with a slow link 90 and 91. */
#define FEW_CONTRADICTED 0.1
/* The same of ranks that exchange messages with either of two nodes. With 0.15 as many of 100 jobs
 * with two slow links are named, but 19 of 20 with traffic of others, not 20; with 0.3 17. */
#define FEW_CONTACTS_OF_TWO 0.05
/* The same of two nodes, by the excess in either direction. With 0.2 and 0.5 as many of 40 jobs
 * with two slow links are named, give or take one; with 0.5 two of 60 with traffic of others less.
 */
#define FEW_OF_TWO 0.35
/* The same of two nodes where one of them alone would explain most of it: times its excess. Of 100
 * jobs with two slow links 74 are named, with 0.2 as many and with 0.8 70; of 200 with one slow
 * link 87.5 %, with 0.2 87 and with 0.8 88.5. */
#define ALIKE 0.6
#define MOST_TRIED 32u      /* nodes that may be one of two: bounds the time in large jobs */
#define NOISE 0.2           /* ordinary difference between windows, a share */
#define ABSOLUTE_MARGIN 3.0 /* without a baseline: ordinary factor between pairs of nodes */

/* ---- the network between nodes -------------------------------------------- */

/* Network time beyond what it was before; without a baseline, beyond that of the quietest window,
 * or beyond a multiple of what most pairs of nodes have. All in nanoseconds. */
static double network_excess_ns(const struct view *v, double network, double expected,
                                double network_before, double expected_before,
                                double matched_before)
{
    if (v->absolute) {
        double more = network - ABSOLUTE_MARGIN * v->level * expected;
        return more > v->varying * network ? more : v->varying * network;
    }
    double level = matched_before >= MINIMUM_PAIR_MESSAGES && expected_before > 0
                       ? network_before / expected_before
                       : v->level;
    return network > level * expected ? network - level * expected : 0;
}

/* Network time by criterion in one window. @return NaN without messages */
static double network_window_level(const struct attribution_slice *slice)
{
    double network = 0, expected = 0;
    for (uint32_t p = 0; p < slice->pair_count; p++) {
        network += (double)slice->pairs[p][PAIR_NETWORK];
        expected += (double)slice->pairs[p][PAIR_EXPECTED];
    }
    return expected > 0 ? network / expected : NAN;
}

/* Find the normal level of network time: that of the job before; without a baseline the median over
 * pairs of nodes, and how much of it is more than in the quietest window. @return 0 or -ENOMEM */
static int network_find_level(struct view *v)
{
    double network = 0, expected = 0, quietest = INFINITY;
    size_t count = 0;
    const struct attribution_sum *of = v->absolute ? &v->now : &v->base;
    double *ratios = calloc((size_t)v->a->pairs.count + 1, sizeof(*ratios));
    if (ratios == NULL)
        return -ENOMEM;
    for (uint32_t p = 0; p < v->a->pairs.count && p < of->pair_capacity; p++) {
        network += of->pairs[p][PAIR_NETWORK];
        expected += of->pairs[p][PAIR_EXPECTED];
        if (of->pairs[p][PAIR_EXPECTED] > 0)
            ratios[count++] = of->pairs[p][PAIR_NETWORK] / of->pairs[p][PAIR_EXPECTED];
    }
    v->level = expected > 0 ? network / expected : 1;
    for (uint32_t i = 0; i < v->a->slice_count && v->absolute; i++) {
        double level = network_window_level(attribution_slice_at(v->a, i));
        quietest = level < quietest ? level : quietest;
    }
    if (quietest < v->level / (1 + NOISE))
        v->varying = 1 - quietest * (1 + NOISE) / v->level;
    if (v->absolute && count > 0)
        v->level = view_quantile(ratios, count, 0.5);
    free(ratios);
    return 0;
}

/* Excess of network time, and of joint time with it, of each rank, at most what it spends more in
 * messaging calls: those of one Waitall are waited for together. */
static void network_find_rank_excess(struct view *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t r = v->ranks[i];
        const double *now = v->now.ranks[r], *before = v->base.ranks[r];
        double unit = now[RANK_LENGTH] * v->progress;
        double maximum = view_growth(v, r, RANK_MESSAGING);
        if (now[RANK_MATCHED] <= 0 || unit <= 0)
            continue;
        double scale =
            now[RANK_INTER_IN] > now[RANK_MATCHED] ? now[RANK_INTER_IN] / now[RANK_MATCHED] : 1;
        double matched = v->absolute ? 0 : before[RANK_MATCHED];
        double network = network_excess_ns(v, now[RANK_NETWORK], now[RANK_EXPECTED],
                                           before[RANK_NETWORK], before[RANK_EXPECTED], matched);
        double joint_level =
            matched > 0 ? before[RANK_JOINT] / before[RANK_MATCHED] * now[RANK_MATCHED] : 0;
        double joint = (now[RANK_JOINT] - joint_level) * scale / unit;
        network *= scale / unit;
        v->network[i] = network < maximum ? network : maximum;
        if (v->absolute || joint < 0)
            joint = 0;
        v->joint[i] = network + joint < maximum ? network + joint : maximum;
    }
}

/* The largest mean over the ranks of a node that get messages from other nodes. */
static double network_largest_node_mean(struct view *v, const double *values)
{
    double maximum = 0;
    memset(v->node_sum, 0, (v->a->node_count + 1) * sizeof(double));
    memset(v->node_weight, 0, (v->a->node_count + 1) * sizeof(double));
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t node = attribution_node_of(v->a, v->ranks[i]);
        if (node == ATTRIBUTION_NO_NODE || v->now.ranks[v->ranks[i]][RANK_MATCHED] <= 0)
            continue;
        v->node_sum[node] += values[i];
        v->node_weight[node]++;
    }
    for (uint32_t n = 0; n < v->a->node_count; n++)
        if (v->node_weight[n] > 0 && v->node_sum[n] / v->node_weight[n] > maximum)
            maximum = v->node_sum[n] / v->node_weight[n];
    return maximum;
}

/* One direction between two nodes, with its excess, ns, and the excess that the other direction
 * has, too. A receiver that completes messages of several nodes in one call sees the delay of one
 * in all of them; but a slow link is slow in both directions. */
struct link {
    uint32_t from, to;
    double excess, both, expected;
    double normal, matched; /* time of its messages without the excess, and their number */
};

struct node_links {
    double excess, both, expected, normal, matched;
    double hot, all; /* links with much excess, links */
};

/* Ranks that exchange messages with a node, or run there, and their waits for the network. */
struct contact {
    double sum, count, hot;
};

struct links {
    struct arena memory; /* of all arrays */
    struct link *list;
    uint32_t count;
    struct node_links *nodes;
    struct node_links *between; /* by node: links between it and the slowest one */
    struct node_links sum;
    struct contact all;       /* the sum over all ranks */
    struct contact *contacts; /* by node */
    struct contact *joint;    /* by node: ranks that are contacts of another one, too */
};

ORDER_FUNCTION(network_compare_links, struct link,
               2 * ORDER(a->from, b->from) + ORDER(a->to, b->to))

/* Excess of a pair of nodes, and what its messages would have taken normally, ns. */
static double network_link_excess(const struct view *v, uint32_t pair, int joint, double *normal)
{
    const double *now = v->now.pairs[pair], *before = v->base.pairs[pair];
    double matched = v->absolute ? 0 : before[PAIR_MATCHED];
    double excess = network_excess_ns(v, now[PAIR_NETWORK], now[PAIR_EXPECTED],
                                      before[PAIR_NETWORK], before[PAIR_EXPECTED], matched);
    double time = now[PAIR_NETWORK];
    if (joint && matched > 0) {
        excess += now[PAIR_JOINT] - before[PAIR_JOINT] / matched * now[PAIR_MATCHED];
        time += now[PAIR_JOINT];
    }
    excess = excess > 0 ? excess : 0;
    *normal = time > excess ? time - excess : 0;
    return excess;
}

/* Collect the links from or to nodes of ranks. */
static void network_collect_links(const struct view *v, struct links *l, int joint)
{
    for (uint32_t p = 0; p < v->a->pairs.count; p++) {
        struct link link = {.from = (uint32_t)v->a->pairs.keys[p].hi,
                            .to = (uint32_t)v->a->pairs.keys[p].lo,
                            .expected = v->now.pairs[p][PAIR_EXPECTED],
                            .matched = v->now.pairs[p][PAIR_MATCHED]};
        link.excess = network_link_excess(v, p, joint, &link.normal);
        if (link.expected > 0 && (v->node_weight[link.from] > 0 || v->node_weight[link.to] > 0))
            l->list[l->count++] = link;
    }
    qsort(l->list, l->count, sizeof(*l->list), network_compare_links);
    for (uint32_t i = 0; i < l->count; i++) {
        struct link *k = &l->list[i], back = {.from = k->to, .to = k->from};
        const struct link *other =
            bsearch(&back, l->list, l->count, sizeof(back), network_compare_links);
        double rate = view_rate(k->excess, k->expected);
        double rate_back = other ? view_rate(other->excess, other->expected) : rate;
        k->both = (rate < rate_back ? rate : rate_back) * k->expected;
    }
}

static void network_add_link(struct node_links *n, const struct link *k, int hot)
{
    n->excess += k->excess;
    n->both += k->both;
    n->expected += k->expected;
    n->normal += k->normal;
    n->matched += k->matched;
    n->hot += hot;
    n->all += 1;
}

static void network_sum_links(struct links *l)
{
    double highest = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        double rate = view_rate(l->list[i].excess, l->list[i].expected);
        highest = rate > highest ? rate : highest;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        const struct link *k = &l->list[i];
        int hot = k->excess > 0 && view_rate(k->excess, k->expected) >= 0.2 * highest;
        network_add_link(&l->nodes[k->from], k, hot);
        network_add_link(&l->nodes[k->to], k, hot);
        network_add_link(&l->sum, k, hot);
    }
}

/* Excess of links that do not touch a node, by that of those that do. */
static double network_others_ratio(const struct links *l, uint32_t node, int both)
{
    const struct node_links *n = &l->nodes[node];
    double own = view_rate(both ? n->both : n->excess, n->expected);
    double rest = both ? l->sum.both - n->both : l->sum.excess - n->excess;
    if (own <= 0)
        return INFINITY;
    return view_rate(rest > 0 ? rest : 0, l->sum.expected - n->expected) / own;
}

/* Are links slow in both directions? Otherwise one is in one direction only. */
static int network_is_both_ways(const struct links *l)
{
    return l->sum.both >= 0.2 * l->sum.excess;
}

/* Find the node whose links have excess while others do not. @return ATTRIBUTION_NO_NODE: none */
static uint32_t network_find_slow_node(const struct view *v, const struct links *l)
{
    int both = network_is_both_ways(l);
    double best = both ? FEW_BOTH_WAYS : FEW_OTHERS;
    uint32_t node = ATTRIBUTION_NO_NODE;
    for (uint32_t n = 0; n < v->a->node_count; n++) {
        const struct node_links *x = &l->nodes[n];
        if (x->excess <= 0 || x->hot < 0.5 * x->all || l->sum.all - x->all < 1 ||
            network_others_ratio(l, n, 0) > FEW_OTHERS)
            continue;
        double others = network_others_ratio(l, n, both);
        if (others < best) {
            best = others;
            node = n;
        }
    }
    return node;
}

static void network_add_contact(struct contact *c, const struct contact *other, double times)
{
    c->sum += times * other->sum;
    c->count += times * other->count;
    c->hot += times * other->hot;
}

/* The node of a rank and those of its partners, each once. @return how many */
static uint32_t network_list_contacts(const struct view *v, uint32_t i,
                                      uint32_t nodes[ATTRIBUTION_PARTNERS + 1])
{
    uint32_t count = 0, r = v->ranks[i];
    for (uint32_t k = 0; k <= ATTRIBUTION_PARTNERS; k++) {
        const struct attribution_partner own = {.rank = r, .messages = 1};
        const struct attribution_partner p = k == 0 ? own : v->a->partners[r][k - 1];
        const uint32_t node =
            p.messages > 0 ? attribution_node_of(v->a, p.rank) : ATTRIBUTION_NO_NODE;
        uint32_t before = 0;
        while (before < count && nodes[before] != node)
            before++;
        if (before == count && node != ATTRIBUTION_NO_NODE)
            nodes[count++] = node;
    }
    return count;
}

/* Count all ranks for each of their nodes.
 * @param of  those only that exchange messages with this node; ATTRIBUTION_NO_NODE: all
 * @return the sum over these ranks */
static struct contact network_add_contacts(const struct view *v, const double *values, uint32_t of,
                                           struct contact *contacts)
{
    const double maximum = view_largest(values, v->count);
    struct contact all = {0};
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t nodes[ATTRIBUTION_PARTNERS + 1], k = 0;
        const uint32_t count = network_list_contacts(v, i, nodes);
        while (k < count && nodes[k] != of)
            k++;
        if (v->now.ranks[v->ranks[i]][RANK_MATCHED] <= 0 ||
            (of != ATTRIBUTION_NO_NODE && k == count))
            continue;
        const struct contact one = {values[i], 1, values[i] >= 0.25 * maximum};
        network_add_contact(&all, &one, 1);
        for (k = 0; k < count; k++)
            network_add_contact(&contacts[nodes[k]], &one, 1);
    }
    return all;
}

/* How much do other ranks wait, by the waits of these? @return NaN: these do not wait, or there are
 * no others */
static double network_others_wait(const struct contact *all, const struct contact *own)
{
    const double rest = all->count - own->count;
    if (rest < MINIMUM_OTHERS || own->sum <= 0 || own->hot < 0.5 * own->count)
        return NAN;
    return fmax(all->sum - own->sum, 0) / rest / (own->sum / own->count);
}

/* Find the nodes whose contacts wait for the network while other ranks do not. This holds also
 * where a call completes messages of several nodes, and all of them seem late. Several nodes are
 * found where they have the same contacts.
 * @param l         its contacts are set
 * @param others    set to the ratio of the waits of other ranks to those of the contacts; NaN:
 * unknown
 * @return how many nodes, at most capacity */
static uint32_t network_find_contacted(const struct view *v, const double *values, struct links *l,
                                       uint32_t *nodes, uint32_t capacity, double *others)
{
    l->all = network_add_contacts(v, values, ATTRIBUTION_NO_NODE, l->contacts);
    uint32_t count = 0;
    *others = NAN;
    for (uint32_t n = 0; n < v->a->node_count; n++) {
        const double ratio = network_others_wait(&l->all, &l->contacts[n]);
        if (isnan(ratio))
            continue;
        if (isnan(*others) || ratio < *others - SHARE_TOLERANCE)
            count = 0;
        if ((isnan(*others) || ratio < *others + SHARE_TOLERANCE) && count < capacity)
            nodes[count++] = n;
        *others = isnan(*others) || ratio < *others ? ratio : *others;
    }
    return count;
}

/* By which factor messages take longer; NaN where they took no time before. */
static double network_slowdown(double excess, double normal)
{
    return normal > 0 && excess >= 0 ? 1 + excess / normal : NAN;
}

static struct node_links network_subtract(const struct node_links *a, const struct node_links *b)
{
    return (struct node_links){.excess = a->excess - b->excess,
                               .both = a->both - b->both,
                               .expected = a->expected - b->expected,
                               .normal = a->normal - b->normal,
                               .matched = a->matched - b->matched};
}

static double network_rate_both_ways(const struct node_links *n)
{
    return view_rate(n->both, n->expected);
}

static void network_name_two(struct attribution_finding *f, uint32_t a, uint32_t b)
{
    f->nodes[0] = a < b ? a : b;
    f->nodes[1] = a < b ? b : a;
    f->node_count = 2;
}

/* Are all links of two nodes slow, and those of others not? One of them is the node whose links
 * have most excess. Of each, the links between both do not count.
 * @param alike  least part of the excess of one that the other must have
 * @return 1: nodes, ratio and others are set */
static int network_find_two_nodes(const struct view *v, struct links *l, double alike,
                                  struct attribution_finding *f)
{
    uint32_t first = 0;
    double best = FEW_OF_TWO;
    memset(l->between, 0, (v->a->node_count + 1) * sizeof(*l->between));
    for (uint32_t n = 1; n < v->a->node_count; n++)
        if (network_rate_both_ways(&l->nodes[n]) > network_rate_both_ways(&l->nodes[first]))
            first = n;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct link *k = &l->list[i];
        if (k->from == first || k->to == first)
            network_add_link(&l->between[k->from == first ? k->to : k->from], k, 0);
    }
    for (uint32_t n = 0; n < v->a->node_count; n++) {
        const struct node_links one = network_subtract(&l->nodes[first], &l->between[n]);
        const struct node_links other = network_subtract(&l->nodes[n], &l->between[n]);
        const struct node_links rest = network_subtract(&l->sum, &l->nodes[first]);
        const struct node_links others = network_subtract(&rest, &other);
        const double a = network_rate_both_ways(&one), b = network_rate_both_ways(&other);
        const double least = fmin(a, b), share = view_rate(others.excess, others.expected);
        if (n == first || others.matched < MINIMUM_PAIR_MESSAGES || share >= best * least ||
            least < alike * fmax(a, b))
            continue;
        best = share / least;
        const struct node_links own = network_subtract(&l->sum, &others);
        network_name_two(f, first, n);
        f->ratio = network_slowdown(own.excess, own.normal);
        f->others = network_slowdown(others.excess, others.normal);
        f->first = view_rate(own.excess, own.matched);
    }
    f->all = f->node_count == 2;
    return f->all;
}

/* Do ranks that exchange messages with two nodes wait for the network, while others do not? The
 * contacts of one of them wait about as long as those of any node.
 * @return 1: nodes are set; 0: no two, or also others would explain it */
static int network_find_two_contacted(const struct view *v, struct links *l, const double *values,
                                      struct attribution_finding *f)
{
    double best = INFINITY, next = INFINITY, longest = 0;
    for (uint32_t n = 0; n < v->a->node_count; n++)
        longest = fmax(longest, view_rate(l->contacts[n].sum, l->contacts[n].count));
    uint32_t tried = 0;
    for (uint32_t first = 0; first < v->a->node_count && tried < MOST_TRIED; first++) {
        if (view_rate(l->contacts[first].sum, l->contacts[first].count) < MUCH * longest)
            continue;
        tried++;
        memset(l->joint, 0, v->a->node_count * sizeof(*l->joint));
        network_add_contacts(v, values, first, l->joint);
        for (uint32_t n = 0; n < v->a->node_count; n++) {
            struct contact own = l->contacts[first];
            network_add_contact(&own, &l->contacts[n], 1);
            network_add_contact(&own, &l->joint[n], -1);
            const double ratio = network_others_wait(&l->all, &own);
            const int same = f->node_count == 2 && n == f->nodes[0] && first == f->nodes[1];
            if (n == first || isnan(ratio) || same)
                continue;
            next = fmin(next, fmax(ratio, best));
            if (ratio >= best)
                continue;
            best = ratio;
            network_name_two(f, first, n);
        }
    }
    f->all = best < FEW_CONTACTS_OF_TWO && next >= best + SHARE_TOLERANCE;
    f->node_count = f->all ? 2 : 0;
    return f->all;
}

/* Are most links that do not touch a node slow as well, and other ranks not on time?
 * @param others  how much other ranks wait, by the waits of the node's contacts */
static int network_is_contradicted(const struct links *l, uint32_t node, double others)
{
    const struct node_links *n = &l->nodes[node];
    return others >= FEW_CONTRADICTED && l->sum.hot - n->hot > 0.5 * (l->sum.all - n->all) &&
           network_others_ratio(l, node, network_is_both_ways(l)) > FEW_CONTACTS;
}

/* Is the link of one node slow, or that between two, or those of two?
 * @return 1: nodes, ratio and others are set; 0: many links are slow */
static int network_find_slow_links(const struct view *v, struct links *l, const double *values,
                                   struct attribution_finding *f)
{
    uint32_t top = 0, contacted[3], node;
    double others;
    network_sum_links(l);
    uint32_t count = network_find_contacted(v, values, l, contacted, 3, &others);
    int by_contacts = others < FEW_CONTACTS && count > 0;
    if (by_contacts)
        node = contacted[0];
    else /* also where others is unknown */
        node = others > FEW_OTHERS ? ATTRIBUTION_NO_NODE : network_find_slow_node(v, l);
    if (node != ATTRIBUTION_NO_NODE && network_find_two_nodes(v, l, ALIKE, f))
        return 1;
    if (by_contacts && network_is_contradicted(l, node, others)) {
        by_contacts = 0;
        node = network_find_slow_node(v, l);
    }
    f->ratio = network_slowdown(l->sum.excess, l->sum.normal);
    f->first = view_rate(l->sum.excess, l->sum.matched);
    if (node != ATTRIBUTION_NO_NODE) {
        const struct node_links *n = &l->nodes[node];
        f->nodes[f->node_count++] = node;
        for (uint32_t i = 1; i < count && by_contacts; i++)
            f->nodes[f->node_count++] = contacted[i];
        f->ratio = network_slowdown(n->excess, n->normal);
        f->others = network_slowdown(l->sum.excess - n->excess, l->sum.normal - n->normal);
        f->first = view_rate(n->excess, n->matched);
        return 1;
    }
    if (l->count == 0)
        return 0;
    for (uint32_t i = 1; i < l->count; i++)
        if (l->list[i].excess > l->list[top].excess)
            top = i;
    double pair = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if ((l->list[i].from == l->list[top].to && l->list[i].to == l->list[top].from) || i == top)
            pair += l->list[i].excess;
    if (pair < 0.6 * l->sum.excess)
        return network_find_two_nodes(v, l, 0, f) || network_find_two_contacted(v, l, values, f);
    f->nodes[f->node_count++] = l->list[top].from;
    f->nodes[f->node_count++] = l->list[top].to;
    f->between = 1;
    const struct link *k = &l->list[top];
    f->ratio = network_slowdown(k->excess, k->normal);
    f->first = view_rate(k->excess, k->matched);
    return 1;
}

/* Ranks that wait longest for the network, those on the named nodes first. */
static void network_name_ranks(const struct view *v, struct attribution_finding *f,
                               const double *values)
{
    double best[ATTRIBUTION_RANKS], maximum = view_largest(values, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t node = attribution_node_of(v->a, v->ranks[i]);
        int named = 0;
        for (uint32_t k = 0; k < f->node_count; k++)
            named |= f->nodes[k] == node;
        if (values[i] >= 0.25 * maximum && values[i] > 0)
            view_insert(f->ranks, best, &f->rank_count, ATTRIBUTION_RANKS, v->ranks[i],
                        values[i] + (named ? 1e6 : 0));
    }
}

/* Windows' network time by criterion: deviation by mean (A3). */
static double network_window_spread(const struct view *v, uint64_t onset)
{
    double sum = 0, squares = 0, n = 0;
    for (uint32_t i = 0; i < v->a->slice_count; i++) {
        const struct attribution_slice *slice = attribution_slice_at(v->a, i);
        double level = network_window_level(slice);
        if (slice->number < onset || !(level > 0))
            continue;
        sum += level;
        squares += level * level;
        n++;
    }
    double mean = n > 0 ? sum / n : 0, variance = n > 0 ? squares / n - mean * mean : 0;
    return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

/* Share of the excess network time of messages that ranks of earlier findings send or receive. */
static double network_reported_share(const struct view *v)
{
    double reported = 0, all = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t r = v->ranks[i];
        double excess = view_growth(v, r, RANK_NETWORK) + view_growth(v, r, RANK_NETWORK_OUT);
        all += excess;
        for (uint32_t k = 0; k < v->found; k++)
            for (uint32_t n = 0; n < v->findings[k].rank_count; n++)
                if (v->findings[k].ranks[n] == r) {
                    reported += excess;
                    n = ATTRIBUTION_RANKS;
                }
    }
    return all > 0 ? 2 * reported / all : 0; /* each message has two ends */
}

/* Are messages within the node slower, too, and not those within other nodes? Then the node itself
 * is slow. */
static int network_is_node_itself(const struct view *v, uint32_t node)
{
    double now[2][2] = {{0}}, before[2][2] = {{0}};
    for (uint32_t i = 0; i < v->count && !v->absolute; i++) {
        int other = attribution_node_of(v->a, v->ranks[i]) != node;
        now[other][0] += v->now.ranks[v->ranks[i]][RANK_NEAR_NETWORK];
        now[other][1] += v->now.ranks[v->ranks[i]][RANK_NEAR_EXPECTED];
        before[other][0] += v->base.ranks[v->ranks[i]][RANK_NEAR_NETWORK];
        before[other][1] += v->base.ranks[v->ranks[i]][RANK_NEAR_EXPECTED];
    }
    double own = view_rate(before[0][0], before[0][1]),
           others = view_rate(before[1][0], before[1][1]);
    if (own <= 0 || others <= 0)
        return 0;
    own = view_rate(now[0][0], now[0][1]) / own;
    others = view_rate(now[1][0], now[1][1]) / others;
    return own >= 1.5 && own >= 1.5 * others;
}

static int network_allocate_links(struct links *l, const struct view *v)
{
    ARENA_TAKE(&l->memory, l->list, (size_t)v->a->pairs.count + 1);
    ARENA_TAKE(&l->memory, l->nodes, (size_t)v->a->node_count + 1);
    ARENA_TAKE(&l->memory, l->between, (size_t)v->a->node_count + 1);
    ARENA_TAKE(&l->memory, l->contacts, (size_t)v->a->node_count + 1);
    ARENA_TAKE(&l->memory, l->joint, (size_t)v->a->node_count + 1);
    return l->memory.failed ? -ENOMEM : 0;
}

/* Find where the excess of network time comes from. @return 0 or -ENOMEM */
static int network_explain_excess(struct view *v, struct attribution_finding *f, int by_joint,
                                  uint64_t onset)
{
    const double *values = by_joint ? v->joint : v->network;
    struct links links = {0};
    int error = network_allocate_links(&links, v);
    if (error == 0) {
        network_collect_links(v, &links, by_joint);
        if (network_find_slow_links(v, &links, values, f))
            f->kind = CAUSE_NETWORK;
        if (f->kind == CAUSE_NETWORK && f->node_count == 1 &&
            network_is_node_itself(v, f->nodes[0]))
            f->kind = CAUSE_SLOW_NODE;
        f->by_network = 1;
        network_name_ranks(v, f, values);
        f->second = network_window_spread(v, onset);
    }
    arena_finish(&links.memory);
    return error;
}

int view_find_network(struct view *v, uint64_t onset)
{
    double explained = 0;
    for (uint32_t i = 0; i < v->found; i++)
        explained += v->findings[i].delay;
    int error = network_find_level(v);
    if (error)
        return error;
    network_find_rank_excess(v);
    double joint = network_largest_node_mean(v, v->joint) - explained;
    double delay = network_largest_node_mean(v, v->network);
    int by_joint = joint > delay;
    if (explained > 0.5 * delay && network_reported_share(v) >= 0.4)
        delay = delay > explained ? delay - explained : 0;
    struct attribution_finding *f = view_add_finding(v, CAUSE_BACKGROUND, by_joint ? joint : delay);
    return f == NULL ? 0 : network_explain_excess(v, f, by_joint, onset);
}

/* ---- mapping (A1) and collectives ----------------------------------------- */

static double mapping_sum_figure(const struct view *v, const struct attribution_sum *sum,
                                 enum rank_figure f)
{
    double total = 0;
    for (uint32_t i = 0; i < v->count; i++)
        total += sum->ranks[v->ranks[i]][f];
    return total;
}

static double mapping_inter_share(const struct view *v, const struct attribution_sum *sum)
{
    double inter = mapping_sum_figure(v, sum, RANK_INTER_OUT),
           intra = mapping_sum_figure(v, sum, RANK_INTRA_OUT);
    return inter + intra > 0 ? inter / (inter + intra) : 0;
}

int view_find_mapping(struct view *v)
{
    double share = mapping_inter_share(v, &v->now), reachable, given, avoidable = 0;
    double messages = mapping_sum_figure(v, &v->now, RANK_INTER_OUT) +
                      mapping_sum_figure(v, &v->now, RANK_INTRA_OUT);
    double far = view_rate(mapping_sum_figure(v, &v->now, RANK_NETWORK) +
                               mapping_sum_figure(v, &v->now, RANK_JOINT),
                           mapping_sum_figure(v, &v->now, RANK_MATCHED));
    double near = view_rate(mapping_sum_figure(v, &v->now, RANK_NEAR_NETWORK),
                            mapping_sum_figure(v, &v->now, RANK_NEAR_MATCHED));
    int error = attribution_reachable(v->a, &reachable, &given);
    if (error)
        return error;
    if (v->absolute && reachable > given)
        avoidable = (reachable - given);
    else if (!v->absolute && share > mapping_inter_share(v, &v->base))
        avoidable = share - mapping_inter_share(v, &v->base);
    if (avoidable < 0.05 || far <= near)
        return 0;
    double length = mapping_sum_figure(v, &v->now, RANK_LENGTH) * v->progress;
    double delay = avoidable * messages * (far - near) / length;
    double maximum = mapping_sum_figure(v, &v->now, RANK_MESSAGING) / length;
    struct attribution_finding *f =
        view_add_finding(v, CAUSE_MAPPING, delay < maximum ? delay : maximum);
    if (f == NULL)
        return 0;
    for (uint32_t i = 0; i < v->count; i++)
        v->scratch[i] = view_now(v, v->ranks[i], RANK_INTER_OUT);
    view_name_ranks(v, f, v->scratch, MUCH * view_largest(v->scratch, v->count));
    f->ratio = share;
    f->others = v->absolute ? 1 - reachable : mapping_inter_share(v, &v->base);
    double inter_bytes = mapping_sum_figure(v, &v->now, RANK_INTER_BYTES);
    f->first =
        view_rate(inter_bytes, inter_bytes + mapping_sum_figure(v, &v->now, RANK_INTRA_BYTES));
    f->second = far - near;
    return 0;
}

/* Find collectives that take longer for all ranks, also for the last one to arrive. */
void view_find_collective(struct view *v)
{
    double minimum = INFINITY, explained = 0;
    struct attribution_finding *network = NULL;
    for (uint32_t i = 0; i < v->count; i++) {
        double growth = view_growth(v, v->ranks[i], RANK_COLLECTIVE);
        minimum = growth < minimum ? growth : minimum;
    }
    for (uint32_t i = 0; i < v->found; i++) {
        explained += v->findings[i].delay;
        if (v->findings[i].by_network && !(v->findings[i].ratio < 2))
            network = &v->findings[i];
    }
    if (v->absolute || v->count == 0)
        return;
    if (network != NULL) { /* the messages of collectives go through the same network */
        network->delay = network->delay > minimum ? network->delay : minimum;
        return;
    }
    if (explained >= 0.2 * minimum)
        return;
    struct attribution_finding *f = view_add_finding(v, CAUSE_COLLECTIVE, minimum - explained);
    if (f != NULL)
        f->first = minimum;
}
