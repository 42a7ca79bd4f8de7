/* A suggested mapping as a file for the launcher. */
#ifndef HOLTER_VIEWER_SAVE_MAPPING_H
#define HOLTER_VIEWER_SAVE_MAPPING_H

#include "viewer/model/model.h"
#include "viewer/model/what_if.h"

#include <stddef.h>

/** Write it into a directory: that of the what-if, or where that has none, the last answer, in the
 * form that the job's MPI library takes: Open MPI's rankfile, MPICH's rank order; "rank node" a
 * line for others, and where that form cannot say it.
 *  @param path  set to the file's path
 *  @param text  set: where it is and how the launcher takes it, or why there is none
 *  @return 0 or a negative error */
int save_mapping(const struct model *model, const struct what_if *shown, const char *directory,
                 char *path, size_t path_capacity, char *text, size_t capacity);

#endif
