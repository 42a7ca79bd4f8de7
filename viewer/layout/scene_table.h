/* The texts of a scene as a table that can be copied: the rows of a list, or the lines of panels.
 */
#ifndef HOLTER_VIEWER_LAYOUT_SCENE_TABLE_H
#define HOLTER_VIEWER_LAYOUT_SCENE_TABLE_H

#include "viewer/layout/scene.h"

enum { SCENE_TABLE_COLUMNS = 16 };

struct scene_table_row {
    char *cells[SCENE_TABLE_COLUMNS]; /**< owned; NULL: empty */
    uint32_t number;                  /**< of the row in the whole list */
    int selected;
};

/** Zero-initialised is empty. */
struct scene_table {
    struct scene_table_row head; /**< titles of the columns */
    struct scene_table_row *rows;
    size_t count, capacity;
    int columns;
    int lines;  /**< the rows are lines of text: their cells are not aligned */
    int failed; /**< memory ran out: the table is incomplete */
};

enum scene_table_form {
    TABLE_TEXT, /**< aligned columns */
    TABLE_CSV,  /**< RFC 4180; a column of figures has its base unit in the title */
};

/** Add the rows of a list that the scene shows and the table does not have yet; the line of texts
 *  above the list has the titles of its columns.
 *  @param area  the list's HIT_LIST  @return number of rows added */
size_t scene_table_add_list(struct scene_table *table, const struct scene *scene,
                            const struct scene_hit *area);

/** Add the texts of a panel, except those of buttons, line by line. */
void scene_table_add_panel(struct scene_table *table, const struct scene *scene, size_t panel);

/** Drop the rows that are not selected, if any is, and the columns without texts. */
void scene_table_reduce(struct scene_table *table);

/** The table as text, to be freed. Figures of csv are as exact as they are shown.
 *  @return NULL: out of memory */
char *scene_table_print(const struct scene_table *table, enum scene_table_form form);

void scene_table_finish(struct scene_table *table);

#endif
