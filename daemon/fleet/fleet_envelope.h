/* Envelopes: several messages of a job in one message of a fleet's stream.
 *
 * An envelope is the eight bytes "HLTRFLT1", a position, and entries to its end. An entry is the
 * instance of an agent, a time, the length of its message, and the message as the agent sent it
 * (see proto/SPEC.md). Numbers are little-endian: position, instance and time have eight bytes, the
 * length has four.
 *
 * - From a gateway: position 0. The time is when the gateway received the message.
 * - A worker's journal: the position is that of the last envelope in the job's subject that the
 *   worker has read. Entries are alerts and totals that it has published, instance and time 0.
 *   An entry without a message is a note. With the run of a daemon as instance: that daemon has
 *   stored the job's state, and the time is the length of the state. With instance 0: the alerts
 *   of the journal were delivered, up to the envelope whose number is the time. With instance
 *   FLEET_FOLLOWED: another job has the id from then on; its messages are those after the envelope
 *   whose number is the time.
 * - A piece of a state: position and instance as in the note in the journal. The time is where in
 *   the state the piece begins.
 * - To agents: position 0. The instance is that of the agent that gets the message.
 * - To daemons: an entry without a message is the load of a daemon. The instance is that of its
 *   run, the time is processor time in a second. A message "status": the jobs of the daemon of
 *   this instance. */
#ifndef HOLTER_DAEMON_FLEET_FLEET_ENVELOPE_H
#define HOLTER_DAEMON_FLEET_FLEET_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

#define FLEET_HEAD_BYTES 16u  /**< of an envelope without entries */
#define FLEET_ENTRY_BYTES 20u /**< of an entry besides its message */
#define FLEET_FOLLOWED UINT64_MAX

/** Being written. Zero-initialised: empty. */
struct fleet_envelope {
    uint8_t *bytes; /**< owned */
    size_t length;  /**< 0: no entry was added */
    size_t capacity;
    uint64_t entries;
};

struct fleet_entry {
    uint64_t instance;
    uint64_t time_ns;
    const uint8_t *bytes; /**< borrowed from the envelope */
    size_t length;
};

/** Being read; borrows its bytes. */
struct fleet_reader {
    const uint8_t *bytes;
    size_t length, at;
    uint64_t position;
};

/** Write and read a number of so many bytes, little-endian. */
void fleet_put(uint8_t *out, uint64_t value, size_t bytes);
uint64_t fleet_get(const uint8_t *in, size_t bytes);

/** Add an entry. @return 0, -HOLTER_ERANGE: the message is too long, or -ENOMEM */
int fleet_envelope_add(struct fleet_envelope *envelope, const struct fleet_entry *entry);

/** Set the position of an envelope that has entries. */
void fleet_envelope_set_position(struct fleet_envelope *envelope, uint64_t position);

/** Frees the memory; the envelope is empty. */
void fleet_envelope_finish(struct fleet_envelope *envelope);

/** Begin to read. @return 0 or -HOLTER_EMALFORMED */
int fleet_reader_init(struct fleet_reader *reader, const void *bytes, size_t length);

/** Read the next entry. @return 1, 0 at the end, or -HOLTER_EMALFORMED: nothing more is read */
int fleet_reader_next(struct fleet_reader *reader, struct fleet_entry *entry);

#endif
