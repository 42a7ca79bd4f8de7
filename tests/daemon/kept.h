/* Messages as a recorder keeps them. */
#ifndef HOLTER_TESTS_DAEMON_KEPT_H
#define HOLTER_TESTS_DAEMON_KEPT_H

#include "daemon/recording.h"

/** Encode a message and put it into a recording. @param head  all but the type */
void kept_message(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message);

/** The same, with bytes at its begin that are no message. */
void kept_damaged(struct recording *recording, struct recorded head, enum wire_type type,
                  const void *message);

#endif
