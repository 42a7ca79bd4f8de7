/* Pieces about ranks and pairs that several views show: texts, choices, rows, lists, tooltips. */
#ifndef HOLTER_VIEWER_VIEWS_COMMON_PIECES_H
#define HOLTER_VIEWER_VIEWS_COMMON_PIECES_H

#include "viewer/layout/format.h"
#include "viewer/views/common/view.h"

/** Time span of the sums of ranks, in words: "last 60 s", "14:03:07 to 14:04:07", "since the
 * start". */
struct quantity piece_range_text(const struct stage *stage);

/** Time span of the sums of pairs and links. */
struct quantity piece_pairs_range_text(const struct stage *stage);

/** Time span of the sums of calls. */
struct quantity piece_calls_range_text(const struct stage *stage);

/** " of 3 s" where latencies of ranks are known of so much of the time in sight only, as the viewer
 * connected later; else nothing. */
struct quantity piece_latency_part(const struct stage *stage);

/** The choice between visible time and since the start; right edge at x. @return width */
double piece_range_choice(const struct stage *stage, double right, double y);
double piece_range_choice_width(const struct stage *stage);

/** Whether messages have sizes: those of imported routes have none, and count as one byte each. */
int piece_has_sizes(const struct model *model);

/** Whether bytes may be shown: messages have sizes, and not all of the visible time are empty. */
int piece_has_bytes(const struct model *model, const struct range *range);

/** Whether figures of ranks are sums since the start where a part of the time is visible. */
int piece_is_since_start(const struct stage *stage);

/** The visible time, whatever sums are about: "last 60 s", "held: 14:03:07 to 14:04:07". */
struct quantity piece_time_text(const struct stage *stage);

/** The choice between messages and bytes, if messages have sizes; right edge at x. @return width */
double piece_quantity_choice(const struct stage *stage, double right, double y);

/** A quantity of messages or bytes with its unit. */
struct quantity piece_quantity(enum pair_column column, uint64_t value);

/** What a rank is in lists of a job by groups: "by groups of 16 ranks, each under its first". */
struct quantity piece_grouping(const struct model *model);

/** "rank 3", "others"; of a job that is kept by groups of ranks "ranks 16-31". */
struct quantity piece_rank(const struct model *m, uint64_t rank);

/** Ranks that share a cell, as far as the job has them: "ranks 8–15", "rank 16". */
struct quantity piece_ranks(const struct model *m, uint64_t first, uint64_t count);

/** The same with its node: "rank 3 on n1", "ranks 16-31, the first on n2". */
const char *piece_rank_on(const struct model *m, uint64_t rank, char *out, size_t capacity);

/** A rank on an axis with this step: "1500", "300 k". */
struct quantity piece_rank_axis(double rank, double step);

/** Extent of a capture: "8 ranks, 1,203 calls". */
struct quantity piece_capture_size(const struct capture *capture);

/** Class of calls in which a rank waits most. */
int piece_waits_in(const struct range *range, uint32_t rank);

/** That class and, if it is known, the rank that it waits for longest: "recv, for rank 3". */
char *piece_awaited(const struct range *range, uint32_t rank, char *out, size_t capacity);

/** A line of the tooltip about messages, "sent 1,204 messages, 34 MiB". @param before  "sent " */
void piece_traffic_tip(struct stage *stage, const char *before, uint64_t messages, uint64_t bytes);

/** That a rank died, or how many of a group: "died", "3 of them died". "": none did */
struct quantity piece_deaths(const struct model *model, uint32_t rank);

/** Tooltips of a rank, of a pair (a span of ranks when count is above 1). */
void piece_rank_tip(struct stage *stage, uint32_t rank);
void piece_pair_tip(struct stage *stage, uint32_t source, uint32_t destination, uint32_t count);

/** Tooltip of a pair, or a span of ranks, in both runs of a comparison: there are two. */
void piece_pair_tip_of_runs(struct stage *stage, uint32_t source, uint32_t destination,
                            uint32_t count);

/** Background of one row of a list, highlighted when hovered or selected, and its hit. */
void piece_row(struct stage *stage, struct box box, enum hit_kind kind, uint64_t a, uint64_t b,
               int selected, enum ui_list list, uint32_t row);

/** Add a scrolling list; the caller then lays out rows first to last - 1.
 * @param last  receives one more than the last visible row
 * @return first visible row */
uint32_t piece_list(struct stage *stage, struct box box, enum ui_list list, uint32_t rows,
                    double row_height, uint32_t *last);

/** A panel that shows a list, not higher than its rows need. @param head  height above the rows and
 *  below them */
struct box piece_list_panel(struct box panel, double head, uint32_t rows, double row_height);

/** Begin a panel of a view: its ground with round corners. @param name  see scene_panel() */
void piece_panel(const struct stage *stage, struct box box, const char *name);

/** The button that reads the last calls of ranks back. @param right  its right edge @return width
 * with a margin; 0: they cannot be read back */
double piece_read_back(const struct stage *stage, double right, double y);

/** What to say while there is no capture. */
#define PIECE_NO_CAPTURE                                                                           \
    "Calls are read back when an alert fires, a rank dies, or on request (R, or holter capture)."

/** The greatest height of a panel that has nothing but such a text. */
#define PIECE_EMPTY_HEIGHT 160

/** Text in place of content while there is nothing to show. */
void piece_empty(const struct stage *stage, struct box box, const char *title, const char *text);

/** A cause of an alert on one line: name, share as a bar, share as a figure.
 *  @param i  which of its causes */
void piece_cause(const struct stage *stage, struct box box, const struct alert *alert, uint32_t i);

/** Names and colours of the classes of calls with a positive share; right edge at x. @return width
 */
double piece_class_legend(const struct stage *stage, double right, double y, const double *shares);

/** Width of piece_class_legend(). */
double piece_class_legend_width(const struct stage *stage, const double *shares);

#endif
