/* The nodes of a job and the agents that report them. */
#include "daemon/job/job_nodes.h"

#include "daemon/analysis/tables/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_nodes_finish(struct job_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++)
        free(nodes->list[i]);
    free(nodes->list);
    free(nodes->agents);
    key_table_finish(&nodes->agent_keys);
}

/* ---- agents -------------------------------------------------------------- */

struct job_agent *job_nodes_find_agent(const struct job_nodes *nodes, uint64_t instance)
{
    uint32_t at = key_table_find(&nodes->agent_keys, (struct key){.hi = instance});
    return at == KEY_NONE ? NULL : &nodes->agents[at];
}

uint32_t job_nodes_find_node(const struct job_nodes *nodes, uint64_t instance)
{
    const struct job_agent *agent = job_nodes_find_agent(nodes, instance);
    return agent == NULL ? KEY_NONE : agent->node;
}

static struct job_agent *job_nodes_add_agent(struct job_nodes *nodes, uint64_t instance)
{
    uint32_t known = nodes->agent_keys.count;
    uint32_t at = KEY_TABLE_EXTEND(&nodes->agent_keys, (struct key){.hi = instance}, UINT32_MAX,
                                   nodes->agents, nodes->agent_capacity);
    if (at == known)
        nodes->agents[at] = (struct job_agent){.instance = instance, .node = KEY_NONE};
    return at == KEY_NONE ? NULL : &nodes->agents[at];
}

static int job_nodes_add(struct job_nodes *nodes, const char *host)
{
    struct job_node *node = calloc(1, sizeof(*node));
    if (node == NULL || array_fit_zero(&nodes->list, sizeof(struct job_node *), &nodes->capacity,
                                       (uint64_t)nodes->count + 1) != 0) {
        free(node);
        return 0;
    }
    snprintf(node->host, sizeof(node->host), "%s", host);
    node->first_window = UINT64_MAX;
    node->row.host = node->host;
    node->row.windows_dropped = node->lost = nodes->lost;
    nodes->lost = 0;
    nodes->list[nodes->count++] = node;
    nodes->active++;
    return 1;
}

struct job_agent *job_nodes_bind_agent(struct job_nodes *nodes, uint64_t instance, const char *host,
                                       uint32_t known_node, int *bound)
{
    struct job_agent *agent = job_nodes_add_agent(nodes, instance);
    if (agent == NULL || agent->node != KEY_NONE)
        return agent;
    if (known_node != KEY_NONE && strcmp(nodes->list[known_node]->host, host) == 0)
        agent->node = known_node;
    else if (job_nodes_add(nodes, host))
        agent->node = nodes->count - 1;
    else
        return NULL;
    nodes->list[agent->node]->instance = instance;
    *bound = 1;
    return agent;
}

void job_agent_note_seq(struct job_agent *agent, uint64_t seq)
{
    agent->last_seq = seq > agent->last_seq ? seq : agent->last_seq;
}

/* ---- who still reports --------------------------------------------------- */

int job_nodes_mark_active(struct job_nodes *nodes, struct job_node *node, uint64_t now_ns)
{
    node->last_message_ns = now_ns;
    nodes->last_message_ns = now_ns;
    if (!node->lost_contact)
        return 0;
    node->lost_contact = node->left = 0;
    nodes->active += !node->final;
    return 1;
}

void job_nodes_mark_lost(struct job_nodes *nodes, struct job_node *node)
{
    node->lost_contact = 1;
    nodes->active--;
}

void job_nodes_set_final(struct job_nodes *nodes, struct job_node *node, int final)
{
    if (node->final == final)
        return;
    node->final = final;
    if (node->lost_contact)
        return;
    if (final)
        nodes->active--;
    else
        nodes->active++;
}

struct job_node *job_nodes_expect_agent(const struct job_nodes *nodes, uint64_t instance)
{
    const uint32_t at = job_nodes_find_node(nodes, instance);
    struct job_node *node = at == KEY_NONE ? NULL : nodes->list[at];
    return node == NULL || node->instance != instance || node->final || node->left ? NULL : node;
}

