/* The limit of open files of this process. */
#ifndef HOLTER_FILE_LIMIT_H
#define HOLTER_FILE_LIMIT_H

#include <sys/resource.h>

/** Allow as many open files as the system does: the soft limit becomes the hard one, getrlimit(2).
 *  @return the hard limit; RLIM_INFINITY also where it is not known */
static inline rlim_t file_limit_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return RLIM_INFINITY;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max;
}

#endif
