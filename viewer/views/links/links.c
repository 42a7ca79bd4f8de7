#include "viewer/views/links/links.h"

#include "viewer/views/pieces.h"

static void links_layout(struct stage *s, struct box box)
{
    piece_empty(s, box, "No network", "The daemon has told of none yet.");
}

static void links_icon(const struct brush *b, struct box box, color_t color)
{
    double y = box.y + box.h / 2;
    scene_line(b->scene, box.x + 3, y, box.x + box.w - 3, y, 2, color);
    scene_disc(b->scene, box.x + 3, y, 3, color);
    scene_disc(b->scene, box.x + box.w - 3, y, 3, color);
}

const struct view links_view = {"links", "Links", links_icon, links_layout};
