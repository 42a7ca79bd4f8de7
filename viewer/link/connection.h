/* The connection to the daemon: a client, optionally through a tunnel, that updates the model. */
#ifndef HOLTER_VIEWER_LINK_CONNECTION_H
#define HOLTER_VIEWER_LINK_CONNECTION_H

#include "viewer/model/model.h"

#include <stddef.h>
#include <stdint.h>

struct connection;

struct connection_options {
    const char *endpoint; /**< NULL: the user's newest daemon, here or on ssh_host */
    const char *ssh_host; /**< NULL: no tunnel */
    const char *key_dir;  /**< NULL: no keys */
    const char *job;      /**< NULL or "": the newest running one, else the one that ended last */
    int finder; /**< socket where the endpoint is asked for when the daemon is away (finder.h);
                     taken over; 0: none */
};

/** @param why  receives an error text on failure   @return 0 or a negative error */
int connection_open(struct connection **out, const struct connection_options *options, char *why,
                    size_t capacity);

/** NULL is fine. */
void connection_close(struct connection *connection);

/** Applies received messages, for at most budget_ms, and requests the daemon's status periodically.
 *  After a seek of a replay the model stays unchanged until the new state is complete.
 *  @return messages applied to the model; a full budget leaves the rest for the next call */
int connection_pump(struct connection *connection, struct model *model, uint64_t now_ms,
                    uint64_t budget_ms);

/** Requests a picture of the CommGram, unless the model has it: one open request at a time, at most
 * two a second, and after an error the same one only after a delay.
 *  @return 1 while an answer is pending or a request is still to be sent; 0 when the picture is
 * there; or a negative error: the answer to this request */
int connection_picture(struct connection *connection, struct model *model,
                       const struct commgram_request *wish, uint64_t now_ms);

/** Requests a better mapping or better routes; the answers go into the model (network.h). One
 *  open request of a kind at a time: a later one replaces it.
 *  @param objective  of the mapping, for display; "" for routes
 *  @param question   argument and rows of the request; the rest is set here
 *  @return 0, or a negative error, which is stored in the suggestion as well */
int connection_suggest(struct connection *connection, struct model *model,
                       enum suggestion_kind kind, const char *objective,
                       const struct wire_request *question);

/** Requests a capture, with the argument of request "capture". One open request at a time: while
 * one is open a further one is ignored. @return 0, or a negative error, which is in the model as
 * well
 */
int connection_capture(struct connection *connection, struct model *model, const char *argument);

/** Cancel a request: the daemon is notified, and late answers are ignored. */
void connection_give_up(struct connection *connection, enum suggestion_kind kind);

/** Sends a request to the replay, with the argument of request "replay": one open request at a
 * time.
 *  @return 0; 1: not now, another one is open; or a negative error */
int connection_replay(struct connection *connection, const struct model *model,
                      const char *argument);

/** Whether a request could be sent now: not before the state after the last seek is complete. */
int connection_replay_ready(const struct connection *connection);

/** Follows another job from now on.
 *  @param daemon  endpoint of the daemon that has it; "": the one that is connected
 *  @return 0 or a negative error */
int connection_follow(struct connection *connection, const char *job, const char *daemon);

/** Whether the whole current state of the job was received, so that further messages are new. */
int connection_is_current(const struct connection *connection);

/** Returns enum client_state. Sets the endpoint as shown to the user, the last error as text ("":
 * none) and the number of missed frames. */
int connection_state(const struct connection *connection);
const char *connection_endpoint(const struct connection *connection);
const char *connection_error(const struct connection *connection);
uint64_t connection_missed(const struct connection *connection);

#endif
