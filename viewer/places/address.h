/* The address of what is seen, as text that can be kept, sent and opened again:
 *     ROOM[/PLACE[/ALERT]][?alert=N&select=WHAT&from=S&to=S&sums=start]
 * ALERT is the number of an alert, WHAT a selection as option --select takes it, from and to are
 * seconds since the job's start, or before its newest data when negative. Within values %XX stands
 * for a byte. Pure: whether alert, selection and time exist is known with the job only. */
#ifndef HOLTER_VIEWER_PLACES_ADDRESS_H
#define HOLTER_VIEWER_PLACES_ADDRESS_H

#include "viewer/places/place.h"

#include <stddef.h>
#include <stdint.h>

#define ADDRESS_SELECT 256 /**< bytes of a selection, the end included */
#define ADDRESS_TEXT 1024  /**< enough for the text of every address */

struct address {
    enum view_id view;
    int alert_given;
    uint64_t alert;
    char select[ADDRESS_SELECT]; /**< "": nothing */
    double from, to;             /**< NaN: not given */
    int since_start;             /**< sums since the start in place of the visible time */
};

/** Reads an address.
 *  @param why  room for a sentence that names what is wrong
 *  @return 0, or -HOLTER_EUSAGE: out is unchanged */
int address_parse(struct address *out, const char *text, char *why, size_t capacity);

/** Writes an address in its shortest form, which address_parse() reads back. @return out */
char *address_print(const struct address *address, char *out, size_t capacity);

#endif
