/* Asks the process beside the viewer for the endpoint of a job's daemon. */
#include "viewer/link/finder.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { ASK_EVERY_MS = 1000 };

int finder_ask(struct finder *finder, const char *job, uint64_t now_ms,
               char out[FINDER_ENDPOINT_BYTES])
{
    char question[FINDER_ENDPOINT_BYTES];
    if (finder->fd == 0)
        return 0;
    if (now_ms - finder->asked_ms >= ASK_EVERY_MS) {
        finder->asked_ms = now_ms;
        const int length = snprintf(question, sizeof question, "%s\n", job);
        send(finder->fd, question, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    ssize_t length = recv(finder->fd, finder->line + finder->length,
                          sizeof finder->line - finder->length, MSG_DONTWAIT);
    finder->length += length > 0 ? (size_t)length : 0;
    char *end = memchr(finder->line, '\n', finder->length);
    if (end == NULL)
        return 0;
    *end = '\0';
    memcpy(out, finder->line, (size_t)(end - finder->line) + 1);
    finder->length = 0; /* a second answer within a second is the same */
    return 1;
}
