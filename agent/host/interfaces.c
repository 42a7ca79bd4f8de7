/* Finds the node's network interfaces in sysfs and opens the files that count for them. */
#include "agent/host/interfaces.h"

#include "holter/plain_text.h"
#include "holter/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAXIMUM_NAMES 1024u /* entries of a directory that are read */
#define TEXT_CAPACITY 128u  /* of a sysfs file; the rest is ignored */

/* ---- files ----------------------------------------------------------------------------------- */

/* Opens a plain file; anything else at that path is refused, without blocking. */
static int interfaces_open_file(int directory, const char *path)
{
    struct stat what;
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &what) != 0 || !S_ISREG(what.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* @return length of the first line; 0: there is none */
static size_t interfaces_read_line(int directory, const char *path, char text[TEXT_CAPACITY])
{
    int fd = interfaces_open_file(directory, path);
    ssize_t n = fd < 0 ? 0 : pread(fd, text, TEXT_CAPACITY - 1, 0);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strlen(text);
}

int interface_count(int fd, uint64_t *out)
{
    char text[TEXT_CAPACITY];
    uint64_t value;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    const char *end = text_number(text, UINT64_MAX, &value);
    if (end == NULL || (*end != '\0' && *end != '\n' && *end != ' ' && *end != '@'))
        return -EINVAL;
    *out = value;
    return 0;
}

/* @param missing  returned when the line is not a number */
static uint64_t interfaces_read_number(int directory, const char *path, uint64_t missing)
{
    char text[TEXT_CAPACITY];
    uint64_t value;
    interfaces_read_line(directory, path, text);
    const char *end = text_number(text, UINT64_MAX, &value);
    return end != NULL && *end == '\0' ? value : missing;
}

static int interfaces_exists(int directory, const char *path)
{
    struct stat what;
    return fstatat(directory, path, &what, AT_SYMLINK_NOFOLLOW) == 0;
}

static int interfaces_open_directory(int directory, const char *path)
{
    return openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
}

/* Names are sent over the wire and shown on terminals: only visible ASCII. */
static int interfaces_is_usable(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return 0;
    return length > 0 && length <= INTERFACE_NAME && name[0] != '.';
}

static int interfaces_compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

typedef char name_text[INTERFACE_NAME + 1];

/* Entries of a directory, by name. @return how many; *out is to be freed */
static uint32_t interfaces_list_names(int directory, name_text **out)
{
    *out = NULL;
    int fd = interfaces_open_directory(directory, ".");
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (d == NULL) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    name_text *names = calloc(MAXIMUM_NAMES, sizeof *names);
    uint32_t count = 0;
    for (struct dirent *entry;
         names != NULL && count < MAXIMUM_NAMES && (entry = readdir(d)) != NULL;)
        if (interfaces_is_usable(entry->d_name))
            snprintf(names[count++], sizeof *names, "%.*s", (int)INTERFACE_NAME, entry->d_name);
    closedir(d);
    if (count > 0)
        qsort(names, count, sizeof *names, interfaces_compare_names);
    *out = names;
    return count;
}

/* ---- the table ------------------------------------------------------------------------------- */

struct look {
    struct interface *table;
    uint32_t count, files;
    const char *device;  /* whose ports are listed */
    struct ifaddrs *own; /* NULL: interfaces of any namespace are accepted */
};

void interface_close(struct interface *interface)
{
    for (uint32_t i = 0; i < interface->file_count; i++)
        close(interface->files[i].fd);
    interface->file_count = 0;
}

/* The interface of that name, a new one when there is none. NULL: the table is full. */
static struct interface *interfaces_add_interface(struct look *look, const char *name,
                                                  uint64_t medium)
{
    for (uint32_t i = 0; i < look->count; i++)
        if (look->table[i].medium == medium && strcmp(look->table[i].name, name) == 0)
            return &look->table[i];
    if (look->count == MAXIMUM_INTERFACES)
        return NULL;
    struct interface *interface = &look->table[look->count];
    *interface = (struct interface){.medium = medium, .factor = 1};
    snprintf(interface->name, sizeof interface->name, "%s", name);
    return interface;
}

static void interfaces_add_file(struct look *look, struct interface *interface, int directory,
                                const char *path, enum interface_quantity quantity)
{
    if (interface->file_count == MAXIMUM_FILES_OF_INTERFACE ||
        look->files == MAXIMUM_INTERFACE_FILES)
        return;
    int fd = interfaces_open_file(directory, path);
    if (fd < 0)
        return;
    look->files++;
    interface->files[interface->file_count++] = (struct interface_file){fd, quantity, 0, 0};
}

/* Files by traffic class: <prefix><0..7> */
static void interfaces_add_classes(struct look *look, struct interface *interface, int directory,
                                   const char *prefix, enum interface_quantity quantity)
{
    for (unsigned class = 0; class < 8; class ++) {
        char path[TEXT_CAPACITY];
        snprintf(path, sizeof path, "%s%u", prefix, class);
        interfaces_add_file(look, interface, directory, path, quantity);
    }
}

static int interfaces_counts_both_ways(const struct interface *interface)
{
    int sent = 0, received = 0;
    for (uint32_t i = 0; i < interface->file_count; i++) {
        sent |= interface->files[i].quantity == INTERFACE_SENT;
        received |= interface->files[i].quantity == INTERFACE_RECEIVED;
    }
    return sent && received;
}

static void interfaces_drop_files(struct look *look, struct interface *interface)
{
    look->files -= interface->file_count;
    interface_close(interface);
}

/* A new interface is added to the table if a file that counts for it was found. */
static void interfaces_set_speed(struct look *look, struct interface *interface, uint64_t speed)
{
    interface->speed = speed;
    if (interface != &look->table[look->count])
        interface->found = 1;
    else if (interfaces_counts_both_ways(interface)) {
        interface->found = 1;
        look->count++;
    } else {
        interfaces_drop_files(look, interface);
    }
}

/* Opens the directories in one, and adds what each one is. */
static void interfaces_each(struct look *look, int parent, const char *path,
                            void (*add)(struct look *look, int directory, const char *name))
{
    name_text *names = NULL;
    int class = interfaces_open_directory(parent, path);
    uint32_t count = class < 0 ? 0 : interfaces_list_names(class, &names);
    for (uint32_t i = 0; i < count; i++) {
        int directory = interfaces_open_directory(class, names[i]);
        if (directory >= 0) {
            add(look, directory, names[i]);
            close(directory);
        }
    }
    free(names);
    if (class >= 0)
        close(class);
}

static uint64_t interfaces_parse_speed(double gigabits)
{
    return gigabits > 0 && gigabits < 1e6 ? (uint64_t)(gigabits * 1e9 / 8) : 0;
}

/* ---- Ethernet -------------------------------------------------------------------------------- */

enum net_rank { NET_CARD, NET_VIRTUAL, NET_OTHER, NET_SKIPPED };

static int interfaces_is_down(int net)
{
    char text[TEXT_CAPACITY];
    if (interfaces_read_line(net, "flags", text) > 0 && (strtoul(text, NULL, 16) & IFF_UP) == 0)
        return 1;
    return interfaces_read_line(net, "operstate", text) > 0 &&
           (strcmp(text, "down") == 0 || strcmp(text, "notpresent") == 0 ||
            strcmp(text, "lowerlayerdown") == 0);
}

static int interfaces_has_lower(int net)
{
    name_text *names;
    uint32_t count = interfaces_list_names(net, &names);
    int found = interfaces_exists(net, "bridge") || interfaces_exists(net, "bonding");
    for (uint32_t i = 0; i < count; i++)
        found |= strncmp(names[i], "lower_", 6) == 0;
    free(names);
    return found;
}

/* Whether this interface is of the agent's own namespace: another one may have one of the same
 * name. */
static int interfaces_is_own(const struct look *look, int net, const char *name)
{
    char wanted[TEXT_CAPACITY], text[3 * sizeof(((struct sockaddr_ll *)0)->sll_addr) + 1] = "";
    if (look->own == NULL)
        return 1;
    uint64_t number = interfaces_read_number(net, "ifindex", 0);
    interfaces_read_line(net, "address", wanted);
    for (const struct ifaddrs *at = look->own; at != NULL; at = at->ifa_next) {
        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != AF_PACKET ||
            strcmp(at->ifa_name, name) != 0)
            continue;
        struct sockaddr_ll address;
        memcpy(&address, at->ifa_addr, sizeof address);
        if ((uint64_t)address.sll_ifindex != number)
            return 0;
        /* of IPoIB's 20 bytes the first ones */
        for (unsigned i = 0; i < address.sll_halen && i < sizeof address.sll_addr; i++)
            snprintf(text + 3 * i, 4, i == 0 ? "%02x" : ":%02x", address.sll_addr[i]);
        size_t length = strlen(text);
        return length == 0 || strncmp(text, wanted, length) == 0;
    }
    return 0;
}

