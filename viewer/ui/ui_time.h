/* The visible time: whether it follows the newest data, how long it is, and its animation. */
#ifndef HOLTER_VIEWER_UI_UI_TIME_H
#define HOLTER_VIEWER_UI_UI_TIME_H

#include "viewer/model/range.h"

struct ui;

/** What time is visible. */
struct ui_time_choice {
    int follow;
    int64_t span_ns; /**< requested length of the visible time */
    int64_t end_ns;  /**< its end, daemon time, when not following */
    enum range_kind range;
    int64_t moved_from_ns, moved_to_ns; /**< right edge: start and target of an animation */
    uint64_t move_start_ms;
    int moving;
};

/** Visible time, daemon time. Empty (both 0) without data. */
void ui_visible(const struct ui *ui, const struct model *model, int64_t *begin, int64_t *end);

/** Windows that are visible as a whole or in part. @return 0 when there are none */
int ui_windows(const struct ui *ui, const struct model *model, uint64_t *first, uint64_t *last);

/** The job's time so far, from its first window to its newest. */
void ui_whole_time(const struct model *model, int64_t *begin, int64_t *end);

/** Starts an animation to the newest data, if there is any. Call after messages were applied.
 * @return 1 when something moves */
int ui_follow_data(struct ui *ui, const struct model *model, uint64_t now_ms);

/** Advances the animation. @return 1 while it lasts */
int ui_tick(struct ui *ui, uint64_t now_ms);

/** Zoom the visible time by a factor around a point of it. */
void ui_zoom_time(struct ui *ui, const struct model *model, double factor, int64_t around_ns);

/** Stops following: the visible time stays. */
void ui_pause_time(struct ui *ui, const struct model *model);

/** Show enough windows for a view that draws them one by one; other views may show less. */
void ui_widen_to_windows(struct ui *ui, const struct model *model);

/** Move the visible time. */
void ui_pan_time(struct ui *ui, const struct model *model, int64_t by_ns);

/** Show a span of time, within what the job has. */
void ui_show_span(struct ui *ui, const struct model *model, int64_t begin, int64_t end);

/** A time as users give it: seconds since the job's start, or, when negative, before its newest
 * data. @return daemon time */
int64_t ui_time_of(const struct model *model, double seconds);

/** Visible time without the animation: figures are computed for whole windows. @return 0: no data
 */
int ui_settled_time(const struct ui *ui, const struct model *model, int64_t *begin, int64_t *end);

#endif
