/* A point in time of a recording as people write it: where to begin, to seek to, to cut at.
 *
 * - 1763788800000000000: nanoseconds since 1970, daemon time: more than ten digits.
 * - 2026-11-22T05:00:00.5Z: RFC 3339, section 5.6: with Z or an offset, "T" may be a space.
 * - 10:05, 10:05:30.5: time of day, UTC: the first one in the recording; if it has none, the
 *   nearest.
 * - 12.5s, +10m, 1h2m30s, 90: from the begin: units ns, us, ms, s, m or min, h, larger ones first;
 *   no unit: seconds.
 * - -10s: before the end.
 * - 40%: share of the span. */
#ifndef HOLTER_PROTO_MOMENT_H
#define HOLTER_PROTO_MOMENT_H

#include <stddef.h>
#include <stdint.h>

#define MOMENT_BYTES 64u /**< longer texts are refused */

/** @param begin_ns, end_ns  span of the recording, nanoseconds since 1970; end is not before begin
 *  @param out   set on success: within the span
 *  @param why   set on failure: a sentence for people, which names the text
 *  @return 0, -HOLTER_EUSAGE when it cannot be read, -HOLTER_ERANGE when it lies outside the span
 */
int moment_parse(const char *text, uint64_t begin_ns, uint64_t end_ns, uint64_t *out, char *why,
                 size_t capacity);

/** The same, for points that may lie outside. @return 0, -HOLTER_EUSAGE, or -HOLTER_ERANGE when it
 * is before 1970 or later than 2554 */
int moment_find(const char *text, uint64_t begin_ns, uint64_t end_ns, uint64_t *out, char *why,
                size_t capacity);

/** Check the syntax, for options that are read before the recording is known. @return as above,
 * without -HOLTER_ERANGE */
int moment_check(const char *text, char *why, size_t capacity);

/** Whether it counts from the begin of the span, or is a share of it. */
int moment_needs_begin(const char *text);

#endif
