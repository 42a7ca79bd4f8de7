/* A few threads that work together on the pieces of one task. */
#ifndef HOLTER_IMPORT_TRACE_POOL_H
#define HOLTER_IMPORT_TRACE_POOL_H

#include <stdint.h>

struct trace_pool;

/** @param threads  including the caller's; 0: one for each processor
 * @return 0 or -ENOMEM; where threads cannot be created there are fewer */
int trace_pool_create(struct trace_pool **out, unsigned threads);

/** NULL is fine. */
void trace_pool_destroy(struct trace_pool *pool);

/** Number of threads, including the caller's. */
unsigned trace_pool_threads(const struct trace_pool *pool);

/** Work on one piece of the task. */
typedef void trace_pool_work(void *user, uint32_t piece);

/** Work on all pieces, in any order and on any thread; returns when all are done. */
void trace_pool_run(struct trace_pool *pool, trace_pool_work *work, void *user, uint32_t pieces);

#endif
