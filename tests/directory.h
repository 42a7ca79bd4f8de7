/* A directory of its own for a test. */
#ifndef HOLTER_TESTS_DIRECTORY_H
#define HOLTER_TESTS_DIRECTORY_H

enum { DIRECTORY_ROOM = 32 };

/** Make a new one below /tmp. @param out  its path @return 0, or -1 with errno */
int directory_make(char out[DIRECTORY_ROOM]);

/** Remove it with all that is in it. @return 0, or -1 with errno */
int directory_remove(const char *path);

#endif
