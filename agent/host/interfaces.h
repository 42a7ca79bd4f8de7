/* The network interfaces of a node: which ones are watched, and the files that count for them.
 *
 * Three kinds are found below a sysfs:
 *
 *   InfiniBand   class/infiniband/<device>/ports/<port>, named "<device>/<port>": port_xmit_data
 * and port_rcv_data in counters/, in words of 4 bytes, or, of old drivers, the 64-bit ones in
 * counters_ext/; discards and errors; speed in rate ("100 Gb/sec (4X EDR)"). linux,
 * Documentation/ABI/stable/sysfs-class-infiniband. Bytes of RDMA stand here only, those of sockets
 * over the same card in class/net. Slingshot    class/cxi/<name>:
 * device/telemetry/hni_sts_{tx,rx}_ok_octets; where a driver lacks them, packets in
 * hni_pkts_{sent,recv}_by_tc_<0..7>; discarded packets in hni_discard_cntr_<0..7>. A file holds
 * "count@seconds.nanoseconds" (HPE Cassini Performance Counters; HPE Slingshot troubleshooting
 * guide). The speed is the number in device/port/0/link/speed ("ck400G"). Written from these
 * documents and tested with files like theirs: no such card was at hand.
 *
 * Of class/net are watched:
 *   first  those with a device (a card, real or a virtual machine's);
 *   then   virtual Ethernet (veth, macvlan in a container), unless it is a port of a bridge here;
 *   if there is none of either, whatever else there is (tun, tap).
 * Never: loopback, what is down, and what only carries again the bytes of others (bridges, bonds,
 * VLANs: they have lower ones). Of InfiniBand: ports that are ACTIVE.
 *
 * /sys shows the interfaces of the network namespace in which it was mounted, which may be another
 * one than the agent's: those whose name, number and address are not found in the own one are left
 * out.
 */
#ifndef HOLTER_AGENT_HOST_INTERFACES_H
#define HOLTER_AGENT_HOST_INTERFACES_H

#include <stdint.h>

#define MAXIMUM_INTERFACES 64u         /**< watched at one time */
#define MAXIMUM_INTERFACE_FILES 640u   /**< held open by all of them */
#define MAXIMUM_FILES_OF_INTERFACE 24u /**< of one */
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
    int known;     /**< it has been read before */
    uint64_t last; /**< what it held then */
};

struct interface {
    char name[INTERFACE_NAME + 1]; /**< printable ASCII */
    uint64_t medium;               /**< enum counter_medium */
    uint64_t unit;                 /**< of sent and received: 0 bytes, 1 packets */
    uint64_t factor;               /**< bytes or packets for each one counted */
    uint64_t speed;                /**< bytes a second each way; 0: not known */
    struct interface_file files[MAXIMUM_FILES_OF_INTERFACE];
    uint32_t file_count;
    uint32_t serial;   /**< no two interfaces ever have the same; set by the owner */
    int found;         /**< in the last look */
    int stuck;         /**< a count has reached the most that it can hold */
    uint64_t begin_ns; /**< first reading; 0: none yet */
    uint64_t sums[INTERFACE_QUANTITIES]; /**< counted since that */
};

/** Look which interfaces there are: opens new ones, closes those that are gone or down, keeps the
 *  rest as they are and reads their speed again.
 *  @param root   of the sysfs: "/sys"
 *  @param own    leave out those of other network namespaces
 *  @param table  MAXIMUM_INTERFACES of them; count are in use, in the order above
 *  @return new count */
uint32_t interfaces_look(const char *root, int own, struct interface *table, uint32_t count);

/** Close its files. */
void interface_close(struct interface *interface);

/** Read a count: digits, then nothing, white space or '@'.
 *  @return 0, or a negative errno: it cannot be read, or is no number of 64 bits */
int interface_count(int fd, uint64_t *out);

#endif
