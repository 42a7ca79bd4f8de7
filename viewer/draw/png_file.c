/* Writes pictures to files, a canvas as PNG. */
#include "viewer/draw/canvas.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int png_file_write_rows(FILE *file, const void *canvas)
{
    const struct canvas *c = canvas;
    uint8_t *volatile row = malloc((size_t)c->w * 3 + 1);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!row || !info) {
        png_destroy_write_struct(&png, &info);
        free(row);
        return -ENOMEM;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        free(row);
        return -EIO;
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)c->w, (png_uint_32)c->h, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    /* our pictures are flat surfaces with thin lines: a fifth smaller so */
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_write_info(png, info);
    for (int y = 0; y < c->h; y++) {
        const uint32_t *from = c->pixels + (size_t)y * (size_t)c->w;
        for (int x = 0; x < c->w; x++) {
            row[3 * x] = (uint8_t)(from[x] >> 16);
            row[3 * x + 1] = (uint8_t)(from[x] >> 8);
            row[3 * x + 2] = (uint8_t)from[x];
        }
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    free(row);
    return 0;
}

int picture_write(const char *path, picture_write_fn *write, const void *picture)
{
    char part[4096];
    struct stat there;
    const int replaces = stat(path, &there) != 0 || S_ISREG(there.st_mode); /* no device or pipe */
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return -ENAMETOOLONG;
    if (replaces)
        remove(part); /* left by a process that was killed */
    /* "x": never through a link that another user has put there */
    FILE *file = replaces ? fopen(part, "wbx") : fopen(path, "wb");
    if (!file)
        return -errno;
    int error = write(file, picture);
    if (fclose(file) != 0 && !error)
        error = -errno;
    if (!error && replaces && rename(part, path) != 0)
        error = -errno;
    if (error && replaces)
        remove(part);
    return error;
}

int png_write(const struct canvas *canvas, const char *path)
{
    return picture_write(path, png_file_write_rows, canvas);
}
