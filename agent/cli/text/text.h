/* Prints published messages, captures, the state of a daemon, and recordings for people. Control
 * characters in received texts are replaced. */
#ifndef HOLTER_AGENT_CLI_TEXT_TEXT_H
#define HOLTER_AGENT_CLI_TEXT_TEXT_H

#include "daemon/storage/recordings/diff.h"
#include "daemon/storage/recordings/info.h"
#include "holter/wire.h"

#include <stdio.h>

/** Names from earlier messages: of vertices from topic "topology", of nodes from topic "places";
 * and the ranks of a row, from topic "job". Zero-initialised: empty. */
struct network_names {
    char **vertices; /**< owned; NULL: the vertex has no name */
    uint64_t vertex_count;
    int more;     /**< the next message has more of them */
    char **nodes; /**< owned */
    uint64_t node_count;
    uint64_t sizes[16]; /**< Cartesian: of the dimensions */
    uint64_t size_count;
    uint64_t group; /**< ranks in a row; 0: one */
    uint64_t world; /**< ranks of the job; 0: not known */
};

/** Store the names in a message; other topics are ignored. Without memory for the names, vertices
 * are printed by number. */
void network_names_take(struct network_names *names, const struct wire_message *message);
void network_names_finish(struct network_names *names);

/** A vertex: its name, its coordinates "(1,0,2)", or "#7". @return text */
const char *network_names_vertex(const struct network_names *names, uint64_t vertex, char text[80]);

/** Print a message of topic "topology": the network, its size, its faults. */
void tap_topology(FILE *out, const struct wire_topology *topology);

/** Print a message of topic "links": a line for each link, route and interface in it. */
void tap_links(FILE *out, const struct wire_links *links, const struct network_names *names);

/** Print a message of a topic: a line, and a table of its rows.
 *  @param snapshot  1: part of a snapshot: sums are since the start
 *  @param names     of vertices, nodes and ranks, from earlier messages */
void tap_text(FILE *out, const struct wire_message *message, int snapshot,
              const struct network_names *names);

/** Print a cell of a table, at least width characters (not bytes) wide, right-aligned if width is
 *  negative. Control characters become '?'. */
void tap_cell(FILE *out, int width, const char *text);

/** Print like fprintf(3), with '?' for control characters, which received texts may contain. A
 * newline is printed only at the end of the format. */
void tap_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print the begin of every message: topic and job. */
void tap_head(FILE *out, const char *topic, const char *job);

/** Print a right-aligned cell of a number and its unit; "-" if it is not known. */
void tap_real(FILE *out, int width, int digits, const char *unit, double value);

/** Print right-aligned cells of numbers: 12.3 k, 4.56 MiB, 1.20 ms. */
void tap_count(FILE *out, int width, uint64_t count);
void tap_bytes(FILE *out, int width, uint64_t bytes);
void tap_duration(FILE *out, int width, double ns);

/** Print a message of topic "phases" or "curve": a line, and one for each row. */
void tap_phases(FILE *out, const struct wire_phases *phases);
void tap_curve(FILE *out, const struct wire_curve *curve);

/** Print a part of a picture: its columns, bars with their ranks, and ribbons. */
void tap_commgram(FILE *out, const struct wire_commgram *picture);

/** Print a message of topic "replay": one line, and one for each alert in it. */
void tap_replay(FILE *out, const struct wire_replay *replay);

/** Messages of one capture: one or more of each node. Zero-initialised: empty. */
struct capture_view {
    struct capture_part {
        struct wire_arena arena;
        struct wire_message message;
    } * parts; /**< owned */
    size_t count, capacity;
};

void capture_view_finish(struct capture_view *view);

/** Store a copy of a message. @return 0 or a negative error */
int capture_view_add(struct capture_view *view, const struct wire_capture *message);

/** Print all stored messages: a line about the capture, for each thread a line and a table of its
 *  calls, and at the end what is missing. */
void capture_print(FILE *out, const struct capture_view *view);

/** Print the message of one node: a line, and one for each thread with its newest call. */
void capture_brief(FILE *out, const struct wire_capture *message);

/** The daemon. */
void status_text_daemon(FILE *out, const char *endpoint, const struct wire_status *status);

/** A job of which only the row in the list of jobs is known. */
void status_text_brief(FILE *out, const struct wire_job_row *row);

/** A job. @param latest   its newest window; NULL: none yet
 *          @param verbose  list calls that are not covered and not used as well */
void status_text_job(FILE *out, const struct wire_job *job, const struct wire_totals *latest,
                     int verbose);

/** How many links of the network under a job are in each state. */
void status_text_links(FILE *out, const struct wire_links *links);

/** The agents of a job. */
void status_text_nodes(FILE *out, const struct wire_nodes *nodes);

void info_print_text(FILE *out, const struct info *info);

void diff_print_text(FILE *out, const struct diff *diff, const char *const paths[2]);

#endif
