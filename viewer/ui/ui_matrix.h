/* The part of the matrix of ranks that is visible. */
#ifndef HOLTER_VIEWER_UI_UI_MATRIX_H
#define HOLTER_VIEWER_UI_UI_MATRIX_H

#include <stdint.h>

struct ui;
struct model;

/** The visible part of the matrix, in ranks. */
struct ui_matrix_choice {
    double row, column; /**< first source and destination that are visible */
    double extent;      /**< ranks from edge to edge; 0: all */
};

/** Zoom the matrix around a source and destination; clamp it to the job's ranks. */
void ui_zoom_matrix(struct ui *ui, const struct model *model, double factor, double column,
                    double row);
void ui_pan_matrix(struct ui *ui, const struct model *model, double columns, double rows);

/** Visible part of the matrix. */
void ui_matrix(const struct ui *ui, const struct model *model, double *column, double *row,
               double *extent);

#endif
