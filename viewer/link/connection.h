/* The way to the daemon: a client, perhaps through a tunnel, that feeds the model. */
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
    const char *job;      /**< NULL or "": the newest that runs, else the one that ended last */
};

/** @param why  room for a sentence, on failure   @return 0 or a negative error */
int connection_open(struct connection **out, const struct connection_options *options, char *why,
                    size_t room);

/** NULL is fine. */
void connection_close(struct connection *connection);

/** Take in what has come, for at most budget_ms, and ask for the daemon's state now and then.
 * Behind a seek of a replay the model stays as it is until the new state is whole.
 *  @return messages applied to the model; a full budget leaves the rest for the next call */
int connection_pump(struct connection *connection, struct model *model, uint64_t now_ms,
                    uint64_t budget_ms);

/** Ask for a picture of the CommGram, unless it is there already: one question at a time, two a
 * second at most, and after an error the same one only after a while.
 *  @return 1 while something is still to be done: an answer to be awaited or a question to be asked
 *          soon; 0 when the picture is there; or a negative error: the answer to this very question
 */
int connection_picture(struct connection *connection, struct model *model,
                       const struct commgram_request *wish, uint64_t now_ms);

/** Ask for a better mapping or better routes; the answers go into the model (network.h). One
 * question of a kind at a time: what is asked while one is open takes its place.
 *  @param objective  of the mapping, for people; "" for routes
 *  @return 0, or a negative error, which is told there too */
int connection_suggest(struct connection *connection, struct model *model,
                       enum suggestion_kind kind, const char *objective, const char *argument);

/** Cancel a request: the daemon is notified, and late answers are ignored. */
void connection_give_up(struct connection *connection, enum suggestion_kind kind);

/** Ask something of a replay, as request "replay" has it: one thing at a time.
 *  @return 0; 1: not now, something else is under way; or a negative error */
int connection_replay(struct connection *connection, const struct model *model,
                      const char *argument);

/** Would it be asked now? Not before the state behind the last seek is there as a whole. */
int connection_replay_ready(const struct connection *connection);

/** Follow another job from now on. @return 0 or a negative error */
int connection_follow(struct connection *connection, const char *job);

/** Has the whole current state of the job come, so that what comes now is news? */
int connection_is_current(const struct connection *connection);

/** Descriptor that is readable when connection_pump() has work. */
int connection_fd(const struct connection *connection);

/** enum client_state; endpoint as the user knows it; last error in words, "" for none; frames
 * missed. */
int connection_state(const struct connection *connection);
const char *connection_endpoint(const struct connection *connection);
const char *connection_error(const struct connection *connection);
uint64_t connection_missed(const struct connection *connection);

#endif
