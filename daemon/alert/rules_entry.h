/* Entries of a rules file: maps of known keys, read into a structure by a table of where each value
 * goes. Every fault is reported with file, line and key. */
#ifndef HOLTER_DAEMON_ALERT_RULES_ENTRY_H
#define HOLTER_DAEMON_ALERT_RULES_ENTRY_H

#include "daemon/alert/rules.h"
#include "daemon/topology/yaml_tree.h"

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

#define ENTRY_EVERY (~0u)             /**< kinds: all */
#define ENTRY_OF(kind) (1u << (kind)) /**< kinds: this one */

/** The type of a key's value, and of the member that it is read into. */
enum entry_type {
    ENTRY_KIND,    /**< a word: the kind of the entry, see entry_read_kind() */
    ENTRY_NAME,    /**< 1 to 64 letters, digits, - _ . : char[65] */
    ENTRY_WORD,    /**< one of some words: its position, unsigned int */
    ENTRY_WORDS,   /**< one or a list of some words: bits of their positions, uint64_t */
    ENTRY_INTEGER, /**< a number: uint64_t */
    ENTRY_REAL,    /**< a number: double */
    ENTRY_TARGET,  /**< a text: char *, owned */
    ENTRY_URL,     /**< the same: an address of http or https */
};

struct entry_words {
    const char *const *list;
    size_t count;
};

struct entry_key {
    const char *name;
    unsigned kinds; /**< bits of the kinds of entries that have it */
    enum entry_type type;
    size_t offset;                   /**< in the structure */
    const struct entry_words *words; /**< ENTRY_WORD, ENTRY_WORDS */
    struct value_range range;        /**< ENTRY_INTEGER, ENTRY_REAL */
};

/** Entries of one sort. */
struct entry_section {
    const char *item; /**< "rule", "sink" */
    struct entry_words kinds;
    const struct entry_key *keys;
    size_t key_count;
};

/** @return the position of the entry's kind among those of the section, or -1 after a fault */
int entry_read_kind(struct faults *r, const struct entry_section *s, const struct tree_node *map);

/** Read all keys of an entry. A value with a fault is reported, and its member stays as it was.
 *  @param kind  what entry_read_kind() returned @param entry  the structure of the keys' offsets */
void entry_read_keys(struct faults *r, const struct entry_section *s, const struct tree_node *map,
                     int kind, void *entry);

/** Is this a target for the key, an ENTRY_TARGET or ENTRY_URL?
 *  @param why  set where it is none */
int entry_is_target(const struct entry_key *key, const char *text, char *why, size_t capacity);

#endif
