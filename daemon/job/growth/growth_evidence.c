/* The evidence of an alert about growing latency: the fields of its message. */
#include "daemon/analysis/tables/rank_list.h"
#include "daemon/job/growth/growth_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_SHARE 0.1 /* of the excess: a size class that carries so much of it is named */

/* Is a message one of those that the finding is about? */
static int evidence_covers(const struct job_growth *g, const struct scope_finding *f,
                           const struct transfer *t)
{
    for (uint32_t m = 0; m < f->member_count; m++) {
        if (scopes_covers(g->scopes, &f->members[m], t->source, t->destination))
            return 1;
    }
    return 0;
}

/* Largest uncertainty of the clocks over the messages of the finding; where it has none between
 * nodes in this window, over all messages of the job. */
static uint64_t evidence_error(const struct job_growth *g, const struct scope_finding *f,
                               const struct closed_window *window)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < window->latency->transfers.count; i++) {
        const struct transfer *t = &window->latency->transfers.rows[i];
        const uint64_t error = t->messages == 0 ? 0 : t->error_ns / t->messages;
        if (error > largest && evidence_covers(g, f, t))
            largest = error;
    }
    return largest > 0 ? largest : job_latency_error(g->options.latency);
}

/* ---- sizes --------------------------------------------------------------- */

/* Size classes that carry the excess over the reference, among the messages of the finding. */
static void evidence_list_sizes(const struct job_growth *g, const struct scope_finding *f,
                                const struct closed_window *window, char *out, size_t capacity)
{
    double excess[SIZE_CLASSES] = {0}, total = 0;
    for (size_t i = 0; i < window->latency->transfers.count; i++) {
        const struct transfer *t = &window->latency->transfers.rows[i];
        const int covered = evidence_covers(g, f, t);
        double normal = window->scale->reference[t->locality][t->size_class];
        double more = (double)t->transfer_ns - normal * (double)t->messages;
        if (covered && more > 0)
            excess[t->size_class] += more;
    }
    for (unsigned c = 0; c < SIZE_CLASSES; c++)
        total += excess[c];
    unsigned first = SIZE_CLASSES, last = 0;
    for (unsigned c = 0; c < SIZE_CLASSES; c++) {
        if (excess[c] <= SIZE_SHARE * total)
            continue;
        first = first == SIZE_CLASSES ? c : first;
        last = c;
    }
    out[0] = '\0';
    if (first == SIZE_CLASSES)
        return;
    uint64_t minimum = size_class_floor((uint16_t)first);
    uint64_t maximum = size_class_floor((uint16_t)(last + 1)) - 1;
    if (minimum == maximum)
        snprintf(out, capacity, "%" PRIu64 " bytes", minimum);
    else
        snprintf(out, capacity, "%" PRIu64 " to %" PRIu64 " bytes", minimum, maximum);
}

/* ---- ranks --------------------------------------------------------------- */

enum evidence_end { END_NONE, END_CULPRIT, END_VICTIM };

static int evidence_is_culprit(const struct job_growth *g, const struct scope_finding *f,
                               uint32_t rank)
{
    for (uint32_t m = 0; m < f->member_count; m++) {
        if (growth_scope_has_rank(g, &f->members[m], rank))
            return 1;
    }
    return 0;
}

/* Which ranks belong to the scopes of a finding, and which others have messages in them. Where the
 * scope is no set of ranks (a link, a locality), all that have messages in it carry it. */
static void evidence_mark_ranks(const struct job_growth *g, const struct scope_finding *f,
                                const struct closed_window *window, uint8_t *ends)
{
    const int is_place = f->members[0].kind == SCOPE_NODE || f->members[0].kind == SCOPE_RANK ||
                         f->members[0].kind == SCOPE_NODE_PAIR;
    for (size_t i = 0; i < window->latency->transfers.count; i++) {
        const struct transfer *t = &window->latency->transfers.rows[i];
        const uint32_t pair[] = {t->source, t->destination};
        const int covered = evidence_covers(g, f, t);
        for (int end = 0; covered && end < 2; end++)
            ends[pair[end]] =
                !is_place || evidence_is_culprit(g, f, pair[end]) ? END_CULPRIT : END_VICTIM;
    }
    for (uint32_t r = 0; is_place && r < g->numbers; r++) {
        if (evidence_is_culprit(g, f, r))
            ends[r] = END_CULPRIT;
    }
}

