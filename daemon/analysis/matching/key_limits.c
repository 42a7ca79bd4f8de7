/* For each node and window, the smallest key that was left out. */
#include "daemon/analysis/matching/key_limits.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t key_limits_ring_of(const struct key_limits *limits)
{
    return 2 * limits->span + 1;
}

int key_limits_init(struct key_limits *limits, uint32_t span)
{
    *limits = (struct key_limits){.span = span};
    limits->anyone = calloc(key_limits_ring_of(limits), sizeof(*limits->anyone));
    return limits->anyone == NULL ? -ENOMEM : 0;
}

void key_limits_finish(struct key_limits *limits)
{
    free(limits->anyone);
    key_table_finish(&limits->nodes);
    free(limits->of_node);
    key_table_finish(&limits->ranks);
    free(limits->node_of);
    *limits = (struct key_limits){.span = limits->span};
}

static void key_limits_note_key(struct key_limits *limits, struct key_limit *ring, uint64_t window,
                                uint64_t below)
{
    struct key_limit *at = &ring[window % key_limits_ring_of(limits)];
    if (at->below == 0 || at->window < window || (at->window == window && below < at->below))
        *at = (struct key_limit){window, below};
}

static struct key_limit *key_limits_ring_of_node(struct key_limits *limits, uint32_t node)
{
    struct key key = {.hi = node};
    uint32_t ring = key_limits_ring_of(limits);
    uint32_t number = key_table_extend(&limits->nodes, key, UINT32_MAX, &limits->of_node,
                                       ring * sizeof(*limits->of_node), &limits->node_capacity);
    return number == KEY_NONE ? NULL : &limits->of_node[(size_t)number * ring];
}

void key_limits_note(struct key_limits *limits, uint32_t node, uint64_t window, uint64_t below)
{
    struct key_limit *ring = node == KEY_NONE ? NULL : key_limits_ring_of_node(limits, node);
    key_limits_note_key(limits, ring == NULL ? limits->anyone : ring, window, below);
}

void key_limits_rank(struct key_limits *limits, uint32_t rank, uint32_t node)
{
    uint32_t number = KEY_TABLE_EXTEND(&limits->ranks, (struct key){.hi = rank}, UINT32_MAX,
                                       limits->node_of, limits->rank_capacity);
    if (number != KEY_NONE)
        limits->node_of[number] = node;
}

static int key_limits_ring_excludes(const struct key_limits *limits, const struct key_limit *ring,
                                    uint64_t window, uint64_t key)
{
    for (uint32_t i = 0; i < key_limits_ring_of(limits); i++) {
        uint64_t apart =
            ring[i].window > window ? ring[i].window - window : window - ring[i].window;
        if (ring[i].below != 0 && apart <= limits->span && key >= ring[i].below)
            return 1;
    }
    return 0;
}

int key_limits_left_out(const struct key_limits *limits, uint32_t rank, uint64_t window,
                        uint64_t key)
{
    uint32_t ring = key_limits_ring_of(limits);
    if (key_limits_ring_excludes(limits, limits->anyone, window, key))
        return 1;
    uint32_t number = key_table_find(&limits->ranks, (struct key){.hi = rank});
    if (number != KEY_NONE) {
        uint32_t node = key_table_find(&limits->nodes, (struct key){.hi = limits->node_of[number]});
        return node != KEY_NONE &&
               key_limits_ring_excludes(limits, &limits->of_node[(size_t)node * ring], window, key);
    }
    for (uint32_t node = 0; node < limits->nodes.count; node++) /* it may be on any of them */
        if (key_limits_ring_excludes(limits, &limits->of_node[(size_t)node * ring], window, key))
            return 1;
    return 0;
}

void key_limits_copy_state(struct state_bytes *b, struct key_limits *limits)
{
    STATE_VALUE(b, *limits);
    const size_t ring = key_limits_ring_of(limits);
    STATE_ARRAY(b, limits->anyone, ring, 0);
    key_table_copy_state(b, &limits->nodes);
    STATE_ARRAY(b, limits->of_node, limits->nodes.count * ring, limits->node_capacity * ring);
    key_table_copy_state(b, &limits->ranks);
    STATE_ARRAY(b, limits->node_of, limits->ranks.count, limits->rank_capacity);
}
