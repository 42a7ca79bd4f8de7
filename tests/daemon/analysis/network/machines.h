/* Machines as the daemon describes them where no network is known, and a line of hosts. */
#ifndef TESTS_DAEMON_ANALYSIS_NETWORK_MACHINES_H
#define TESTS_DAEMON_ANALYSIS_NETWORK_MACHINES_H

#include "daemon/analysis/network/topology.h"

#include <stdint.h>

/** Hosts, then a switch, NUMA domains and cores. Fails the test when it cannot be made. */
struct topology *machine_create(uint32_t hosts, uint32_t numas, uint32_t cores);

/** Hosts without a switch. @param capacity  of each link, bytes a second; 0: not known */
struct topology *machine_line(uint32_t hosts, double capacity);

#endif