/* @return number of ranks at such an end, in the list */
static size_t evidence_list_end(const struct job_growth *g, const uint8_t *ends,
                                enum evidence_end end, uint32_t *list)
{
    size_t count = 0;
    for (uint32_t r = 0; r < g->ranks; r++) {
        const uint32_t number = job_latency_number_of(g->options.latency, r);
        if (number < g->numbers && ends[number] == end)
            list[count++] = r;
    }
    return count;
}

static void evidence_list_ranks(const struct job_growth *g, struct growth_episode *e,
                                const struct closed_window *window)
{
    struct alert_evidence *v = &e->evidence;
    uint8_t *ends = calloc(g->numbers + 1, sizeof(*ends));
    uint32_t *list = malloc((g->ranks + 1) * sizeof(*list));
    if (ends != NULL && list != NULL) {
        evidence_mark_ranks(g, &e->finding, window, ends);
        const size_t culprits = evidence_list_end(g, ends, END_CULPRIT, list);
        if (culprits > 0)
            rank_list(list, culprits, v->ranks, sizeof(v->ranks));
        if (g->options.network != NULL)
            job_network_describe_hot(g->options.network, list, culprits, v->links,
                                     sizeof(v->links));
        if (culprits > 0)
            v->region = job_latency_region_of(g->options.latency, list[0]);
        const size_t victims = evidence_list_end(g, ends, END_VICTIM, list);
        if (victims > 0)
            rank_list(list, victims, v->victims, sizeof(v->victims));
    }
    free(ends);
    free(list);
}

/* Nodes that are listed already: pairs may share one, and so may ranks that do not follow each
 * other. */
struct node_list {
    uint32_t nodes[2 * SCOPE_MEMBERS];
    size_t count;
};

/* @return whether the node was added: it is known, and not in the list yet */
static int node_list_add(struct node_list *list, uint32_t node)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->nodes[i] == node)
            return 0;
    }
    if (node != ATTRIBUTION_NO_NODE)
        list->nodes[list->count++] = node;
    return node != ATTRIBUTION_NO_NODE;
}

static void evidence_list_nodes(const struct job_growth *g, const struct scope_finding *f,
                                char *out, size_t capacity)
{
    struct growth_text text = {out, capacity, 0};
    struct node_list listed = {.count = 0};
    out[0] = '\0';
    for (uint32_t m = 0; m < f->member_count; m++) {
        const struct scope *s = &f->members[m];
        const uint32_t nodes[] = {
            s->kind == SCOPE_RANK ? attribution_rank_node(g->attribution, s->a) : s->a, s->b};
        const int count = s->kind == SCOPE_NODE_PAIR                       ? 2
                          : s->kind == SCOPE_NODE || s->kind == SCOPE_RANK ? 1
                                                                           : 0;
        for (int i = 0; i < count; i++) {
            const char *host = attribution_node_name(g->attribution, nodes[i]);
            if (node_list_add(&listed, nodes[i]) && text.length + strlen(host) + 2 <= capacity)
                growth_append(&text, "%s%s", text.length == 0 ? "" : ",", host);
        }
    }
}

/* ---- causes -------------------------------------------------------------- */

/* Does a cause explain that ranks are late? Messages in flight are a matter of their own. */
static int evidence_cause_explains_lateness(const char *name)
{
    return strcmp(name, "background") != 0 && strcmp(name, "mapping") != 0 &&
           strcmp(name, "network") != 0;
}

static void evidence_add_cause(struct alert_evidence *v, const char *name, double share,
                               const char *text)
{
    if (v->cause_count == ALERT_CAUSES)
        return;
    snprintf(v->causes[v->cause_count].name, sizeof(v->causes[0].name), "%s", name);
    snprintf(v->causes[v->cause_count].text, sizeof(v->causes[0].text), "%s", text);
    v->causes[v->cause_count++].share = share;
}

/* What messages that take longer in flight are put down to. */
static const char *evidence_transfer_cause(const struct scope *first)
{
    return first->kind == SCOPE_INTRA ||
                   (first->kind == SCOPE_NODE && first->direction >= SCOPE_ALL)
               ? "slow-node"
               : "network";
}

