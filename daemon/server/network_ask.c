/* Parses the arguments of the requests "remap" and "reroute". */
#include "daemon/server/network_ask.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/rank_list.h"
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/command_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_TOP 100u /* routes, unless a number is given */

void network_ask_finish(struct network_ask *ask)
{
    array_release(&ask->ranks);
    array_release(&ask->routes);
}

/* ---- lists ----------------------------------------------------------------------------- */

static int network_ask_set_ranks(void *user, const struct command_option *option, const char *value)
{
    struct network_ask *ask = user;
    uint32_t *ranks;
    size_t count;
    int code = rank_list_parse(&ranks, &count, value, NETWORK_ASK_RANKS);
    (void)option;
    if (code != 0)
        return code == -ENOMEM ? ENOMEM : -1;
    free(ask->ranks);
    ask->ranks = ranks;
    ask->rank_count = (uint32_t)count;
    return 0;
}

/* "12-0,3-4": vertices. */
static int network_ask_set_routes(void *user, const struct command_option *option,
                                  const char *value)
{
    struct network_ask *ask = user;
    size_t capacity = 1;
    for (const char *c = value; *c != '\0'; c++)
        capacity += *c == ',';
    struct ask_route *routes = malloc(capacity * sizeof(*routes));
    const char *at = value;
    size_t count = 0;
    (void)option;
    while (routes != NULL && at != NULL) {
        uint64_t source, destination;
        at = text_number(at, UINT32_MAX - 1, &source);
        at = at == NULL || *at != '-' ? NULL : text_number(at + 1, UINT32_MAX - 1, &destination);
        if (at == NULL || (*at != ',' && *at != '\0') || count == NETWORK_ASK_ROUTES) {
            free(routes);
            return -1;
        }
        routes[count++] = (struct ask_route){(uint32_t)source, (uint32_t)destination};
        at = *at == ',' ? at + 1 : NULL;
    }
    if (routes == NULL)
        return ENOMEM;
    free(ask->routes);
    ask->routes = routes;
    ask->route_count = count;
    return 0;
}

/* ---- words ------------------------------------------------------------------------------- */

static int network_ask_read_remap(struct network_ask *ask, const char *argument, char *why,
                                  size_t capacity)
{
    static const char *const objectives[] = {"hop-bytes", "max-link", "inter-node", NULL},
                             *const no_yes[] = {"0", "1", NULL};
    int objective = 0;
    const struct command_option words[] = {
        {"objective", .word = &objective, .words = objectives,
         .expected = "hop-bytes, max-link or inter-node"},
        {"time", .real = &ask->seconds, .least = 0.1, .most = 600,
         .expected = "a number of seconds from 0.1 to 600"},
        {"seed", .number = &ask->seed, .expected = "a number below 2^64"},
        {"ranks", .set = network_ask_set_ranks, .expected = "a list of ranks such as 3,8-11"},
        {"messages", .word = &ask->messages, .words = no_yes, .expected = "0 or 1"},
        {"from", .number = &ask->from, .most = 0x1p62, .expected = "the number of a window"},
        {"to", .number = &ask->to, .most = 0x1p62, .expected = "the number of a window"},
        {0},
    };
    int code = command_words_read("remap", words, ask, argument, why, capacity);
    ask->objective = (enum remap_objective)objective;
    return code;
}

static int network_ask_read_reroute(struct network_ask *ask, const char *argument, char *why,
                                    size_t capacity)
{
    static const char *const firsts[] = {"length", "load", NULL};
    uint64_t delta = 0;
    int first = 1;
    const struct command_option words[] = {
        {"routes", .set = network_ask_set_routes, .expected = "a list of routes such as 12-0,3-4"},
        {"link", .number = &ask->link, .most = UINT32_MAX - 1, .expected = "the number of a link"},
        {"top", .number = &ask->top, .least = 1, .most = NETWORK_ASK_ROUTES,
         .expected = "a number from 1 to 131072"},
        {"first", .word = &first, .words = firsts, .expected = "length or load"},
        {"delta", .number = &delta, .most = REROUTE_MAXIMUM_DELTA,
         .expected = "a number of links up to 64"},
        {"from", .number = &ask->from, .most = 0x1p62, .expected = "the number of a window"},
        {"to", .number = &ask->to, .most = 0x1p62, .expected = "the number of a window"},
        {0},
    };
    int code = command_words_read("reroute", words, ask, argument, why, capacity);
    ask->params = (struct reroute_params){.first = first ? REROUTE_LOAD : REROUTE_LENGTH,
                                          .delta = (uint32_t)delta};
    return code;
}

/* Routes that are named by rows. A number that no vertex has is kept as one that no vertex has. */
static int network_ask_copy_routes(struct network_ask *ask, const struct wire_request *request)
{
    struct ask_route *routes = malloc((request->routes_count + 1) * sizeof(*routes));
    if (routes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < request->routes_count; i++) {
        const struct wire_route_row *row = &request->routes[i];
        routes[i].source = row->source < UINT32_MAX ? (uint32_t)row->source : UINT32_MAX;
        routes[i].destination =
            row->destination < UINT32_MAX ? (uint32_t)row->destination : UINT32_MAX;
    }
    free(ask->routes);
    ask->routes = routes;
    ask->route_count = request->routes_count;
    return 0;
}

int network_ask_parse(struct network_ask *out, int reroute, const struct wire_request *request,
                      char *why, size_t capacity)
{
    *out = (struct network_ask){.reroute = reroute,
                                .to = UINT64_MAX,
                                .seconds = 2,
                                .seed = 1,
                                .link = UINT64_MAX,
                                .top = DEFAULT_TOP};
    int code = reroute ? network_ask_read_reroute(out, request->argument, why, capacity)
                       : network_ask_read_remap(out, request->argument, why, capacity);
    if (code == 0 && out->from > out->to) {
        snprintf(why, capacity, "%s: from= is after to=", reroute ? "reroute" : "remap");
        code = -HOLTER_EUSAGE;
    }
    if (code == 0 && reroute && request->routes_count > 0)
        code = network_ask_copy_routes(out, request);
    out->seats = request->seats;
    out->seat_count = request->seats_count;
    out->hops = request->hops;
    out->hop_count = request->hops_count;
    if (code != 0)
        network_ask_finish(out);
    return code;
}
