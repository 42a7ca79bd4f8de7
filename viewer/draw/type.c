/* Fonts: text to pixels, and the width of texts. */
#include "viewer/draw/type.h"

#include <SDL_ttf.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_SLOTS = 8192, CACHE_MAXIMUM = 4096, TEXT_MAXIMUM = 512 };

/* A text in one style: its width, and once it was drawn the share of each pixel that it covers. */
struct word {
    char *text; /* NULL: free slot */
    enum text_style style;
    int figures;
    int advance; /* device pixels */
    uint8_t *mask;
    int w, h;
};

struct type {
    TTF_Font *fonts[TEXT_STYLES];
    int digit[TEXT_STYLES]; /* width of the widest digit */
    double scale;
    struct word *words; /* CACHE_SLOTS, open addressing */
    size_t count;
    char paths[3][512]; /* weights 400, 600, 700 */
};

/* ---- fonts --------------------------------------------------------------- */

static const struct {
    const char *files[3];
} families[] = {
    {{"/usr/share/fonts/opentype/inter/Inter-Regular.otf",
      "/usr/share/fonts/opentype/inter/Inter-SemiBold.otf",
      "/usr/share/fonts/opentype/inter/Inter-Bold.otf"}},
    {{"/usr/share/fonts/inter/Inter-Regular.otf", "/usr/share/fonts/inter/Inter-SemiBold.otf",
      "/usr/share/fonts/inter/Inter-Bold.otf"}},
    {{"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
      "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
      "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"}},
    {{"/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
      "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf",
      "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf"}},
};

static int type_readable(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

static int find_fonts(struct type *type, char *why, size_t capacity)
{
    const char *own = getenv("HOLTER_FONT");
    if (own && *own) {
        for (int i = 0; i < 3; i++)
            snprintf(type->paths[i], sizeof type->paths[i], "%s", own);
        if (type_readable(own))
            return 0;
        snprintf(why, capacity, "HOLTER_FONT: cannot read %s: %s", own, strerror(errno));
        return -ENOENT;
    }
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        if (!type_readable(families[f].files[0]) || !type_readable(families[f].files[1]) ||
            !type_readable(families[f].files[2]))
            continue;
        for (int i = 0; i < 3; i++)
            snprintf(type->paths[i], sizeof type->paths[i], "%s", families[f].files[i]);
        return 0;
    }
    snprintf(why, capacity,
             "no font: neither Inter (package fonts-inter) nor DejaVu Sans (fonts-dejavu-core) "
             "lies under "
             "/usr/share/fonts; HOLTER_FONT may name another font file");
    return -ENOENT;
}

static void close_fonts(TTF_Font **fonts)
{
    for (int s = 0; s < TEXT_STYLES; s++)
        if (fonts[s])
            TTF_CloseFont(fonts[s]);
}

static int open_fonts(struct type *type, double scale, char *why, size_t capacity)
{
    TTF_Font *fonts[TEXT_STYLES] = {0};
    for (int s = 0; s < TEXT_STYLES; s++) {
        int weight = text_weight((enum text_style)s);
        const char *path = type->paths[weight >= 700 ? 2 : weight >= 600 ? 1 : 0];
        fonts[s] = TTF_OpenFont(path, (int)lround(text_size((enum text_style)s) * scale));
        if (!fonts[s]) {
            snprintf(why, capacity, "cannot load the font %s: %s", path, TTF_GetError());
            close_fonts(fonts);
            return -ENOENT;
        }
        TTF_SetFontHinting(fonts[s], TTF_HINTING_LIGHT_SUBPIXEL);
        if (weight >= 600 && !strcmp(type->paths[0], type->paths[2]))
            TTF_SetFontStyle(fonts[s], TTF_STYLE_BOLD);
    }
    close_fonts(type->fonts);
    for (int s = 0; s < TEXT_STYLES; s++) {
        type->fonts[s] = fonts[s];
        type->digit[s] = 0;
        for (uint32_t c = '0'; c <= '9'; c++) {
            int advance = 0;
            TTF_GlyphMetrics32(fonts[s], c, NULL, NULL, NULL, NULL, &advance);
            type->digit[s] = advance > type->digit[s] ? advance : type->digit[s];
        }
    }
    type->scale = scale;
    return 0;
}

static void forget_words(struct type *type)
{
    for (size_t i = 0; i < CACHE_SLOTS; i++) {
        free(type->words[i].text);
        free(type->words[i].mask);
    }
    memset(type->words, 0, CACHE_SLOTS * sizeof *type->words);
    type->count = 0;
}

int type_create(struct type **out, double scale, char *why, size_t capacity)
{
    struct type *type = calloc(1, sizeof *type);
    struct word *words = calloc(CACHE_SLOTS, sizeof *words);
    int error = type && words ? 0 : -ENOMEM;
    int started = 0;
    snprintf(why, capacity, "out of memory");
    if (!error) {
        type->words = words;
        started = TTF_Init() == 0;
        error = started ? find_fonts(type, why, capacity) : -ENOMEM;
    }
    if (!error)
        error = open_fonts(type, scale, why, capacity);
    if (error) {
        if (started)
            TTF_Quit();
        free(words);
        free(type);
        return error;
    }
    *out = type;
    return 0;
}

