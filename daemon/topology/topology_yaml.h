/* Parts of the reader of networks in YAML. Each reports faults and continues. Internal to
 * topology_yaml*.c. */
#ifndef HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_YAML_H
#define HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_YAML_H

#include "daemon/topology/topology_build.h"
#include "daemon/topology/yaml_tree.h"

struct yaml_reader {
    struct build *build;
    struct faults *faults;
};

/* ---- values: @param key  for reports of faults ---- */

int yaml_is_kind(struct yaml_reader *r, const char *key, const struct tree_node *value,
                 enum tree_kind kind);
/** A value that must be a number. @return 1, or 0, reported */
int yaml_number(struct yaml_reader *r, const char *key, const struct tree_node *value,
                uint32_t most, uint32_t *out);
int yaml_yes_no(struct yaml_reader *r, const char *key, const struct tree_node *value, int *out);
void yaml_copy_text(struct yaml_reader *r, const char *key, const struct tree_node *value,
                    char *out, size_t capacity);
void yaml_capacity(struct yaml_reader *r, const struct tree_node *value, double *out);

/** Report keys that are unknown, or occur twice. @param known  words separated and surrounded by
 * blanks */
void yaml_check_keys(struct yaml_reader *r, const struct tree_node *map, const char *what,
                     const char *known);

/* ---- sections ---- */

void yaml_nodes(struct yaml_reader *r, const struct tree_node *value);
void yaml_switches(struct yaml_reader *r, const struct tree_node *value);
void yaml_links(struct yaml_reader *r, const struct tree_node *value);
void yaml_routes(struct yaml_reader *r, const struct tree_node *value);
/** Read one switch. @param words  keys of its name, and of what is below: nodes, switches; Slurm's
 * differ */
void yaml_switch(struct yaml_reader *r, const struct tree_node *map, const char *const words[3]);
/** Read a topology.yaml of Slurm, which is a list. */
void yaml_slurm(struct yaml_reader *r, const struct tree_node *root);

#endif
