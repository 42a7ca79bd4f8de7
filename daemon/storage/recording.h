/* One recording: a .hrec file, which is a SQLite database. docs/recording.md describes its
 * tables.
 *
 * Changes belong to a transaction until recording_commit(): a process that dies leaves a valid
 * file with everything that was committed. One process at a time writes a file; a lock file
 * beside it ensures this. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDING_H
#define HOLTER_DAEMON_STORAGE_RECORDING_H

#include "daemon/analysis/network/topology_parts.h"
#include "daemon/storage/block/recorded.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define RECORDING_APPLICATION 0x48524543 /**< "HREC": PRAGMA application_id */
/** PRAGMA user_version; raised when tables or blocks change. A file of another version is refused.
 */
#define RECORDING_SCHEMA 12

struct recording;

/** A span of time of a recording, daemon time. */
struct recorded_span {
    uint64_t from_ns, to_ns; /**< to > from; 0 and UINT64_MAX: no bounds */
};

/** Callback for the progress of work on a recording. */
struct recording_progress {
    void (*show)(void *user,
                 double share); /**< share that is done, from 0 to 1; NULL: no callback */
    void *user;
};

/** Report progress after each 256th message. @param progress  NULL: none
 * @param all  messages in total; 0: not known */
void recording_show_progress(const struct recording_progress *progress, uint64_t done,
                             uint64_t all);

/** Open a file for writing: a new one, or one to be continued.
 *  @param why  set on failure: a sentence for people
 *  @return 0, -EWOULDBLOCK when another daemon writes it, -HOLTER_EVERSION, -HOLTER_ECORRUPT,
 *          -ENOMEM, or -EIO for what SQLite reports */
int recording_open(struct recording **out, const char *path, char *why, size_t capacity);

/** The sentence of a failed recording_open() or recording_cursor_open() without the path at its
 * begin, for callers that name the path themselves. */
const char *recording_error_without_path(const char *why, const char *path);

/** Write a message, byte for byte. @return 0, or -EIO or -ENOMEM: see recording_error() */
int recording_write_message(struct recording *recording, const struct recorded *head,
                            const void *bytes, size_t length);

/** Write a published result into the plain tables, see recording_tables.h; other types are
 * ignored.
 * @param message  the struct of the type
 * @return as recording_write_message() */
int recording_write_result(struct recording *recording, enum wire_type type, const void *message);

/** Access for modules that fill tables themselves: the database, and a transaction that
 * recording_commit() ends.
 * @return recording_begin(): 0 or -EIO */
struct sqlite3 *recording_database(struct recording *recording);
struct recording_file *recording_file_of(struct recording *recording);
int recording_begin(struct recording *recording);

/** Commit: what was written survives the end of this process. @return 0, or -EIO, also when the
 * file has been removed */
int recording_commit(struct recording *recording);

/** Commit, checkpoint the write-ahead log, and close. NULL is fine. @return 0 or -EIO */
int recording_close(struct recording *recording);

/** Like recording_close(). @param why  set on failure: what SQLite reported, for people */
int recording_close_with_error(struct recording *recording, char *why, size_t capacity);

/** Close before the job has ended: drop what is not committed, and write when and why this was,
 * also on a full disk. NULL is fine.
 *  @param at_ns  arrival of the newest message, daemon time */
void recording_stop(struct recording *recording, uint64_t at_ns, const char *why);

/** Write why another recording, of which this one is a copy, had stopped. @return 0 or negative */
int recording_write_stop(struct recording *recording, uint64_t at_ns, const char *why);

/** Close without committing, after an error: the file stays as at its last commit. NULL is fine. */
void recording_abandon(struct recording *recording);

/** The last error of SQLite or of the system, for people. */
const char *recording_error(const struct recording *recording);

/** Limit the file to a number of pages: for tests of a full disk. */
void recording_limit(struct recording *recording, unsigned pages);

/** Bytes of the file and its log. */
uint64_t recording_bytes(const struct recording *recording);

/** Bytes of the file at a path and its log; 0: there is none. */
uint64_t recording_bytes_at(const char *path);

/** Remove a recording, its log, and the index of the log. @return 0 or -errno */
int recording_remove(const char *path);

/** Rename a recording that no process writes: all its parts with their logs. Files with the new
 * names are replaced.
 * @param path  any part of it
 * @param to    new path of the first part
 * @param out   set to the new path of the part that was given
 * @return 0, or -errno: then some parts may already have their new names */
int recording_rename(const char *path, const char *to, char *out, size_t capacity);

/** Path of a part: that of part 1 is the base. @return 0 or -ENAMETOOLONG */
int recording_part_path(const char *base, unsigned number, char *out, size_t capacity);

/** Find the parts of a recording. @param first, last  set to the numbers of the oldest and newest
 * part; 0: there is none */
