/* A message that was validated is added to the job: the third stage of its way, after job_accept.c
 * and job_validate.c and before job_close.c. */
#include "daemon/job/job_accept.h"

#include "daemon/job/job_state.h"
#include "daemon/job/job_validate.h"
#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>

/* The agent of a message; its node is new, if none of its ranks is known. @return NULL without
 * memory, or beyond the bound */
static struct job_agent *merge_bind_agent(struct job *job, uint64_t instance, const char *host,
                                          uint32_t known_node)
{
    return job_nodes_bind_agent(&job->nodes, instance, host, known_node, &job->info.changed);
}

static void merge_mark_active(struct job *job, struct job_node *node, uint64_t now_ns)
{
    if (job_nodes_mark_active(&job->nodes, node, now_ns))
        job_alerts_resolve_silence(&job->alerts, &job->stream, node->host, now_ns);
}

/* ---- ranks --------------------------------------------------------------- */

static int merge_place(struct job *job, uint32_t node, const struct wire_member_row *member)
{
    const char *host = job->nodes.list[node]->host;
    struct job_place *place = job_places_add(&job->places, member->rank);
    if (place == NULL ||
        job_network_place(job->network, place->rank, node, host, member->core, member->numa) != 0)
        return -ENOMEM;
    if (!job_places_update(&job->places, place, node, member))
        return 0;
    int code = job_latency_place(job->latency, place->rank, node);
    if (code == 0 && job->growth != NULL)
        code = job_growth_place(job->growth, place->rank, node, host);
    return code;
}

/* Before the first window: rows of ranks and of groups are not mixed. */
static void merge_choose_groups(struct job *job)
{
    if (job->options.most_ranks == 0 || job->info.end_ns != 0)
        return;
    job->group_shift = rank_groups_shift(job->info.world, job->options.most_ranks);
    job->info.group = job->group_shift == 0 ? 0 : UINT64_C(1) << job->group_shift;
    job_latency_set_groups(job->latency, job->group_shift);
    job_network_set_by_node(job->network, job->group_shift != 0);
}

int job_merge_ranks(struct job *job, uint64_t instance, const struct wire_ranks *ranks,
                    uint64_t now_ns, struct job_fault *fault)
{
    uint32_t known_node = KEY_NONE, known_ranks = job->places.keys.count;
    for (uint64_t i = 0; i < ranks->members_count && known_node == KEY_NONE; i++)
        known_node = job_places_find_node(&job->places, ranks->members[i].rank);
    struct job_agent *agent = merge_bind_agent(job, instance, ranks->host, known_node);
    if (agent == NULL)
        return job_reject(fault, -ENOMEM, "no memory for a node");
    struct job_node *node = job->nodes.list[agent->node];
    job_info_merge(&job->info, ranks);
    merge_choose_groups(job);
    for (uint64_t i = 0; i < ranks->members_count; i++) {
        if (merge_place(job, agent->node, &ranks->members[i]) != 0)
            return job_reject(fault, -ENOMEM, "no memory for the places of ranks");
    }
    job_network_end_places(job->network);
    if (job_network_add_grids(job->network, ranks) != 0)
        return job_reject(fault, -ENOMEM, "no memory for the process grid");
    int grown = job->places.keys.count != known_ranks;
    job->info.changed |= grown;
    if (grown)
        job_nodes_set_final(&job->nodes, node, 0); /* its agent reports a further rank */
    if (job->info.state == JOB_LOST || grown)
        job_info_set_state(&job->info, JOB_RUNNING);
    merge_mark_active(job, node, now_ns);
    agent->others += !agent->reported;
    agent->announced = 1;
    job_agent_note_seq(agent, ranks->seq);
    return 0;
}

/* ---- windows ------------------------------------------------------------- */

/* The open window of a message. When too many are open, the oldest is closed. */
static struct open_window *merge_open_window(struct job *job, uint64_t number, uint64_t now_ns)
{
    struct open_window *window = job_windows_find(&job->windows, number, now_ns);
    while (window == NULL && job->windows.count == JOB_OPEN_WINDOWS) {
        job_close_window(job, 0, now_ns);
        window = job_windows_find(&job->windows, number, now_ns);
    }
    return window != NULL ? window : job_windows_open(&job->windows, job->sums.run, number, now_ns);
}

/* How many ranks are in the rows of groups, and which of their messages cross nodes: that can only
 * be seen before ranks are grouped.
 * @param node_pairs  the pairs of the message, by nodes */
static void merge_complete_groups(const struct job *job, const struct wire_window *window,
                                  const struct wire_pair_row *node_pairs,
                                  const struct sum_rows *rows)
{
    for (size_t i = 0; i < rows->rank_count; i++)
        job->sums.rank_rows[i].ranks = job->groups.ranks[i].ranks;
    for (uint64_t i = 0; i < window->pairs_count; i++) {
        const struct wire_pair_row *pair = &node_pairs[i];
        if (pair->destination == (int64_t)pair->source)
            continue;
        const uint64_t first = window->pairs[i].source >> job->group_shift << job->group_shift;
        struct wire_rank_row *row = job->sums.rank_rows, *end = row + rows->rank_count;
        while (row < end && row->rank != first)
            row++;
        if (row == end)
            continue;
        row->crossing += pair->messages;
        row->crossing_bytes += pair->bytes;
    }
}

