/* What to do about a hang: where to look first, by its kind and by what the late ranks do. */
#include "daemon/analysis/hang/hang_text.h"
#include "holter/call.h"

#include <inttypes.h>

#define CONTINUE                                                                                   \
    "continue %s (kill -CONT), or look for what stopped %s: a debugger, the batch system, a "      \
    "terminal"

/* The late ranks do the same; if there are several, those that are described individually. */
static int hang_advice_is_common(const struct hang *hang)
{
    for (uint32_t i = 1; i < hang->behind_count && i < HANG_NAMED; i++)
        if (hang->behind[i].state != hang->behind[0].state)
            return 0;
    return 1;
}

/* Where to look, of ranks in this state. @param runs  where to look if they go on making calls */
static void hang_advice_add_state(struct hang_text *line, const struct hang *hang, const char *runs)
{
    const struct hang_behind *b = &hang->behind[0];
    int one = hang->behind_count == 1;
    const char *it = one ? "it" : "them", *is = one ? "it is" : "they are";
    if (!hang_advice_is_common(hang)) {
        hang_text_add(line, "look at where they are, for example with gdb -p");
        return;
    }
    switch (b->state) {
    case HANG_RUNS:
        hang_text_add(line, "look at %s", runs);
        break;
    case HANG_POLLS:
        hang_text_add(line, "look at which message %s for, and who should send it",
                      one ? "it polls" : "they poll");
        break;
    case HANG_OUTSIDE:
        hang_text_add(line, "look at where %s, for example with gdb -p", is);
        break;
    case HANG_IN_CALL:
        hang_text_add(line, "look at why %s does not return", hang_text_call(b->in_call));
        break;
    case HANG_IS_STOPPED:
        hang_text_add(line, CONTINUE, it, it);
        break;
    case HANG_DEAD:
        hang_text_add(line, "%s died, and the others wait in vain: end the job",
                      one ? "it" : "they");
        break;
    case HANG_FINISHED:
        hang_text_add(line, "%s already called MPI_Finalize: look at why %s so early",
                      one ? "it has" : "they have", one ? "it leaves" : "they leave");
        break;
    case HANG_NO_RECORD:
        hang_text_add(line, "look at whether %s alive, and the agent on the node", is);
        break;
    }
}

/* "Rank 3 ", to begin a sentence. */
static void hang_advice_add_subject(struct hang_text *line, const struct hang *hang)
{
    hang_text_add_ranks(line, hang);
    if (line->text[0] == 'r')
        line->text[0] = 'R';
    hang_text_add(line, " ");
}

/* Where few ranks are in a collective it may be these that are wrong there. */
static void hang_advice_add_few(struct hang_text *line, const struct hang_watch *w,
                                const struct hang *hang)
{
    hang_text_add(line, "Look at why ");
    hang_text_add_waiters(line, hang);
    hang_text_add(line, " called %s", hang_text_call(hang->call));
    hang_text_add_comm(line, w, hang->comm);
    hang_text_add(line,
                  " and %" PRIu64 " other%s did not: a branch that only %s, or work that the "
                  "others have not finished",
                  hang->absent, hang->absent == 1 ? "" : "s",
                  hang->arrived == 1 ? "it takes" : "they take");
}

static void hang_advice_add_collective(struct hang_text *line, const struct hang_watch *w,
                                       const struct hang *hang)
{
    if (hang->few_wait) {
        hang_advice_add_few(line, w, hang);
        return;
    }
    const int one = hang->behind_count == 1;
    const uint64_t others = hang->arrived - hang->inside;
    hang_advice_add_subject(line, hang);
    if (hang->inside == hang->behind_count) {
        if (hang->behind[0].state == HANG_IS_STOPPED && hang_advice_is_common(hang))
            hang_text_add(line, "%s stopped there: ", one ? "is" : "are");
        else
            hang_text_add(line, "%s not go on there: ", one ? "does" : "do");
    } else {
        hang_text_add(line, "%s %s",
                      hang->inside > 0 ? "hold up" : (one ? "has not called" : "have not called"),
                      hang_text_call(hang->call));
        hang_text_add_comm(line, w, hang->comm);
        hang_text_add(line, ", which %" PRIu64 " other%s in: ", others,
                      others == 1 ? " is" : "s are");
    }
    hang_advice_add_state(
        line, hang,
        "which calls are made instead: a loop that does not end, or a branch that "
        "only the others take");
}