static enum net_rank interfaces_order_net(const struct look *look, int net, const char *name)
{
    uint64_t type = interfaces_read_number(net, "type", ARPHRD_NONE);
    if (type == ARPHRD_LOOPBACK || interfaces_is_down(net) || !interfaces_is_own(look, net, name))
        return NET_SKIPPED;
    if (interfaces_exists(net, "device"))
        return NET_CARD;
    if (interfaces_has_lower(net) || interfaces_exists(net, "master"))
        return NET_SKIPPED;
    return type == ARPHRD_ETHER && !interfaces_exists(net, "tun_flags") ? NET_VIRTUAL : NET_OTHER;
}

/* Virtual interfaces report 10 Gb/s or nothing, neither of which bounds their traffic. */
static uint64_t interfaces_read_net_speed(int net, enum net_rank rank)
{
    uint64_t megabits = rank == NET_CARD ? interfaces_read_number(net, "speed", 0) : 0;
    return megabits == UINT32_MAX ? 0 : interfaces_parse_speed((double)megabits / 1000);
}

static void interfaces_add_net(struct look *look, int net, const char *name, enum net_rank rank)
{
    static const struct {
        const char *path;
        enum interface_quantity quantity;
    } files[] = {
        {"statistics/tx_bytes", INTERFACE_SENT},      {"statistics/rx_bytes", INTERFACE_RECEIVED},
        {"statistics/tx_dropped", INTERFACE_DROPPED}, {"statistics/rx_dropped", INTERFACE_DROPPED},
        {"statistics/tx_errors", INTERFACE_DROPPED},  {"statistics/rx_errors", INTERFACE_DROPPED},
    };
    struct interface *interface = interfaces_add_interface(look, name, COUNTER_ETHERNET);
    if (interface == NULL)
        return;
    int is_new = interface->file_count == 0;
    for (size_t i = 0; is_new && i < sizeof files / sizeof *files; i++)
        interfaces_add_file(look, interface, net, files[i].path, files[i].quantity);
    interfaces_set_speed(look, interface, interfaces_read_net_speed(net, rank));
}

