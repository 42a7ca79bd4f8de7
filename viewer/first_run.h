/* Whether the user has seen the explanation of the overview: an empty file in the directory for
 * state, as the XDG base directory specification names it. */
#ifndef HOLTER_VIEWER_FIRST_RUN_H
#define HOLTER_VIEWER_FIRST_RUN_H

/** 1: the explanation was not understood yet. */
int first_run_is(void);

/** Notes that it was. Failures have no effect: it is shown again. */
void first_run_end(void);

#endif
