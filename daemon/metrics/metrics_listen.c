/* The listening socket of the page of metrics. */
#include "daemon/metrics/metrics_listen.h"

#include "holter/error.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_CAPACITY 256u
#define BACKLOG 64

/* Split HOST:PORT or [HOST]:PORT. @return 0 or -HOLTER_EUSAGE */
static int listen_split(const char *address, char host[HOST_CAPACITY], const char **port)
{
    const char *colon = strrchr(address, ':');
    const char *from = address, *to = colon;
    if (colon == NULL || colon == address)
        return -HOLTER_EUSAGE;
    if (address[0] == '[') {
        if (colon[-1] != ']')
            return -HOLTER_EUSAGE;
        from++;
        to--;
    } else if (strchr(address, ':') != colon) {
        return -HOLTER_EUSAGE;
    }
    const size_t length = (size_t)(to - from), digits = strspn(colon + 1, "0123456789");
    if (length == 0 || length >= HOST_CAPACITY || digits == 0 || digits > 5 ||
        colon[1 + digits] != '\0' || strtoul(colon + 1, NULL, 10) > 65535)
        return -HOLTER_EUSAGE;
    memcpy(host, from, length);
    host[length] = '\0';
    *port = colon + 1;
    return 0;
}

static int listen_bind(const struct addrinfo *info)
{
    const int on = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int code = -errno;
    close(fd);
    return code;
}

static void listen_write_url(int fd, char *url)
{
    struct sockaddr_storage bound;
    socklen_t length = sizeof(bound);
    char host[HOST_CAPACITY] = "", port[8] = "";
    if (getsockname(fd, (struct sockaddr *)&bound, &length) == 0)
        getnameinfo((struct sockaddr *)&bound, length, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    const int is_v6 = bound.ss_family == AF_INET6;
    snprintf(url, METRICS_URL, "http://%s%s%s:%s/metrics", is_v6 ? "[" : "", host, is_v6 ? "]" : "",
             port);
}

int metrics_listen(const char *address, char *url, char *why, size_t capacity)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    char host[HOST_CAPACITY];
    const char *port;
    int code = listen_split(address, host, &port);
    if (code != 0) {
        snprintf(why, capacity, "--metrics %.200s: HOST:PORT is expected, as 127.0.0.1:9464",
                 address);
        return code;
    }
    const int fault = getaddrinfo(host, port, &hints, &found);
    if (fault != 0) {
        snprintf(why, capacity, "--metrics %.200s: %s", address, gai_strerror(fault));
        return -HOLTER_EUSAGE;
    }
    const int fd = listen_bind(found);
    freeaddrinfo(found);
    if (fd < 0) {
        snprintf(why, capacity, "--metrics %.200s: %s", address, holter_strerror(fd));
        return fd;
    }
    listen_write_url(fd, url);
    return fd;
}
