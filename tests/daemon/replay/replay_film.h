/* A small recording for tests of replays: two nodes of four ranks, whose partners change, with
 * windows of 100 ms; one rank dies in the middle, one node is late once, and the last calls are
 * captured once. */
#ifndef TESTS_DAEMON_REPLAY_REPLAY_FILM_H
#define TESTS_DAEMON_REPLAY_REPLAY_FILM_H

#include <stdint.h>

#define FILM_JOB "film.0"
#define FILM_WINDOW_NS UINT64_C(100000000)
#define FILM_FIRST UINT64_C(18000000000) /* number of the first window */
#define FILM_DEATH 31u                   /* window in which a rank dies, counted from the first */

#define FILM_CAPTURE 15u /* window in which both nodes send a capture, counted likewise */
#define FILM_CAPTURED 2u /* messages of it */

/** Write it. @param windows  0: no message at all, not even of ranks @param damaged  number of the
 * message, from 1, whose bytes are no message; 0: none */
void film_make(const char *path, unsigned windows, unsigned damaged);

#endif
