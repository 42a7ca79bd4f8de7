/* Suggested mappings and routes: what they would change. */
#include "viewer/model/model_network_parts.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void suggestion_clear(struct suggestion *s)
{
    free(s->gains);
    free(s->seats);
    free(s->routes);
    free(s->path);
    *s = (struct suggestion){.version = s->version + 1};
}

const struct network_gain *suggestion_gain(const struct suggestion *s, const char *name)
{
    for (uint32_t i = 0; i < s->gain_count; i++)
        if (!strcmp(s->gains[i].name, name))
            return &s->gains[i];
    return NULL;
}

uint32_t suggestion_better_routes(const struct suggestion *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->route_count; i++)
        count += s->routes[i].count > 0;
    return count;
}

void network_asked(struct network *n, enum suggestion_kind kind, const char *objective)
{
    struct suggestion *s = &n->suggestions[kind];
    suggestion_clear(s);
    s->waiting = 1;
    snprintf(s->objective, sizeof s->objective, "%s", objective);
}

void network_replied(struct network *n, enum suggestion_kind kind, int code, const char *text)
{
    struct suggestion *s = &n->suggestions[kind];
    if (!s->waiting)
        return;
    s->waiting = 0;
    if (!code && s->ready)
        return;
    suggestion_clear(s);
    s->error = code ? code : -HOLTER_EMISSING;
    snprintf(s->error_text, sizeof s->error_text, "%s",
             text && text[0] ? text : holter_strerror(s->error));
}

static int add_gains(struct suggestion *s, const struct wire_gain_row *rows, uint64_t count)
{
    if (network_grow(&s->gains, s->gain_count, count, sizeof *s->gains) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        struct network_gain *g = &s->gains[s->gain_count++];
        *g = (struct network_gain){"", rows[i].before, rows[i].after, rows[i].bound};
        text_copy(g->name, sizeof g->name, rows[i].name);
    }
    return 0;
}

static void finish_part(struct suggestion *s, int more)
{
    s->more = more;
    if (more)
        return;
    s->ready = 1;
    s->progress = 1;
    s->version++;
}

int network_apply_mapping(struct network *n, const struct wire_mapping *m)
{
    struct suggestion *s = &n->suggestions[SUGGEST_MAPPING];
    if (!s->waiting || s->ready)
        return 0; /* of a question that was given up */
    s->progress = m->progress > 0 ? m->progress < 1 ? m->progress : 1 : 0;
    text_copy(s->objective, sizeof s->objective, m->objective);
    if (!s->more)
        s->gain_count = 0; /* those of the best so far */
    if (s->progress < 1)
        return add_gains(s, m->gains, m->gains_count);
    s->optimal |= m->optimal != 0;
    if (add_gains(s, m->gains, m->gains_count) < 0 ||
        network_add_seats(&s->seats, &s->seat_count, m->seats, m->seats_count) < 0)
        return -ENOMEM;
    finish_part(s, m->more != 0);
    return 0;
}

/* ---- routes -------------------------------------------------------------- */

static int add_reroutes(struct suggestion *s, const struct wire_routes *w)
{
    if (network_grow(&s->routes, s->route_count, w->routes_count, sizeof *s->routes) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < w->routes_count; i++) {
        const struct wire_reroute_row *row = &w->routes[i];
        s->routes[s->route_count++] = (struct network_reroute){
            .source = network_bounded(row->source),
            .destination = network_bounded(row->destination),
            .length = network_bounded(row->length),
            .length_after = network_bounded(row->length_after),
            .bytes = row->bytes,
            .heaviest = row->heaviest,
            .heaviest_after = row->heaviest_after,
        };
    }
    if (w->routes_count)
        qsort(s->routes, s->route_count, sizeof *s->routes, network_compare_reroutes);
    return 0;
}

/* Rows of a route follow each other, perhaps into the next message. */
static int add_path(struct suggestion *s, const struct wire_routes *w)
{
    if (network_grow(&s->path, s->path_count, 2 * w->hops_count, sizeof *s->path) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < w->hops_count; i++) {
        const struct wire_hop_row *row = &w->hops[i];
        struct network_reroute key = {.source = network_bounded(row->source),
                                      .destination = network_bounded(row->destination)};
        struct network_reroute *r = s->route_count ? bsearch(&key, s->routes, s->route_count,
                                                             sizeof key, network_compare_reroutes)
                                                   : NULL;
        if (!r)
            continue;
        if (!r->count) {
            r->first = s->path_count;
            s->path[s->path_count++] = r->source;
            r->count = 1;
        }
        if (r->first + r->count != s->path_count)
            continue; /* torn apart: the check below drops it */
        s->path[s->path_count++] = network_bounded(row->vertex);
        r->count++;
    }
    return 0;
}

/* A suggested route must be one: links from its source to its destination. */
static void check_routes(struct suggestion *s, const struct topology *t)
{
    for (uint32_t i = 0; i < s->route_count; i++) {
        struct network_reroute *r = &s->routes[i];
        int whole = t && r->count > 1 && s->path[r->first + r->count - 1] == r->destination;
        uint32_t vertices = t ? topology_vertices(t) : 0;
        for (uint32_t k = 0; whole && k + 1 < r->count; k++) {
            uint32_t from = s->path[r->first + k], to = s->path[r->first + k + 1];
            whole = from < vertices && to < vertices &&
                    topology_link_between(t, from, to) != TOPOLOGY_NONE;
        }
        if (!whole)
            r->count = 0;
    }
}

int network_apply_routes(struct network *n, const struct wire_routes *w)
{
    struct suggestion *s = &n->suggestions[SUGGEST_ROUTES];
    if (!s->waiting || s->ready)
        return 0;
    if (add_gains(s, w->gains, w->gains_count) < 0 || add_reroutes(s, w) < 0 || add_path(s, w) < 0)
        return -ENOMEM;
    if (!w->more)
        check_routes(s, n->topology);
    finish_part(s, w->more != 0);
    return 0;
}
