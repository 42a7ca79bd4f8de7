/* Text files, read whole and then line by line, and the reporting of their faults. */
#ifndef HOLTER_DAEMON_TOPOLOGY_FILE_TEXT_H
#define HOLTER_DAEMON_TOPOLOGY_FILE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** Maximum of faults that are reported of one file; "and more" stands for further ones. */
#define FILE_FAULTS 100u

/** Called with each fault, "net.yaml:12: what is wrong": one line without control characters. */
typedef void file_fault(void *user, const char *text);

/** Receiver of the faults of one file. */
struct faults {
    const char *name; /**< of the file */
    file_fault *tell;
    void *user;
    unsigned count; /**< number of faults so far; 0 at first */
};

/** Report a fault. @param line  0: it concerns the whole file */
void fault_at(struct faults *faults, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Read a file; a pipe or device too, up to its end.
 * @param most  maximum bytes; a longer file is refused @param out  set to memory for free(),
 * terminated by NUL
 * @return 0, -ENOMEM, -HOLTER_ELIMIT, or the error of open(2) or read(2); reported as a fault */
int file_text(char **out, size_t *length, const char *path, size_t most, struct faults *faults);

/** Lines of a text. */
struct lines {
    const char *at, *end;
    unsigned number; /**< number of the last line returned, from 1 */
};

struct lines lines_of(const char *text, size_t length);

/** Read the next line, without its end. @return 0: there is none */
int lines_next(struct lines *lines, const char **begin, const char **end);

/** Words of a line are separated by blanks. Each function moves *at after the word, and returns 0
 * when there is none, or it is not of that kind. */
int word_next(const char **at, const char *end, const char **word, size_t *length);
int word_whole(const char **at, const char *end, uint64_t *out);
/** A number with or without fraction, "1.38052e+07", at least 0, below 2^63: rounded to the nearest
 * whole number, exactly. */
int word_amount(const char **at, const char *end, uint64_t *out);

#endif
