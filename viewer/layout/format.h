/* Figures as text for people: three significant digits, a unit, never an exponent. */
#ifndef HOLTER_VIEWER_LAYOUT_FORMAT_H
#define HOLTER_VIEWER_LAYOUT_FORMAT_H

#include "proto/quantity.h"

/** "0", "812", "12.4 k", "1.20 M", with a unit "12.4 k/s"; bytes ("B", "B/s") in powers of 1024, as
 *  in all other programs of Holter: "12.4 KiB". unit may be "". */
struct quantity format_si(double value, const char *unit);

/** For axes: a round value without trailing zeros, "50 k/s", "64 GiB/s", "0". */
struct quantity format_axis(double value, const char *unit);

/** "34 ns", "1.2 µs", "12.4 ms", "60 s", "4 min 12 s", "2 h 05 min". */
struct quantity format_duration(double ns);

/** Share from 0 to 1 as "12.4 %"; positive shares below 0.05 % as "<0.1 %". */
struct quantity format_share(double share);

/** Relative latency: "1.0x", "2.4x", "38x"; a dash for NaN. */
struct quantity format_ratio(double ratio);

/** Relative latency with its uncertainty, where that shows: "1.3x ± 0.4x". */
struct quantity format_ratio_within(double ratio, double error);

/** Duration with its uncertainty, where there is one: "84.0 µs ± 150 µs". */
struct quantity format_duration_within(double ns, double error_ns);

/** Growth per minute as a share: "+3.1 %/min"; "" for NaN. */
struct quantity format_slope(double slope);

/** Time of day of a daemon time, UTC as in the texts of alerts: "14:03:07", with tenths for steps
 *  below a second. */
struct quantity format_clock(int64_t ns, int tenths);

/** Day and time of a daemon time, UTC: "2026-11-22 14:03:07". */
struct quantity format_date(int64_t ns);

/** Time since the job's start: "00:12:31". */
struct quantity format_elapsed(int64_t ns);

/** Largest of 1, 2, 5 times a power of ten that is at most value; 0 for values not above 0. */
double nice_floor(double value);
/** Smallest of 1, 2, 5 times a power of ten that is at least value. */
double nice_ceil(double value);

/** Smallest round value of a unit that is at least value: of bytes a power of two, of others as
 *  nice_ceil(). */
double nice_ceil_unit(double value, const char *unit);
/** Largest one that is at most value. */
double nice_floor_unit(double value, const char *unit);

/** Step of a time axis: at least least_ns, a round number of seconds, minutes, hours or days. */
int64_t nice_time_step(int64_t least_ns);

#endif
