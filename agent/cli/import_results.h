/* Results of the analyses for an imported recording, as a live daemon would have stored them. */
#ifndef HOLTER_AGENT_CLI_IMPORT_RESULTS_H
#define HOLTER_AGENT_CLI_IMPORT_RESULTS_H

/** Run holterd to make them, and show its progress. @return 0, or 1 after printing an error; the
 *  recording is unchanged then */
int import_results(const char *recording);

#endif