/* The cause that follows from the finding alone. */
static void evidence_add_own_cause(const struct growth_episode *e, const char *name, double share,
                                   struct alert_evidence *v)
{
    evidence_add_cause(
        v, name, share,
        e->finding.part != SCOPE_TRANSFER
            ? (e->finding.member_count == 1 ? "partners wait longer for it than before"
                                            : "partners wait longer for them than before")
        : e->finding.id >= GROWTH_LOSS_ID && e->finding.members[0].kind == SCOPE_NODE
            ? "messages are in flight for longer in the mean, as when a link loses packets"
            : "messages are longer in flight, though both ends are ready");
}

/* Advice on messages that take longer in flight. */
static void evidence_advise(const struct alert_evidence *v, const struct scope *first, char *out,
                            size_t capacity)
{
    switch (first->kind) {
    case SCOPE_NODE:
        if (first->direction >= SCOPE_ALL)
            snprintf(out, capacity,
                     "Look at %.300s (frequency, other processes), and move the job off it.",
                     v->culprits);
        else
            snprintf(out, capacity,
                     "Have the link of %.300s checked, or move the job off it; if it is traffic of "
                     "others, wait until it ends.",
                     v->culprits);
        break;
    case SCOPE_NODE_PAIR:
        snprintf(
            out, capacity,
            "Have the route %s %.300s checked; if it is traffic of others, wait until it ends.",
            first->direction == SCOPE_OUT ? "from" : "between", v->culprits);
        break;
    case SCOPE_LINK:
        snprintf(out, capacity,
                 "Have link %.300s checked; `holter reroute` says how to go around it.",
                 v->culprits);
        break;
    case SCOPE_RANK:
        snprintf(out, capacity, "Look at the node of rank %.300s: %.100s.", v->culprits, v->nodes);
        break;
    case SCOPE_INTRA:
        snprintf(out, capacity, "Look at memory bandwidth and at other processes on the nodes.");
        break;
    case SCOPE_INTER:
    case SCOPE_JOB:
        snprintf(out, capacity,
                 "Wait until the traffic of others ends, or run at another time; on nodes close to "
                 "each other it is met less.");
        break;
    }
}

/* Time in flight needs no search for a cause: the finding says where it has grown. The attribution
 * shows whether the job causes it itself. */
static void evidence_list_transfer_causes(const struct growth_episode *e,
                                          const struct attribution_result *result,
                                          struct alert_evidence *v)
{
    const struct scope *first = &e->finding.members[0];
    const int everywhere = first->kind == SCOPE_JOB || first->kind == SCOPE_INTER;
    double network = 1;
    for (uint32_t i = 0; everywhere && i < result->cause_count; i++) {
        const struct attribution_cause *c = &result->causes[i];
        if (c->kind == CAUSE_MAPPING) {
            evidence_add_cause(v, attribution_cause_name(c->kind), c->share, c->text);
            network -= c->share;
        }
    }
    evidence_add_own_cause(e, everywhere ? "background" : evidence_transfer_cause(first),
                           fmax(network, 0), v);
    evidence_advise(v, first, v->advice, sizeof(v->advice));
}

/* Causes that say only whose messages are late are replaced by what its process shows. */
static int evidence_cause_is_symptom(const char *name)
{
    return strcmp(name, "late-sender") == 0 || strcmp(name, "late-receiver") == 0 ||
           strcmp(name, "collective") == 0 || strcmp(name, "pattern") == 0;
}

/* Are all ranks of a node late, by what was found in the whole job? */
static int evidence_node_is_slow(const struct attribution_result *found)
{
    int is_slow = 0;
    for (uint32_t i = 0; i < found->cause_count; i++)
        is_slow |= found->causes[i].kind == CAUSE_SLOW_NODE;
    return is_slow;
}

/* Why the ranks of the finding are late: by what the kernel has counted for their processes. Of a
 * whole node that computes longer, and of messages in flight, only what disturbs the processes is
 * of interest. In jobs by node a node may also be named for some of its ranks.
 * @param found  in the whole job */
