/* Where the dynamic linker would find a library, after the rules of ld.so(8), "DESCRIPTION":
 * DT_RPATH of the chain of loaders, LD_LIBRARY_PATH, DT_RUNPATH, /etc/ld.so.cache, the default
 * directories. */
#ifndef HOLTER_AGENT_LAUNCH_LIBRARY_SEARCH_H
#define HOLTER_AGENT_LAUNCH_LIBRARY_SEARCH_H

#include "agent/launch/elf_file.h"

#include <stddef.h>

/** A file that needs libraries, and the file that loads it. */
struct needing_file {
    const struct needing_file *parent; /**< NULL: the executable */
    const char *path;                  /**< for $ORIGIN */
    struct elf_file elf;
};

struct library_search;

/** @param library_path  value of LD_LIBRARY_PATH, copied; NULL: none
 *  @param cache_path    "/etc/ld.so.cache"; a missing or damaged cache is an empty one
 *  @return 0 or -ENOMEM */
int library_search_create(struct library_search **out, const char *library_path,
                          const char *cache_path);

/** NULL is fine. */
void library_search_destroy(struct library_search *search);

/** Find a library.
 *  @param name  as in DT_NEEDED, with or without a slash
 *  @param by    the file that needs it; only libraries of its class and machine count
 *  @param out   path, set on success
 *  @return 0, -ENOENT, or -HOLTER_ERANGE when the path does not fit */
int library_search_find(const struct library_search *search, const char *name,
                        const struct needing_file *by, char *out, size_t capacity);

#endif
