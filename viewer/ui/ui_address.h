/* The address of what is seen, and opening one. */
#ifndef HOLTER_VIEWER_UI_UI_ADDRESS_H
#define HOLTER_VIEWER_UI_UI_ADDRESS_H

#include "viewer/places/address.h"
#include "viewer/ui/ui.h"

/** The address of the present choices: place, chosen alert, selection, held time. */
void ui_address(const struct ui *ui, const struct model *model, struct address *out);

/** Selects what an address names; its view and time are set by the program, as it begins.
 *  @return 0, or -HOLTER_EMISSING: alert or selection do not exist, or are not known yet */
int ui_open_address(struct ui *ui, const struct model *model, const struct address *address);

#endif
