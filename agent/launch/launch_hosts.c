/* Compares host names and addresses of a launch with those of this host. */
#include "agent/launch/launch_hosts.h"

#include "proto/host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DISCARD_PORT "9" /* nothing is sent there */

static int launch_hosts_same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return 0;
    if (a->sa_family == AF_INET)
        return memcmp(&((const struct sockaddr_in *)(const void *)a)->sin_addr,
                      &((const struct sockaddr_in *)(const void *)b)->sin_addr,
                      sizeof(struct in_addr)) == 0;
    return a->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
                  sizeof(struct in6_addr)) == 0;
}

static int launch_hosts_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static int launch_hosts_is_own_address(const struct sockaddr *address)
{
    struct ifaddrs *interfaces = NULL;
    if (launch_hosts_is_loopback(address))
        return 1;
    if (getifaddrs(&interfaces) < 0)
        return 0;
    int own = 0;
    for (const struct ifaddrs *i = interfaces; i != NULL && !own; i = i->ifa_next)
        own = i->ifa_addr != NULL && launch_hosts_same_address(i->ifa_addr, address);
    freeifaddrs(interfaces);
    return own;
}

/** A name that does not resolve is another host's: ours does, or equals our host name. */
static int launch_hosts_is_this_host(const char *name)
{
    char own[HOST_NAME_CAPACITY];
    host_name(own);
    size_t until_dot = strcspn(own, ".");
    if (strcmp(name, own) == 0 || strcmp(name, "localhost") == 0 ||
        (strlen(name) == until_dot && memcmp(name, own, until_dot) == 0))
        return 1;
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found = NULL;
    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return 0;
    int own_address = found != NULL && launch_hosts_is_own_address(found->ai_addr);
    freeaddrinfo(found);
    return own_address;
}

/** Cut ":slots" off, but not the parts of an IPv6 address. */
static void launch_hosts_cut_slots(char *name)
{
    char *colon = strchr(name, ':');
    if (colon != NULL && strchr(colon + 1, ':') == NULL)
        *colon = '\0';
}

int launch_hosts_find_other(const char *list, char *out, size_t capacity)
{
    static const char separators[] = ", \t\r\n";
    for (const char *p = list + strspn(list, separators); *p != '\0'; p += strspn(p, separators)) {
        size_t length = strcspn(p, separators);
        char name[256];
        int n = snprintf(name, sizeof name, "%.*s", (int)length, p);
        p += length;
        launch_hosts_cut_slots(name);
        if (n <= 0 || (size_t)n >= sizeof name || launch_hosts_is_this_host(name))
            continue;
        snprintf(out, capacity, "%s", name);
        return 1;
    }
    return 0;
}

int launch_hosts_find_other_in_file(const char *path, char *out, size_t capacity)
{
    char line[1024];
    int found = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -errno;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *word = line + strspn(line, " \t");
        word[strcspn(word, "# \t\r\n")] = '\0';
        found = launch_hosts_find_other(word, out, capacity);
    }
    fclose(file);
    return found;
}

static int launch_hosts_print_address(const struct sockaddr *address, socklen_t length, char *out,
                                      size_t capacity)
{
    char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
    if (getnameinfo(address, length, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
        return -ENOENT;
    int v6 = strchr(text, ':') != NULL; /* in an endpoint it stands in brackets */
    int n = snprintf(out, capacity, v6 ? "[%s]" : "%s", text);
    return n < 0 || (size_t)n >= capacity ? -ENOENT : 0;
}

/** Address from which packets to the host would leave. */
static int launch_hosts_route_address(const char *host, char *out, size_t capacity)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found = NULL;
    struct sockaddr_storage local;
    socklen_t length = sizeof local;
    if (getaddrinfo(host, DISCARD_PORT, &hints, &found) != 0)
        return -ENOENT;
    int rc = -ENOENT;
    int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
        getsockname(fd, (struct sockaddr *)&local, &length) == 0 &&
        !launch_hosts_is_loopback((struct sockaddr *)&local))
        rc = launch_hosts_print_address((struct sockaddr *)&local, length, out, capacity);
    if (fd >= 0)
        close(fd);
    freeaddrinfo(found);
    return rc;
}

static int launch_hosts_first_interface(char *out, size_t capacity)
{
    struct ifaddrs *interfaces = NULL;
    int rc = -ENOENT;
    if (getifaddrs(&interfaces) < 0)
        return -errno;
    for (const struct ifaddrs *i = interfaces; i != NULL && rc < 0; i = i->ifa_next)
        if (i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) &&
            !(i->ifa_flags & IFF_LOOPBACK))
            rc = launch_hosts_print_address(i->ifa_addr, sizeof(struct sockaddr_in), out, capacity);
    freeifaddrs(interfaces);
    return rc;
}

int launch_hosts_own_address(const char *other, char *out, size_t capacity)
{
    char own[HOST_NAME_CAPACITY];
    if (other != NULL && launch_hosts_route_address(other, out, capacity) == 0)
        return 0;
    host_name(own);
    if (own[0] != '\0' && launch_hosts_route_address(own, out, capacity) == 0)
        return 0;
    return launch_hosts_first_interface(out, capacity);
}
