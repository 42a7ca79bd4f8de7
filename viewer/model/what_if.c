/* The stack of what-if steps, and the state that they make together. */
#include "viewer/model/what_if.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "viewer/model/model_network_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void what_if_state_clear(struct what_if *w)
{
    free(w->seats);
    free(w->routes);
    free(w->path);
    w->seats = NULL;
    w->routes = NULL;
    w->path = NULL;
    w->seat_count = w->route_count = w->path_count = 0;
}

void what_if_finish(struct what_if *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        suggestion_clear(&w->steps[i].answer);
    free(w->steps);
    what_if_state_clear(w);
    *w = (struct what_if){.version = w->version + 1, .last_state = w->last_state};
}

uint64_t what_if_state(const struct what_if *w)
{
    return w->count ? w->steps[w->count - 1].state : 0;
}

unsigned what_if_kinds(const struct what_if *w)
{
    unsigned kinds = 0;
    for (uint32_t i = 0; i < w->count; i++)
        kinds |= 1u << w->steps[i].kind;
    return kinds;
}

static const struct network_reroute *what_if_find(const struct network_reroute *routes,
                                                  uint32_t count, uint32_t source,
                                                  uint32_t destination)
{
    const struct network_reroute key = {.source = source, .destination = destination};
    return count ? bsearch(&key, routes, count, sizeof key, network_compare_reroutes) : NULL;
}

const struct network_reroute *what_if_route(const struct what_if *w, uint32_t source,
                                            uint32_t destination)
{
    return what_if_find(w->routes, w->route_count, source, destination);
}

/* ---- the state of all steps ---- */

/* The last mapping places all ranks: it was asked for on top of those before it. */
static int what_if_adopt_seats(struct what_if *w)
{
    for (uint32_t i = w->count; i-- > 0;) {
        const struct suggestion *s = &w->steps[i].answer;
        if (w->steps[i].kind != SUGGEST_MAPPING)
            continue;
        w->seats = malloc((s->seat_count + 1u) * sizeof *w->seats);
        if (!w->seats)
            return -ENOMEM;
        if (s->seat_count)
            memcpy(w->seats, s->seats, s->seat_count * sizeof *w->seats);
        w->seat_count = s->seat_count;
        return 0;
    }
    return 0;
}

/* Adds the better routes of a step that no step above it has. */
static void what_if_add_routes(struct what_if *w, const struct suggestion *s, uint32_t sorted)
{
    for (uint32_t i = 0; i < s->route_count; i++) {
        struct network_reroute r = s->routes[i];
        if (!r.count || what_if_find(w->routes, sorted, r.source, r.destination))
            continue;
        memcpy(w->path + w->path_count, s->path + r.first, r.count * sizeof *w->path);
        r.first = w->path_count;
        w->path_count += r.count;
        w->routes[w->route_count++] = r;
    }
}

static int what_if_adopt_routes(struct what_if *w)
{
    size_t routes = 1, path = 1;
    for (uint32_t i = 0; i < w->count; i++) {
        routes += w->steps[i].answer.route_count;
        path += w->steps[i].answer.path_count;
    }
    w->routes = malloc(routes * sizeof *w->routes);
    w->path = malloc(path * sizeof *w->path);
    if (!w->routes || !w->path)
        return -ENOMEM;
    for (uint32_t i = w->count; i-- > 0;) {
        what_if_add_routes(w, &w->steps[i].answer, w->route_count);
        if (w->route_count)
            qsort(w->routes, w->route_count, sizeof *w->routes, network_compare_reroutes);
    }
    return 0;
}

/* Computes the state from its steps. On failure it is that without steps. */
static int what_if_settle(struct what_if *w)
{
    what_if_state_clear(w);
    w->version++;
    int error = what_if_adopt_seats(w);
    error = error ? error : what_if_adopt_routes(w);
    if (error)
        what_if_state_clear(w);
    return error;
}

/* ---- steps ---- */

static int what_if_copy_answer(struct suggestion *out, const struct suggestion *s)
{
    *out = *s;
    out->gains = malloc((s->gain_count + 1u) * sizeof *out->gains);
    out->seats = malloc((s->seat_count + 1u) * sizeof *out->seats);
    out->routes = malloc((s->route_count + 1u) * sizeof *out->routes);
    out->path = malloc((s->path_count + 1u) * sizeof *out->path);
    if (!out->gains || !out->seats || !out->routes || !out->path) {
        suggestion_clear(out);
        return -ENOMEM;
    }
    if (s->gain_count)
        memcpy(out->gains, s->gains, s->gain_count * sizeof *out->gains);
    if (s->seat_count)
        memcpy(out->seats, s->seats, s->seat_count * sizeof *out->seats);
    if (s->route_count)
        memcpy(out->routes, s->routes, s->route_count * sizeof *out->routes);
    if (s->path_count)
        memcpy(out->path, s->path, s->path_count * sizeof *out->path);
    return 0;
}

int what_if_push(struct what_if *w, const char *job, const struct network *n,
                 enum suggestion_kind kind, const char *name)
{
    const struct suggestion *s = &n->suggestions[kind];
    if (!s->ready || !n->topology)
        return -HOLTER_EEMPTY;
    if (s->base != what_if_state(w))
        return -HOLTER_EUSAGE;
    if (w->count == WHAT_IF_STEPS)
        return -HOLTER_EFULL;
    if (ARRAY_RESIZE(w->steps, w->count + 1u) != 0)
        return -ENOMEM;
    struct what_if_step *step = &w->steps[w->count];
    *step = (struct what_if_step){.kind = kind, .state = w->last_state + 1};
    if (what_if_copy_answer(&step->answer, s) < 0)
        return -ENOMEM;
    snprintf(step->name, sizeof step->name, "%s", name);
    snprintf(w->job, sizeof w->job, "%s", job);
    w->vertices = topology_vertices(n->topology);
    w->links = topology_links(n->topology);
    w->count++;
    int error = what_if_settle(w);
    if (error) {
        suggestion_clear(&w->steps[--w->count].answer);
        return error;
    }
    w->last_state++;
    return 0;
}

int what_if_undo(struct what_if *w)
{
    if (!w->count)
        return 0;
    suggestion_clear(&w->steps[--w->count].answer);
    return what_if_settle(w);
}

int what_if_check(struct what_if *w, const char *job, const struct network *n)
{
    if (!w->count ||
        (!strcmp(w->job, job) && n->topology && w->vertices == topology_vertices(n->topology) &&
         w->links == topology_links(n->topology)))
        return 0;
    what_if_finish(w);
    return 1;
}

char *what_if_text(const struct what_if *w, char *out, size_t capacity)
{
    static const char *const names[SUGGESTIONS] = {"mapping", "routes"};
    if (!w->count) {
        snprintf(out, capacity, "reality");
        return out;
    }
    snprintf(out, capacity, "suggestion %u: ", w->count);
    for (uint32_t i = 0; i < w->count; i++)
        text_append(out, capacity, "%s%s", i ? " + " : "", names[w->steps[i].kind]);
    return out;
}
