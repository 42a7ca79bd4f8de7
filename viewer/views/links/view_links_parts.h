/* Parts of view "links". */
#ifndef HOLTER_VIEWER_VIEWS_LINKS_VIEW_LINKS_PARTS_H
#define HOLTER_VIEWER_VIEWS_LINKS_VIEW_LINKS_PARTS_H

#include "viewer/views/links/view_links.h"

/** Links in the order of the list, valid while facts, time and filter stay the same. */
struct links_drawing {
    uint64_t key;
    uint32_t *order; /**< owned; indices of links */
    uint32_t count, room;
    int measured; /**< 1: no message is known; loads are interface counters over the visible time */
    double mean;  /**< mean load of loaded links, when measured */
    int latencies, ratios; /**< whether a link has one */
    int live; /**< 1: order of the daemon for the newest window; 0: by loads of the visible time */

    struct links_row *rows; /**< owned; what the list shows: links, and equal links in one row */
    uint32_t row_count, row_capacity;
    uint32_t unfolded; /**< ui choice that the rows were made for */

    char sentence[400];    /**< what the loads say; "": nothing */
    uint64_t sentence_key; /**< the key for which it was made */
};

/** A row of the list. */
struct links_row {
    uint32_t at;    /**< place in the order: of the link, or of the first of several */
    uint32_t count; /**< 1: a link; more: so many with equal figures */
};

/** Figures of a link, in the newest window or over the visible time. */
struct link_figures {
    enum link_state state;
    uint64_t since; /**< window in which the state began; 0: not known */
    int packets;    /**< load is in packets, not bytes */
    double load, multiple, share, latency, ratio; /**< multiple: of the mean; NaN: not known */
    double collective; /**< bytes of messages inside collectives, as modelled; not in load; NaN: not
                          known */
    double real;       /**< load in reality, while a what-if is shown; NaN: it is not */
};

/** Update the order of the list. @return NULL when memory ran out */
const struct links_drawing *links_order(struct stage *stage);

void link_figures(const struct stage *stage, int live, uint32_t link, struct link_figures *out);

/** Load of a link in each visible window. */
void link_sparkline(const struct stage *stage, struct box box, uint32_t link, color_t color);

/** On one node: for whom ranks wait, in place of the ranking of links. @return 0: nothing was drawn
 * since there are several nodes, or links are asked about, or nobody waits */
int delays_layout(struct stage *stage, struct box box);

/** Figures by rank (Visuco, section 4.3); and how much of a height they take, 0: it is too low. */
void metric_rank_layout(struct stage *stage, struct box box);
double metric_rank_height(const struct stage *stage, double most);

/** Better mappings and routes, and the steps of the what-if; and the height that it needs.
 *  @param small   without room for an answer as long as nothing was asked */
double better_height(const struct stage *stage, int small);
void better_layout(struct stage *stage, struct box box);

#endif
