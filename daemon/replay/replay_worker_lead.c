/* States that a worker leaves behind: all of the replay, in place of the index, or some near where
 * it is. */
#include "daemon/replay/replay_worker_state.h"

#define NEAR_STEPS 4u /* before a target a state is left, and one at the square of it */

/* The index goes on from the last state that this one has left behind. */
void worker_lead_no_more(struct worker *w)
{
    if (!w->leads || w->recording)
        return;
    w->leads = 0;
    replay_reel_hush(w->reel);
    replay_link_send(w->link, &(struct replay_note){.kind = REPLAY_FOLLOW}, NULL, 0);
}

static int has_clients(const struct worker *w)
{
    struct front_counts counts;
    front_count(w->front, &counts);
    return counts.clients > 0;
}

void worker_lead_or_not(struct worker *w)
{
    if (w->pace.paused || w->pace.speed > 0 || w->seeking)
        worker_lead_no_more(w);
}

/* Who records cannot be sent elsewhere, and has threads: it leads to its end, and leaves no states.
 * Of others a state costs as much as a dozen windows: what is shared with it is copied when it is
 * next written to. So none is left behind while nobody is there who could seek; for who comes later
 * the index finds them. */
void worker_lead_on(struct worker *w)
{
    if (!w->leads || w->recording || !replay_leader_due(&w->leader))
        return;
    if (!has_clients(w))
        w->left_out = 1;
    else if (w->left_out)
        worker_lead_no_more(w);
    else
        replay_leader_state(&w->leader);
}

void worker_lead_to_end(struct worker *w)
{
    if (w->leads && w->recording)
        replay_leader_done(&w->leader);
    else if (w->leads && !w->left_out)
        replay_leader_end(&w->leader);
    else if (!w->given->options->quit_at_end)
        worker_lead_no_more(w);
    w->leads = 0;
}

static void take_others(struct replay_leader *l, const int fds[REPLAY_LINK_FDS])
{
    l->others[0] = fds[0];
    l->others[1] = fds[1];
    l->other_count = 2;
}

void worker_start_leading(struct worker *w, const int fds[REPLAY_LINK_FDS])
{
    if (!w->note.leads)
        return;
    replay_leader_init(&w->leader, w->given->index, w->reel, w->link);
    take_others(&w->leader, fds);
    w->leads = 1;
}

void worker_start_near(struct worker *w, const int fds[REPLAY_LINK_FDS])
{
    w->way_steps = w->near_steps = replay_reel_place(w->reel).steps;
    replay_leader_init_near(&w->near, w->given->index, w->reel, w->link);
    take_others(&w->near, fds);
}

/* A preview counts steps from elsewhere; who records has threads. */
void worker_leave_near(struct worker *w)
{
    uint64_t steps = replay_reel_place(w->reel).steps;
    if (w->note.preview || w->recording || w->leads || w->ended || steps == w->near_steps)
        return;
    w->near_steps = steps;
    replay_leader_state(&w->near); /* the link tells when the server has gone */
}

/* A state right before the target, for a step back; and, when it makes such a step itself, some
 * before that, ever closer: so further ones take a few windows each. A state costs about as much as
 * three windows. */
void worker_leave_on_way(struct worker *w, const struct replay_place *place)
{
    const struct replay_target *t = &w->note.target;
    if (place->steps == w->way_steps)
        return;
    w->way_steps = place->steps;
    int back = t->kind == REPLAY_TO_STEP;
    uint64_t left =
        back ? t->value - place->steps : (t->value - place->time_ns) / w->given->options->window_ns;
    if (left == 1 || (back && (left == NEAR_STEPS || left == NEAR_STEPS * NEAR_STEPS)))
        worker_leave_near(w);
}
