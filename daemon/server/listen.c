/* Binds endpoints under lock files. */
#include "daemon/server/listen.h"

#include "daemon/storage/lock_file.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#define IPC "ipc://"
#define TCP "tcp://"
#define LOCK ".lock"

/* Does a process listen there, though the lock is free? Then it is another program. */
static int listen_is_answered(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return 0; /* zmq_bind() refuses it */
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    int answers = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return answers;
}

static int listen_lock_ipc(struct listen_locks *locks, const char *path, char *why, size_t capacity)
{
    if (locks->count == sizeof(locks->held) / sizeof(locks->held[0]))
        return -ENOSPC;
    struct listen_lock *lock = &locks->held[locks->count];
    if (snprintf(lock->path, sizeof(lock->path), "%s" LOCK, path) >= (int)sizeof(lock->path)) {
        snprintf(why, capacity, "%s: the path is too long for a socket", path);
        return -ENAMETOOLONG;
    }
    lock->fd = lock_file_acquire(lock->path);
    if (lock->fd == -EWOULDBLOCK || (lock->fd >= 0 && listen_is_answered(path))) {
        if (lock->fd >= 0)
            lock_file_release(lock->fd, lock->path);
        snprintf(why, capacity,
                 "another daemon listens on ipc://%s: stop it, or choose another --listen", path);
        return -EADDRINUSE;
    }
    if (lock->fd < 0) {
        snprintf(why, capacity, "%s: %s", lock->path, strerror(-lock->fd));
        return lock->fd;
    }
    locks->count++;
    return 0;
}

/* @return 0 or an error of errno(3) */
static int listen_try(void *socket, const char *endpoint)
{
    const int ipv6 = strncmp(endpoint, TCP "[", strlen(TCP "[")) == 0;
    zmq_setsockopt(socket, ZMQ_IPV6, &ipv6, sizeof(ipv6));
    return zmq_bind(socket, endpoint) == 0 ? 0 : zmq_errno();
}

/* Listen on the first address of a host that is this machine's: libzmq does not look names up here.
 * @return as listen_try() */
static int listen_try_name(void *socket, const char *endpoint)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[NI_MAXHOST], address[NI_MAXHOST], numeric[NI_MAXHOST + 16];
    const char *name = endpoint + strlen(TCP), *port = strrchr(endpoint, ':');
    int error = ENODEV;
    snprintf(host, sizeof(host), "%.*s", (int)(port - name), name);
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return error;
    for (const struct addrinfo *at = found; error != 0 && at != NULL; at = at->ai_next) {
        if (getnameinfo(at->ai_addr, at->ai_addrlen, address, sizeof(address), NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        snprintf(numeric, sizeof(numeric), at->ai_family == AF_INET6 ? TCP "[%s]%s" : TCP "%s%s",
                 address, port);
        error = listen_try(socket, numeric);
    }
    freeaddrinfo(found);
    return error;
}

int listen_bind(struct listen_locks *locks, void *socket, const char *endpoint, char *why,
                size_t capacity)
{
    if (strncmp(endpoint, IPC, strlen(IPC)) == 0 && locks != NULL) {
        int code = listen_lock_ipc(locks, endpoint + strlen(IPC), why, capacity);
        if (code != 0)
            return code;
    }
    mode_t before = umask(0177);
    int error = listen_try(socket, endpoint);
    if (error == ENODEV) /* of libzmq: it is neither an address nor an interface */
        error = listen_try_name(socket, endpoint);
    umask(before);
    if (error == EADDRINUSE)
        snprintf(why, capacity,
                 "%s is in use, perhaps by another daemon: stop it, or choose another --listen",
                 endpoint);
    else if (error != 0)
        snprintf(why, capacity, "cannot listen on %s: %s", endpoint,
                 error == ENODEV ? "no host of that name is known" : zmq_strerror(error));
    return -error;
}

void listen_finish(struct listen_locks *locks)
{
    while (locks->count > 0) {
        struct listen_lock *lock = &locks->held[--locks->count];
        char socket_path[320];
        int length = (int)(strlen(lock->path) - strlen(LOCK));
        /* libzmq does not remove the sockets of the front and of the stream. */
        snprintf(socket_path, sizeof(socket_path), "%.*s", length, lock->path);
        unlink(socket_path);
        snprintf(socket_path, sizeof(socket_path), "%.*s.stream", length, lock->path);
        unlink(socket_path);
        lock_file_release(lock->fd, lock->path);
    }
}
