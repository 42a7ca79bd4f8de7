/* Recognition of the format of foreign files and folders, from their contents. */
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
    IMPORT_RECORDING, /**< a recording of Holter: nothing to import */
    IMPORT_PACKED, /**< not importable as it is, whatever --format says: compressed, or text that is
                      not UTF-8 */
    IMPORT_FORMATS,
};

/** Word for --format; NULL: the format has none. */
const char *import_format_name(enum import_format format);

/** @return IMPORT_UNKNOWN for an unknown word */
enum import_format import_format_by_name(const char *name);

/** Is a file compressed or in UTF-16, so that it must be converted first? Decided by its first
 * bytes.
 * @return a sentence without its subject; NULL: no conversion is needed */
const char *import_packed_as(const char *bytes, size_t length);

/** Is it the line "sep=;", with which spreadsheets declare the separator of fields before the
 * header of a table?
 * @return the separator; 0: it is no such line */
char import_declared_separator(const char *line, size_t length);

/** Recognise a file; in a folder, find the one file that represents the contents of the folder.
 * @param wanted  of a folder: the format whose file is searched for; IMPORT_UNKNOWN: any
 * @param source  set to the file that is to be read
 * @param why     set where the format cannot be determined or the file not read: a sentence for
 * people, with the name of the file
 * @return IMPORT_UNKNOWN: the format cannot be determined */
enum import_format import_format_find(const char *path, enum import_format wanted, char *source,
                                      size_t source_capacity, char *why, size_t capacity);

#endif
