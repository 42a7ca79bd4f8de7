/* A small recording with known figures: a job of 4 ranks on 2 nodes, one window a second. */
#ifndef TESTS_DAEMON_STORAGE_RECORDINGS_MADE_RECORDING_H
#define TESTS_DAEMON_STORAGE_RECORDINGS_MADE_RECORDING_H

#include <stdint.h>

#define MADE_BEGIN UINT64_C(1000) /* number of the first window */
#define MADE_S UINT64_C(1000000000)

/** Windows `from` to `end` - 1 of the job, counted from 0: each node sends 10 messages of 100 bytes
 * a window, its window message has number 2 + window, its ranks message 1. Alert 1 is about windows
 * 3 to 5; each window has a row in totals.
 *  @param job  its id */
void made(const char *path, const char *job, uint64_t from, uint64_t end);

/** Go on with a recording that made() made, of windows before `second`: node 0 tells of a capture
 * of its rank 0, two records, read in the middle of that second of the job.
 *  @param id  of the capture; its message has number 100 + id */
void made_capture(const char *path, const char *job, uint64_t id, uint64_t second);

/** The same, of the records until the middle of that second, which arrive in the middle of a later
 * one. */
void made_capture_until(const char *path, const char *job, uint64_t id, uint64_t second,
                        uint64_t arrival);

/** Run SQL on a file. @return first column of the first row, 0: none */
int64_t made_ask(const char *path, const char *sql);

#endif
