/* Messages of agents into a job: whether they were accepted before, then validated, then merged. */
#include "daemon/job/job_accept.h"

#include "daemon/job/job_state.h"
#include "daemon/job/job_validate.h"
#include "holter/error.h"

#include <stdio.h>

uint64_t job_message_seq(const struct wire_message *message)
{
    switch (message->type) {
    case WIRE_TYPE_WINDOW:
        return message->window.seq;
    case WIRE_TYPE_RANKS:
        return message->ranks.seq;
    case WIRE_TYPE_CAPTURED:
        return message->captured.seq;
    default:
        return 0;
    }
}

const char *job_message_job(const struct wire_message *message)
{
    return message->type == WIRE_TYPE_WINDOW  ? message->window.job
           : message->type == WIRE_TYPE_RANKS ? message->ranks.job
                                              : message->captured.job;
}

int job_has_ranks_of(const struct job *job, uint64_t instance)
{
    const struct job_agent *agent = job_nodes_find_agent(&job->nodes, instance);
    return agent != NULL && agent->announced;
}

uint64_t job_last_accepted(const struct job *job, uint64_t instance)
{
    const struct job_agent *agent = job_nodes_find_agent(&job->nodes, instance);
    return agent == NULL ? 0 : agent->last_seq;
}

int job_has_accepted(const struct job *job, uint64_t instance, uint64_t seq)
{
    const struct job_agent *agent = job_nodes_find_agent(&job->nodes, instance);
    return agent != NULL && seq <= agent->last_seq;
}

static int accept_check_nodes(const struct job *job, struct job_fault *fault)
{
    if (job->nodes.count < JOB_MAXIMUM_NODES)
        return 0;
    return job_reject(fault, -HOLTER_ERANGE, "the job has %u nodes already", job->nodes.count);
}

int job_accept_ranks(struct job *job, uint64_t instance, const struct wire_ranks *ranks,
                     uint64_t now_ns, struct job_fault *fault)
{
    int code = job_validate_ranks(ranks, job->info.world, fault);
    code = code != 0 ? code : accept_check_nodes(job, fault);
    return code != 0 ? code : job_merge_ranks(job, instance, ranks, now_ns, fault);
}

int job_accept_window(struct job *job, uint64_t instance, const struct wire_window *window,
                      uint64_t now_ns, struct job_fault *fault)
{
    int code = job_validate_window(window, job_info_rank_limit(&job->info), fault);
    code = code != 0 ? code : accept_check_nodes(job, fault);
    return code != 0 ? code : job_merge_window(job, instance, window, now_ns, fault);
}

int job_accept_captured(struct job *job, uint64_t instance, const struct wire_captured *captured,
                        uint64_t now_ns, uint64_t *id, struct job_fault *fault)
{
    int code = job_captures_validate(&job->captures, captured, fault);
    return code != 0 ? code : job_merge_captured(job, instance, captured, now_ns, id, fault);
}

int job_accept(struct job *job, const struct recorded *head, const struct wire_message *message,
               uint64_t *capture, struct job_fault *fault)
{
    uint64_t now_ns = head->received_ns;
    switch (message->type) {
    case WIRE_TYPE_WINDOW:
        return job_accept_window(job, head->instance, &message->window, now_ns, fault);
    case WIRE_TYPE_RANKS:
        return job_accept_ranks(job, head->instance, &message->ranks, now_ns, fault);
    case WIRE_TYPE_CAPTURED:
        return job_accept_captured(job, head->instance, &message->captured, now_ns, capture, fault);
    default:
        snprintf(fault->text, sizeof(fault->text), "a message of type %s was recorded",
                 wire_type_name(message->type));
        return -HOLTER_EDENIED;
    }
}