int type_rescale(struct type *type, double scale)
{
    char why[256];
    if (scale == type->scale)
        return 0;
    int error = open_fonts(type, scale, why, sizeof why);
    if (!error)
        forget_words(type);
    return error;
}

void type_destroy(struct type *type)
{
    if (!type)
        return;
    forget_words(type);
    close_fonts(type->fonts);
    TTF_Quit();
    free(type->words);
    free(type);
}

/* ---- words --------------------------------------------------------------- */

/* Lay one rendered piece into the mask of a word. */
static void type_place_glyphs(struct word *word, SDL_Surface *piece, int x)
{
    for (int row = 0; row < piece->h && row < word->h; row++) {
        const uint32_t *from =
            (const uint32_t *)(const void *)((const char *)piece->pixels + row * piece->pitch);
        uint8_t *to = word->mask + (size_t)row * (size_t)word->w;
        for (int column = 0; column < piece->w && x + column < word->w; column++) {
            if (x + column < 0)
                continue;
            uint8_t share = (uint8_t)(from[column] >> 24);
            if (share > to[x + column])
                to[x + column] = share;
        }
    }
}

static void render_piece(struct type *type, struct word *word, const char *text, int x,
                         int capacity)
{
    static const SDL_Color white = {255, 255, 255, 255};
    SDL_Surface *piece = TTF_RenderUTF8_Blended(type->fonts[word->style], text, white);
    if (!piece)
        return;
    type_place_glyphs(word, piece, x + (capacity > piece->w ? (capacity - piece->w) / 2 : 0));
    SDL_FreeSurface(piece);
}

/* Lay out a word, and render it if it has a mask. With figures each digit takes the width of the
 * widest. @return its width */
static int type_lay_out(struct type *type, struct word *word)
{
    TTF_Font *font = type->fonts[word->style];
    int x = 0, w = 0;
    if (!word->figures) {
        TTF_SizeUTF8(font, word->text, &w, NULL);
        if (word->mask)
            render_piece(type, word, word->text, 0, 0);
        return w;
    }
    for (const char *c = word->text; *c;) {
        char run[TEXT_MAXIMUM];
        int digit = *c >= '0' && *c <= '9';
        size_t n = digit ? 1 : strcspn(c, "0123456789");
        snprintf(run, sizeof run, "%.*s", (int)n, c);
        w = type->digit[word->style];
        if (!digit)
            TTF_SizeUTF8(font, run, &w, NULL);
        if (word->mask)
            render_piece(type, word, run, x, digit ? w : 0);
        x += w;
        c += n;
    }
    return x;
}

static struct word *type_look_up(struct type *type, enum text_style style, int figures,
                                 const char *text)
{
    uint64_t hash =
        UINT64_C(0xcbf29ce484222325) ^ ((uint64_t)style << 1 | (uint64_t)(figures != 0));
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    if (type->count >= CACHE_MAXIMUM)
        forget_words(type);
    size_t i = (size_t)(hash ^ hash >> 31) % CACHE_SLOTS;
    for (; type->words[i].text; i = (i + 1) % CACHE_SLOTS) {
        struct word *w = &type->words[i];
        if (w->style == style && w->figures == (figures != 0) && !strcmp(w->text, text))
            return w;
    }
    struct word *word = &type->words[i];
    word->text = strdup(text);
    if (!word->text)
        return NULL;
    word->style = style;
    word->figures = figures != 0;
    word->advance = type_lay_out(type, word);
    type->count++;
    return word;
}

static double type_width_of(void *user, enum text_style style, int flags, const char *text,
                            size_t bytes)
{
    struct type *type = user;
    char copy[TEXT_MAXIMUM];
    size_t n = bytes < sizeof copy - 1 ? bytes : sizeof copy - 1;
    memcpy(copy, text, n);
    copy[n] = 0;
    struct word *word = n ? type_look_up(type, style, flags & TEXT_FIGURES, copy) : NULL;
    return word ? word->advance / type->scale : 0;
}

struct text_measure type_measure(struct type *type)
{
    return (struct text_measure){type_width_of, type};
}

static void type_render(struct type *type, struct word *word)
{
    word->w = word->advance + 4; /* letters may lean out of their advance */
    word->h = TTF_FontHeight(type->fonts[word->style]);
    word->mask = calloc((size_t)word->w * (size_t)word->h + 1, 1);
    if (word->mask)
        type_lay_out(type, word);
}

void type_draw(struct type *type, struct canvas *canvas, double x, double y, enum text_style style,
               int flags, color_t color, const char *text)
{
    struct word *word = type_look_up(type, style, flags & TEXT_FIGURES, text);
    if (!word)
        return;
    if (!word->mask)
        type_render(type, word);
    if (!word->mask)
        return;
    double line = text_line(style) * type->scale;
    canvas_mask(canvas, (int)lround(x), (int)lround(y + (line - word->h) / 2), word->mask, word->w,
                word->h, color);
}
