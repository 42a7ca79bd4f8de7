/* Output that a command has begun and not finished: gone when the command dies, by a signal or
 * otherwise, so that nobody takes a half for the whole. */
#ifndef HOLTER_AGENT_TERMINAL_UNFINISHED_OUTPUT_H
#define HOLTER_AGENT_TERMINAL_UNFINISHED_OUTPUT_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

/** Zero-initialised is fine. */
struct unfinished {
    pid_t cleaner; /**< 0: none */
    int held;      /**< end of the pipe that the cleaner waits for */
};

/** From now on the file, the recording with what lies beside it, or the directory goes if we die.
 * If it is there already it is not ours, and nothing is done; nor if no process can be made. That
 * it may not grow (setrlimit(2)) does not end us, but is an error of who writes it.
 *  @param path  not made yet; borrowed during the call */
void unfinished_begin(struct unfinished *unfinished, const char *path);

/** It stays, or we have removed it. */
void unfinished_end(struct unfinished *unfinished);

/** It failed: it goes now, with all that is in it. */
void unfinished_remove(struct unfinished *unfinished);

/** Can something be made of this name? @param path  not made yet @return 0 or -errno */
int output_check(const char *path);

/** A file that has its name when it is whole, and until then name.part. */
struct output_file {
    FILE *file;       /**< to write to */
    const char *path; /**< borrowed */
    char part[PATH_MAX];
    struct unfinished unfinished;
};

/** @param path  "-": standard output; what is no regular file is written to as it is
 *  @return 0 or -errno */
int output_file_open(struct output_file *output, const char *path);

/** @param whole  0: leave nothing behind; what was there before stays
 *  @return 0, or -errno: not all could be written, and nothing is left */
int output_file_close(struct output_file *output, int whole);

#endif
