/* View "links": ranking of hot links, and the figures of routes, links and vertices by rank
 * (Visuco, section 4.3). */
#include "viewer/views/views.h"

#include "viewer/views/common/network_pieces.h"
#include "viewer/views/links/view_links_parts.h"

#include <math.h>
#include <stdlib.h>

enum { WIDE = 780, LOW = 420, HIGH = 600 };

static void links_drawing_destroy(struct links_drawing *d)
{
    if (!d)
        return;
    free(d->order);
    free(d->rows);
    free(d);
}

/* Whether rows come and go by themselves: buttons below them then keep their place. */
static int links_view_rows_change(const struct stage *s)
{
    const struct playback *p = &s->model->playback;
    return s->ui->time.follow && !model_ended(s->model) &&
           !(p->known && (p->state == PLAYBACK_PAUSED || p->state == PLAYBACK_ENDED));
}

/* Hot links and better mappings on the left, figures by rank on the right; in narrow windows one
 * below the other. */
static void links_layout(struct stage *s, struct box box)
{
    struct box all = box_inset(box, 14, 10);
    if (!s->model->network.topology && delays_layout(s, all))
        return;
    if (piece_no_network(s, all))
        return;
    if (piece_loads_are_measured(s) && !s->model->pairs.keys.count) {
        hot_links_layout(s, all);
        return;
    }
    double better = all.h > LOW && !s->second ? better_height(s, all.h < HIGH) : 0;
    if (all.w >= WIDE) {
        double right = floor(fmin(fmax(all.w * 0.38, 320), 620));
        struct box left = {all.x, all.y, all.w - right - 12, all.h - (better ? better + 10 : 0)};
        double foot = left.y + left.h;
        if (!delays_layout(s, left))
            foot = hot_links_layout(s, left);
        if (better)
            better_layout(s, (struct box){all.x,
                                          (links_view_rows_change(s) ? left.y + left.h : foot) + 10,
                                          left.w, better});
        metric_rank_layout(s, (struct box){all.x + left.w + 12, all.y, right, all.h});
        return;
    }
    double rank = metric_rank_height(s, floor((all.h - 10) / 2));
    double above = rank > 0 ? all.h - 10 - rank : all.h;
    if (!delays_layout(s, (struct box){all.x, all.y, all.w, above}))
        hot_links_layout(s, (struct box){all.x, all.y, all.w, above});
    if (rank > 0)
        metric_rank_layout(s, (struct box){all.x, all.y + above + 10, all.w, rank});
}

/* What-if: questions and steps above, the figures by rank that choose what they are about below. */
static void what_if_layout(struct stage *s, struct box box)
{
    struct box all = box_inset(box, 14, 10);
    if (piece_no_network(s, all))
        return;
    double better = fmin(better_height(s, 1), all.h);
    better_layout(s, (struct box){all.x, all.y, all.w, better});
    if (all.h - better - 10 > 160)
        metric_rank_layout(s, (struct box){all.x, all.y + better + 10, all.w, all.h - better - 10});
}

static void links_view_finish(struct pictures *pictures)
{
    links_drawing_destroy(pictures->links);
    pictures->links = NULL;
}

const struct view links_view = {.layout = links_layout, .finish = links_view_finish};

const struct view what_if_view = {.layout = what_if_layout};
