/* Notes over a socket pair, file descriptors included: see unix(7), SCM_RIGHTS. */
#include "daemon/replay/replay_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union replay_link_control {
    char bytes[CMSG_SPACE(sizeof(int) * REPLAY_LINK_FDS)];
    struct cmsghdr align;
};

int replay_link_pair(int out[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, out) != 0 ? -errno : 0;
}

int replay_link_send(int link, const struct replay_note *note, const int *fds, size_t count)
{
    struct replay_note copy = *note;
    struct iovec part = {&copy, sizeof(copy)};
    union replay_link_control control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > REPLAY_LINK_FDS)
        return -EINVAL;
    if (count > 0) {
        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(head), fds, sizeof(int) * count);
    }
    ssize_t sent;
    do
        sent = sendmsg(link, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == ECONNRESET) /* it was closed with unread notes */
        return -EPIPE;
    return sent < 0 ? -errno : 0;
}

static void replay_link_read_fds(struct msghdr *message, int *fds, size_t *count)
{
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
         head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t received = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < received && *count < REPLAY_LINK_FDS; i++)
            memcpy(&fds[(*count)++], CMSG_DATA(head) + i * sizeof(int), sizeof(int));
    }
}

int replay_link_receive(int link, struct replay_note *note, int *fds, size_t *count)
{
    struct iovec part = {note, sizeof(*note)};
    union replay_link_control control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t length;
    *count = 0;
    do
        length = recvmsg(link, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && (errno == EINTR || errno == ECONNRESET));
    /* ECONNRESET is reported once when the other end was closed with unread notes; what it had sent
     * before can still be read. */
    if (length < 0)
        return -errno;
    replay_link_read_fds(&message, fds, count);
    if (length == sizeof(*note))
        return 1;
    while (*count > 0)
        close(fds[--*count]);
    return length == 0 ? 0 : -EPROTO;
}

int replay_link_closed(int link)
{
    struct pollfd state = {.fd = link, .events = POLLIN};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}
