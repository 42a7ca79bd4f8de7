/* Handles input of mouse and keyboard: finds what is under the mouse in the scene that the user
 * saw, and changes the choices in `struct ui`. */
#ifndef HOLTER_VIEWER_UI_UI_INPUT_H
#define HOLTER_VIEWER_UI_UI_INPUT_H

#include "viewer/layout/input_event.h"
#include "viewer/ui/ui.h"

/** @param scene  the one the user saw when the input was made
 *  @return enum ui_effect, or-ed */
int ui_input(struct ui *ui, const struct model *model, const struct scene *scene,
             const struct input *input);

/** Selects the row at the keyboard cursor, once the row is in the scene. @return 1 when the
 * selection changed */
int ui_settle(struct ui *ui, const struct model *model, const struct scene *scene);

#endif
