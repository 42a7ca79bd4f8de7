/* Log lines with a rate limit for each topic. */
#include "proto/log.h"

#include "holter/clock.h"
#include "proto/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_A_SECOND 10
#define TOPICS 64

/* Lines of a topic in the current second. */
struct budget {
    const char *topic; /* borrowed: string literals; NULL: free */
    uint64_t second;
    unsigned lines;
    unsigned long held; /* lines suppressed since the last printed one */
};

/* A process has one standard error; its log is as global as that. */
static struct {
    pthread_mutex_t lock;
    const char *program;
    int level;
    struct budget budgets[TOPICS];
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER, .program = "holter", .level = LOG_WARN};

int log_level_parse(const char *name, int otherwise)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (int i = 0; name && i < 4; i++) {
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    return otherwise;
}

void log_start(const char *program, int level)
{
    pthread_mutex_lock(&log_state.lock);
    log_state.program = program;
    log_state.level = level >= 0 ? level : log_level_parse(getenv("HOLTER_LOG"), LOG_WARN);
    pthread_mutex_unlock(&log_state.lock);
}

int log_enabled(enum log_level level)
{
    return (int)level <= log_state.level;
}

/* Topics beyond the table share its last entry. */
static struct budget *budget_of(const char *topic)
{
    for (int i = 0; i < TOPICS - 1; i++) {
        struct budget *budget = &log_state.budgets[i];
        if (!budget->topic)
            budget->topic = topic;
        if (strcmp(budget->topic, topic) == 0)
            return budget;
    }
    return &log_state.budgets[TOPICS - 1];
}

/* @return 1 when the line may be printed */
static int log_spend_budget(struct budget *budget, uint64_t second)
{
    if (budget->second != second) {
        budget->second = second;
        budget->lines = 0;
    }
    if (budget->lines >= LINES_A_SECOND) {
        budget->held++;
        return 0;
    }
    budget->lines++;
    return 1;
}

void log_make_printable(char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t control = utf8_control(text, left), step = control > 0 ? control : 1;
        if (control > 0)
            memset(text, '?', control);
        text += step;
        left -= step;
    }
}

void log_line(enum log_level level, const char *topic, const char *format, ...)
{
    if (!log_enabled(level))
        return;
    char text[1024], held[48] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_make_printable(text);

    pthread_mutex_lock(&log_state.lock);
    struct budget *budget = budget_of(topic);
    if (log_spend_budget(budget, clock_mono_ns() / UINT64_C(1000000000))) {
        if (budget->held)
            snprintf(held, sizeof held, " (%lu lines held back)", budget->held);
        budget->held = 0;
        fprintf(stderr, "%s: %s: %s%s\n", log_state.program, topic, text, held);
    }
    pthread_mutex_unlock(&log_state.lock);
}
