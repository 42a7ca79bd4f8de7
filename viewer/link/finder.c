/* Asks the process beside the viewer for the endpoint of a job's daemon. */
#include "viewer/link/finder.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { ASK_EVERY_MS = 1000 };

/* Answers may come seconds after their question, when another job is followed.
 * @return 1: out was set */
static int finder_read_answers(struct finder *finder, const char *job,
                               char out[FINDER_ENDPOINT_BYTES])
{
    int found = 0;
    for (char *end; (end = memchr(finder->line, '\n', finder->length)) != NULL;) {
        const size_t used = (size_t)(end - finder->line) + 1, named = strcspn(finder->line, " \n");
        *end = '\0';
        if (finder->line[named] == ' ' && strlen(job) == named &&
            memcmp(finder->line, job, named) == 0)
            found = snprintf(out, FINDER_ENDPOINT_BYTES, "%s", finder->line + named + 1) <
                    (int)FINDER_ENDPOINT_BYTES;
        finder->length -= used;
        memmove(finder->line, end + 1, finder->length);
    }
    if (finder->length == sizeof finder->line)
        finder->length = 0; /* no answer is that long */
    return found;
}

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
    return finder_read_answers(finder, job, out);
}
