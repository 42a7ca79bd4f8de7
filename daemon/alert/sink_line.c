/* Alerts as lines: on the terminal, in a file, in syslog. */
#include "daemon/alert/sink.h"
#include "holter/error.h"
#include "holter/session.h"
#include "proto/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* ---- text ---------------------------------------------------------------- */

static void sink_line_sanitise(char *text)
{
    size_t length = strlen(text), to = 0;
    for (size_t at = 0; at < length;) {
        size_t n = 1;
        while (n < 4 && at + n < length && utf8_prefix(text + at, n) == 0)
            n++;
        int valid = utf8_prefix(text + at, n) == n;
        n = valid ? n : 1;
        if (!valid || utf8_control(text + at, n) > 0) {
            text[to++] = '?';
        } else {
            memmove(text + to, text + at, n);
            to += n;
        }
        at += n;
    }
    text[to] = '\0';
}

static void sink_line_put_head(const struct wire_alert *a, char *out, size_t capacity)
{
    uint64_t begin = a->onset_ns != 0 && a->onset_ns < a->since_ns ? a->onset_ns : a->since_ns;
    if (strcmp(a->state, "resolved") != 0)
        snprintf(out, capacity, "alert (%s)",
                 a->severity == NULL || a->severity[0] == '\0' ? "warning" : a->severity);
    else
        snprintf(out, capacity, "over after %.0f s",
                 a->updated_ns > begin ? (double)(a->updated_ns - begin) * 1e-9 : 0);
}

void sink_line(const struct wire_alert *a, char *out, size_t capacity)
{
    char head[64], cause[96] = "";
    sink_line_put_head(a, head, sizeof(head));
    if (a->causes_count > 0 && strcmp(a->state, "resolved") != 0)
        snprintf(cause, sizeof(cause), "; %.32s %.0f %%", a->causes[0].name,
                 100 * a->causes[0].share);
    const char *advice = strcmp(a->state, "resolved") == 0 || a->advice == NULL ? "" : a->advice;
    snprintf(out, capacity, "%s: %s%s%s%s", head, a->title, cause, advice[0] == '\0' ? "" : "; ",
             advice);
    sink_line_sanitise(out);
}

/* ---- writing ------------------------------------------------------------- */

static int sink_line_write(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? -EIO : -errno;
        text += n;
        length -= (size_t)n;
    }
    return 0;
}

static int sink_terminal_send(void *state, const struct sink_rule *rule,
                              const struct sink_delivery *delivery, char *why, size_t capacity)
{
    char line[1200], text[1300];
    (void)state;
    (void)rule;
    sink_line(&delivery->message->alert, line, sizeof(line));
    int length = snprintf(text, sizeof(text), "holter: %s\n", line);
    int code = sink_line_write(delivery->terminal, text, (size_t)length);
    if (code != 0)
        snprintf(why, capacity, "%s", holter_strerror(code));
    return code;
}

const struct sink_operations sink_terminal = {
    .name = "terminal", .workers = 1, .send = sink_terminal_send};

/* The file is opened again for each line: it may have been moved away, or have become writable. A
 * pipe without a reader is an error, and does not block. */
static int sink_file_send(void *state, const struct sink_rule *rule,
                          const struct sink_delivery *delivery, char *why, size_t capacity)
{
    struct stat before;
    (void)state;
    if (session_check_shared_file(rule->target, why, capacity) != 0)
        return -EACCES;
    int fd =
        open(rule->target, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    int code = fd < 0 || fstat(fd, &before) != 0 ? -errno : 0;
    if (code == 0 && (code = sink_line_write(fd, delivery->json, delivery->json_length)) != 0 &&
        S_ISREG(before.st_mode) && ftruncate(fd, before.st_size) != 0)
        code = -errno; /* an incomplete line stays in the file */
    if (fd >= 0 && close(fd) != 0 && code == 0)
        code = -errno; /* a quota or a network file system reports it late */
    if (code != 0)
        snprintf(why, capacity, "%s", holter_strerror(code));
    return code;
}

const struct sink_operations sink_file = {
    .name = "file", .workers = 1, .updates = 1, .send = sink_file_send};

/* syslog(3) reports no failure, so the socket is checked before. */
static int sink_syslog_send(void *state, const struct sink_rule *rule,
                            const struct sink_delivery *delivery, char *why, size_t capacity)
{
    static const int priorities[] = {LOG_INFO, LOG_WARNING, LOG_CRIT};
    const struct wire_alert *alert = &delivery->message->alert;
    const struct alert_labels *labels = delivery->labels;
    char line[1200];
    (void)state;
    (void)rule;
    if (access("/dev/log", W_OK) != 0) {
        snprintf(why, capacity, "/dev/log: %s", holter_strerror(-errno));
        return -ENOENT;
    }
    int over = strcmp(alert->state, "resolved") == 0;
    sink_line(alert, line, sizeof(line));
    syslog(LOG_DAEMON | (over ? LOG_NOTICE : priorities[severity_parse(alert->severity)]),
           "job %s%s%s: %s", alert->job, labels->user[0] == '\0' ? "" : " of ", labels->user, line);
    return 0;
}

static int sink_syslog_create(void **out, const struct sink_rule *rule)
{
    (void)rule;
    openlog("holterd", LOG_PID, LOG_DAEMON);
    *out = NULL;
    return 0;
}

static void sink_syslog_destroy(void *state)
{
    (void)state;
    closelog();
}

const struct sink_operations sink_syslog = {.name = "syslog",
                                            .workers = 1,
                                            .create = sink_syslog_create,
                                            .send = sink_syslog_send,
                                            .destroy = sink_syslog_destroy};