void recording_parts_find(const char *base, unsigned *first, unsigned *last);

/** SQL: the time of the ranks in a window of `totals`, as ranks_time_ns() of holter/waiting.h. */
#define RECORDING_RANK_NS "max(1.0 * ranks * length_ns - absent_ns, 0)"

/** A query of counts of matched messages ends so: they are since the job's start, and the newest
 * ones include corrections. */
#define RECORDING_NEWEST_MATCHED                                                                   \
    " FROM totals ORDER BY matched + unmatched + unwatched DESC, matched DESC LIMIT 1"

/** Why the daemon, or `holter record`, has stopped writing a recording before its job had ended. */
struct recording_stop {
    uint64_t at_ns; /**< arrival of the newest message then, daemon time; 0: it has not */
    char why[257];
};

/** Read that from a recording. What cannot be read is as if it were not there. */
void recording_find_stop(const char *path, struct recording_stop *out);

/** Is it, by its name, a further part of a recording? */
int recording_is_part(const char *path);

/** Does a recording end before its job? The job was running, no process writes the recording any
 * more, and no part follows.
 * @param state  of the job, as recorded */
int recording_is_cut_short(const char *path, const char *state);

/** Choose the file for a job: "holter-<job>.hrec", or "holter-<job>-2.hrec" and so on if the
 * directory has the recording of an ended job of that name, or of another job. The newest recording
 * of the job is continued if the job was still running, or its newest part has messages of this
 * agent. Passed over are attached recordings, those of replays, and those that another process
 * writes: then one has to have messages of this agent. A part without content, whose daemon was
 * killed while creating it, is removed, and so is a single file without tables.
 * @param out     path of the first part, whether it still exists or not
 * @param exists  set to whether there is a recording to continue
 * @return 0, or -ENAMETOOLONG */
int recording_choose_path(const char *directory, const char *job, uint64_t instance, char *out,
                          size_t capacity, int *exists);

/** Does a recording have windows of another length? Then its tables cannot be continued: a window
 * is named by its number in them, and a time is found by that.
 * @param base  path of the first part */
int recording_has_other_windows(const char *base, uint64_t window_ns);

/** Was a recording made of other processes than these, as of a job that was queued again? Not if
 * its newest part has messages of this agent.
 * @param base  path of the first part */
int recording_has_other_processes(const char *base, uint64_t instance,
                                  const struct wire_ranks *ranks);

/** Find the newest window that has a committed row in `totals`, and the newest phase, in all parts.
 * A daemon that was killed may have committed messages of later windows. Windows of the future, as
 * agents report that were ahead when the clock was set back, do not count.
 * @param base  path of the first part
 * @param out   0: there is none
 * @return 0, or negative when it cannot be read */
int recording_find_last_window(const char *base, uint64_t *out);
int recording_find_last_phase(const char *base, uint64_t *out);

/** Messages that the ranks of a job had received up to a window, as published with it. */
struct recorded_matches {
    uint64_t window, matched, unmatched, unwatched;
};

/** Read those of the newest window that has a row in `totals`.
 * @param base  path of the first part
 * @return 0, or negative: none can be read */
int recording_find_matches(const char *base, struct recorded_matches *out);

/** Create a directory for recordings, and its parents, where they do not exist.
 * @return 0, or why no recording can be written there: -ENOTDIR, -EACCES, -EROFS, ... */
int recording_make_directory(const char *path);

/** Choose the file for a new recording of a job, such as a replay: named as by
 * recording_choose_path(), but no recording is continued.
 * @return as recording_choose_path(), or -EEXIST */
int recording_choose_new(const char *directory, const char *job, char *out, size_t capacity);

/** Callbacks of recording_read(). Pointers are valid during the call. A nonzero return ends the
 * reading. */
struct recording_reader {
    void *user;
    int (*alert)(void *user, const struct wire_alert *alert);
    int (*message)(void *user, const struct recorded *head, const void *bytes, size_t length);
};

/** Read a recording: first its alerts in the order of their ids, then its messages in the order of
 * arrival. What is damaged is skipped.
 * @return 0, what a callback returned, -HOLTER_EVERSION, -HOLTER_EEMPTY, -HOLTER_ECORRUPT:
 * something is damaged, -ENOMEM or -EIO */
int recording_read(const char *path, const struct recording_reader *reader);

/** A cursor reads a recording message by message. Messages are numbered from 1 in the order of
 * arrival. The recording may grow while it is read, also after the cursor has reached its end. */
struct recording_cursor;

/** Open a recording for reading, before its first message.
 * @param why  set on failure: a sentence for people
 * @return 0, -errno, -HOLTER_EVERSION, -HOLTER_ECORRUPT, -HOLTER_EEMPTY: it has no window,
 * -ENOMEM or -EIO */
