/* What the kernel reports about a process, proc(5). */
#ifndef HOLTER_AGENT_LAUNCH_PROCESS_FILE_H
#define HOLTER_AGENT_LAUNCH_PROCESS_FILE_H

#include <stddef.h>
#include <stdint.h>

/** Read a file of /proc/<pid>, as much of its start as fits. It may hold NULs ("cmdline").
 *  @param pid  0: this process
 *  @param out  terminated by a NUL
 *  @return bytes read; 0 when there is no such process or it may not be read */
size_t process_file(char *out, size_t capacity, int32_t pid, const char *file);

#endif
