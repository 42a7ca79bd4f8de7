/* Building, measuring, hashing, searching and dumping scenes. */
#include "viewer/layout/scene.h"

#include "daemon/analysis/tables/array.h"
#include "holter/plain_text.h"
#include "proto/utf8.h"
#include "viewer/layout/mix.h"
#include "viewer/layout/widgets.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    double size, line;
    int weight;
} styles[TEXT_STYLES] = {
    [TEXT_BODY] = {13, 18, 400},  [TEXT_STRONG] = {13, 18, 600},
    [TEXT_SMALL] = {12, 16, 400}, [TEXT_SMALL_STRONG] = {12, 16, 600},
    [TEXT_AXIS] = {11, 14, 400},  [TEXT_AXIS_STRONG] = {11, 14, 600},
    [TEXT_TITLE] = {14, 20, 600}, [TEXT_LARGE] = {24, 30, 700},
    [TEXT_LOGO] = {19, 24, 700},
};

double scene_fitting_scale(double asked, double w, double h)
{
    return fmin(asked, fmax(fmin(w / LAYOUT_LEAST_W, h / LAYOUT_LEAST_H), 1));
}

double text_size(enum text_style style)
{
    return styles[style].size;
}

double text_line(enum text_style style)
{
    return styles[style].line;
}

int text_weight(enum text_style style)
{
    return styles[style].weight;
}

color_t color_fade(color_t color, double opacity)
{
    double alpha = (color & 0xff) * (opacity < 0 ? 0 : opacity > 1 ? 1 : opacity);
    return (color & 0xffffff00u) | (color_t)lround(alpha);
}

color_t color_mix(color_t a, color_t b, double t)
{
    color_t mixed = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        double from = a >> shift & 0xff, to = b >> shift & 0xff;
        mixed |= (color_t)lround(from + (to - from) * t) << shift;
    }
    return mixed;
}

void image_show(struct image *image, uint32_t **pixels, int w, int h)
{
    uint32_t *old = image->pixels;
    const int same = image->w == w && image->h == h;
    *image = (struct image){*pixels, w, h, image->version + 1};
    *pixels = same ? old : NULL;
    if (!same)
        free(old);
}

/* Grow an array to hold `need` elements. */
static int scene_reserve(struct scene *s, void *array, size_t *room, size_t need, size_t element)
{
    int fits = array_fit(array, element, room, need) == 0;
    s->failed |= !fits;
    return fits;
}

void scene_begin(struct scene *s, double w, double h, double scale, struct text_measure measure)
{
    s->w = w;
    s->h = h;
    s->scale = scale;
    s->measure = measure;
    s->panel_count = s->item_count = s->point_count = s->letter_count = s->hit_count = 0;
    s->row_start = 0;
    s->cell = 0;
    s->failed = 0;
}

void scene_finish(struct scene *s)
{
    free(s->panels);
    free(s->items);
    free(s->points);
    free(s->letters);
    free(s->hits);
    memset(s, 0, sizeof *s);
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo): sufficient to detect that a panel changed since the last
 * frame. */
static uint64_t scene_hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t scene_hash_item(const struct scene *s, uint64_t hash, const struct scene_item *item)
{
    const double geometry[] = {item->box.x, item->box.y, item->box.w,
                               item->box.h, item->width, item->radius};
    const uint64_t rest[] = {item->kind,
                             item->color,
                             item->style,
                             (uint64_t)item->flags,
                             item->image ? item->image->version : 0,
                             item->image ? (uint64_t)(uintptr_t)item->image : 0};
    hash = mix_reals(hash, geometry, sizeof geometry / sizeof *geometry);
    hash = scene_hash_bytes(hash, rest, sizeof rest);
    if (item->kind == SCENE_TEXT)
        return scene_hash_bytes(hash, s->letters + item->first, item->count);
    return item->count ? mix_reals(hash, &s->points[item->first].x, item->count * 2) : hash;
}

