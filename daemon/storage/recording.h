/* One recording: a .hrec file, which is a SQLite database. docs/recording.md describes its tables.
 *
 * Changes are kept in a transaction until recording_commit(); a process that dies leaves a valid
 * file with what was committed. One daemon writes a file at a time: a lock file beside it sees to
 * that. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_H
#define HOLTER_DAEMON_STORAGE_RECORDING_H

#include "daemon/storage/block/recorded.h"
#include "daemon/topology/network_parts.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define RECORDING_APPLICATION 0x48524543 /**< "HREC": PRAGMA application_id */
/** PRAGMA user_version; raised when tables or blocks change. A file of another version is refused.
 */
#define RECORDING_SCHEMA 8

struct recording;

/** Who is told how far work on a recording is, from time to time. */
struct recording_progress {
    void (*show)(void *user, double share); /**< 0 to 1; NULL: nobody */
    void *user;
};

/** Open a file for writing: a new one, or one to be continued.
 *  @param why  set on failure: a sentence for people
 *  @return 0, -EWOULDBLOCK when another daemon writes it, -HOLTER_EVERSION, -HOLTER_ECORRUPT,
 *          -ENOMEM, or -EIO for what SQLite reports */
int recording_open(struct recording **out, const char *path, char *why, size_t room);

/** The same; a file that is made has pages of so many bytes, see recording_page_for() and
 * recording_page(). */
int recording_open_paged(struct recording **out, const char *path, unsigned page, char *why,
                         size_t room);

/** Pages for a job of so many ranks, 0: not known, and a recording of so many bytes at most in all
 * its parts, 0: no limit. Large ones are less work where much is written, and take more room where
 * little is. */
unsigned recording_page_for(uint64_t ranks, uint64_t most_bytes);
unsigned recording_page(struct recording *recording);

/** What a sentence of recording_open() or recording_cursor_open() says behind the path, for those
 * who tell that themselves. */
const char *recording_why(const char *why, const char *path);

/** Keep a message, byte for byte. @return 0, or -EIO or -ENOMEM: see recording_error() */
int recording_message(struct recording *recording, const struct recorded *head, const void *bytes,
                      size_t length);

struct block_source;

/** The same of a message that is handed over, also after a failure: see block_writer_add_source().
 */
int recording_message_source(struct recording *recording, const struct recorded *head,
                             const struct block_source *source);

/** Keep what is published in plain tables, see recording_tables.h; other types are ignored.
 *  @param message  the struct of the type @return as recording_message() */
int recording_table(struct recording *recording, enum wire_type type, const void *message);

/** For tables that are filled by other means: the database, and a transaction that
 * recording_commit() ends.
 *  @return 0 or -EIO */
struct sqlite3 *recording_database(struct recording *recording);
struct recording_file *recording_file_of(struct recording *recording);
int recording_begin(struct recording *recording);

/** Make what was kept so far durable against the end of this process. @return 0, or -EIO, also when
 * somebody has removed the file */
int recording_commit(struct recording *recording);

/** Commit, fold the write-ahead log into the file, and close. NULL is fine. @return 0 or -EIO */
int recording_close(struct recording *recording);

/** The same. @param why  set on failure: what SQLite said, for people */
int recording_close_telling(struct recording *recording, char *why, size_t room);

/** Close without committing, after an error: the file stays as it was at the last commit. NULL is
 *  fine. */
void recording_abandon(struct recording *recording);

/** What went wrong last by SQLite, or by the system, for people. */
const char *recording_error(const struct recording *recording);

/** Let the file grow to so many pages of 4 KiB and no further: for tests of a full disk. */
void recording_limit(struct recording *recording, unsigned pages);

/** Bytes of the file and its log. */
uint64_t recording_bytes(const struct recording *recording);

/** The same of one at a path; 0: there is none. */
uint64_t recording_bytes_at(const char *path);

/** Remove a recording, its log and the index of that. @return 0 or -errno */
int recording_remove(const char *path);

/** Give a recording that nobody writes another name: all its parts, and what is still in their
 * logs. A file of that name goes.
 *  @param path  any part of it
 *  @param to    as the first part is to be named
 *  @param out   set to the new name of the part that was given
 *  @return 0, or -errno: some parts may have their new names */
int recording_rename(const char *path, const char *to, char *out, size_t room);

/** Path of a part: part 1 is the base. @return 0 or -ENAMETOOLONG */
int recording_part_path(const char *base, unsigned number, char *out, size_t room);

/** Parts that are there. @param first, last  set to their numbers, 0: there is none */
void recording_parts_find(const char *base, unsigned *first, unsigned *last);

/** The file for a job: "holter-<job>.hrec", or "holter-<job>-2.hrec" and so on when an ended job of
 *  that name lies there, all parts of it or some. A recording is continued when its job was
 * running, or when its newest part holds messages of this agent. A part that was being made when
 * its daemon was killed, and says nothing yet, goes, and so does an only file without tables.
 *  @param out     path of the first part, whether it is still there or not
 *  @param exists  set to whether there is something to continue
 *  @return 0, or -ENAMETOOLONG */
int recording_choose(const char *directory, const char *job, uint64_t instance, char *out,
                     size_t room, int *exists);