static void evidence_list_process_causes(struct job_growth *g, const struct growth_episode *e,
                                         const struct attribution_result *found,
                                         struct alert_evidence *v)
{
    const struct scope_finding *f = &e->finding;
    const struct scope *first = &f->members[0];
    const int is_node = first->kind == SCOPE_NODE && first->direction >= SCOPE_ALL;
    const int is_whole = is_node && (!growth_by_node(g) || evidence_node_is_slow(found));
    uint32_t *ranks = malloc((g->numbers + 1) * sizeof(*ranks));
    size_t count = 0;
    for (uint32_t r = 0; ranks != NULL && r < g->numbers; r++) {
        if ((is_node || first->kind == SCOPE_RANK) && evidence_is_culprit(g, f, r))
            ranks[count++] = r;
    }
    if (count > 0 && attribution_explain(g->attribution, f->onset, ranks, count, &g->result) == 0 &&
        g->result.cause_count > 0) {
        const enum attribution_cause_kind kind = g->result.causes[0].kind;
        const int is_work = kind == CAUSE_COMPUTES || kind == CAUSE_PATTERN;
        for (uint32_t i = 0; i < g->result.cause_count; i++) {
            const struct attribution_cause *c = &g->result.causes[i];
            if (!is_work || (!is_whole && f->part != SCOPE_TRANSFER))
                evidence_add_cause(v, attribution_cause_name(c->kind), c->share, c->text);
        }
        if (v->cause_count > 0)
            snprintf(v->advice, sizeof(v->advice), "%s", g->result.causes[0].advice);
    }
    free(ranks);
}

/* Is a cause about ranks of the finding? */
static int evidence_cause_concerns(const struct job_growth *g, const struct scope_finding *f,
                                   const struct attribution_cause *c)
{
    int concerns = 0;
    for (uint32_t i = 0; i < c->rank_count; i++)
        concerns |= evidence_is_culprit(g, f, c->ranks[i]);
    return concerns;
}

static uint32_t evidence_count_concerned(const struct job_growth *g, const struct scope_finding *f,
                                         const struct attribution_result *found)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found->cause_count; i++)
        count += evidence_cause_explains_lateness(attribution_cause_name(found->causes[i].kind)) &&
                 evidence_cause_concerns(g, f, &found->causes[i]);
    return count;
}

/* Causes are searched in the whole job: a delay may begin outside of the scope. Those that do not
 * fit the finding are left out: they are about something else, or follow from it. */
static void evidence_list_causes(struct job_growth *g, struct growth_episode *e)
{
    struct alert_evidence *v = &e->evidence;
    double shares = 0;
    struct attribution_result found;
    if (attribution_result(g->attribution, e->finding.onset, &found) != 0)
        found.cause_count = 0;
    evidence_list_process_causes(g, e, &found, v);
    const size_t known = v->cause_count;
    const int concerned = evidence_count_concerned(g, &e->finding, &found) > 0;
    if (e->finding.part == SCOPE_TRANSFER && known == 0) {
        evidence_list_transfer_causes(e, &found, v);
        return;
    }
    for (uint32_t i = 0; i < found.cause_count; i++) {
        const struct attribution_cause *c = &found.causes[i];
        const char *name = attribution_cause_name(c->kind);
        if (!evidence_cause_explains_lateness(name) ||
            (known > 0 && evidence_cause_is_symptom(name)) ||
            (concerned && !evidence_cause_concerns(g, &e->finding, c)))
            continue;
        if (v->cause_count == 0)
            snprintf(v->advice, sizeof(v->advice), "%s", c->advice);
        evidence_add_cause(v, name, c->share, c->text);
    }
    if (v->cause_count == 0)
        evidence_add_own_cause(
            e, e->finding.members[0].kind == SCOPE_NODE ? "slow-node" : "late-sender",
            e->finding.share, v);
    for (size_t i = 0; i < v->cause_count; i++)
        shares += v->causes[i].share;
    for (size_t i = 0; i < v->cause_count && shares > 0; i++)
        v->causes[i].share /= shares;
}

/* Which of several late ranks holds up the others: attribution knows where the time went that they
 * spent outside of MPI. The scopes that it names stay for the episode. */
