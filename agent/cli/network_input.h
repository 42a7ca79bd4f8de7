/* Input of the commands about networks: traffic between processes, the network, and the placement
 * of processes in it. */
#ifndef HOLTER_AGENT_CLI_NETWORK_INPUT_H
#define HOLTER_AGENT_CLI_NETWORK_INPUT_H

#include "daemon/import/traffic.h"
#include "daemon/topology/topology_file.h"

#include <stdint.h>

/** Zero-initialise, set the options, then call network_input_read(). */
struct network_input {
    const char *command;  /**< name for error messages, "remap" */
    const char *path;     /**< recording, hop-byte or route file */
    const char *named;    /**< name of the file in messages; NULL: path */
    const char *topology; /**< file, short form or NETWORK_GRID; NULL: the recorded network, else
                             the tree of hosts, or what is inferred from routes or hops */
    const char *given;    /**< file of a plain mapping; NULL: none */
    uint64_t per_node;    /**< ranks a node; 0: see pairs_seats() */

    struct pairs pairs;           /**< set; owned */
    struct topology_file network; /**< set; owned */
    uint32_t *seats;              /**< set: of each process; owned */
    const char **hosts; /**< set: by vertex, "" or NULL: not known; owned, names are borrowed */
};

/** The vertex with a name, of a host or in the network, or a number. @return TOPOLOGY_NONE: there
 * is none */
uint32_t network_input_vertex(const struct topology_file *network, const char *name);

/** @return 0, or the exit status, after printing an error */
int network_input_read(struct network_input *input);
void network_input_finish(struct network_input *input);

/** A file_fault that prints a line. @param command  name for error messages, char * */
void network_input_report(void *command, const char *text);

/** Check that no item of a list is empty. @return 0, or 2 after printing an error */
int network_input_list(const char *command, const char *option, const char *list);

/** Processes of a list of ranks or ids, "3,8-11".
 *  @param out  set to memory for free() @return 0, or the exit status, after printing an error */
int network_input_ranks(const struct network_input *input, const char *list, uint32_t **out,
                        uint32_t *count);

/** Check, before long work, that the output can be written and is neither the recording nor the
 *  network. @param path  "-": standard output @return 0, or the exit status, after printing an
 * error */
int network_input_output(const struct network_input *input, const char *path);

/** Write a text to a file, "-": standard output. An earlier file stays when that fails.
 *  @return 0, or the exit status, after printing an error */
int network_input_write(const char *command, const char *path, const char *text, size_t length);

#endif
