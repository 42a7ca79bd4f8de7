/* Memory of the pictures that views keep between scenes. */
#include "viewer/views/common/pictures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int picture_size(struct pictures *p, struct picture *picture, int w, int h)
{
    size_t need = (size_t)w * (size_t)h;
    if (need > picture->room) {
        uint32_t *pixels = realloc(picture->image.pixels, need * sizeof *pixels);
        if (!pixels)
            return -ENOMEM;
        picture->image.pixels = pixels;
        picture->room = need;
    }
    if (need > p->cells_room) {
        double *cells = realloc(p->cells, need * sizeof *cells);
        if (!cells)
            return -ENOMEM;
        p->cells = cells;
        p->cells_room = need;
    }
    picture->image.w = w;
    picture->image.h = h;
    memset(picture->image.pixels, 0, need * sizeof *picture->image.pixels);
    memset(p->cells, 0, need * sizeof *p->cells);
    return 0;
}

void picture_finish(struct picture *picture)
{
    free(picture->image.pixels);
    *picture = (struct picture){0};
}

void pictures_finish_shared(struct pictures *p)
{
    free(p->bars);
    free(p->cells);
    free(p->order);
    p->bars = NULL;
    p->cells = NULL;
    p->order = NULL;
    p->bars_room = p->cells_room = p->order_room = 0;
    p->order_count = 0;
    p->order_key = 0;
}
