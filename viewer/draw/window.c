/* The viewer's window on the display: SDL events become input events, the canvas is shown. */
#include "viewer/draw/window.h"

#include "holter/error.h"
#include "viewer/layout/scene.h"

#include <SDL.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct window {
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    int texture_w, texture_h;
    double user_scale;
    int lost; /* the texture's content is gone: show everything */
};

/* Without a display SDL draws into memory that nobody sees, which is useful only when asked for. */
static int window_has_display(char *why, size_t capacity)
{
    static const char advice[] = "holter-view --snapshot FILE.png makes pictures without one, and "
                                 "holter top shows the job in a terminal";
    if (SDL_Init(SDL_INIT_VIDEO) != 0) {
        snprintf(why, capacity, "no display: %s; %s", SDL_GetError(), advice);
        return 0;
    }
    const char *driver = SDL_GetCurrentVideoDriver();
    if (SDL_getenv("SDL_VIDEODRIVER") != NULL || driver == NULL || strcmp(driver, "offscreen") != 0)
        return 1;
    snprintf(why, capacity, "no display: neither DISPLAY nor WAYLAND_DISPLAY leads to one; %s",
             advice);
    SDL_Quit();
    return 0;
}

static int window_is_of_x(void)
{
    const char *driver = SDL_GetCurrentVideoDriver();
    return driver != NULL && strcmp(driver, "x11") == 0;
}

/* The painter has all pixels, and a renderer only shows them. Under X, OpenGL does that no faster
 * than X itself, and takes three tenths of a second to load where Mesa rasterises in software.
 * SDL's environment variables of these names go before. */
static void window_choose_renderer(void)
{
    if (!window_is_of_x())
        return;
    SDL_SetHint(SDL_HINT_RENDER_DRIVER, "software");
    SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0"); /* else that is a texture of OpenGL */
}

int window_open(struct window **out, int w, int h, double scale, char *why, size_t capacity)
{
    struct window *win = calloc(1, sizeof *win);
    if (!win)
        return -ENOMEM;
    SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "nearest");
    if (!window_has_display(why, capacity)) {
        free(win);
        return -HOLTER_EUNREACHABLE;
    }
    window_choose_renderer();
    win->user_scale = scale;
    win->window = SDL_CreateWindow("holter", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, w, h,
                                   SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (win->window)
        win->renderer = SDL_CreateRenderer(win->window, -1, 0);
    if (!win->renderer) {
        snprintf(why, capacity, "cannot open a window: %s", SDL_GetError());
        window_close(win);
        return -HOLTER_EUNREACHABLE;
    }
    SDL_SetWindowMinimumSize(win->window, 480, 320);
    SDL_StartTextInput();
    win->lost = 1;
    *out = win;
    return 0;
}

void window_close(struct window *win)
{
    if (!win)
        return;
    /* By a second connection to the X server SDL sends messages to its window, to wake itself up.
     * One that the server reads when the window is gone ends the program with an error, which
     * nobody receives when the window goes with the program. */
    if (win->window && window_is_of_x()) {
        free(win);
        return;
    }
    if (win->texture)
        SDL_DestroyTexture(win->texture);
    if (win->renderer)
        SDL_DestroyRenderer(win->renderer);
    if (win->window)
        SDL_DestroyWindow(win->window);
    SDL_Quit();
    free(win);
}

static double display_scale(const struct window *win)
{
    int pixels = 0, points = 0;
    SDL_GetRendererOutputSize(win->renderer, &pixels, NULL);
    SDL_GetWindowSize(win->window, &points, NULL);
    return points > 0 && pixels > 0 ? (double)pixels / points : 1;
}

static double window_user_scale(const struct window *win)
{
    int points_w = 1, points_h = 1;
    SDL_GetWindowSize(win->window, &points_w, &points_h);
    return scene_fitting_scale(win->user_scale, points_w, points_h);
}

double window_scale(const struct window *win)
{
    return display_scale(win) * window_user_scale(win);
}

void window_size(const struct window *win, double *w, double *h)
{
    int points_w = 1, points_h = 1;
    SDL_GetWindowSize(win->window, &points_w, &points_h);
    *w = points_w / window_user_scale(win);
    *h = points_h / window_user_scale(win);
}

/* ---- events -------------------------------------------------------------- */

static int window_key_of(SDL_Keycode code, unsigned modifiers)
{
    if (modifiers & KMOD_ALT)
        return code == SDLK_LEFT ? KEY_BACK : code == SDLK_RIGHT ? KEY_FORWARD : 0;
    if (modifiers & KMOD_CTRL)
        return code == SDLK_c ? KEY_COPY : code == SDLK_p ? KEY_PRINT : 0;
    static const struct {
        SDL_Keycode code;
        int key;
    } keys[] = {
        {SDLK_ESCAPE, KEY_ESCAPE},
        {SDLK_BACKSPACE, KEY_BACKSPACE},
        {SDLK_RETURN, KEY_ENTER},
        {SDLK_KP_ENTER, KEY_ENTER},
        {SDLK_TAB, KEY_TAB},
        {SDLK_LEFT, KEY_LEFT},
        {SDLK_RIGHT, KEY_RIGHT},
        {SDLK_UP, KEY_UP},
        {SDLK_DOWN, KEY_DOWN},
        {SDLK_PAGEUP, KEY_PAGE_UP},
        {SDLK_PAGEDOWN, KEY_PAGE_DOWN},
        {SDLK_HOME, KEY_HOME},
        {SDLK_END, KEY_END},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == code)
            return keys[i].key;
    return 0;
}