/* What a job by groups of ranks has of nodes. @return 0 or -ENOMEM */
static int merge_nodes(struct job *job, struct open_window *open, uint32_t node,
                       const struct wire_window *window, const struct sum_rows *rows)
{
    struct wire_pair_row *pairs = open_window_list_node_pairs(open, window, job->network);
    uint64_t count = window->pairs_count;
    if (pairs == NULL)
        return -ENOMEM;
    merge_complete_groups(job, window, pairs, rows);
    int code = rank_groups_add_up_pairs(&job->groups, pairs, &count);
    code = code != 0 ? code : open_window_add_node_row(open, window, rows, node);
    open->node_pair_count += code == 0 ? count : 0;
    return code;
}

/* Add all tables of the message. What can fail comes first, so that a message that is rejected has
 * changed nothing that is published. */
static int merge_tables(struct job *job, struct open_window *open, uint32_t node,
                        const struct wire_window *window, struct job_fault *fault)
{
    struct sum_rows rows;
    struct wire_window summed = *window; /* by groups of ranks, where the job has them */
    if ((job->group_shift != 0 &&
         rank_groups_convert(&job->groups, window, job->group_shift, node, &summed) != 0) ||
        job_sums_convert(&job->sums, &summed, &rows) != 0)
        return job_reject(fault, -ENOMEM, "no memory for a window");
    int code =
        job_phases_prepare(job->phases, &open->bursts, &summed, job->nodes.count, job->info.world);
    if (code != 0)
        return job_reject(fault, code == -EOVERFLOW ? -HOLTER_ELIMIT : code,
                          "window of %" PRIu64 " bursts: %s", window->bursts_count,
                          holter_strerror(code));
    if (counter_rows_reserve(&open->counters, window) != 0)
        return job_reject(fault, -ENOMEM, "no memory for the counters of a window");
    code = job_latency_add(job->latency, &open->latency, &summed, node, open->number);
    if (code != 0)
        return job_reject(fault, code, "halves of messages: %s", holter_strerror(code));
    code = open_window_add_calls(open, &summed);
    code = code != 0 ? code : open_window_add_unplaced(open, window, &job->places, job->info.world);
    if (code == 0 && job->group_shift != 0)
        code = merge_nodes(job, open, node, window, &rows);
    code = code != 0 ? code : open_window_add_node(open, node);
    code = code != 0 ? code : window_sum_update(open->sum, &rows);
    if (code != 0)
        return job_reject(fault, code == -ERANGE ? -HOLTER_ERANGE : code,
                          "window of %" PRIu64 " pairs: %s", window->pairs_count,
                          holter_strerror(code));
    job_phases_add(job->phases, &open->bursts, &summed);
    counter_rows_add(&open->counters, window, node);
    open->flags |= window->flags;
    return 0;
}

int job_merge_window(struct job *job, uint64_t instance, const struct wire_window *window,
                     uint64_t now_ns, struct job_fault *fault)
{
    uint32_t known_node = window->ranks_count == 0
                              ? KEY_NONE
                              : job_places_find_node(&job->places, window->ranks[0].rank);
    struct job_agent *agent = merge_bind_agent(job, instance, window->host, known_node);
    uint64_t number = job_windows_number(&job->windows, window);
    struct open_window *open = agent == NULL ? NULL : merge_open_window(job, number, now_ns);
    if (open == NULL)
        return job_reject(fault, -ENOMEM, "no memory for a window");
    int code = merge_tables(job, open, agent->node, window, fault);
    if (code != 0)
        return code;

    struct job_node *node = job->nodes.list[agent->node];
    job->windows.late += (uint64_t)open->late;
    merge_mark_active(job, node, now_ns);
    job_info_extend(&job->info, number * job->options.window_ns, job->options.window_ns);
    job_nodes_note_window(&job->nodes, node, number, (window->flags & WINDOW_FINAL) != 0);
    if (job->info.state == JOB_LOST)
        job_info_set_state(&job->info, JOB_RUNNING);
    job_alerts_add_losses(&job->alerts, job_nodes_update_row(node, agent, window));
    job_alerts_add_deaths(&job->alerts, window, number, node->host);
    agent->reported = 1;
    job_agent_note_seq(agent, window->seq);
    return 0;
}

/* ---- captures ------------------------------------------------------------ */

int job_merge_captured(struct job *job, uint64_t instance, const struct wire_captured *captured,
                       uint64_t now_ns, uint64_t *id, struct job_fault *fault)
{
    uint32_t known_node = captured->threads_count == 0
                              ? KEY_NONE
                              : job_places_find_node(&job->places, captured->threads[0].rank);
    struct job_agent *agent = merge_bind_agent(job, instance, captured->host, known_node);
    if (agent == NULL)
        return job_reject(fault, -ENOMEM, "no memory for a node");
    if (job_captures_add(&job->captures, job->info.id, captured, job->options.window_ns, id) != 0)
        return job_reject(fault, -ENOMEM, "no memory for a capture");
    job_agent_note_seq(agent, captured->seq);
    merge_mark_active(job, job->nodes.list[agent->node], now_ns);
    return 0;
}