int recording_cursor_open(struct recording_cursor **out, const char *path, char *why,
                          size_t capacity);

/** Like recording_cursor_open(), but also for a file without a readable window: then the job and
 * the length of the windows may be unknown. */
int recording_cursor_salvage(struct recording_cursor **out, const char *path, char *why,
                             size_t capacity);

/** Read a recording through a database that is open already, as a function of SQLite has to. A file
 * without a readable window is accepted, as by recording_cursor_salvage().
 * @param db  borrowed until the cursor is closed; its limits stay as they are
 * @return as recording_cursor_open() */
int recording_cursor_borrow(struct recording_cursor **out, struct sqlite3 *db, char *why,
                            size_t capacity);

/** NULL is fine. */
void recording_cursor_close(struct recording_cursor *cursor);

/** Id of the job, and the length of its windows in nanoseconds. */
const char *recording_cursor_job(const struct recording_cursor *cursor);
uint64_t recording_cursor_window_ns(const struct recording_cursor *cursor);

/** The span of the windows that were published, or of the job if it has ended without any: both
 * stand in tables, no message is read.
 * @return 1, or 0: neither is there */
int recording_cursor_published(struct recording_cursor *cursor, uint64_t *begin_ns,
                               uint64_t *end_ns);

/** Read the network that was published last. @param out  finish it; empty when there is none
 * @return 0, -ENOMEM, -EIO or -HOLTER_ECORRUPT */
int recording_cursor_network(struct recording_cursor *cursor, struct topology_parts *out);

/** Read the next message, in the order of arrival.
 * @param bytes  valid until the next call
 * @return 1, 0 at the end, -HOLTER_ECORRUPT, -ENOMEM or -EIO */
int recording_cursor_next(struct recording_cursor *cursor, struct recorded *head,
                          const void **bytes, size_t *length);

/** Read the next message decoded, which is faster than recording_cursor_next() and wire_decode().
 * @param arena   the message points into it and into the cursor, until the next use of either
 * @param length  set to the length of the message in bytes
 * @param fault   set to 0, or to the error of wire_decode(): then there is no decoded message
 * @return as recording_cursor_next(). A block that states a wrong length for a message is not
 * detected here, but by recording_cursor_bytes() */
int recording_cursor_next_decoded(struct recording_cursor *cursor, struct recorded *head,
                                  struct wire_message *message, struct wire_arena *arena,
                                  size_t *length, int *fault);

/** Bytes of the message that recording_cursor_next_decoded() returned last, which must not have
 * been changed.
 * @param bytes  valid until the next call
 * @return 0, -HOLTER_ECORRUPT or -ENOMEM */
int recording_cursor_bytes(struct recording_cursor *cursor, const void **bytes, size_t *length);

/** After -HOLTER_ECORRUPT: skip what cannot be read, at most to the end of its block.
 * @param skipped  set to the number of skipped messages, as far as it is known
 * @return 1: recording_cursor_next() can continue, 0: nothing follows, or negative */
int recording_cursor_skip(struct recording_cursor *cursor, uint64_t *skipped);

/** Number of the message that was read last; 0: none. */
uint64_t recording_cursor_number(const struct recording_cursor *cursor);

/** Continue after message `number`; 0: from the first message. */
void recording_cursor_seek(struct recording_cursor *cursor, uint64_t number);

/** Read the arrival times of the first and the last message, and seek to the begin. In a damaged
 * file the last time may be wrong, but it is never before the first.
 * @return 0, or as recording_cursor_next() */
int recording_cursor_span(struct recording_cursor *cursor, uint64_t *first_ns, uint64_t *last_ns);

/** Read the number of the last message at present. @return 0, or negative: it is not known */
int recording_cursor_last(struct recording_cursor *cursor, uint64_t *number);

/** Visit a message.
 * @param message  valid during the call; NULL: its bytes cannot be decoded
 * @param length   of its bytes
 * @return 0, or a value that ends the reading */
typedef int recording_visit(void *user, const struct recorded *head,
                            const struct wire_message *message, size_t length);

/** Read from the position of the cursor to the end.
 * @param progress  callback for progress; NULL: none
 * @return 0, what the visit returned, or what recording_cursor_next_decoded() returned: after
 * -HOLTER_ECORRUPT recording_cursor_skip() may skip the damage, and another call continues */
int recording_scan(struct recording_cursor *cursor, const struct recording_progress *progress,
                   recording_visit *visit, void *user);

/** Text of an error of recording_scan(): of a damaged file also what to do about it. */
const char *recording_scan_error(int code);

/** The database of the cursor, for further queries, see recording_file.h. Borrowed. */
struct recording_file *recording_cursor_file(struct recording_cursor *cursor);

#endif
