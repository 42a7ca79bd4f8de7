/* The daemon as a process of a test, in a directory of its own, and peers that speak the wire to
 * it. What goes wrong fails the test. */
#ifndef HOLTER_TESTS_DAEMON_BED_H
#define HOLTER_TESTS_DAEMON_BED_H

#include "holter/wire.h"
#include "proto/curve_keys.h"
#include "tests/directory.h"

#include <stdint.h>
#include <sys/types.h>

#define DAEMON_BED_PATIENCE_MS 100000 /**< only a failing test waits that long */

struct daemon_bed {
    const char *holterd;  /**< set it: path of the program */
    const char *topology; /**< set it: of the daemon's environment; NULL: none */
    char directory[DIRECTORY_ROOM], endpoint[96], stream[112], records[96];
    void *context;  /**< of ZeroMQ, for peers */
    unsigned peers; /**< that have not hung up */
};

/** Before and after each test. @return 0 */
int daemon_bed_make(struct daemon_bed *bed);
int daemon_bed_remove(struct daemon_bed *bed);

/** Start a daemon on the bed's endpoint. Its output is discarded, unless there is
 * HOLTER_TEST_LOG in the environment. It does not outlive the test program. @param options  words,
 * ended by NULL */
pid_t daemon_bed_start(const struct daemon_bed *bed, const char *const *options);

/** Wait for its end. @return exit status, or minus the signal that ended it */
int daemon_bed_status(pid_t pid);

/** Ask it to end, which it does with status 0. */
void daemon_bed_stop(pid_t pid);

struct peer {
    struct daemon_bed *bed;
    void *socket;
    struct wire_message message; /**< received last */
    struct wire_arena arena;
    struct wire_buffer buffer;
    uint64_t hash; /**< of all bytes that were received */
};

/** Connect. @param keys  directory of CURVE keys, for the key of this role; NULL: none */
void peer_dial(struct daemon_bed *bed, struct peer *peer, const char *keys, enum role role);
void peer_hang_up(struct peer *peer);

void peer_send(struct peer *peer, enum wire_type type, const void *message);

/** Next message. @return peer->message */
const struct wire_message *peer_receive(struct peer *peer);

/** Read on until a message of this type. @return peer->message */
const struct wire_message *peer_await(struct peer *peer, enum wire_type type);

/** Read on until the end of an answer. */
const struct wire_reply *peer_reply(struct peer *peer);

/** Say hello from host n0. @return the answer */
const struct wire_message *peer_greet(struct peer *peer, const char *role, uint64_t instance);

/** Connect without keys, and be welcome. */
void peer_come(struct daemon_bed *bed, struct peer *peer, const char *role, uint64_t instance);

/** Ask about job.0. @param topic  NULL: none */
void peer_ask(struct peer *peer, uint64_t id, const char *op, const char *topic,
              const char *argument);

#endif
