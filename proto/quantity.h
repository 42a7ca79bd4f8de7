/* Quantities for people: "1.23 M", "4.56 MiB", "7.8 ms". Each function returns its text by value,
 * so that several fit one printf: printf("%s", quantity_bytes(b).text). The text of a value that is
 * not stored lives until the end of that expression (C11 6.2.4). */
#ifndef HOLTER_PROTO_QUANTITY_H
#define HOLTER_PROTO_QUANTITY_H

#include <stdint.h>

struct quantity {
    char text[48];
};

/** What printf() writes, cut to the capacity. */
struct quantity quantity_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Count: "0", "999", "1.23 k", "45.6 M", ... (powers of 1000). */
struct quantity quantity_count(double count);

/** All digits, in groups of three: "1,048,576". */
struct quantity quantity_grouped(uint64_t count);

/** Number of things in full, with the noun in singular or plural: "1 node", "12 nodes". */
struct quantity quantity_things(uint64_t count, const char *noun);

/** The ranks of a row: "rank 3"; of a job that is kept by groups of ranks "ranks 16-31".
 *  @param group  ranks in a group; 0 and 1: there are none  @param world  0: not known */
struct quantity quantity_ranks(uint64_t rank, uint64_t group, uint64_t world);

/** Bytes: "0 B", "1.23 KiB", ... (powers of 1024). */
struct quantity quantity_bytes(double bytes);

/** Read bytes: "1000", "500M", "20GiB" (powers of 1024). @return 0 or -HOLTER_EUSAGE */
int quantity_parse_bytes(const char *text, uint64_t *out);

/** Read digits, and perhaps a fraction, of which nine digits count: value * 10^9.
 *  @return the first other character, or NULL: there is no number, or it is too large */
const char *quantity_decimal(const char *at, uint64_t *whole, uint64_t *billionth);

/** Read a duration, to the end of the text: numbers with ever smaller units, h, m or min, s, ms,
 * us, ns, such as "1m30s"; a bare number is seconds.
 *  @param out  nanoseconds @return 0 or -HOLTER_EUSAGE */
int quantity_parse_duration(const char *text, uint64_t *out);

/** Duration in nanoseconds: "120 ns", "1.23 µs", ..., "2 min 3 s", "5 h 20 min", "3 d 4 h". */
struct quantity quantity_duration(double ns);

/** Duration with the bound of its error, where there is one: "84.0 µs ± 150 µs". */
struct quantity quantity_measured(double ns, double error_ns);

/** Time of day of a point in daemon time, UTC as in the texts of alerts and in what options take,
 *  "14:03:22.125"; "-" for 0. */
struct quantity quantity_clock(uint64_t ns);

/** Date and time of day, RFC 3339: 2026-11-22T05:00:00.000Z; nanoseconds since 1970. */
struct quantity quantity_moment(uint64_t ns);

/** Share, "12.3 %"; "-" when the whole is 0. */
struct quantity quantity_share(double part, double whole);

/** Share of messages that were matched, rounded down: "1.19 %"; "100 %" only when all were, "none"
 * when none was, "-" when there are none. */
struct quantity quantity_matched(uint64_t matched, uint64_t unmatched);

/** How many times as much: "1.3x", "24x", ">9999x"; "-" for NaN. */
struct quantity quantity_ratio(double ratio);

#endif
