/* The load of daemon_load: what simulated agents report (load_rows.c), and how they send it
 * (load_agents.c). */
#ifndef HOLTER_TESTS_BENCH_LOAD_H
#define HOLTER_TESTS_BENCH_LOAD_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define LOAD_JOB "load.0"
#define LOAD_PARTNERS 26u
#define LOAD_ENDPOINTS 32u
#define LOAD_PATIENCE_NS UINT64_C(3000000000)
#define LOAD_EXCHANGES 10u    /**< of a window, at most the fewest messages of a pair */
#define LOAD_BURST_ROWS 4096u /**< default maximum that an agent sends */
#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

/** What is asked for. */
struct load {
    unsigned agents, ranks, windows, workers, burst_rows; /* 0: no bursts */
    uint64_t window_ns, spread_ns;
    const char *order;
    /** Where agents connect: the first one to the first, others to the rest in turn. With several,
     * an agent keeps what is not acknowledged, and when that takes LOAD_PATIENCE_NS, or its daemon
     * is dead, it goes to another one and sends it again. */
    const char *endpoints[LOAD_ENDPOINTS];
    unsigned endpoint_count;
    const char *until; /* the first window that ends after this file is there is the last one */
    unsigned box[3];   /* ranks in each dimension */
};

/** What a worker reports when it is done. */
struct load_tally {
    uint64_t messages, bytes, sent, unacked, late_sends, redials;
};

struct load_rows; /* of a window message; used again for the next */

/** Print what failed, with errno, and exit. */
_Noreturn void load_die(const char *what);

/** Make the box of all ranks. */
void load_make_box(struct load *load);
/** Room for rows of any agent; lives until the process ends. */
struct load_rows *load_rows_create(const struct load *load);
/** Fill in what an agent reports of a window. @param most  rows of its bursts
 *  @param message  its rows point into `rows` @return messages its ranks sent */
uint64_t load_rows_make(const struct load *load, unsigned agent, uint64_t window, uint64_t most,
                        struct load_rows *rows, struct wire_window *message);

/** Sleep until a time of the daemon. @param base  its time less this machine's monotonic one */
void load_wait_until(uint64_t base, uint64_t daemon_ns);
/** In a process of its own: a share of the agents. When they are connected it writes base to
 * `ready`, reads the first window from `go`, reports all windows, and writes its tally to `done`.
 */
_Noreturn void load_work(const struct load *load, unsigned worker, int ready, int go, int done);

#endif
