/* The graph of dependencies, made when its capture has changed. */
#include "viewer/views/dependencies/dependency_picture.h"

#include "daemon/analysis/tables/array.h"
#include "viewer/layout/mix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_RANKS = 64 }; /* more are shown by host, where no other choice was made */

void dependency_picture_destroy(struct dependency_picture *p)
{
    if (!p)
        return;
    dependencies_finish(&p->d);
    dependency_graph_finish(&p->hosts);
    bundle_finish(&p->bundle);
    free(p->lane_of);
    free(p->marked);
    free(p->chain);
    free(p->model_host);
    free(p->cells);
    free(p);
}

static void dependency_picture_measure(struct dependency_picture *p)
{
    p->slowest_ns = 1;
    for (uint32_t i = 0; i < p->d.ranks.edge_count; i++)
        if (p->d.ranks.edges[i].transfer_ns > p->slowest_ns)
            p->slowest_ns = p->d.ranks.edges[i].transfer_ns;
}

/* While nodes of a large job are answering, the graph is made again only when it has grown by a
 * quarter. */
static int dependency_picture_is_stale(const struct dependency_picture *p, const struct capture *c,
                                       uint64_t subject, uint64_t key)
{
    if (!p->key || p->subject != subject)
        return 1;
    return p->key != key &&
           (c->answered >= c->nodes || c->messages.count > p->made_of + p->made_of / 4);
}

/* @return 0 or -ENOMEM */
static int dependency_picture_refresh(const struct stage *s, struct dependency_picture *p,
                                      const struct capture *c)
{
    uint64_t subject = mix_number(ui_dependencies_subject(s->ui, s->model), (uint64_t)c->asked_ns);
    uint64_t key = mix_number(subject, c->messages.records);
    struct dependency_wishes wishes = {.criteria = s->model->latency.criteria,
                                       .criteria_count = s->model->latency.criteria_count};
    struct dependencies made;
    if (!dependency_picture_is_stale(p, c, subject, key))
        return 0;
    ui_dependencies_span(s->ui, s->model, &wishes.from_ns, &wishes.to_ns);
    int error = dependencies_make(&made, &c->messages, &wishes);
    if (error)
        return error;
    dependencies_finish(&p->d);
    dependency_graph_finish(&p->hosts);
    p->d = made;
    p->key = key;
    p->made_of = c->messages.count;
    p->subject = subject;
    p->hosts_key = p->graph_key = p->labels_key = p->chain_key = p->model_host_key = 0;
    dependency_picture_measure(p);
    return 0;
}

/* ---- lanes ----------------------------------------------------------------- */

/* Where the lane of each rank is in the graph that is shown: ranks of the open host have lanes of
 * their own, in the order of ranks.
 * @param by_host  set: by host its lane, or the first one of its ranks */
static void dependency_picture_map(struct dependency_picture *p, uint32_t *by_host)
{
    const struct dependency_graph *all = &p->d.ranks, *g = p->graph;
    for (uint32_t i = g->lane_count; i-- > 0;)
        by_host[g->lanes[i].host] = i;
    for (uint32_t i = 0; i < all->lane_count; i++) {
        uint32_t *lane = &by_host[all->lanes[i].host];
        p->lane_of[i] = g == all ? i : *lane;
        *lane += g != all && !g->lanes[*lane].is_host && *lane + 1 < g->lane_count;
    }
}

static int dependency_picture_choose(const struct stage *s, struct dependency_picture *p,
                                     const struct capture *c)
{
    const struct ui_dependencies_choice *choice = &s->ui->dependencies;
    int by_host = choice->fold == FOLD_NODES ||
                  (choice->fold == FOLD_AUTO && p->d.ranks.lane_count > MANY_RANKS &&
                   p->d.ranks.lane_count > c->messages.host_count);
    uint64_t key = mix_number(p->key, by_host ? 2 + choice->open : 1);
    uint32_t open = choice->open ? (uint32_t)(choice->open - 1) : DEPENDENCY_NONE;
    if (key == p->graph_key)
        return 0;
    if (by_host && key != p->hosts_key) {
        struct dependency_graph made;
        int error = dependencies_aggregate(&p->d, open, &made);
        if (error)
            return error;
        dependency_graph_finish(&p->hosts);
        p->hosts = made;
        p->hosts_key = key;
    }
    uint32_t *by = calloc(c->messages.host_count + 1, sizeof *by);
    int error = by ? ARRAY_RESIZE(p->lane_of, p->d.ranks.lane_count + 1) : -ENOMEM;
    error = error ? error : ARRAY_RESIZE(p->marked, p->d.ranks.lane_count + 1);
    if (!error) {
        p->graph = by_host ? &p->hosts : &p->d.ranks;
        p->graph_key = key;
        dependency_picture_map(p, by);
    }
    free(by);
    return error;
}

