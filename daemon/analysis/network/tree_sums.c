#include "daemon/analysis/network/tree_sums.h"

#include "daemon/analysis/network/congestion_inner.h"
#include "daemon/analysis/network/topology_inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes and messages, which are added at once. */
typedef uint64_t two __attribute__((vector_size(16), aligned(8), may_alias));

_Static_assert(sizeof(two) == sizeof(struct link_load), "loads are read as they stand");

/* A vertex by its place: what is above one has a higher place, so that the root comes last. */
struct place {
    uint32_t above, up, down; /* its place, and the links to and from it */
};

/* Of a pair: the places where its route ends, and where it turns. */
struct bend {
    uint32_t end, turn;
};

/* Pairs that begin at the same place. */
struct source {
    uint32_t place, behind; /* number of the first pair that is not of it */
};

struct tree_sums {
    uint32_t count;              /* vertices */
    struct place *places;        /* owned, all arrays */
    uint32_t *place_of;          /* by vertex */
    two *begun, *ended, *turned; /* by place; 0 until pairs are added */
    struct bend *bends;          /* by pair */
    struct source *sources;
    size_t bend_room, source_room, source_count;
    size_t next, source; /* pair that is added next, and where it begins */
};

int tree_sums_can(const struct topology *topology)
{
    return topology_spec(topology)->kind == TOPOLOGY_TREE &&
           topology_spec(topology)->route_count == 0 && topology_vertices(topology) > 0;
}

static void find_places(struct tree_sums *s, const struct topology *topology)
{
    struct topology_above above;
    for (uint32_t v = 0; v < s->count; v++)
        s->place_of[v] = s->count - 1 - topology_tree_above(topology, v, &above);
    for (uint32_t v = 0; v < s->count; v++) {
        topology_tree_above(topology, v, &above);
        s->places[s->place_of[v]] = (struct place){
            above.vertex == TOPOLOGY_NONE ? TOPOLOGY_NONE : s->place_of[above.vertex], above.up,
            above.down};
    }
}

int tree_sums_create(struct tree_sums **out, const struct topology *topology)
{
    struct tree_sums *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->count = topology_vertices(topology);
    s->places = malloc(s->count * sizeof(*s->places));
    s->place_of = malloc(s->count * sizeof(*s->place_of));
    s->begun = calloc(s->count, sizeof(*s->begun));
    s->ended = calloc(s->count, sizeof(*s->ended));
    s->turned = calloc(s->count, sizeof(*s->turned));
    if (s->places == NULL || s->place_of == NULL || s->begun == NULL || s->ended == NULL ||
        s->turned == NULL) {
        tree_sums_destroy(s);
        return -ENOMEM;
    }
    find_places(s, topology);
    *out = s;
    return 0;
}

void tree_sums_destroy(struct tree_sums *s)
{
    if (s == NULL)
        return;
    free(s->places);
    free(s->place_of);
    free(s->begun);
    free(s->ended);
    free(s->turned);
    free(s->bends);
    free(s->sources);
    free(s);
}

/* The lowest place above both: of two the lower one is above neither of them. */
static uint32_t turn_of(const struct tree_sums *s, uint32_t a, uint32_t b)
{
    while (a != b)
        if (a < b)
            a = s->places[a].above;
        else
            b = s->places[b].above;
    return a;
}

int tree_sums_fit(struct tree_sums *s, size_t count)
{
    size_t sources = count < s->count ? count : s->count;
    if (count >= UINT32_MAX)
        return -ENOMEM;
    int code = congestion_fit(&s->bends, sizeof(*s->bends), &s->bend_room, count);
    return code != 0 ? code
                     : congestion_fit(&s->sources, sizeof(*s->sources), &s->source_room, sources);
}

void tree_sums_list(struct tree_sums *s, const struct congestion_pair *pairs, size_t count)
{
    s->source_count = s->next = s->source = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t from = s->place_of[pairs[i].source], to = s->place_of[pairs[i].destination];
        s->bends[i] = (struct bend){to, turn_of(s, from, to)};
        if (i == 0 || pairs[i].source != pairs[i - 1].source)
            s->sources[s->source_count++].place = from;
        s->sources[s->source_count - 1].behind = (uint32_t)i + 1;
    }
}

void tree_sums_add(struct tree_sums *s, const struct link_load *more, size_t count)
{
    two *ended = s->ended, *turned = s->turned;
    const struct bend *bends = s->bends + s->next;
    for (size_t i = 0; i < count;) {
        const struct source *source = &s->sources[s->source];
        size_t left = source->behind - s->next, end = left < count - i ? i + left : count;
        s->next += end - i;
        s->source += s->next == source->behind;
        two sum = {0, 0}, one;
        for (; i < end; i++) {
            memcpy(&one, &more[i], sizeof(one));
            sum += one;
            ended[bends[i].end] += one;
            turned[bends[i].turn] += one;
        }
        s->begun[source->place] += sum;
    }
}

void tree_sums_settle(struct tree_sums *s, struct link_load *values)
{
    static const two none = {0, 0};
    two *begun = s->begun, *ended = s->ended, *turned = s->turned;
    uint32_t root = s->count - 1;
    for (uint32_t i = 0; i < root; i++) {
        const struct place *place = &s->places[i];
        two up = begun[i] - turned[i], down = ended[i] - turned[i];
        values[place->up] = (struct link_load){up[0], up[1]};
        values[place->down] = (struct link_load){down[0], down[1]};
        begun[place->above] += up;
        ended[place->above] += down;
        begun[i] = ended[i] = turned[i] = none;
    }
    begun[root] = ended[root] = turned[root] = none;
    s->next = s->source = 0;
}

size_t tree_sums_bytes(const struct tree_sums *s)
{
    return s == NULL
               ? 0
               : sizeof(*s) +
                     s->count * (sizeof(*s->places) + sizeof(*s->place_of) + 3 * sizeof(two)) +
                     s->bend_room * sizeof(*s->bends) + s->source_room * sizeof(*s->sources);
}
