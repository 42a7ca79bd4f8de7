/* File names of MPI libraries. */
#ifndef HOLTER_MPI_LIBRARY_H
#define HOLTER_MPI_LIBRARY_H

#include "holter/plain_text.h"

/** Is it the name of the library with the C calls of an MPI? Those of HPE Cray MPI are called after
 *  their compilers, and those that Python packages bring along after a hash of their content.
 *  @param name  of the file, without its directory */
static inline int mpi_library_is_name(const char *name)
{
    return text_begins(name, "libmpi.so") || text_begins(name, "libmpich.so") ||
           text_begins(name, "libmpi-") || text_begins(name, "libmpi_gnu") ||
           text_begins(name, "libmpi_intel") || text_begins(name, "libmpi_cray") ||
           text_begins(name, "libmpi_amd") || text_begins(name, "libmpi_nvidia");
}

#endif