uint64_t job_nodes_release_agent(struct job_nodes *nodes, uint64_t instance, uint64_t missing)
{
    struct job_node *node = job_nodes_expect_agent(nodes, instance);
    if (node == NULL)
        return 0;
    if (missing == 0) {
        job_nodes_set_final(nodes, node, 1);
        return 0;
    }
    if (!node->lost_contact)
        job_nodes_mark_lost(nodes, node);
    node->left = 1;
    node->row.windows_dropped += missing;
    return missing;
}

void job_nodes_add_lost(struct job_nodes *nodes, uint64_t windows)
{
    const uint32_t count = nodes->count;
    if (count == 0)
        nodes->lost += windows;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t share = windows / count + (i < windows % count);
        nodes->list[i]->lost += share;
        nodes->list[i]->row.windows_dropped += share;
    }
}

int job_nodes_all_final(const struct job_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        if (!nodes->list[i]->final)
            return 0;
    }
    return nodes->count > 0;
}

void job_nodes_note_window(struct job_nodes *nodes, struct job_node *node, uint64_t number,
                           int final)
{
    if (node->first_window > number)
        node->first_window = number;
    if (node->last_window < number)
        node->last_window = number;
    if (final || number == node->last_window)
        job_nodes_set_final(nodes, node, final);
}

int job_nodes_all_left(const struct job_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        if (!nodes->list[i]->final && !nodes->list[i]->left)
            return 0;
    }
    return nodes->count > 0;
}

/* ---- losses -------------------------------------------------------------- */

/* Did the daemon begin to listen in the midst of the job, as with a recording that was cut? Then
 * messages are missing before the first window of an agent that the agent did not drop, and what it
 * lost before, which is in its sums, is no loss of what is seen here. */
static int job_nodes_began_midway(const struct job_agent *agent, const struct wire_window *window)
{
    uint64_t before = agent->others + window->node[0].windows_dropped;
    return !agent->reported && window->seq > before && window->seq - 1 > before;
}

static void job_nodes_skip_losses(struct job_agent *agent, const struct wire_window *window)
{
    uint64_t lost = 0;
    for (uint64_t i = 0; i < window->ranks_count; i++)
        lost += window->ranks[i].lost;
    uint64_t total = window->node[0].lost;
    agent->lost = total > lost ? total - lost : 0;
    agent->dropped = window->node[0].windows_dropped;
}

/* Counts that an agent has from its journal may be less than those it has reported: then those of
 * the node are less, too. */
static void job_nodes_add_matches(struct job_node *node, struct job_agent *agent,
                                  const struct wire_node_row *row)
{
    node->matched += row->matched - agent->matched;
    node->unmatched += row->unmatched - agent->unmatched;
    node->rejected += row->rejected - agent->rejected;
    agent->matched = row->matched;
    agent->unmatched = row->unmatched;
    agent->rejected = row->rejected;
}

struct job_losses job_nodes_update_row(struct job_node *node, struct job_agent *agent,
                                       const struct wire_window *window)
{
    struct job_losses losses = {0, 0};
    if (window->node_count == 0)
        return losses;
    const struct wire_node_row *row = &window->node[0];
    if (job_nodes_began_midway(agent, window))
        job_nodes_skip_losses(agent, window);
    if (row->lost > agent->lost)
        losses.records = row->lost - agent->lost;
    if (row->windows_dropped > agent->dropped)
        losses.windows = row->windows_dropped - agent->dropped;
    agent->lost = row->lost;
    agent->dropped = row->windows_dropped;
    job_nodes_add_matches(node, agent, row);
    if (node->instance != agent->instance) /* of the agent before the one that reports it now */
        return losses;
    node->row = *row;
    node->row.host = node->host;
    node->row.windows_dropped += node->lost;
    return losses;
}

/* ---- state --------------------------------------------------------------- */

void job_nodes_copy_state(struct state_bytes *b, struct job_nodes *nodes)
{
    STATE_VALUE(b, *nodes);
    state_copy_array(b, &nodes->list, sizeof(struct job_node *), nodes->count, nodes->capacity);
    if (nodes->list == NULL)
        nodes->count = nodes->capacity = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct job_node **node = &nodes->list[i];
        if (STATE_OBJECT(b, *node))
            (*node)->row.host = (*node)->host;
    }
    key_table_copy_state(b, &nodes->agent_keys);
    STATE_ARRAY(b, nodes->agents, nodes->agent_keys.count, nodes->agent_capacity);
}
