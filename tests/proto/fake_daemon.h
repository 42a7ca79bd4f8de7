/* A daemon played by a test, over real sockets: what clients see of it. The test answers. */
#ifndef HOLTER_TESTS_FAKE_DAEMON_H
#define HOLTER_TESTS_FAKE_DAEMON_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

struct fake_daemon {
    char endpoint[64]; /**< set by the test */
    uint64_t instance; /**< that frames tell: of the last welcome, unless the test sets it */
    struct {
        const char *topic; /**< NULL: that of the last frame; "": the daemon has no frame */
        uint64_t number, ordinal;
        unsigned told; /**< how many times */
    } newest;          /**< frame that is told to who asks for those of a job */
    struct {
        char topic[32];
        uint64_t number, ordinal;
    } last;        /**< frame that was published */
    void *context; /**< made by fake_daemon_up() when it is NULL */
    void *front;   /**< ROUTER; NULL while the daemon is down */
    void *stream;  /**< XPUB */
    struct wire_buffer buffer;
    struct wire_arena arena;
};

/** Bind front and stream; fails the test when they cannot be. */
void fake_daemon_up(struct fake_daemon *daemon);

void fake_daemon_down(struct fake_daemon *daemon);

/** Down, and free all. */
void fake_daemon_finish(struct fake_daemon *daemon);

/** Take what has come to the front. take() gets each message with its sender, and may answer. */
void fake_daemon_serve(struct fake_daemon *daemon,
                       void (*take)(void *user, zmq_msg_t *identity,
                                    const struct wire_message *message),
                       void *user);

void fake_daemon_answer(struct fake_daemon *daemon, zmq_msg_t *identity, enum wire_type type,
                        const void *message);

/** Take the subscriptions that have come, and confirm those that ask for it. */
void fake_daemon_confirm(struct fake_daemon *daemon, int confirms);

/** Publish a frame. @param number, ordinal  as proto/SPEC.md has them */
void fake_daemon_publish(struct fake_daemon *daemon, const char *topic, uint64_t number,
                         uint64_t ordinal, enum wire_type type, const void *message);

/** The same with any body. */
void fake_daemon_publish_bytes(struct fake_daemon *daemon, const char *topic, uint64_t number,
                               uint64_t ordinal, const void *body, size_t length);

#endif
