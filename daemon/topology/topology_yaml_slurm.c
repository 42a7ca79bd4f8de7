/* Reader of Slurm's topology.yaml(5): a list of topologies, of which one is used. */
#include "daemon/topology/topology_yaml.h"

#include <stdio.h>
#include <string.h>

static int yaml_slurm_is_default(const struct tree_node *map)
{
    const struct tree_node *value = tree_value(map, "cluster_default");
    return value != NULL && value->kind == TREE_TEXT && strcmp(value->text, "true") == 0;
}

/* The cluster's default topology, or else the first one. */
static const struct tree_node *yaml_slurm_choose(struct yaml_reader *r,
                                                 const struct tree_node *root)
{
    const struct tree_node *chosen = NULL;
    for (const struct tree_node *item = root->child; item != NULL; item = item->next) {
        if (!yaml_is_kind(r, "topology", item, TREE_MAP))
            return NULL;
        if (tree_value(item, "topology") == NULL)
            fault_at(r->faults, item->line,
                     "`topology` is missing: neither a topology for Holter nor one of Slurm");
        if (chosen == NULL || (!yaml_slurm_is_default(chosen) && yaml_slurm_is_default(item)))
            chosen = item;
    }
    if (chosen == NULL)
        fault_at(r->faults, root->line, "there is no topology in the list");
    return chosen;
}

/* Blocks of nodes: a switch for each, and one above them. */
static void yaml_slurm_blocks(struct yaml_reader *r, const struct tree_node *blocks,
                              const char *name)
{
    static const char *const words[] = {"block", "nodes", ""};
    char top_name[TOPOLOGY_NAME + 1];
    snprintf(top_name, sizeof(top_name), "%.60s", name);
    uint32_t top = build_declare(r->build, top_name, VERTEX_SWITCH, blocks->line);
    if (top == TOPOLOGY_NONE)
        return;
    for (const struct tree_node *item = blocks->child; item != NULL && r->build->code == 0;
         item = item->next) {
        if (!yaml_is_kind(r, "blocks", item, TREE_MAP))
            continue;
        const struct tree_node *block = tree_value(item, "block");
        yaml_check_keys(r, item, "a block", " block nodes ");
        yaml_switch(r, item, words);
        if (block == NULL || block->kind != TREE_TEXT || block->text[0] == '\0')
            continue;
        struct build_link link = {.line = item->line, .upward = 1};
        link.ends[0] = build_name(r->build, block->text, item->line);
        link.ends[1] = top;
        if (link.ends[0] != TOPOLOGY_NONE)
            build_link(r->build, &link);
    }
}

static void yaml_slurm_tree(struct yaml_reader *r, const struct tree_node *switches)
{
    static const char *const words[] = {"switch", "nodes", "children"};
    for (const struct tree_node *item = switches->child; item != NULL && r->build->code == 0;
         item = item->next) {
        if (!yaml_is_kind(r, "switches", item, TREE_MAP))
            continue;
        yaml_check_keys(r, item, "a switch", " switch nodes children ");
        yaml_switch(r, item, words);
    }
}

void yaml_slurm(struct yaml_reader *r, const struct tree_node *root)
{
    const struct tree_node *map = yaml_slurm_choose(r, root), *tree, *block, *list = NULL;
    if (map == NULL)
        return;
    r->build->spec.kind = TOPOLOGY_TREE;
    const struct tree_node *name = tree_value(map, "topology");
    yaml_check_keys(r, map, "a topology of Slurm", " topology cluster_default tree block flat ");
    if (name == NULL)
        return;
    yaml_copy_text(r, "topology", name, r->build->spec.name, sizeof(r->build->spec.name));
    tree = tree_value(map, "tree");
    block = tree_value(map, "block");
    if (tree != NULL && yaml_is_kind(r, "tree", tree, TREE_MAP))
        list = tree_value(tree, "switches");
    else if (block != NULL && yaml_is_kind(r, "block", block, TREE_MAP))
        list = tree_value(block, "blocks");
    if (list == NULL)
        fault_at(r->faults, map->line, "neither tree: switches: nor block: blocks: is given");
    else if (yaml_is_kind(r, tree != NULL ? "switches" : "blocks", list, TREE_LIST)) {
        if (tree != NULL)
            yaml_slurm_tree(r, list);
        else
            yaml_slurm_blocks(r, list, r->build->spec.name);
    }
}