static void interfaces_scan_nets(struct look *look, int root)
{
    name_text *names = NULL;
    int class = interfaces_open_directory(root, "class/net");
    uint32_t count = class < 0 ? 0 : interfaces_list_names(class, &names);
    if (class < 0)
        return;
    uint8_t ranks[MAXIMUM_NAMES];
    int better = 0;
    for (uint32_t i = 0; i < count; i++) {
        int net = interfaces_open_directory(class, names[i]);
        ranks[i] = net < 0 ? NET_SKIPPED : (uint8_t)interfaces_order_net(look, net, names[i]);
        better |= ranks[i] <= NET_VIRTUAL;
        if (net >= 0)
            close(net);
    }
    for (int rank = NET_CARD; rank <= (better ? NET_VIRTUAL : NET_OTHER); rank++)
        for (uint32_t i = 0; i < count; i++) {
            int net = ranks[i] == rank ? interfaces_open_directory(class, names[i]) : -1;
            if (net >= 0)
                interfaces_add_net(look, net, names[i], (enum net_rank)rank);
            if (net >= 0)
                close(net);
        }
    free(names);
    close(class);
}

/* ---- InfiniBand ------------------------------------------------------------------------------ */

#define WORD_BYTES 4u /* in which ports count data */

static int interfaces_has_file(int directory, const char *path)
{
    int fd = interfaces_open_file(directory, path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void interfaces_add_port(struct look *look, int port, const char *number)
{
    char text[TEXT_CAPACITY], name[2 * INTERFACE_NAME + 2];
    if (interfaces_read_line(port, "state", text) > 0 && strstr(text, "ACTIVE") == NULL)
        return;
    snprintf(name, sizeof name, "%s/%s", look->device, number);
    if (!interfaces_is_usable(name))
        return;
    struct interface *interface = interfaces_add_interface(look, name, COUNTER_INFINIBAND);
    if (interface == NULL)
        return;
    if (interface->file_count == 0) {
        int wide = interfaces_has_file(port, "counters_ext/port_xmit_data_64");
        interface->factor = WORD_BYTES;
        interfaces_add_file(look, interface, port,
                            wide ? "counters_ext/port_xmit_data_64" : "counters/port_xmit_data",
                            INTERFACE_SENT);
        interfaces_add_file(look, interface, port,
                            wide ? "counters_ext/port_rcv_data_64" : "counters/port_rcv_data",
                            INTERFACE_RECEIVED);
        interfaces_add_file(look, interface, port, "counters/port_xmit_discards",
                            INTERFACE_DROPPED);
        interfaces_add_file(look, interface, port, "counters/port_rcv_errors", INTERFACE_DROPPED);
    }
    interfaces_read_line(port, "rate", text);
    interfaces_set_speed(look, interface, interfaces_parse_speed(strtod(text, NULL)));
}

static void interfaces_add_device(struct look *look, int device, const char *name)
{
    look->device = name;
    interfaces_each(look, device, "ports", interfaces_add_port);
}

/* ---- Slingshot ------------------------------------------------------------------------------- */

/* "ck400G": the number before the G. */
static uint64_t interfaces_read_cxi_speed(int card)
{
    char text[TEXT_CAPACITY];
    interfaces_read_line(card, "device/port/0/link/speed", text);
    const char *end = text + strcspn(text, "G"), *at = end;
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return *end == 'G' ? interfaces_parse_speed(strtod(at, NULL)) : 0;
}

#define TELEMETRY "device/telemetry/"

static void interfaces_add_card(struct look *look, int card, const char *name)
{
    struct interface *interface = interfaces_add_interface(look, name, COUNTER_SLINGSHOT);
    if (interface == NULL)
        return;
    if (interface->file_count == 0) {
        interfaces_add_file(look, interface, card, TELEMETRY "hni_sts_tx_ok_octets",
                            INTERFACE_SENT);
        interfaces_add_file(look, interface, card, TELEMETRY "hni_sts_rx_ok_octets",
                            INTERFACE_RECEIVED);
        if (!interfaces_counts_both_ways(interface)) {
            interfaces_drop_files(look, interface);
            interface->unit = 1;
            interfaces_add_classes(look, interface, card, TELEMETRY "hni_pkts_sent_by_tc_",
                                   INTERFACE_SENT);
            interfaces_add_classes(look, interface, card, TELEMETRY "hni_pkts_recv_by_tc_",
                                   INTERFACE_RECEIVED);
        }
        interfaces_add_classes(look, interface, card, TELEMETRY "hni_discard_cntr_",
                               INTERFACE_DROPPED);
    }
    interfaces_set_speed(look, interface, interfaces_read_cxi_speed(card));
}

/* ---------------------------------------------------------------------------------------------- */

static uint32_t interfaces_remove_lost(struct interface *table, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!table[i].found)
            interface_close(&table[i]);
        else if (kept++ != i)
            table[kept - 1] = table[i];
    }
    return kept;
}

uint32_t interfaces_look(const char *root, int own, struct interface *table, uint32_t count)
{
    struct look look = {.table = table, .count = count};
    int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int mine = !own || getifaddrs(&look.own) == 0;
    for (uint32_t i = 0; i < count; i++) {
        table[i].found = 0;
        look.files += table[i].file_count;
    }
    if (directory >= 0) {
        interfaces_each(&look, directory, "class/infiniband", interfaces_add_device);
        interfaces_each(&look, directory, "class/cxi", interfaces_add_card);
        if (mine)
            interfaces_scan_nets(&look, directory);
        close(directory);
    }
    if (look.own != NULL)
        freeifaddrs(look.own);
    return interfaces_remove_lost(table, look.count);
}
