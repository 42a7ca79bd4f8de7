/* Transformation between a plane and the plot that shows a section of it. */
#include "viewer/layout/section.h"

double section_x(const struct section *s, double x)
{
    return s->box.x + s->box.w / 2 + (x - s->cx) * s->ux;
}

double section_y(const struct section *s, double y)
{
    return s->box.y + s->box.h / 2 + (y - s->cy) * s->uy;
}

int section_shows(const struct section *s, double x, double y, double reach)
{
    return x + reach > s->box.x && x - reach < s->box.x + s->box.w && y + reach > s->box.y &&
           y - reach < s->box.y + s->box.h;
}

struct box section_of_plane(const struct section *s)
{
    double w = s->box.w / s->ux, h = s->box.h / s->uy;
    return (struct box){s->cx - w / 2, s->cy - h / 2, w, h};
}

void section_hit(const struct section *s, struct scene *scene, enum hit_kind kind, uint64_t a)
{
    struct box of_plane = section_of_plane(s);
    struct scene_hit *hit = scene_hit(scene, s->box, kind, a, 0);
    hit->x0 = of_plane.x;
    hit->x1 = of_plane.x + of_plane.w;
    hit->y0 = of_plane.y;
    hit->y1 = of_plane.y + of_plane.h;
}

void section_image(const struct section *s, struct scene *scene, struct box of_plane,
                   const struct image *image)
{
    scene_image(scene,
                (struct box){section_x(s, of_plane.x), section_y(s, of_plane.y), of_plane.w * s->ux,
                             of_plane.h * s->uy},
                image);
}
