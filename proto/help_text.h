/* Help texts at the width of the terminal. */
#ifndef HOLTER_PROTO_HELP_TEXT_H
#define HOLTER_PROTO_HELP_TEXT_H

#include <stdio.h>

/** Print a help text. On a terminal, and where COLUMNS is set, its lines are filled to that width,
 *  at most HELP_TEXT_WIDEST: paragraphs, and the descriptions of options below each other;
 *  otherwise it is printed as it is.
 *  @return 0, or EOF when it cannot be written */
int help_text_print(FILE *out, const char *text);

#define HELP_TEXT_WIDEST 120
#define HELP_TEXT_NARROWEST 40

/** The same at a given width, in columns. */
void help_text_fill(FILE *out, const char *text, int columns);

#endif
