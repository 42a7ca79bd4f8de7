/* A job on a network and a window that shows it, for tests of the views of the network. */
#ifndef HOLTER_TESTS_VIEWER_NETWORK_BED_H
#define HOLTER_TESTS_VIEWER_NETWORK_BED_H

#include "tests/viewer/desk.h"
#include "tests/viewer/synthetic_network.h"

struct network_bed {
    struct synthetic_network net;
    struct model *model;
    struct desk desk;
};

struct network_job {
    const char *form;  /**< of the network, the short one of topology.h */
    const char *file;  /**< of hopbytes in tests/data; NULL: a halo exchange */
    uint32_t per_node; /**< ranks */
    int windows;
    int measured; /**< links have counters */
};

/** Job and model, without a window: desk_open() opens it. */
void network_bed_begin(struct network_bed *bed, const struct network_job *job);

/** Job, model, and a view laid out in a window of 1600 x 900. */
void network_bed_open(struct network_bed *bed, enum view_id view, const struct network_job *job);
void network_bed_close(struct network_bed *bed);

/** An input, and a text that was typed; the scene is laid out after it. @return enum ui_effect */
int network_bed_input(struct network_bed *bed, struct input input);
int network_bed_type(struct network_bed *bed, const char *text);

/** The hit of the button of a command. The test fails where there is none. */
const struct scene_hit *network_bed_button(const struct network_bed *bed, enum ui_command command,
                                           uint64_t argument);

#endif
