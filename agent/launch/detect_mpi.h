/* Which MPI a program carries, decided from its files before anything of it runs: a probe built for
 * another MPI would crash it. */
#ifndef HOLTER_AGENT_LAUNCH_DETECT_MPI_H
#define HOLTER_AGENT_LAUNCH_DETECT_MPI_H

#include "holter/segment.h"

#include <limits.h>

enum program_kind {
    PROGRAM_ELF,    /**< dynamically linked, of this machine: a probe can be preloaded */
    PROGRAM_STATIC, /**< statically linked: nothing can be preloaded */
    PROGRAM_ALIEN,  /**< ELF of another class or machine */
    PROGRAM_SCRIPT, /**< anything else that may be executed: what it starts is not known yet */
};

struct mpi_finding {
    enum program_kind kind;
    enum mpi_flavour flavour; /**< MPI_FLAVOUR_NONE: its files name no MPI */
    char library[PATH_MAX];   /**< the MPI library found; "" for none */
    int linked_in;            /**< 1: instead, MPI is part of the program itself */
    char sanitizer[256]; /**< runtime of the address sanitizer that it links, path; "" for none */
};

/** Look at a program.
 *  @param path          executable file
 *  @param library_path  LD_LIBRARY_PATH it will run with; NULL: none
 *  @return 0, -HOLTER_ECORRUPT for a damaged file, -ENOMEM or another -errno */
int detect_mpi(const char *path, const char *library_path, struct mpi_finding *out);

/** Does one of the libraries that a program is linked to, directly or not, have a name beginning
 *  so? Used to tell launchers apart. @return 1, or 0 for no and for all errors */
int detect_mpi_program_links(const char *path, const char *library_path, const char *prefix);

#endif
