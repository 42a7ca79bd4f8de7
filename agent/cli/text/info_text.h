/* Contents of a recording, and differences of two, as text for people. Texts of files are printed
 * without control characters. */
#ifndef HOLTER_AGENT_CLI_TEXT_INFO_TEXT_H
#define HOLTER_AGENT_CLI_TEXT_INFO_TEXT_H

#include "daemon/storage/recordings/diff.h"
#include "daemon/storage/recordings/info.h"

#include <stdio.h>

void info_print_text(FILE *out, const struct info *info);

void diff_print_text(FILE *out, const struct diff *diff, const char *const paths[2]);

#endif
