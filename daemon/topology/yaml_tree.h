/* A YAML text as a tree of bounded size, with the subset of YAML that Holter's files need: one
 * document; maps, lists and texts; no anchors, aliases and tags. */
#ifndef HOLTER_DAEMON_TOPOLOGY_YAML_TREE_H
#define HOLTER_DAEMON_TOPOLOGY_YAML_TREE_H

#include <stddef.h>

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

#endif