void scene_end(struct scene *s)
{
    for (size_t p = 0; p < s->panel_count; p++) {
        struct scene_panel *panel = &s->panels[p];
        size_t last = p + 1 < s->panel_count ? s->panels[p + 1].first : s->item_count;
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        hash = mix_reals(hash, &panel->box.x, 4);
        hash = scene_hash_bytes(hash, &panel->color, sizeof panel->color);
        for (size_t i = panel->first; i < last; i++)
            hash = scene_hash_item(s, hash, &s->items[i]);
        panel->hash = hash;
    }
}

void scene_panel(struct scene *s, struct box box, color_t ground, const char *name, ...)
{
    if (!scene_reserve(s, &s->panels, &s->panel_capacity, s->panel_count + 1, sizeof *s->panels))
        return;
    struct scene_panel *p = &s->panels[s->panel_count++];
    *p = (struct scene_panel){.box = box, .color = ground, .first = (uint32_t)s->item_count};
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(p->name, sizeof p->name, name, arguments);
    va_end(arguments);
    if (s->suffix)
        text_append(p->name, sizeof p->name, "%s", s->suffix);
}

void scene_end_panel_at(struct scene *s, double y)
{
    if (!s->panel_count)
        return;
    struct scene_panel *p = &s->panels[s->panel_count - 1];
    p->box.h = y - p->box.y;
    if (p->first < s->item_count && s->items[p->first].kind == SCENE_RECT)
        s->items[p->first].box.h = y - s->items[p->first].box.y;
}

void scene_overlay(struct scene *s)
{
    if (s->panel_count)
        s->panels[s->panel_count - 1].overlay = 1;
}

static struct scene_item *scene_add(struct scene *s, enum scene_kind kind, struct box box,
                                    color_t color)
{
    if (!s->panel_count ||
        !scene_reserve(s, &s->items, &s->item_capacity, s->item_count + 1, sizeof *s->items))
        return NULL;
    struct scene_item *item = &s->items[s->item_count++];
    *item = (struct scene_item){
        .kind = kind, .panel = (uint16_t)(s->panel_count - 1), .box = box, .color = color};
    return item;
}

void scene_rect(struct scene *s, struct box box, double radius, color_t color)
{
    struct scene_item *item = box.w > 0 && box.h > 0 ? scene_add(s, SCENE_RECT, box, color) : NULL;
    if (item)
        item->radius = radius;
}

void scene_outline(struct scene *s, struct box box, double radius, double width, color_t color)
{
    struct scene_item *item = scene_add(s, SCENE_OUTLINE, box, color);
    if (item) {
        item->radius = radius;
        item->width = width;
    }
}

void scene_line(struct scene *s, double x0, double y0, double x1, double y1, double width,
                color_t color)
{
    struct scene_item *item =
        scene_add(s, SCENE_LINE, (struct box){x0, y0, x1 - x0, y1 - y0}, color);
    if (item)
        item->width = width;
}

void scene_disc(struct scene *s, double x, double y, double radius, color_t color)
{
    scene_add(s, SCENE_DISC, (struct box){x - radius, y - radius, radius * 2, radius * 2}, color);
}

void scene_image(struct scene *s, struct box box, const struct image *image)
{
    struct scene_item *item = scene_add(s, SCENE_IMAGE, box, 0);
    if (item)
        item->image = image;
}

/* ---- rows of points ---- */

void scene_points(struct scene *s)
{
    s->point_count = s->row_start;
}

void scene_point(struct scene *s, double x, double y)
{
    if (scene_reserve(s, &s->points, &s->point_capacity, s->point_count + 1, sizeof *s->points))
        s->points[s->point_count++] = (struct point){x, y};
}

