/* A YAML text as a tree of bounded size, with the subset of YAML that Holter's files need: one
 * document; maps, lists and texts; no anchors, aliases and tags. */
#ifndef HOLTER_DAEMON_TOPOLOGY_YAML_TREE_H
#define HOLTER_DAEMON_TOPOLOGY_YAML_TREE_H

#include "daemon/topology/file_text.h"

#define TREE_DEPTH 8u /**< maximum nesting */

enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAP };

struct tree_node {
    enum tree_kind kind;
    unsigned line;           /**< from 1 */
    char *text;              /**< of a TREE_TEXT; owned by the tree, without NUL bytes inside */
    struct tree_node *child; /**< first element of a list, or first key of a map; the value of a key
                                is its `next` */
    struct tree_node *next;  /**< NULL: the last */
};

struct tree {
    struct tree_node *nodes; /**< owned; the first is the root */
    size_t count;
};

struct tree_fault {
    unsigned line; /**< from 1 */
    char why[200]; /**< a sentence */
};

/** Parse a text. @param most  maximum number of values @param fault  set on failure
 * @return 0, -HOLTER_EUSAGE for an error in the text, or -ENOMEM */
int tree_read(struct tree *out, const char *text, size_t length, size_t most,
              struct tree_fault *fault);

/** Zero-initialised is fine. */
void tree_finish(struct tree *tree);

/** "a text", "a list", "a map". */
const char *tree_kind_name(const struct tree_node *node);

/** A key of a map, whose `next` is its value. @return NULL: the map does not have it, or is none */
const struct tree_node *tree_key(const struct tree_node *map, const char *name);

/** Value of a key, or NULL. */
const struct tree_node *tree_value(const struct tree_node *map, const char *key);

/** Does a key also come before this place of its map? */
int tree_is_repeated(const struct tree_node *map, const struct tree_node *key);

/** A value that must be a text. @param key  for reports of faults @return it, or NULL, reported */
const char *tree_text(struct faults *faults, const char *key, const struct tree_node *value);

/** Index of a value in a list of words, or -1, reported. */
int tree_word(struct faults *faults, const char *key, const struct tree_node *value,
              const char *const *words, size_t count);

#endif
