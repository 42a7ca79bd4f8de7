/* Output that a command has begun and not finished. It is removed if the command dies, by a signal
 * or otherwise, so that no incomplete file remains. */
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

/** From now on a file, a recording with its auxiliary files, or a directory is removed if this
 * process dies. Does nothing if the path exists already or if no cleaner process can be started.
 * Ignores SIGXFSZ, so that a file size limit (setrlimit(2)) is an error of the write.
 *  @param path  does not exist yet; borrowed during the call */
void unfinished_begin(struct unfinished *unfinished, const char *path);

/** Make a directory as mkdtemp(3) does. It is removed when this process and its children have
 * ended, even if they were killed.
 *  @param directory  ends in XXXXXX, which is replaced @return 0, or -errno: there is none */
int unfinished_make_directory(struct unfinished *unfinished, char *directory);

/** The output is complete, or was removed already. */
void unfinished_end(struct unfinished *unfinished);

/** Remove the output now, with its contents. */
void unfinished_remove(struct unfinished *unfinished);

/** Can a file of this name be created? @param path  does not exist yet @return 0 or -errno */
int output_check(const char *path);

/** A file that is written as name.part and renamed when it is complete. */
struct output_file {
    FILE *file;       /**< to write to */
    const char *path; /**< borrowed */
    char part[PATH_MAX];
    struct unfinished unfinished;
};

/** Are two names those of one file, which is there? */
int output_is_same_file(const char *a, const char *b);

/** @param path  "-": standard output; anything but a regular file is written to directly
 *  @return 0 or -errno */
int output_file_open(struct output_file *output, const char *path);

/** @param whole  0: remove the file; an earlier file of that name stays
 *  @return 0, or -errno: an error of a write, after which the file was removed */
int output_file_close(struct output_file *output, int whole);

#endif
