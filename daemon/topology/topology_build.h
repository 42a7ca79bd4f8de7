/* A network while it is read from a file: names, links and routes with the lines on which they
 * stand, so that what is wrong with them can be told there. Readers of formats fill it,
 * topology_build_end() checks it. */
#ifndef HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_BUILD_H
#define HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_BUILD_H

#include "daemon/topology/file_text.h"
#include "daemon/topology/topology_file.h"

struct build_vertex {
    char name[TOPOLOGY_NAME + 1];
    enum topology_vertex kind;
    unsigned line; /**< where it is declared; 0: it is only used so far */
    unsigned used; /**< line of its first use */
    uint32_t at;   /**< regular networks: its node; else its number in the end */
    uint32_t next; /**< in its bucket of the hash table */
};

struct build_link {
    uint32_t ends[2];                     /**< vertices as build_name() gave them */
    double capacity;                      /**< bytes a second; 0: the network's */
    char interface[2][TOPOLOGY_NAME + 1]; /**< at each end; "": not known */
    unsigned line;
    int one_way;
};

/** A route: words[first] .. words[first + count - 1] name its vertices. */
struct build_route {
    uint32_t first, count;
    unsigned line;
};

struct build {
    struct faults *faults;
    struct topology_spec spec; /**< name, kind, tie, capacity, dimensions: set by readers */
    struct build_vertex *vertices;
    uint32_t count, room;
    uint32_t *buckets;
    uint32_t bucket_count;
    struct build_link *links;
    uint32_t link_count, link_room;
    struct build_route *routes;
    uint32_t route_count, route_room;
    const char **words; /**< borrowed */
    uint32_t word_count, word_room;
    uint32_t nodes;  /**< regular networks: how many it has, 0: not known */
    uint32_t *owner; /**< regular networks: which vertex of ours is at each node, plus 1 */
    int code;        /**< -ENOMEM: stop */
};

/** Begin. @param faults  borrowed */
void build_begin(struct build *build, struct faults *faults);
void build_finish(struct build *build);

/** Number of a name, which need not be declared yet. @return TOPOLOGY_NONE after telling */
uint32_t build_name(struct build *build, const char *name, unsigned line);

/** A node or switch. @return 0, or -1 after telling: it is declared already */
int build_declare(struct build *build, uint32_t vertex, enum topology_vertex kind, unsigned line);

/** Regular networks: this host is this node. */
void build_place(struct build *build, const char *host, uint32_t node, unsigned line);

/** @param link  copied */
void build_link(struct build *build, const struct build_link *link);

/** Begin a route, then name its vertices. */
void build_route(struct build *build, unsigned line);
void build_route_word(struct build *build, const char *word);

/** Check all and make the network. @return 0, -HOLTER_EUSAGE after telling, or -ENOMEM */
int build_end(struct build *build, struct topology_file *out);

/** Bytes a second: "10 Gbit/s", "1.25 GB/s", "2 GiB/s", "1e9" (bytes). @return 0: it is none */
int build_capacity(const char *text, double *out);

/* Readers of formats. @return 0, -HOLTER_EUSAGE after telling, or -ENOMEM */
int topology_yaml(struct topology_file *out, const char *text, size_t length,
                  struct faults *faults);
int topology_slurm_conf(struct topology_file *out, const char *text, size_t length,
                        struct faults *faults);
int topology_recorded(struct topology_file *out, const char *text, size_t length,
                      struct faults *faults);

#endif
