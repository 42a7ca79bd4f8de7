/* What stands for export_otf2.c in a build without OTF2. */
#include "daemon/export/export.h"
#include "holter/error.h"

#include <stdio.h>

int export_otf2(const char *directory, const struct export_source *source, char *why,
                size_t capacity)
{
    (void)directory;
    (void)source;
    snprintf(why, capacity, "this build of Holter cannot write OTF2: it was made without libotf2");
    return -HOLTER_EUSAGE;
}