static int from_mouse(const struct window *win, const SDL_Event *event, struct input *in)
{
    double k = 1 / window_user_scale(win);
    switch (event->type) {
    case SDL_MOUSEMOTION:
        *in =
            (struct input){.kind = INPUT_MOVE, .x = event->motion.x * k, .y = event->motion.y * k};
        return 1;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        if (event->button.button != SDL_BUTTON_LEFT)
            return 2;
        *in =
            (struct input){.kind = event->type == SDL_MOUSEBUTTONDOWN ? INPUT_PRESS : INPUT_RELEASE,
                           .x = event->button.x * k,
                           .y = event->button.y * k,
                           .shift = (SDL_GetModState() & KMOD_SHIFT) != 0,
                           .ctrl = (SDL_GetModState() & KMOD_CTRL) != 0,
                           .clicks = event->button.clicks};
        return 1;
    default: {
        int x, y;
        SDL_GetMouseState(&x, &y);
        *in = (struct input){.kind = INPUT_WHEEL,
                             .x = x * k,
                             .y = y * k,
                             .wheel = (double)event->wheel.preciseY,
                             .shift = (SDL_GetModState() & KMOD_SHIFT) != 0,
                             .ctrl = (SDL_GetModState() & KMOD_CTRL) != 0};
        return 1;
    }
    }
}

static int from_window(struct window *win, const SDL_WindowEvent *event, struct input *in)
{
    switch (event->event) {
    case SDL_WINDOWEVENT_SIZE_CHANGED:
        in->kind = INPUT_RESIZE;
        window_size(win, &in->x, &in->y);
        win->lost = 1;
        return 1;
    case SDL_WINDOWEVENT_LEAVE:
        in->kind = INPUT_LEAVE;
        return 1;
    case SDL_WINDOWEVENT_EXPOSED:
    case SDL_WINDOWEVENT_SHOWN:
    case SDL_WINDOWEVENT_RESTORED:
        win->lost = 1;
        return 2;
    default:
        return 2;
    }
}

int window_wait(struct window *win, int timeout_ms, struct input *in)
{
    SDL_Event event;
    *in = (struct input){0};
    if (!SDL_WaitEventTimeout(&event, timeout_ms))
        return 0;
    switch (event.type) {
    case SDL_QUIT:
        in->kind = INPUT_QUIT;
        return 1;
    case SDL_KEYDOWN:
        in->kind = INPUT_KEY;
        in->key = window_key_of(event.key.keysym.sym, event.key.keysym.mod);
        in->shift = (event.key.keysym.mod & KMOD_SHIFT) != 0;
        return in->key ? 1 : 2;
    case SDL_TEXTINPUT:
        /* Letters come as text, so that keyboards of all countries find '?', '/' and '+'. */
        in->kind = INPUT_TEXT;
        snprintf(in->text, sizeof in->text, "%s", event.text.text);
        return 1;
    case SDL_MOUSEMOTION:
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
    case SDL_MOUSEWHEEL:
        return from_mouse(win, &event, in);
    case SDL_WINDOWEVENT:
        return from_window(win, &event.window, in);
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
        win->lost = 1;
        return 2;
    default:
        return 2;
    }
}

int window_copy(const char *text)
{
    return SDL_SetClipboardText(text) == 0;
}

/* ---- pictures ------------------------------------------------------------ */

static int need_texture(struct window *win, const struct canvas *canvas)
{
    if (win->texture && win->texture_w == canvas->w && win->texture_h == canvas->h)
        return 1;
    if (win->texture)
        SDL_DestroyTexture(win->texture);
    win->texture = SDL_CreateTexture(win->renderer, SDL_PIXELFORMAT_ARGB8888,
                                     SDL_TEXTUREACCESS_STREAMING, canvas->w, canvas->h);
    win->texture_w = canvas->w;
    win->texture_h = canvas->h;
    win->lost = 1;
    return win->texture != NULL;
}

void window_show(struct window *win, const struct painter *painter)
{
    const struct canvas *c = &painter->canvas;
    if (!need_texture(win, c))
        return;
    struct clip all = {0, 0, c->w, c->h};
    const struct clip *dirty = win->lost ? &all : painter->dirty;
    int count = win->lost ? 1 : painter->dirty_count;
    for (int i = 0; i < count; i++) {
        SDL_Rect rect = {dirty[i].x0, dirty[i].y0, dirty[i].x1 - dirty[i].x0,
                         dirty[i].y1 - dirty[i].y0};
        const uint32_t *first = c->pixels + (size_t)rect.y * (size_t)c->w + (size_t)rect.x;
        SDL_UpdateTexture(win->texture, &rect, first, c->w * 4);
    }
    if (!count)
        return;
    win->lost = 0;
    SDL_RenderCopy(win->renderer, win->texture, NULL, NULL);
    SDL_RenderPresent(win->renderer);
}