void growth_name_ranks(struct job_growth *g, struct growth_episode *e)
{
    const struct scope_finding *f = &e->finding;
    if (!f->uncertain) {
        memcpy(e->named, f->members, sizeof(e->named));
        e->named_count = f->part == SCOPE_LATENESS ? f->member_count : 0;
        return;
    }
    if (e->named_count == 0 &&
        attribution_result(g->attribution, e->finding.onset, &g->result) != 0)
        return;
    for (uint32_t i = 0; e->named_count == 0 && i < g->result.cause_count; i++) {
        const struct attribution_cause *c = &g->result.causes[i];
        if (!evidence_cause_explains_lateness(attribution_cause_name(c->kind)))
            continue;
        const int whole = c->kind == CAUSE_SLOW_NODE && c->node_count > 0;
        const uint32_t count = whole ? c->node_count : c->rank_count;
        for (uint32_t k = 0; k < count && k < SCOPE_MEMBERS; k++)
            e->named[e->named_count++] = whole
                                             ? (struct scope){SCOPE_NODE, SCOPE_ALL, c->nodes[k], 0}
                                             : growth_scope_of_rank(g, c->ranks[k]);
    }
    if (e->named_count == 0)
        return;
    memcpy(e->finding.members, e->named, sizeof(e->named));
    e->finding.member_count = e->named_count;
}

/* ---- all ----------------------------------------------------------------- */

static const char *evidence_kind_name(enum scope_kind kind)
{
    static const char *const names[] = {
        [SCOPE_JOB] = "job",   [SCOPE_INTRA] = "intra-node",    [SCOPE_INTER] = "inter-node",
        [SCOPE_NODE] = "node", [SCOPE_NODE_PAIR] = "node-pair", [SCOPE_LINK] = "link",
        [SCOPE_RANK] = "rank"};
    return names[kind];
}

static const char *evidence_locality(const struct job_growth *g, const struct scope *scope)
{
    if (g->nodes == 1)
        return "intra-node";
    switch (scope->kind) {
    case SCOPE_INTRA:
        return "intra-node";
    case SCOPE_INTER:
    case SCOPE_NODE_PAIR:
    case SCOPE_LINK:
        return "inter-node";
    case SCOPE_NODE:
        return scope->direction == SCOPE_ALL      ? "both"
               : scope->direction == SCOPE_WITHIN ? "intra-node"
                                                  : "inter-node";
    default:
        return "both";
    }
}

void growth_describe(struct job_growth *g, struct growth_episode *e,
                     const struct closed_window *window)
{
    struct alert_evidence *v = &e->evidence;
    const struct scope_finding *f = &e->finding;
    memset(v, 0, sizeof(*v)); /* compared as bytes */
    snprintf(v->rule, sizeof(v->rule), "%s", e->rule->name);
    snprintf(v->severity, sizeof(v->severity), "%s", severity_name(e->rule->severity));
    v->episode = f->id;
    v->ratio = f->ratio;
    v->ratio_worst = f->worst;
    v->slope = (f->ratio - 1) * 60e9 /
               ((double)(window->number - f->onset + 1) * (double)window->length_ns);
    v->onset_ns = f->onset * growth_window_ns(g);
    v->progress = progress_share(&g->progress, window->number - f->onset + 1);
    v->lost_ns = (uint64_t)fmax(e->lost_ns, 0);
    snprintf(v->culprit, sizeof(v->culprit), "%s", evidence_kind_name(f->members[0].kind));
    snprintf(v->locality, sizeof(v->locality), "%s", evidence_locality(g, &f->members[0]));
    v->error_ns = strcmp(v->locality, "intra-node") == 0 ? 0 : evidence_error(g, f, window);
    growth_list_scopes(g, f->members, growth_named(f), v->culprits, sizeof(v->culprits));
    growth_list_scopes(g, f->alternatives, f->alternative_count, v->alternatives,
                       sizeof(v->alternatives));
    evidence_list_nodes(g, f, v->nodes, sizeof(v->nodes));
    evidence_list_ranks(g, e, window);
    evidence_list_sizes(g, f, window, v->sizes, sizeof(v->sizes));
    evidence_list_causes(g, e);
    growth_write_title(g, e);
    growth_write_text(e);
}
