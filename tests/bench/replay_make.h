/* A recording of a large job, made up: the window messages that the agents of such a job would have
 * sent, in the order in which they would have come. The same settings make the same messages.
 *
 * The job is a stencil code with a conjugate gradient: ranks form a periodic box and lie on nodes
 * in order. In each time step every rank exchanges messages with its six neighbours, of another
 * size in each dimension (and with further 20, of the sizes of edges and corners, if so asked), and
 * then calls MPI_Allreduce twice. Once a minute it spends two windows on a redistribution instead:
 * every rank sends to all others of its line. For a twentieth of the time, from two fifths on, the
 * links of four nodes are four times slower, and their partners wait.
 *
 * A message has what an agent reports: a row for each rank with its times, of each kind of call, of
 * each pair and size; of messages within the node a row of transfer times for each pair, and their
 * histogram; both ends of all messages between nodes; bursts of messages and of calls; the node's
 * own figures and the counters of its interface. Times scatter from message to message, as measured
 * ones do. */
#ifndef HOLTER_TESTS_BENCH_REPLAY_MAKE_H
#define HOLTER_TESTS_BENCH_REPLAY_MAKE_H

#include <stddef.h>
#include <stdint.h>

#define REPLAY_MAKE_JOB "made.0"

struct replay_make {
    unsigned ranks, nodes; /**< nodes divide the ranks, in powers of two */
    unsigned partners;     /**< 6 or 26 */
    unsigned windows;
    uint64_t window_ns, step_ns;
};

/** 4,096 ranks on 64 nodes, 1.03 steps a window of a second. */
#define REPLAY_MAKE_DEFAULTS                                                                       \
    ((struct replay_make){.ranks = 4096,                                                           \
                          .nodes = 64,                                                             \
                          .partners = 6,                                                           \
                          .windows = 120,                                                          \
                          .window_ns = 1000000000,                                                 \
                          .step_ns = 970000000})

/** Called for each message. @return nonzero to stop */
typedef int replay_take(void *user, const void *bytes, size_t length, uint64_t type,
                        uint64_t instance, uint64_t seq, uint64_t window, uint64_t received_ns);

/** @return 0, -ENOMEM, -EINVAL: settings, or what `take` returned */
int replay_make(const struct replay_make *settings, replay_take *take, void *user);

/** Write it as a recording. @param bytes  of all messages; may be NULL @return 0 or a negative
 * error */
int replay_make_file(const struct replay_make *settings, const char *path, uint64_t *bytes);

#endif
