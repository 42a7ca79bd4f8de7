/* The values of a rules file: numbers that have to carry their unit, and words from a list. */
#ifndef HOLTER_DAEMON_ALERT_RULES_VALUE_H
#define HOLTER_DAEMON_ALERT_RULES_VALUE_H

#include <stddef.h>

/** What a number measures. */
enum measure {
    MEASURE_TIME,   /**< "2s", "500ms", "1min", "1h": nanoseconds */
    MEASURE_RATIO,  /**< "1.5x": 1.5 */
    MEASURE_GROWTH, /**< "10%/min", "1%/h": share a minute, 0.1 */
    MEASURE_COUNT,  /**< "20": whole, without unit */
};

/** The numbers that a value may have. */
struct value_range {
    enum measure measure;
    double minimum, maximum; /**< in the unit of the number, see enum measure */
};

/** Read a number. Digits and at most one point; a space may stand before the unit.
 *  @param out    set on success
 *  @param why    set on failure: a sentence that repeats the text
 *  @return 0, or -HOLTER_EUSAGE */
int rules_value_parse_number(const char *text, const struct value_range *range, double *out,
                             char *why, size_t capacity);

/** Position of a word in a list.
 *  @param out  set on success @param why  set on failure; names the words that are in it
 *  @return 0, or -HOLTER_EUSAGE */
int rules_value_parse_word(const char *text, const char *const words[], size_t count, size_t *out,
                           char *why, size_t capacity);

#endif
