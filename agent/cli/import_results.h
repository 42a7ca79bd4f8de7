/* The results of a recording that was imported: what a daemon would have put into its tables. */
#ifndef HOLTER_AGENT_CLI_IMPORT_RESULTS_H
#define HOLTER_AGENT_CLI_IMPORT_RESULTS_H

/** Have holterd make them, and show how far it is. @return 0, or 1 after saying why: the recording
 * is as it was */
int import_results(const char *recording);

#endif
