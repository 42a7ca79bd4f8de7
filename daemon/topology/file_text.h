/* Text files, read whole and then line by line, and how what is wrong with them is told. */
#ifndef HOLTER_DAEMON_TOPOLOGY_FILE_TEXT_H
#define HOLTER_DAEMON_TOPOLOGY_FILE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define FILE_FAULTS 100u /**< told of one file at most; then "and more" */

/** Told of each fault, "net.yaml:12: what is wrong": one line without control characters. */
typedef void file_fault(void *user, const char *text);

/** Where faults go. */
struct faults {
    const char *name; /**< of the file */
    file_fault *tell;
    void *user;
    unsigned count; /**< 0 at first */
};

/** Tell one. @param line  0: of the whole file */
void fault_at(struct faults *faults, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Read a file; a pipe or device too, up to its end.
 *  @param most  bytes; a longer one is refused @param out  set to memory for free(), a NUL behind
 * it
 *  @return 0, -ENOMEM, -HOLTER_ELIMIT, or what open(2), read(2) say; told as a fault */
int file_text(char **out, size_t *length, const char *path, size_t most, struct faults *faults);

/** Lines of a text. */
struct lines {
    const char *at, *end;
    unsigned number; /**< of the line that was given last, from 1 up */
};

struct lines lines_of(const char *text, size_t length);

/** Next line, without its end. @return 0: there is none */
int lines_next(struct lines *lines, const char **begin, const char **end);

/** Words of a line, which blanks separate. Each moves *at behind the word, and gives 0 when there
 * is none, or it is not of the kind. */
int word_next(const char **at, const char *end, const char **word, size_t *length);
int word_whole(const char **at, const char *end, uint64_t *out);
/** Whole or not, "1.38052e+07", at least 0, below 2^63: rounded to the nearest whole number. */
int word_amount(const char **at, const char *end, uint64_t *out);

#endif
