/* A network while it is read from a file: names, links and routes with their line numbers, so that
 * faults can be reported with them. Readers of formats fill it, build_end() checks it. */
#ifndef HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_BUILD_H
#define HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_BUILD_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/topology/file_text.h"
#include "daemon/topology/topology_file.h"

struct build_vertex {
    char name[TOPOLOGY_NAME + 1];
    enum topology_vertex kind;
    unsigned line; /**< line of its declaration; 0: it is only used so far */
    unsigned used; /**< line of its first use */
    int is_below;  /**< 1: the file says that it is below another vertex */
    uint32_t at;   /**< regular networks: its node; else its final number */
};

struct build_link {
    uint32_t ends[2];                     /**< vertices as returned by build_name() */
    double capacity;                      /**< bytes a second; 0: that of the network */
    char interface[2][TOPOLOGY_NAME + 1]; /**< at each end; "": unknown */
    unsigned line;
    int one_way;
    int upward; /**< 1: the file says that ends[1] is above ends[0] */
};

/** A route: words[first] .. words[first + count - 1] name its vertices. */
struct build_route {
    uint32_t first, count;
    unsigned line;
};

struct build {
    struct faults *faults;
    struct topology_spec spec;     /**< name, kind, tie, capacity, dimensions: set by readers */
    struct key_table names;        /**< hi: hash of a name; lo: number among those with this hash */
    struct build_vertex *vertices; /**< by number of the name */
    struct build_link *links;
    struct build_route *routes;
    const char **words; /**< borrowed */
    uint32_t count, link_count, route_count, word_count;
    size_t capacity, link_capacity, route_capacity, word_capacity;
    uint32_t nodes;  /**< regular networks: number of nodes, 0: unknown */
    uint32_t *owner; /**< regular networks: 1 + vertex of the build at each node */
    int code;        /**< -ENOMEM: stop reading */
};

/** Begin. @param faults  borrowed */
void build_begin(struct build *build, struct faults *faults);
void build_finish(struct build *build);

/** Number of a name, which need not be declared yet. @return TOPOLOGY_NONE, reported */
uint32_t build_name(struct build *build, const char *name, unsigned line);

/** Declare a node or switch. @return its number, or TOPOLOGY_NONE, reported: it is declared
 * already, or cannot have that name */
uint32_t build_declare(struct build *build, const char *name, enum topology_vertex kind,
                       unsigned line);

/** Add a link from a name to link->ends[1]. @param hosts  the name is that of a host, which need
 * not be declared before */
void build_join(struct build *build, const char *name, struct build_link *link, int hosts);

/** Place a host on a node of a regular network. */
void build_place(struct build *build, const char *host, uint32_t node, unsigned line);

/** @param link  copied */
void build_link(struct build *build, const struct build_link *link);

/** Begin a route; its vertices follow. */
void build_route(struct build *build, unsigned line);
void build_route_word(struct build *build, const char *word);

/** Check everything and make the network. @return 0, -HOLTER_EUSAGE, reported, or -ENOMEM */
int build_end(struct build *build, struct topology_file *out);

/** Parse a capacity in bytes a second: "10 Gbit/s", "1.25 GB/s", "2 GiB/s", "1e9" (bytes). @return
 * 0: malformed */
int build_capacity(const char *text, double *out);

/* Readers of formats. @return 0, -HOLTER_EUSAGE, reported, or -ENOMEM */
int topology_yaml(struct topology_file *out, const char *text, size_t length,
                  struct faults *faults);
int topology_slurm_conf(struct topology_file *out, const char *text, size_t length,
                        struct faults *faults);
int topology_recorded(struct topology_file *out, const char *text, size_t length,
                      struct faults *faults);

#endif
