/* A network inferred from routes or hop counts that others recorded. */
#include "daemon/import/topology_build.h"

#include "holter/error.h"

int topology_recorded(struct topology_file *out, const char *text, size_t length,
                      struct faults *faults)
{
    (void)out;
    (void)text;
    (void)length;
    fault_at(faults, 0, "networks cannot be inferred yet");
    return -HOLTER_EUSAGE;
}