static struct scene_item *scene_end_points(struct scene *s, enum scene_kind kind, size_t least,
                                           color_t color)
{
    size_t first = s->row_start, count = s->point_count - first;
    if (count < least) {
        s->point_count = first;
        return NULL;
    }
    double x0 = s->points[first].x, x1 = x0, y0 = s->points[first].y, y1 = y0;
    for (size_t i = first; i < s->point_count; i++) {
        x0 = fmin(x0, s->points[i].x);
        x1 = fmax(x1, s->points[i].x);
        y0 = fmin(y0, s->points[i].y);
        y1 = fmax(y1, s->points[i].y);
    }
    struct scene_item *item = scene_add(s, kind, (struct box){x0, y0, x1 - x0, y1 - y0}, color);
    if (item) {
        item->first = (uint32_t)first;
        item->count = (uint32_t)count;
        s->row_start = s->point_count;
    }
    return item;
}

void scene_curve(struct scene *s, double width, color_t color)
{
    struct scene_item *item = scene_end_points(s, SCENE_CURVE, 2, color);
    if (item)
        item->width = width;
}

void scene_area(struct scene *s, color_t color)
{
    scene_end_points(s, SCENE_AREA, 4, color);
}

void scene_polygon(struct scene *s, color_t color)
{
    scene_end_points(s, SCENE_POLYGON, 3, color);
}

void scene_shape(struct scene *s, const struct point *corners, uint32_t count, color_t color)
{
    scene_points(s);
    for (uint32_t i = 0; i < count; i++)
        scene_point(s, corners[i].x, corners[i].y);
    scene_polygon(s, color);
}

/* ---- text ---- */

double scene_width(const struct scene *s, enum text_style style, int flags, const char *text)
{
    return s->measure.width(s->measure.user, style, flags & TEXT_FIGURES, text, strlen(text));
}

