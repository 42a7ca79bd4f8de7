/* Quantities for people: "1.23 M", "4.56 MiB", "7.8 ms". Each function writes into room given by
 * the caller and returns it, so that several fit one printf. */
#ifndef HOLTER_PROTO_QUANTITY_H
#define HOLTER_PROTO_QUANTITY_H

#include <stdint.h>

struct quantity {
    char text[32];
};

/** Count: "0", "999", "1.23 k", "45.6 M", ... (powers of 1000). */
const char *quantity_count(struct quantity *out, double count);

/** Number of things in full, with the noun in singular or plural: "1 node", "12 nodes". */
const char *quantity_things(struct quantity *out, uint64_t count, const char *noun);

/** Bytes: "0 B", "1.23 KiB", ... (powers of 1024). */
const char *quantity_bytes(struct quantity *out, double bytes);

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
const char *quantity_duration(struct quantity *out, double ns);

/** Duration with the bound of its error, where there is one: "84.0 µs ± 150 µs". */
const char *quantity_measured(struct quantity *out, double ns, double error_ns);

/** Time of day of a point in daemon time, local, "14:03:22.125"; "-" for 0. */
const char *quantity_clock(struct quantity *out, uint64_t ns);

/** Share, "12.3 %"; "-" when the whole is 0. */
const char *quantity_share(struct quantity *out, double part, double whole);

/** Share of messages that were matched, rounded down: "1.19 %"; "100 %" only when all were, "-"
 * when there are none. */
const char *quantity_matched(struct quantity *out, uint64_t matched, uint64_t unmatched);

/** How many times as much: "1.3x", "24x", ">9999x"; "-" for NaN. */
const char *quantity_ratio(struct quantity *out, double ratio);

#endif
