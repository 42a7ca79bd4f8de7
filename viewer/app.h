/* The program: waits for inputs and messages, keeps facts and choices, shows the scene. */
#ifndef HOLTER_VIEWER_APP_H
#define HOLTER_VIEWER_APP_H

#include "viewer/view_options.h"

#include <signal.h>

/** Show a window until the user leaves or *stop is set. @return exit status */
int app_window(const struct options *options, const volatile sig_atomic_t *stop);

/** Take a picture without a display. @return exit status */
int app_snapshot(const struct options *options, const volatile sig_atomic_t *stop);

#endif
