/* What kind of file it is that others recorded, by what is in it. */
#ifndef HOLTER_DAEMON_IMPORT_IMPORT_FORMAT_H
#define HOLTER_DAEMON_IMPORT_IMPORT_FORMAT_H

#include <stddef.h>

enum import_format {
    IMPORT_UNKNOWN,
    IMPORT_HOPBYTE,
    IMPORT_ROUTE,
    IMPORT_COUNTERS,
    IMPORT_OTF2,
    IMPORT_DUMPI,
    IMPORT_CSV,
    IMPORT_RECORDING, /**< one of Holter, nothing to be imported */
    IMPORT_PACKED,    /**< none of them as it is, whatever is said: compressed, or text that is not
                         UTF-8 */
    IMPORT_FORMATS,
};

/** Word for --format; NULL: there is none. */
const char *import_format_name(enum import_format format);

/** @return IMPORT_UNKNOWN for a word that is none */
enum import_format import_format_by_name(const char *name);

/** What bytes are that have to be made others of first, compressed or in UTF-16, by their
 * beginning.
 *  @return a sentence without its subject; NULL: nothing of that kind */
const char *import_packed_as(const char *bytes, size_t length);

/** Is it the line "sep=;", by which spreadsheets tell each other what is between fields, before the
 * header of a table?
 *  @return the separator; 0: it is no such line */
char import_separator_told(const char *line, size_t length);

/** Look into a file; in a folder, for the one file that says what the folder holds.
 *  @param wanted  of a folder: the format whose file is looked for; IMPORT_UNKNOWN: any
 *  @param source  set to the file that is to be read
 *  @param why     set where it cannot be said, or read: a sentence for people, with the name of the
 * file
 *  @return IMPORT_UNKNOWN: it cannot be said */
enum import_format import_format_find(const char *path, enum import_format wanted, char *source,
                                      size_t source_room, char *why, size_t room);

#endif
