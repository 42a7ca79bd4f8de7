/* Memory of the pictures that views keep between scenes. */
#include "viewer/views/common/pictures.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int picture_size(struct pictures *p, struct picture *picture, int w, int h)
{
    size_t need = (size_t)w * (size_t)h;
    if (ARRAY_FIT(picture->image.pixels, picture->capacity, need) != 0 ||
        ARRAY_FIT(p->cells, p->cells_capacity, need) != 0)
        return -ENOMEM;
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
    array_release(&p->bars);
    array_release(&p->cells);
    free(p->profile.bars);
    p->profile = (struct rank_profile){0};
    array_release(&p->order);
    p->bars_capacity = p->cells_capacity = p->order_capacity = 0;
    p->order_count = 0;
    p->order_key = 0;
}
