/* One clock for the daemons of a fleet: agents cut time into windows by the clock of their daemon,
 * and those of one job may be connected to different daemons.
 *
 * One daemon is the reference: its time is the fleet's. The others estimate it from round trips, as
 * agents do (daemon_clock.h), and give that time to their agents with the bound of its error. A
 * daemon that starts asks all; those that know the fleet's time name the reference. Where none
 * answers, the one with the lowest instance begins with its own clock. The same happens when the
 * reference no longer answers, but daemons that have followed it go before those that have not, and
 * go on with the time that they have: the fleet's time continues. Where there are two references,
 * as after a partition, the one with the higher instance follows the other.
 *
 * Times are arguments, CLOCK_MONOTONIC of this daemon in nanoseconds. Questions and answers are
 * sent as bytes: "HLTRCLK1" and numbers of eight bytes, little-endian. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_CLOCK_H
#define HOLTER_DAEMON_FLEET_FLEET_CLOCK_H

#include "daemon/analysis/clocks/daemon_clock.h"

#include <stddef.h>
#include <stdint.h>

#define FLEET_CLOCK_ALONE_NS UINT64_C(500000000) /**< without an answer for so long: alone */
/** Between two questions of a daemon that knows the time, and of one that does not. */
#define FLEET_CLOCK_ASK_NS UINT64_C(500000000)
#define FLEET_CLOCK_FIRST_ASK_NS UINT64_C(50000000)

enum { FLEET_CLOCK_ASK_BYTES = 32, FLEET_CLOCK_ANSWER_BYTES = 64 };

struct fleet_clock {
    struct daemon_clock time; /**< of the fleet */
    uint64_t instance;        /**< of this daemon */
    uint64_t reference;       /**< instance of the daemon that is asked; its own; 0: looked for */
    uint64_t lost;            /**< instance of the reference that no longer answers; 0: none */
    uint64_t looking_ns;      /**< since when a reference is looked for */
    uint64_t yields_ns;       /**< when a daemon looked for one that goes before; 0: never */
    uint64_t heard_ns;        /**< when any daemon answered last; 0: never */
    uint32_t unanswered;      /**< questions to the reference since its last answer */
    uint64_t unanswered_ns;   /**< when the first of them was asked */
    uint32_t asked;           /**< questions of a reference */
    uint64_t held_error_ns;   /**< until a new reference has answered: the error before */
    int is_known;             /**< its time may be used */
};

/** @param instance  not 0 @param real_ns  CLOCK_REALTIME of that moment */
void fleet_clock_init(struct fleet_clock *clock, uint64_t instance, uint64_t mono_ns,
                      uint64_t real_ns);

/** Make the next question. @param to  receives the instance of the daemon to be asked; 0: all
 *  @return 1, or 0: nothing is to be asked now */
int fleet_clock_ask(struct fleet_clock *clock, uint64_t mono_ns, uint64_t *to,
                    uint8_t out[FLEET_CLOCK_ASK_BYTES]);

/** Answer a question of another daemon.
 *  @param received_ns  when it came @param mono_ns  when the answer leaves
 *  @return 1, 0: it gets no answer, or -HOLTER_EMALFORMED */
int fleet_clock_answer(struct fleet_clock *clock, const void *bytes, size_t length,
                       uint64_t received_ns, uint64_t mono_ns,
                       uint8_t out[FLEET_CLOCK_ANSWER_BYTES]);

/** Take an answer. @param mono_ns  when it came
 *  @return 0, -HOLTER_EMALFORMED, or -HOLTER_ERANGE: its stamps contradict each other */
int fleet_clock_observe(struct fleet_clock *clock, const void *bytes, size_t length,
                        uint64_t mono_ns);

/** Bound of the error of daemon_clock_at() against the reference; 0: this daemon is the reference.
 */
uint64_t fleet_clock_error(const struct fleet_clock *clock, uint64_t mono_ns);

#endif
