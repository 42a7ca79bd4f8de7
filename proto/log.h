/* Log lines on standard error: "holterd: ingest: rejected ...". One topic per file, lowercase;
 * repeated lines are suppressed and counted. Never used by the probe. */
#ifndef HOLTER_PROTO_LOG_H
#define HOLTER_PROTO_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/** Start logging.
 *  @param program  name that begins each line; borrowed
 *  @param level    enum log_level; negative: that of HOLTER_LOG */
void log_start(const char *program, int level);

/** A level by its name. @return `otherwise` if name is NULL or names no level */
int log_level_parse(const char *name, int otherwise);

/** Is this level printed? */
int log_enabled(enum log_level level);

/** One line. At most ten a second for each topic; suppressed lines are counted in the next
 *  line. */
void log_line(enum log_level level, const char *topic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Replace the bytes of control characters, see utf8_control(), by "?": texts from peers and files
 * must not forge a second line or send control sequences to a terminal. */
void log_make_printable(char *text);

#define log_error(...) log_line(LOG_ERROR, LOG_TOPIC, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, LOG_TOPIC, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, LOG_TOPIC, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, LOG_TOPIC, __VA_ARGS__)

#endif