static int scene_starts_letter(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Largest number of bytes of a text that fit, cut between letters. */
static size_t scene_fitting(const struct scene *s, enum text_style style, int flags,
                            const char *text, size_t bytes, double room)
{
    size_t low = 0, high = bytes;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (s->measure.width(s->measure.user, style, flags & TEXT_FIGURES, text, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    while (low > 0 && low < bytes && !scene_starts_letter(text[low]))
        low--;
    return low;
}

/* Largest number of bytes at the end of a text that fit, cut between letters. */
static size_t scene_fitting_end(const struct scene *s, enum text_style style, int flags,
                                const char *text, size_t bytes, double room)
{
    size_t start = bytes;
    for (size_t at = bytes; at-- > 0;) {
        if (!scene_starts_letter(text[at]))
            continue;
        if (s->measure.width(s->measure.user, style, flags & TEXT_FIGURES, text + at, bytes - at) >
            room)
            break;
        start = at;
    }
    return bytes - start;
}

/* Append bytes and a 0 to the letters. @return their offset */
static uint32_t scene_add_letters(struct scene *s, const char *text, size_t bytes)
{
    size_t first = s->letter_count;
    if (!scene_reserve(s, &s->letters, &s->letter_capacity, first + bytes + 1, 1))
        return 0;
    memcpy(s->letters + first, text, bytes);
    s->letters[first + bytes] = 0;
    s->letter_count += bytes + 1;
    return (uint32_t)first;
}

/* Bytes of the clauses at the beginning of a text that fit; of its words, where the first clause
 * does not; of its letters, where not even two words do. */
static size_t scene_fitting_clauses(const struct scene *s, enum text_style style, int flags,
                                    const char *text, size_t bytes, double room)
{
    static const char dot[] = " \xc2\xb7";
    for (size_t at = bytes; at-- > 1;)
        if ((strchr(",;", text[at]) && text[at + 1] == ' ') ||
            (text[at] == ' ' && (text[at + 1] == '(' || strncmp(text + at, dot, strlen(dot)) == 0)))
            if (s->measure.width(s->measure.user, style, flags & TEXT_FIGURES, text, at) <= room)
                return at;
    const size_t letters = scene_fitting(s, style, flags, text, bytes, room);
    size_t word = letters;
    while (word > 0 && text[word] != ' ')
        word--;
    return memchr(text, ' ', word) != NULL ? word : letters;
}

/* The part of a text that is shown in w, with an ellipsis in place of what is left out. It is
 * appended to the letters, unfinished: the caller counts it. @return its bytes */
static size_t scene_shorten(struct scene *s, double w, enum text_style style, int flags,
                            const char *text, size_t bytes)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    struct text_measure m = s->measure;
    double dots = m.width(m.user, style, 0, ellipsis, sizeof ellipsis - 1);
    size_t end = 0, kept;
    if (flags & TEXT_CLAUSES) {
        kept = scene_fitting_clauses(s, style, flags, text, bytes, w - dots);
    } else {
        if (flags & TEXT_MIDDLE)
            end = scene_fitting_end(s, style, flags, text, bytes, (w - dots) / 2);
        kept = scene_fitting(s, style, flags, text, bytes, end ? (w - dots) / 2 : w - dots);
    }
    while (kept > 0 && text[kept - 1] == ' ')
        kept--;
    if (kept == 0 || !scene_reserve(s, &s->letters, &s->letter_capacity,
                                    s->letter_count + kept + sizeof ellipsis + end, 1))
        return 0;
    char *to = s->letters + s->letter_count;
    memcpy(to, text, kept);
    memcpy(to + kept, ellipsis, sizeof ellipsis - 1);
    memcpy(to + kept + sizeof ellipsis - 1, text + bytes - end, end);
    return kept + sizeof ellipsis - 1 + end;
}

/* @param whole  what a shortened text is a part of */
static double scene_add_text(struct scene *s, struct box slot, enum text_style style, int flags,
                             color_t color, const char *text, size_t bytes, const char *whole)
{
    struct text_measure m = s->measure;
    double width = m.width(m.user, style, flags & TEXT_FIGURES, text, bytes);
    int shortened = width > slot.w + 0.01;
    uint32_t all = shortened ? scene_add_letters(s, whole, strlen(whole)) : 0;
    size_t first = s->letter_count;
    if (!shortened) {
        scene_add_letters(s, text, bytes);
    } else {
        bytes = scene_shorten(s, slot.w, style, flags, text, bytes);
        if (scene_reserve(s, &s->letters, &s->letter_capacity, first + bytes + 1, 1))
            s->letters[first + bytes] = 0;
        s->letter_count = first + bytes + 1;
        width = bytes ? m.width(m.user, style, flags & TEXT_FIGURES, s->letters + first, bytes) : 0;
    }
    if (s->failed)
        return 0;
    double left = flags & TEXT_RIGHT    ? slot.x + slot.w - width
                  : flags & TEXT_CENTRE ? slot.x + (slot.w - width) / 2
                                        : slot.x;
    struct scene_item *item =
        scene_add(s, SCENE_TEXT, (struct box){left, slot.y, width, text_line(style)}, color);
    if (!item)
        return 0;
    item->style = style;
    item->flags = flags;
    item->cell = s->cell;
    item->first = (uint32_t)first;
    item->count = (uint32_t)bytes;
    item->slot = (struct box){slot.x, slot.y, slot.w, text_line(style)};
    item->whole = all;
    item->whole_count = shortened ? (uint32_t)strlen(whole) : 0;
    return width;
}

double scene_text(struct scene *s, double x, double y, double w, enum text_style style, int flags,
                  color_t color, const char *text)
{
    struct box slot = {x, y, fmax(w, 0), 0};
    return *text ? scene_add_text(s, slot, style, flags, color, text, strlen(text), text) : 0;
}

double scene_textf(struct scene *s, double x, double y, double w, enum text_style style, int flags,
                   color_t color, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return scene_text(s, x, y, w, style, flags, color, text);
}

/* Bytes of the next line; `lines` lines remain after it. */
static size_t scene_next_line(const struct scene *s, double w, enum text_style style, int lines,
                              const char *text)
{
    size_t bytes = strcspn(text, "\n"), take = scene_fitting(s, style, 0, text, bytes, w);
    if (take == bytes || lines <= 0)
        return bytes;
    size_t space = take;
    while (space > 0 && (text[space] != ' ' || text[space + 1] == '%'))
        space--; /* a percent sign stays with its figure */
    return space > 0 ? space : take > 0 ? take : 1;
}

static const char *scene_after_line(const char *text, size_t line)
{
    text += line;
    while (*text == ' ' || *text == '\n')
        text++;
    return text;
}

double scene_paragraph(struct scene *s, double x, double y, double w, enum text_style style,
                       color_t color, int lines, const char *text)
{
    const char *whole = text;
    double height = 0;
    while (*text && lines-- > 0) {
        size_t take = scene_next_line(s, w, style, lines, text);
        if (take > 0)
            scene_add_text(s, (struct box){x, y + height, fmax(w, 0), 0}, style, TEXT_CLAUSES,
                           color, text, take, whole);
        height += text_line(style);
        text = scene_after_line(text, take);
    }
    return height;
}

double scene_paragraph_height(const struct scene *s, double w, enum text_style style, int lines,
                              const char *text)
{
    double height = 0;
    while (*text && lines-- > 0) {
        height += text_line(style);
        text = scene_after_line(text, scene_next_line(s, w, style, lines, text));
    }
    return height;
}

const char *scene_text_of(const struct scene *s, const struct scene_item *item)
{
    return item->kind == SCENE_TEXT ? s->letters + item->first : "";
}

const char *scene_whole_text(const struct scene *s, const struct scene_item *item)
{
    return item->whole_count ? s->letters + item->whole : scene_text_of(s, item);
}

/* ---- hits ---- */

struct scene_hit *scene_hit(struct scene *s, struct box box, enum hit_kind kind, uint64_t a,
                            uint64_t b)
{
    static struct scene_hit nowhere; /* sink for writes when memory ran out; never read */
    if (!scene_reserve(s, &s->hits, &s->hit_capacity, s->hit_count + 1, sizeof *s->hits))
        return &nowhere;
    struct scene_hit *hit = &s->hits[s->hit_count++];
    *hit = (struct scene_hit){.box = box, .kind = kind, .a = a, .b = b};
    return hit;
}

const char *scene_shortened_at(const struct scene *s, double x, double y)
{
    size_t top = s->panel_count;
    while (top > 0 && !box_has(s->panels[top - 1].box, x, y))
        top--;
    for (size_t i = s->item_count; top > 0 && i-- > s->panels[top - 1].first;)
        if (s->items[i].panel == top - 1 && s->items[i].whole_count &&
            box_has(s->items[i].slot, x, y))
            return scene_whole_text(s, &s->items[i]);
    return NULL;
}

const struct scene_hit *scene_hit_at(const struct scene *s, double x, double y)
{
    for (size_t i = s->hit_count; i-- > 0;)
        if (box_has(s->hits[i].box, x, y))
            return &s->hits[i];
    return NULL;
}

const struct scene_hit *scene_hit_under(const struct scene *s, double x, double y,
                                        enum hit_kind kind)
{
    for (size_t i = s->hit_count; i-- > 0;) {
        if (!box_has(s->hits[i].box, x, y))
            continue;
        if (s->hits[i].kind == kind)
            return &s->hits[i];
        if (s->hits[i].kind == HIT_COVER)
            return NULL;
    }
    return NULL;
}

double scene_hit_x(const struct scene_hit *hit, double x)
{
    return hit->x0 + (hit->x1 - hit->x0) * (x - hit->box.x) / hit->box.w;
}

int scene_hit_is_timed(const struct scene_hit *hit)
{
    return hit->x1 > hit->x0 &&
           (hit->kind == HIT_TIME || hit->kind == HIT_SERIES || hit->kind == HIT_REGION);
}

double scene_hit_y(const struct scene_hit *hit, double y)
{
    return hit->y0 + (hit->y1 - hit->y0) * (y - hit->box.y) / hit->box.h;
}

/* ---- as text ---- */

void scene_dump(const struct scene *s, FILE *out)
{
    static const char *const kinds[] = {"rect", "outline", "line",  "curve", "area",
                                        "disc", "polygon", "image", "text"};
    static const char *const hits[] = {
        [HIT_NONE] = "none",         [HIT_BUTTON] = "button",
        [HIT_RANK] = "rank",         [HIT_PAIR] = "pair",
        [HIT_NODE] = "node",         [HIT_CALL] = "call",
        [HIT_JOB] = "job",           [HIT_ALERT] = "alert",
        [HIT_TIME] = "time",         [HIT_BAND] = "band",
        [HIT_MATRIX] = "matrix",     [HIT_REGION] = "region",
        [HIT_SERIES] = "series",     [HIT_GRAPH] = "graph",
        [HIT_COMMGRAM] = "commgram", [HIT_COLUMN] = "column",
        [HIT_BAR] = "bar",           [HIT_SIZES] = "sizes",
        [HIT_LINK] = "link",         [HIT_ROUTE] = "route",
        [HIT_VERTEX] = "vertex",     [HIT_METRIC] = "metric",
        [HIT_HANDLE] = "handle",     [HIT_TORUS] = "torus",
        [HIT_PLANE] = "plane",       [HIT_SCALE] = "scale",
        [HIT_LIST] = "list",         [HIT_SORT] = "sort",
        [HIT_COVER] = "cover",       [HIT_SPACE] = "space",
        [HIT_LEVEL] = "level",       [HIT_SLICE] = "slice",
        [HIT_ROUTES] = "routes",     [HIT_NETWORK] = "network",
        [HIT_UNIT] = "unit",         [HIT_PLACE] = "place",
        [HIT_PLAYBACK] = "playback", [HIT_MARK] = "mark",
        [HIT_CAPTURE] = "capture",   [HIT_DEPENDENCY] = "dependency"};
    _Static_assert(sizeof(hits) / sizeof(hits[0]) == HIT_COVER + 1, "each kind has a name");
    fprintf(out, "scene %.0fx%.0f\n", s->w, s->h);
    for (size_t p = 0; p < s->panel_count; p++) {
        const struct scene_panel *panel = &s->panels[p];
        fprintf(out, "panel %s %.1f,%.1f %.1fx%.1f #%08x%s\n", panel->name, panel->box.x,
                panel->box.y, panel->box.w, panel->box.h, panel->color,
                panel->overlay ? " overlay" : "");
        size_t last = p + 1 < s->panel_count ? s->panels[p + 1].first : s->item_count;
        for (size_t i = panel->first; i < last; i++) {
            const struct scene_item *item = &s->items[i];
            fprintf(out, "  %s %.1f,%.1f %.1fx%.1f #%08x", kinds[item->kind], item->box.x,
                    item->box.y, item->box.w, item->box.h, item->color);
            if (item->kind == SCENE_TEXT) {
                fputc(' ', out);
                utf8_print_plain(out, scene_text_of(s, item));
                if (item->whole_count) {
                    fputs(" (of: ", out);
                    utf8_print_plain(out, scene_whole_text(s, item));
                    fputc(')', out);
                }
            } else if (item->image)
                fprintf(out, " %dx%d cells", item->image->w, item->image->h);
            else if (item->count)
                fprintf(out, " %u points", item->count);
            fputc('\n', out);
        }
    }
    for (size_t i = 0; i < s->hit_count; i++) {
        const struct scene_hit *h = &s->hits[i];
        fprintf(out, "hit %s %.1f,%.1f %.1fx%.1f %llu %llu\n", hits[h->kind], h->box.x, h->box.y,
                h->box.w, h->box.h, (unsigned long long)h->a, (unsigned long long)h->b);
    }
}