static void dependency_picture_mark(const struct stage *s, struct dependency_picture *p)
{
    memset(p->marked, 0, p->d.ranks.lane_count + 1);
    p->some_marked = s->ui->selection.kind != SELECT_NONE && s->ui->selection.kind != SELECT_CALL;
    for (uint32_t i = 0; p->some_marked && i < p->d.ranks.lane_count; i++)
        if (ui_marks_rank(s->ui, s->model, p->d.ranks.lanes[i].id))
            p->marked[p->lane_of[i]] = 1;
}

/* ---- the chain ------------------------------------------------------------- */

/* The chosen message, else the latest one. DEPENDENCY_NONE: there is none */
static uint32_t dependency_picture_message(const struct stage *s,
                                           const struct dependency_picture *p)
{
    const struct ui_dependencies_choice *choice = &s->ui->dependencies;
    if (choice->message && choice->message <= p->d.event_count &&
        choice->message_subject == ui_dependencies_subject(s->ui, s->model))
        return (uint32_t)(choice->message - 1);
    return dependencies_latest(&p->d);
}

static int dependency_picture_follow(const struct stage *s, struct dependency_picture *p)
{
    uint64_t key = mix_number(mix_number(p->key, s->ui->dependencies.message + 1),
                              s->ui->dependencies.message_subject);
    if (key == p->chain_key)
        return 0;
    uint32_t event = dependency_picture_message(s, p);
    if (event != DEPENDENCY_NONE && !p->d.events[event].receive &&
        p->d.events[event].match != DEPENDENCY_NONE)
        event = p->d.events[event].match;
    uint32_t count = dependencies_chain(&p->d, event, NULL, 0);
    int error = ARRAY_RESIZE(p->chain, count + 1);
    if (error)
        return error;
    p->chain_count = dependencies_chain(&p->d, event, p->chain, count);
    p->chain_key = key;
    return 0;
}

/* Hosts of the capture are found in the model by their names. */
static int dependency_picture_find_hosts(const struct stage *s, struct dependency_picture *p,
                                         const struct capture *c)
{
    uint64_t key = mix_number(mix_number(p->key, s->model->host_count), c->messages.host_count);
    if (key == p->model_host_key)
        return 0;
    int error = ARRAY_RESIZE(p->model_host, c->messages.host_count + 1);
    for (size_t i = 0; !error && i < c->messages.host_count; i++) {
        uint32_t at = 0;
        while (at < s->model->host_count &&
               strcmp(s->model->hosts[at].name, c->messages.hosts[i].name) != 0)
            at++;
        p->model_host[i] = at < s->model->host_count ? at : UINT32_MAX;
    }
    p->model_host_key = error ? p->model_host_key : key;
    return error;
}

struct dependency_picture *dependency_picture_make(struct stage *s, const struct capture *c)
{
    struct pictures *pictures = s->pictures;
    if (!pictures->dependencies &&
        !(pictures->dependencies = calloc(1, sizeof *pictures->dependencies)))
        return NULL;
    struct dependency_picture *p = pictures->dependencies;
    if (dependency_picture_refresh(s, p, c) != 0 || dependency_picture_choose(s, p, c) != 0 ||
        dependency_picture_follow(s, p) != 0 || dependency_picture_find_hosts(s, p, c) != 0)
        return NULL;
    dependency_picture_mark(s, p);
    return p;
}

uint32_t dependency_picture_host(const struct dependency_picture *p,
                                 const struct dependency_lane *lane)
{
    return p->model_host[lane->host];
}
