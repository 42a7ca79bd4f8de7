/* The network interfaces of a node: which ones are watched, and the files that count for them.
 * Three kinds are found below a sysfs:
 * - InfiniBand: class/infiniband/<device>/ports/<port>, named "<device>/<port>". port_xmit_data and
 *   port_rcv_data in counters/, in words of 4 bytes, or, with old drivers, the 64-bit ones in
 *   counters_ext/; discards and errors; the speed in rate ("100 Gb/sec (4X EDR)"). Source: Linux,
 *   Documentation/ABI/stable/sysfs-class-infiniband. These are bytes of RDMA only; those of sockets
 *   over the same card are in class/net. Only ports that are ACTIVE are watched.
 * - Slingshot: class/cxi/<name>. device/telemetry/hni_sts_{tx,rx}_ok_octets; where a driver lacks
 *   them, packets in hni_pkts_{sent,recv}_by_tc_<0..7>; discarded packets in
 *   hni_discard_cntr_<0..7>. A file holds "count@seconds.nanoseconds" (HPE Cassini Performance
 *   Counters; HPE Slingshot troubleshooting guide). The speed is the number in
 *   device/port/0/link/speed ("ck400G"). Written from these documents and tested with files made
 *   after them, not with a card.
 * - class/net: first the interfaces with a device (a card, real or a virtual machine's); then
 * virtual Ethernet (veth, macvlan in a container), unless it is a port of a bridge on this node; if
 * there is neither, any other one (tun, tap). Never loopback, interfaces that are down, and those
 * that carry the bytes of lower ones a second time (bridges, bonds, VLANs). /sys shows the
 * interfaces of the network namespace in which it was mounted, which may not be the agent's:
 * interfaces whose name, number and address are not found in the agent's own namespace are left
 * out. */
#ifndef HOLTER_AGENT_HOST_INTERFACES_H
#define HOLTER_AGENT_HOST_INTERFACES_H

#include <stdint.h>

#define MAXIMUM_INTERFACES 64u         /**< watched at one time */
#define MAXIMUM_INTERFACE_FILES 640u   /**< held open by all of them */
#define MAXIMUM_FILES_OF_INTERFACE 24u /**< of one interface */
#define INTERFACE_NAME 64u             /**< bytes */

enum interface_quantity {
    INTERFACE_SENT,
    INTERFACE_RECEIVED,
    INTERFACE_DROPPED,
    INTERFACE_QUANTITIES
};

/** One of the files whose counts make up a quantity. */
struct interface_file {
    int fd;
    enum interface_quantity quantity;
    int known;     /**< `last` is valid */
    uint64_t last; /**< count at the last reading */
};

struct interface {
    char name[INTERFACE_NAME + 1]; /**< printable ASCII */
    uint64_t medium;               /**< enum counter_medium */
    uint64_t unit;                 /**< of sent and received: 0 bytes, 1 packets */
    uint64_t factor;               /**< bytes or packets for each one counted */
    uint64_t speed;                /**< bytes a second each way; 0: not known */
    struct interface_file files[MAXIMUM_FILES_OF_INTERFACE];
    uint32_t file_count;
    uint32_t serial;   /**< unique over the life of the agent; assigned by the owner of the table */
    int found;         /**< present in the last listing */
    int stuck;         /**< a count has reached its maximum */
    uint64_t begin_ns; /**< first reading; 0: none yet */
    uint64_t sums[INTERFACE_QUANTITIES]; /**< counted since begin_ns */
};

/** Lists the interfaces of the node: opens new ones, closes those that disappeared or are down,
 * leaves the others open and reads their speed again.
 *  @param root   of the sysfs: "/sys"
 *  @param own    leave out those of other network namespaces
 *  @param table  MAXIMUM_INTERFACES of them; count are in use, in the order above
 *  @return new count */
uint32_t interfaces_look(const char *root, int own, struct interface *table, uint32_t count);

/** Closes the interface's files. */
void interface_close(struct interface *interface);

/** Reads a count: digits, then nothing, white space or '@'.
 *  @return 0, or a negative errno: the file cannot be read, or has no number of 64 bits */
int interface_count(int fd, uint64_t *out);

#endif
