/* Parses the arguments of the requests "remap" and "reroute". */
#include "daemon/server/network_ask.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/rank_list.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT_BYTES 4096u
#define DEFAULT_TOP 100u /* routes, unless a number is given */
#define SECONDS_MINIMUM 0.1
#define SECONDS_MAXIMUM 600.0

void network_ask_finish(struct network_ask *ask)
{
    array_release(&ask->ranks);
    array_release(&ask->routes);
}

/* @return NULL, or what is expected in place of the value */
static const char *network_ask_set_number(const char *value, uint64_t maximum, uint64_t *out)
{
    uint64_t number;
    const char *end = rank_list_number(value, maximum, &number);
    if (end == NULL || *end != '\0')
        return "a number is expected, and not as large a one";
    *out = number;
    return NULL;
}

/* ---- lists ----------------------------------------------------------------------------- */

static const char *network_ask_set_ranks(struct network_ask *ask, const char *value)
{
    uint32_t *ranks;
    size_t count;
    int code = rank_list_parse(&ranks, &count, value, NETWORK_ASK_RANKS);
    if (code != 0)
        return code == -ENOMEM ? "no memory" : "a list of ranks is expected, such as 3,8-11";
    free(ask->ranks);
    ask->ranks = ranks;
    ask->rank_count = (uint32_t)count;
    return NULL;
}

/* "12-0,3-4": vertices. */
static const char *network_ask_set_routes(struct network_ask *ask, const char *value)
{
    struct ask_route *routes = malloc(NETWORK_ASK_ROUTES * sizeof(*routes));
    const char *at = value;
    size_t count = 0;
    while (routes != NULL && at != NULL) {
        uint64_t source, destination;
        at = rank_list_number(at, UINT32_MAX - 1, &source);
        at = at == NULL || *at != '-' ? NULL
                                      : rank_list_number(at + 1, UINT32_MAX - 1, &destination);
        if (at == NULL || (*at != ',' && *at != '\0') || count == NETWORK_ASK_ROUTES) {
            free(routes);
            return "routes are expected, such as 12-0,3-4";
        }
        routes[count++] = (struct ask_route){(uint32_t)source, (uint32_t)destination};
        at = *at == ',' ? at + 1 : NULL;
    }
    if (routes == NULL)
        return "no memory";
    free(ask->routes);
    ask->routes = routes;
    ask->route_count = count;
    return NULL;
}

/* ---- words ------------------------------------------------------------------------------- */

static const char *network_ask_value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static const char *network_ask_set_objective(struct network_ask *ask, const char *value)
{
    static const char *const names[] = {"hop-bytes", "max-link", "inter-node"};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            ask->objective = (enum remap_objective)i;
            return NULL;
        }
    }
    return "hop-bytes, max-link or inter-node is expected";
}

static const char *network_ask_set_seconds(struct network_ask *ask, const char *value)
{
    char *end = NULL;
    double seconds = value[0] >= '0' && value[0] <= '9' ? strtod(value, &end) : 0;
    if (end == NULL || *end != '\0' || !(seconds >= SECONDS_MINIMUM && seconds <= SECONDS_MAXIMUM))
        return "seconds are expected, from 0.1 to 600";
    ask->seconds = seconds;
    return NULL;
}

/* @return NULL, or what is expected in place of the word */
static const char *network_ask_parse_remap_word(struct network_ask *ask, const char *word)
{
    const char *value;
    uint64_t number = 0;
    if ((value = network_ask_value(word, "objective")) != NULL)
        return network_ask_set_objective(ask, value);
    if ((value = network_ask_value(word, "time")) != NULL)
        return network_ask_set_seconds(ask, value);
    if ((value = network_ask_value(word, "seed")) != NULL)
        return network_ask_set_number(value, UINT64_MAX, &ask->seed);
    if ((value = network_ask_value(word, "ranks")) != NULL)
        return network_ask_set_ranks(ask, value);
    if ((value = network_ask_value(word, "from")) != NULL)
        return network_ask_set_number(value, INT64_MAX, &ask->from);
    if ((value = network_ask_value(word, "to")) != NULL)
        return network_ask_set_number(value, INT64_MAX, &ask->to);
    if ((value = network_ask_value(word, "messages")) == NULL)
        return "objective=, time=, seed=, ranks=, messages=, from= or to= is expected";
    const char *wrong = network_ask_set_number(value, 1, &number);
    ask->messages = number == 1;
    return wrong;
}

static const char *network_ask_parse_reroute_word(struct network_ask *ask, const char *word)
{
    const char *value, *wrong;
    uint64_t number = 0;
    if ((value = network_ask_value(word, "routes")) != NULL)
        return network_ask_set_routes(ask, value);
    if ((value = network_ask_value(word, "link")) != NULL)
        return network_ask_set_number(value, UINT32_MAX - 1, &ask->link);
    if ((value = network_ask_value(word, "top")) != NULL) {
        wrong = network_ask_set_number(value, NETWORK_ASK_ROUTES, &ask->top);
        return wrong == NULL && ask->top == 0 ? "a number from 1 up is expected" : wrong;
    }
    if ((value = network_ask_value(word, "first")) != NULL) {
        ask->params.first = strcmp(value, "length") == 0 ? REROUTE_LENGTH : REROUTE_LOAD;
        return strcmp(value, "length") != 0 && strcmp(value, "load") != 0
                   ? "length or load is expected"
                   : NULL;
    }
    if ((value = network_ask_value(word, "delta")) == NULL)
        return "routes=, link=, top=, first= or delta= is expected";
    wrong = network_ask_set_number(value, REROUTE_MAXIMUM_DELTA, &number);
    ask->params.delta = (uint32_t)number;
    return wrong;
}

int network_ask_parse(struct network_ask *out, int reroute, const char *argument, char *why,
                      size_t capacity)
{
    struct network_ask ask = {.reroute = reroute,
                              .to = UINT64_MAX,
                              .seconds = 2,
                              .seed = 1,
                              .link = UINT64_MAX,
                              .top = DEFAULT_TOP,
                              .params = {.first = REROUTE_LOAD}};
    const char *name = reroute ? "reroute" : "remap", *wrong = NULL;
    char *copy = strndup(argument == NULL ? "" : argument, ARGUMENT_BYTES), *rest = NULL;
    if (copy == NULL)
        return -ENOMEM;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && wrong == NULL;
         word = strtok_r(NULL, " ", &rest)) {
        wrong = reroute ? network_ask_parse_reroute_word(&ask, word)
                        : network_ask_parse_remap_word(&ask, word);
        if (wrong != NULL)
            snprintf(why, capacity, "%s: '%.60s': %s", name, word, wrong);
    }
    free(copy);
    if (wrong == NULL && ask.from > ask.to) {
        wrong = "from= is after to=";
        snprintf(why, capacity, "%s: %s", name, wrong);
    }
    if (wrong != NULL) {
        network_ask_finish(&ask);
        return -HOLTER_EUSAGE;
    }
    *out = ask;
    return 0;
}