static void hang_advice_add_receive(struct hang_text *line, const struct hang *hang)
{
    hang_advice_add_subject(line, hang);
    if (hang->unreceived)
        hang_text_add(line, "%s not received what rank %" PRIu32 " sends: ",
                      hang->behind_count == 1 ? "has" : "have", hang->waiter);
    else
        hang_text_add(line, "%s not sent what rank %" PRIu32 " waits for: ",
                      hang->behind_count == 1 ? "has" : "have", hang->waiter);
    hang_advice_add_state(line, hang,
                          "whether source, tag and communicator are the same at both ends");
}

static int hang_advice_receives(uint32_t call)
{
    return call == CALL_Recv || call == CALL_Probe || call == CALL_Mprobe || call == CALL_Mrecv;
}

/* Are all ranks of a deadlock in such calls? Of those that are described. */
static int hang_advice_all_are(const struct hang *hang, int (*is)(uint32_t call))
{
    for (uint32_t i = 0; i < hang->behind_count && i < HANG_NAMED; i++)
        if (!is(hang->behind[i].in_call))
            return 0;
    return 1;
}

static void hang_advice_add_deadlock(struct hang_text *line, const struct hang *hang)
{
    const int one = hang->behind_count == 1;
    if (one && call_is_blocking_send(hang->call))
        hang_text_add(line, "This rank sends to itself, and does not receive before its send is "
                            "done: post the receive with MPI_Irecv first, or use MPI_Sendrecv");
    else if (one && hang_advice_receives(hang->call))
        hang_text_add(line, "This rank receives from itself before it sends: post the receive with "
                            "MPI_Irecv, or use MPI_Sendrecv");
    else if (hang_advice_all_are(hang, call_is_blocking_send))
        hang_text_add(line, "Each of these ranks sends, and none receives before its send is done: "
                            "use MPI_Sendrecv or MPI_Isend, or let one of them receive first");
    else if (hang_advice_all_are(hang, hang_advice_receives))
        hang_text_add(line, "Each of these ranks receives before it sends: let one of them send "
                            "first, or post the receives with MPI_Irecv; if one has sent, compare "
                            "tags and communicators");
    else
        hang_text_add(line, "What each of these ranks waits for comes only after the call that "
                            "another one is in: compare the order of their calls, and the peers "
                            "and tags");
}

static void hang_advice_add_mismatch(struct hang_text *line, const struct hang_watch *w,
                                     const struct hang *hang)
{
    hang_text_add(line, "All ranks must call the same collectives");
    hang_text_add_comm(line, w, hang->comm);
    hang_text_add(line, " in the same order: look at why ");
    hang_text_add_ranks(line, hang);
    hang_text_add(line, " called %s and not %s", hang_text_call(hang->behind[0].in_call),
                  hang_text_call(hang->call));
}

static void hang_advice_add_standstill(struct hang_text *line, const struct hang *hang)
{
    hang_text_add(line, "Look at where ");
    if (hang->behind_count > 0)
        hang_text_add_ranks(line, hang);
    else
        hang_text_add(line, "the ranks");
    hang_text_add(line, " %s, for example with gdb -p: ", hang->behind_count == 1 ? "is" : "are");
    if (hang->behind_count > 0)
        hang_text_add(line, "all others wait");
    else if (hang_advice_receives(hang->call))
        hang_text_add(line, "they wait for messages from any rank, and none is sent");
    else
        hang_text_add(line, "all of them wait");
}

void hang_advise(struct hang_text *line, const struct hang_watch *w, const struct hang *hang)
{
    switch (hang->kind) {
    case HANG_COLLECTIVE:
        hang_advice_add_collective(line, w, hang);
        break;
    case HANG_RECEIVE:
        hang_advice_add_receive(line, hang);
        break;
    case HANG_DEADLOCK:
        hang_advice_add_deadlock(line, hang);
        break;
    case HANG_MISMATCH:
        hang_advice_add_mismatch(line, w, hang);
        break;
    case HANG_STOPPED:
        hang_advice_add_subject(line, hang);
        hang_text_add(line, "%s stopped: ", hang->behind_count == 1 ? "is" : "are");
        hang_advice_add_state(line, hang, "");
        break;
    case HANG_STANDSTILL:
    case HANG_KINDS:
        hang_advice_add_standstill(line, hang);
        break;
    }
    hang_text_add(line, ".");
}
