/* The command line of holter-view. */
#ifndef HOLTER_VIEWER_VIEW_OPTIONS_H
#define HOLTER_VIEWER_VIEW_OPTIONS_H

#include "viewer/layout/theme.h"
#include "viewer/model/model_commgram.h"
#include "viewer/places/address.h"

#include <stddef.h>
#include <stdint.h>

#define OPTIONS_MAPPINGS 12 /**< most that can be given */

struct options {
    const char *endpoint, *ssh_host, *key_dir, *job;
    uint64_t finder;        /**< --finder, of holter view: socket where the
                                endpoint is asked for (finder.h); 0: none */
    const char *against;    /**< endpoint of a second run, to compare with; NULL: none */
    const char *names[2];   /**< of both runs, for people; NULL: not given */
    char name_text[2][256]; /**< what names points to */
    const char *snapshot;   /**< NULL: a window */
    const char *save_in;    /**< directory of what the window saves; not NULL */
    int view;               /**< enum view_id; -1: not given */
    const char *at;         /**< an address; NULL: none. It sets view, from, to and since_start */
    struct address address; /**< of it */
    int w, h;               /**< pixels */
    double after;           /**< seconds of data before the picture is taken */
    double scale;
    int theme; /**< enum theme_kind */
    /* what the CommGram begins with; 0 and NaN: not given */
    uint64_t phases, communities;
    double from, to; /**< seconds since the job's start, or before its newest data when negative */
    char ranks[COMMGRAM_LIST]; /**< "3,8-11"; "": all */
    int no_collectives;
    const char *select; /**< "link:(0,0)-(0,1)"; NULL: nothing */
    int suggest;        /**< bits 1 << enum suggestion_kind: what the daemon is asked for */
    int objective;      /**< enum remap_objective, of a mapping */
    int apply;          /**< the network is shown as suggested */
    int compare;        /**< enum network_compare, what is shown then */
    const char *mappings[OPTIONS_MAPPINGS]; /**< files of lines "rank node" */
    int mapping_count;
    const char *layout; /**< file of layouts by formulas; NULL: none */
    int shape;          /**< enum landscape_shape */
    int arrange;        /**< enum dependency_arrangement */
    int since_start;    /**< sums since the start in place of the visible time */
    int play;           /**< a replay that waits at its begin is started */
    int show_help, show_version;
};

/** Read the command line; texts stay the caller's.
 *  @param why  room for a sentence that names what is wrong
 *  @return 0 or -HOLTER_EUSAGE */
int options_parse(struct options *out, int argc, char **argv, char *why, size_t capacity);

extern const char options_help[];

#endif
