/* Included before each source of the probe: bind functions to the versions that C libraries had
 * before glibc 2.34.
 *
 * The program, in a container for example, may have an older C library than the system on which the
 * probe was built; one undefined version would keep it from starting. These functions moved into
 * libc.so.6 from libdl and libpthread, and got another version there. The references are weak: a
 * program without libdl and libpthread starts, too. It has no MPI library, as those need both. */
#ifndef HOLTER_AGENT_PROBE_OLD_LIBC_H
#define HOLTER_AGENT_PROBE_OLD_LIBC_H

#include <dlfcn.h>
#include <features.h>
#include <pthread.h>

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#if defined(__x86_64__)
#define OLD_LIBC_FIRST "GLIBC_2.2.5" /* first version for this architecture */
#else
#define OLD_LIBC_FIRST "GLIBC_2.17"
#endif
#define OLD_LIBC_BIND(name) __asm__(".symver " #name "," #name "@" OLD_LIBC_FIRST)

OLD_LIBC_BIND(dladdr);
OLD_LIBC_BIND(dlopen);
OLD_LIBC_BIND(dlsym);
OLD_LIBC_BIND(pthread_key_create);
OLD_LIBC_BIND(pthread_setspecific);
#endif

#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlsym
#pragma weak pthread_key_create
#pragma weak pthread_setspecific

#endif
