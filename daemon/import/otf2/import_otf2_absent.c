/* What stands for the other sources of this room in a build without OTF2. */
#include "daemon/import/otf2/import_otf2.h"

#include "holter/error.h"

static int import_otf2_refuse(const char *anchor, file_fault *fault, void *user)
{
    struct faults faults = {anchor, fault, user, 0};
    fault_at(&faults, 0, "this build of Holter cannot read OTF2: it was made without libotf2");
    return -HOLTER_EUSAGE;
}

int import_otf2(const char *path, const char *anchor, const struct trace_wishes *wishes,
                struct import_otf2_counts *out)
{
    (void)path;
    *out = (struct import_otf2_counts){.ranks = 0};
    return import_otf2_refuse(anchor, wishes->fault, wishes->user);
}

int import_otf2_dependencies(const char *anchor, file_fault *fault, void *user,
                             struct trace_messages *out)
{
    *out = (struct trace_messages){.failed_streams = 0};
    return import_otf2_refuse(anchor, fault, user);
}
