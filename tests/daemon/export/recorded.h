/* A small recording to be exported: two hosts, four ranks, three windows of a second. */
#ifndef HOLTER_TEST_RECORDED_H
#define HOLTER_TEST_RECORDED_H

#include <stdint.h>

#define RECORDED_BEGIN_NS UINT64_C(1700000000000000000)
#define RECORDED_TITLE "latency of \"0, 1\"\n<script>alert(1)</script> & more"

/** Make it in a new file. Each rank r sends 10 (r + 1) messages of 100 bytes to rank (r + 1) % 4 in
 *  each window, by MPI_Send, which takes it (r + 1) * 100 ms. Rank 2 is there in half of the time
 * of each window. Half of the messages within a host were matched there; of those between hosts one
 * in each window, which took 10 us by clocks that are wrong by 100 ns each at most. There is one
 * alert with two causes, one phase that returns, one hot link. */
void recorded_make(const char *path);

/** The same with other names of the hosts, which are alpha and beta. */
void recorded_make_on(const char *path, const char *const hosts[2]);

/** The same, but the ranks of beta end with the first window. */
void recorded_make_with_end(const char *path);

#endif