/** Number of the newest window whose row in `totals` was committed, in all parts: a daemon that was
 * killed may have committed messages of later ones.
 *  @param base  path of the first part @param out  0: none was
 *  @return 0, or negative when that cannot be told */
int recording_last_window(const char *base, uint64_t *out);

/** Make a directory for recordings, and those above it, where they are not there.
 *  @return 0, or why none can be written there: -ENOTDIR, -EACCES, -EROFS, ... */
int recording_directory(const char *path);

/** The file for a replay of a job: as recording_choose() names it, but none is continued. @return
 * as that, or -EEXIST */
int recording_new(const char *directory, const char *job, char *out, size_t room);

/** What is read back. Pointers are valid for the call. A nonzero return ends the reading. */
struct recording_reader {
    void *user;
    int (*alert)(void *user, const struct wire_alert *alert);
    int (*message)(void *user, const struct recorded *head, const void *bytes, size_t length);
};

/** Read a recording: first its alerts in order of their ids, then its messages in the order of
 *  arrival.
 *  @return 0, what the reader returned, -HOLTER_EVERSION, -HOLTER_EEMPTY, -HOLTER_ECORRUPT, -ENOMEM
 * or -EIO */
int recording_read(const char *path, const struct recording_reader *reader);

/** Reading message by message, for a replay. Messages have numbers, from 1 in the order of arrival.
 * A recording may grow while it is read, and be written on after the end was met. */
struct recording_cursor;

/** Open a recording to be read, before its first message.
 *  @param why  set on failure: a sentence for people
 *  @return 0, -errno, -HOLTER_EVERSION, -HOLTER_ECORRUPT, -HOLTER_EEMPTY: it has no window, -ENOMEM
 * or -EIO */
int recording_cursor_open(struct recording_cursor **out, const char *path, char *why, size_t room);

/** The same, also when no window can be read: then job and length of the windows may not be known.
 */
int recording_cursor_salvage(struct recording_cursor **out, const char *path, char *why,
                             size_t room);

/** NULL is fine. */
void recording_cursor_close(struct recording_cursor *cursor);

/** Job it is of, and the length of its windows, nanoseconds. */
const char *recording_cursor_job(const struct recording_cursor *cursor);
uint64_t recording_cursor_window_ns(const struct recording_cursor *cursor);

/** The network as it was told last. @param out  finish it; empty when there is none
 *  @return 0, -ENOMEM, -EIO or -HOLTER_ECORRUPT */
int recording_cursor_network(struct recording_cursor *cursor, struct network_parts *out);

/** Next message, in the order of arrival.
 *  @param bytes  valid until the next call
 *  @return 1, 0 at the end, -HOLTER_ECORRUPT, -ENOMEM or -EIO */
int recording_cursor_next(struct recording_cursor *cursor, struct recorded *head,
                          const void **bytes, size_t *length);

/** Next message, decoded: takes less time than recording_cursor_next() and wire_decode().
 *  @param arena   what the message points into, beside the cursor; until the next use of either
 *  @param length  set to bytes of the message
 *  @param fault   set to 0, or what wire_decode() says of it: then there is no message to read
 *  @return as recording_cursor_next() */
int recording_cursor_decoded(struct recording_cursor *cursor, struct recorded *head,
                             struct wire_message *message, struct wire_arena *arena, size_t *length,
                             int *fault);

/** Bytes of the message that recording_cursor_decoded() gave last, which has to be
 * unchanged. @param bytes  valid until the next call
 *  @return 0, -HOLTER_ECORRUPT or -ENOMEM */
int recording_cursor_bytes(struct recording_cursor *cursor, const void **bytes, size_t *length);

/** After -HOLTER_ECORRUPT: leave out what cannot be read, at most to the end of the block it is in.
 *  @param skipped  set to how many messages that are, as far as it is known
 *  @return 1: recording_cursor_next() can go on, 0: nothing follows, or negative */
int recording_cursor_skip(struct recording_cursor *cursor, uint64_t *skipped);

/** Number of the message that was read last, 0: none. */
uint64_t recording_cursor_number(const struct recording_cursor *cursor);

/** Go on behind message `number`, 0: from the first one on. */
void recording_cursor_seek(struct recording_cursor *cursor, uint64_t number);

/** The last message that was received before a time, daemon time: what came at that time and later
 * has greater numbers. Seeks behind it.
 *  @param number  set to its number, 0: there is none @return 0 or negative */
int recording_cursor_find(struct recording_cursor *cursor, uint64_t time_ns, uint64_t *number);

/** When its first and its last message were received. Seeks to the begin. Of a file that is damaged
 * the last may be wrong; it is not before the first.
 *  @return 0, or as recording_cursor_next() */
int recording_cursor_span(struct recording_cursor *cursor, uint64_t *first_ns, uint64_t *last_ns);

/** The number of its last message, as the file tells it now. @return 0 or negative: that is not
 * known */
int recording_cursor_last(struct recording_cursor *cursor, uint64_t *number);

/** The database beneath, to ask for more, see recording_file.h. Borrowed. */
struct recording_file *recording_cursor_file(struct recording_cursor *cursor);

#endif
