/* Checks and derives endpoints. */
#include "proto/endpoint.h"

#include "holter/error.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define STREAM_SUFFIX ".stream"

/* Host and port of a TCP endpoint; host without brackets. */
struct address {
    char host[256];
    unsigned port;
    int ipv6;
};

static int endpoint_refuse(char *why, size_t capacity, const char *endpoint, const char *reason)
{
    if (why)
        snprintf(why, capacity, "\"%.200s\": %s", endpoint, reason);
    return -HOLTER_EUSAGE;
}

/* Text after the prefix, or NULL if the text does not begin with it. */
static const char *endpoint_skip_prefix(const char *text, const char *prefix)
{
    while (*prefix) {
        if (*text++ != *prefix++)
            return NULL;
    }
    return text;
}

/* @return NULL, or the text of an error */
static const char *parse_port(const char *text, unsigned *port)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] != '\0')
        return "the port must be a number, as in tcp://HOST:PORT";
    unsigned long value = digits <= 5 ? strtoul(text, NULL, 10) : 0;
    /* The stream takes the port above. */
    if (value < 1 || value > 65534)
        return "the port must be from 1 to 65534";
    *port = (unsigned)value;
    return NULL;
}

/* @return NULL, or the text of an error */
static const char *parse_tcp(const char *text, struct address *out)
{
    const char *host = text, *colon, *host_end;
    out->ipv6 = text[0] == '[';
    if (out->ipv6) {
        host = text + 1;
        host_end = strchr(host, ']');
        if (!host_end || host_end[1] != ':')
            return "an IPv6 address needs brackets and a port, as in tcp://[::1]:PORT";
        colon = host_end + 1;
    } else {
        colon = host_end = strrchr(text, ':');
        if (!colon)
            return "the port is missing, as in tcp://HOST:PORT";
        if (memchr(text, ':', (size_t)(colon - text)))
            return "an IPv6 address needs brackets, as in tcp://[::1]:PORT";
    }
    size_t length = (size_t)(host_end - host);
    if (length == 0 || length >= sizeof out->host)
        return "the host is missing or too long, as in tcp://HOST:PORT";
    memcpy(out->host, host, length);
    out->host[length] = '\0';
    if (out->ipv6) {
        struct in6_addr address;
        if (inet_pton(AF_INET6, out->host, &address) != 1)
            return "not an IPv6 address between the brackets";
    } else if (strcmp(out->host, "*") != 0) {
        for (const char *c = out->host; *c; c++) {
            if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", *c))
                return "the host holds a character that no host name has";
        }
    }
    return parse_port(colon + 1, &out->port);
}

/* @return NULL, or the text of an error */
static const char *check_ipc(const char *path)
{
    if (path[0] != '/')
        return "the path must begin at the root, as in ipc:///PATH";
    const size_t capacity = sizeof((struct sockaddr_un *)0)->sun_path;
    if (strnlen(path, capacity) + sizeof STREAM_SUFFIX > capacity)
        return "the path is too long for a socket (at most 100 bytes)";
    return NULL;
}

int endpoint_check(const char *endpoint, char *why, size_t capacity)
{
    const char *reason = "an endpoint is tcp://HOST:PORT or ipc:///PATH";
    const char *tcp = endpoint_skip_prefix(endpoint, "tcp://"),
               *ipc = endpoint_skip_prefix(endpoint, "ipc://");
    struct address address;
    if (endpoint_list_count(endpoint) > 1)
        reason =
            "several daemons, where one is expected, or a fleet's servers, nats://HOST:PORT,...";
    else if (tcp)
        reason = parse_tcp(tcp, &address);
    else if (ipc)
        reason = check_ipc(ipc);
    return reason ? endpoint_refuse(why, capacity, endpoint, reason) : 0;
}

/* A path may contain a comma: the list goes on where an endpoint begins. @return NULL: the end */
static const char *endpoint_list_next(const char *at)
{
    while ((at = strchr(at, ',')) != NULL) {
        at++;
        if (endpoint_skip_prefix(at, "tcp://") || endpoint_skip_prefix(at, "ipc://"))
            return at;
    }
    return NULL;
}

size_t endpoint_list_count(const char *list)
{
    size_t count = 1;
    while ((list = endpoint_list_next(list)) != NULL)
        count++;
    return count;
}

int endpoint_of_list(const char *list, size_t index, char *out, size_t capacity)
{
    while (index-- > 0)
        if ((list = endpoint_list_next(list)) == NULL)
            return -HOLTER_ERANGE;
    const char *next = endpoint_list_next(list);
    const size_t length = next == NULL ? strlen(list) : (size_t)(next - 1 - list);
    if (length >= capacity)
        return -HOLTER_ERANGE;
    memcpy(out, list, length);
    out[length] = '\0';
    return 0;
}

int endpoint_list_check(const char *list, char *why, size_t capacity)
{
    char one[512];
    for (size_t i = 0; i < endpoint_list_count(list); i++) {
        if (endpoint_of_list(list, i, one, sizeof one) != 0)
            return endpoint_refuse(why, capacity, list, "an endpoint is too long");
        int code = endpoint_check(one, why, capacity);
        if (code != 0)
            return code;
    }
    return 0;
}

int endpoint_stream(char *out, size_t capacity, const char *front)
{
    struct address address;
    char text[512];
    const char *tcp = endpoint_skip_prefix(front, "tcp://"),
               *ipc = endpoint_skip_prefix(front, "ipc://");
    int length;
    if (ipc && !check_ipc(ipc))
        length = snprintf(text, sizeof text, "%s" STREAM_SUFFIX, front);
    else if (tcp && !parse_tcp(tcp, &address))
        length = snprintf(text, sizeof text, address.ipv6 ? "tcp://[%s]:%u" : "tcp://%s:%u",
                          address.host, address.port + 1);
    else
        return -HOLTER_ERANGE;
    if (length < 0 || (size_t)length >= capacity || (size_t)length >= sizeof text)
        return -HOLTER_ERANGE;
    memcpy(out, text, (size_t)length + 1);
    return 0;
}

int endpoint_is_private(const char *endpoint)
{
    return endpoint_skip_prefix(endpoint, "ipc://") != NULL;
}

int endpoint_is_local(const char *endpoint)
{
    struct address address;
    struct in_addr ipv4;
    struct in6_addr ipv6;
    const char *tcp = endpoint_skip_prefix(endpoint, "tcp://");
    if (endpoint_is_private(endpoint))
        return 1;
    if (!tcp || parse_tcp(tcp, &address))
        return 0;
    if (address.ipv6)
        return inet_pton(AF_INET6, address.host, &ipv6) == 1 && IN6_IS_ADDR_LOOPBACK(&ipv6);
    if (inet_pton(AF_INET, address.host, &ipv4) == 1)
        return ntohl(ipv4.s_addr) >> 24 == 127;
    return strcmp(address.host, "localhost") == 0;
}

const char *endpoint_for_others(const char *const *endpoints, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!endpoint_is_local(endpoints[i]))
            return endpoints[i];
    return endpoints[0];
}
