/* UTF-8 (RFC 3629): what counts as text on the wire and in files of CSV. */
#ifndef HOLTER_PROTO_UTF8_H
#define HOLTER_PROTO_UTF8_H

#include <stddef.h>
#include <stdio.h>

/** Length of the longest prefix that is well-formed UTF-8 without NUL: no overlong forms, no
 *  surrogates, nothing above U+10FFFF, no sequence cut off at the end. */
size_t utf8_prefix(const char *text, size_t length);

/** Longest cut of the text, at most limit bytes, that does not split a character. */
size_t utf8_cut(const char *text, size_t length, size_t limit);

/** Columns of a terminal that a text takes: two for a wide character (Unicode, UAX 11: those of
 * East Asia and pictographs), one for any other. */
size_t utf8_columns(const char *text, size_t length);

/** Bytes of the control character at the begin of a text, which must not get to a terminal: C0,
 * DEL, C1 (ECMA-48), or one without a width that separates or joins or changes the direction of
 * writing (U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F; Unicode, UAX 9); 0: it begins with
 * none. */
size_t utf8_control(const char *text, size_t length);

/** Print a text for a terminal: each control character, see utf8_control(), and each byte that is
 * not UTF-8 as '?'. */
void utf8_print_plain(FILE *out, const char *text);

/** Print a field of CSV (RFC 4180): in quotes where it needs them, with U+FFFD in the place of
 * bytes that are not UTF-8, because a reader would refuse the file. */
void utf8_print_csv(FILE *out, const char *text);

#endif
