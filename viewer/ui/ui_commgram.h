/* What the CommGram shows: its detail, the sizes of messages, the ranks and spans that were opened.
 */
#ifndef HOLTER_VIEWER_UI_UI_COMMGRAM_H
#define HOLTER_VIEWER_UI_UI_COMMGRAM_H

#include "viewer/layout/scene.h"
#include "viewer/model/model.h"
#include "viewer/ui/ui_command.h"

struct ui;

/** The choices before a phase or a bar of the CommGram was opened. */
struct ui_level {
    int follow;
    int64_t span_ns, end_ns;
    char opened[COMMGRAM_LIST];
};

#define UI_LEVELS 8
#define UI_MAXIMUM_PHASES 256u /**< maximum that can be requested */

/** Bounds beyond the size of any message. */
#define UI_SIZE_MINIMUM 0.0
#define UI_SIZE_MAXIMUM 64.0

/** Choices about the CommGram. */
struct ui_commgram_choice {
    uint64_t phases;            /**< maximum of columns */
    uint64_t communities;       /**< maximum of bars in one; 0: the communities that are found */
    int unmodelled;             /**< 1: without messages that stand for collectives */
    double size_low, size_high; /**< sizes that are drawn: binary logarithm of bytes */
    int size_handle;            /**< end of that range that is dragged: 0 low, 1 high */
    char opened[COMMGRAM_LIST]; /**< ranks that the picture is restricted to; "": all */
    struct ui_level levels[UI_LEVELS];
    int level; /**< depth of the path: phases or bars opened */
};

/** The picture that the CommGram needs, from visible time, detail and selection.
 *  @return 1; 2 when the selected ranks are too many for a request, the picture is then of all
 * ranks; 0: nothing can be requested */
int ui_commgram_request(const struct ui *ui, const struct model *model,
                        struct commgram_request *out);

/** Opens a span of time, or ranks (NULL: unchanged), and stores the previous choices for Backspace.
 */
void ui_open(struct ui *ui, const struct model *model, int64_t begin, int64_t end,
             const char *ranks);

/** Opens the ranks of a bar of the picture. */
void ui_open_bar(struct ui *ui, const struct model *model, uint64_t column, uint64_t bar);

/** The mouse in the CommGram: a click on a bar, a drag in the legend of sizes; and in all plots a
 *  span of time that was marked from where the button was pressed. */
void ui_click_bar(struct ui *ui, const struct model *model, const struct scene_hit *hit,
                  int clicks);
void ui_move_size(struct ui *ui, const struct scene_hit *hit);
void ui_open_marked(struct ui *ui, const struct model *model, const struct scene *scene,
                    const struct scene_hit *pressed);

/** Returns to a level of the path. */
void ui_close_to(struct ui *ui, int level);

/** Commands about the CommGram. */
int ui_commgram_command(struct ui *ui, const struct model *model, enum ui_command command,
                        uint64_t argument);

#endif
