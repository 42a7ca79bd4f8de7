/* delay_link NEAR FAR: two TAP devices, made here, and a wire between them that takes its time, and
 * may lose frames: every frame that enters one leaves the other after a delay, in order, in both
 * directions. Put NEAR into a host's namespace and FAR on a bridge, and that host has a slow or a
 * lossy link.
 *
 * Standard input: lines, whose end ends the program, and with it both devices. They hold for frames
 * that enter from then on:
 *   delay MICROSECONDS  at first 0
 *   loss MILLIONTHS     how many of a million frames are lost, at first 0; which ones is drawn from
 *                       a fixed seed
 * Standard output: "ready" when the devices are there, then each line when it is in force. Sleeps
 * while nothing is due. Frames may be as large as segmentation offload makes them
 * (<linux/virtio_net.h>): they cross as they are, with their offload header, and are lost whole. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define FRAME_BYTES ((size_t)65536 + 128) /* largest frame, its headers included */
#define LANE_BYTES ((size_t)16 << 20)     /* frames on their way in one direction */
#define READ_AT_ONCE 64                   /* frames, before the other direction has its turn */
#define MAX_MICROSECONDS 10000000L
#define MILLION 1000000
#define SEED 0x9e3779b97f4a7c15u

/* A frame on its way; its bytes follow. */
struct frame {
    int64_t due_ns;  /* CLOCK_MONOTONIC */
    uint32_t length; /* 0: the lane goes on at its begin */
    uint32_t reserved;
};

/* One direction: a ring of frames, oldest at head. head == tail: none. */
struct lane {
    int from, to;   /* TAP devices */
    uint8_t *bytes; /* LANE_BYTES */
    size_t head, tail;
    int full; /* nothing is read until there is room */
};

enum source { FROM_NEAR, FROM_FAR, TIMER, COMMANDS };

struct link {
    struct lane lanes[2]; /* by the source they are read from */
    int poll, timer;
    int64_t delay_ns;
    uint64_t loss;    /* millionths */
    uint64_t random;  /* state of the generator */
    int64_t armed_ns; /* when the timer goes off; 0: never */
    char line[64];    /* of standard input, so far */
    size_t line_length;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "delay_link: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int tap_open(const char *name)
{
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    if (fd < 0)
        fail("/dev/net/tun");
    if (strlen(name) >= sizeof request.ifr_name) {
        errno = ENAMETOOLONG;
        fail(name);
    }
    memcpy(request.ifr_name, name, strlen(name) + 1);
    if (ioctl(fd, TUNSETIFF, &request) < 0 ||
        ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) < 0)
        fail(name);
    return fd;
}

static void watch(const struct link *link, int fd, enum source source, int operation, uint32_t what)
{
    struct epoll_event event = {.events = what, .data.u32 = source};
    if (epoll_ctl(link->poll, operation, fd, &event) < 0)
        fail("epoll_ctl");
}

/* Where the next frame may be read to, with room for the largest; NULL: no room. */
static struct frame *lane_room(struct lane *lane)
{
    size_t largest = sizeof(struct frame) + FRAME_BYTES;
    if (lane->head == lane->tail)
        lane->head = lane->tail = 0;
    if (lane->tail < lane->head)
        return lane->head - lane->tail > largest ? (struct frame *)(lane->bytes + lane->tail)
                                                 : NULL;
    if (LANE_BYTES - lane->tail >= largest + sizeof(struct frame)) /* and a frame that turns back */
        return (struct frame *)(lane->bytes + lane->tail);
    if (lane->head <= largest)
        return NULL;
    *(struct frame *)(lane->bytes + lane->tail) = (struct frame){.length = 0};
    lane->tail = 0;
    return (struct frame *)lane->bytes;
}

static void lane_append(struct lane *lane, const struct frame *frame)
{
    lane->tail += (sizeof *frame + frame->length + 15) / 16 * 16;
}

static struct frame *lane_first(struct lane *lane)
{
    if (lane->head == lane->tail)
        return NULL;
    struct frame *frame = (struct frame *)(lane->bytes + lane->head);
    if (frame->length > 0)
        return frame;
    lane->head = 0;
    return lane->tail > 0 ? (struct frame *)lane->bytes : NULL;
}

/* What a device does not take (it is down, or short of memory) is lost, as on a wire. */
static void frame_send(const struct lane *lane, const struct frame *frame)
{
    if (write(lane->to, frame + 1, frame->length) < 0 && errno != EIO && errno != ENOBUFS &&
        errno != EAGAIN && errno != EINVAL)
        fail("write to a TAP device");
}

/* Is the next frame lost? A xorshift generator (G. Marsaglia, 2003) with a multiplier decides. */
static int link_loses(struct link *link)
{
    link->random ^= link->random >> 12;
    link->random ^= link->random << 25;
    link->random ^= link->random >> 27;
    return (link->random * 0x2545f4914f6cdd1du >> 32) % MILLION < link->loss;
}

static void lane_read(struct link *link, enum source source)
{
    struct lane *lane = &link->lanes[source];
    for (int i = 0; i < READ_AT_ONCE; i++) {
        struct frame *frame = lane_room(lane);
        if (!frame) {
            lane->full = 1;
            watch(link, lane->from, source, EPOLL_CTL_MOD, 0);
            return;
        }
        ssize_t n = read(lane->from, frame + 1, FRAME_BYTES);
        if (n <= 0) {
            if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EIO)
                fail("read from a TAP device");
            return;
        }
        if (link->loss > 0 && link_loses(link))
            continue;
        frame->length = (uint32_t)n;
        frame->due_ns = now_ns() + link->delay_ns;
        if (link->delay_ns == 0 && lane->head == lane->tail)
            frame_send(lane, frame);
        else
            lane_append(lane, frame);
    }
}

/* Send what is due. @return when the next frame is, 0: there is none */
static int64_t lane_send(struct link *link, enum source source)
{
    struct lane *lane = &link->lanes[source];
    struct frame *frame;
    size_t head = lane->head;
    while ((frame = lane_first(lane)) != NULL && frame->due_ns <= now_ns()) {
        frame_send(lane, frame);
        lane->head += (sizeof *frame + frame->length + 15) / 16 * 16;
    }
    if (lane->full && lane->head != head) {
        lane->full = 0;
        watch(link, lane->from, source, EPOLL_CTL_MOD, EPOLLIN);
    }
    return frame ? frame->due_ns : 0;
}

static void timer_set(struct link *link, int64_t at_ns)
{
    struct itimerspec when = {.it_value = {at_ns / 1000000000, at_ns % 1000000000}};
    if (at_ns == link->armed_ns)
        return;
    link->armed_ns = at_ns;
    if (timerfd_settime(link->timer, TFD_TIMER_ABSTIME, &when, NULL) < 0)
        fail("timerfd_settime");
}

static void command(struct link *link, const char *line)
{
    long value;
    char end;
    if (sscanf(line, "delay %ld%c", &value, &end) == 1 && value >= 0 && value <= MAX_MICROSECONDS) {
        link->delay_ns = value * 1000;
    } else if (sscanf(line, "loss %ld%c", &value, &end) == 1 && value >= 0 && value <= MILLION) {
        link->loss = (uint64_t)value;
    } else {
        fprintf(stderr, "delay_link: neither a delay nor a loss: %s\n", line);
        exit(2);
    }
    puts(line);
    fflush(stdout);
}

static void commands_read(struct link *link)
{
    char bytes[64];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0)
        exit(0);
    for (ssize_t i = 0; i < n; i++) {
        link->line[link->line_length] = bytes[i] == '\n' ? '\0' : bytes[i];
        if (bytes[i] == '\n') {
            command(link, link->line);
            link->line_length = 0;
        } else if (++link->line_length == sizeof link->line) {
            fprintf(stderr, "delay_link: a line is too long\n");
            exit(2);
        }
    }
}

static void serve(struct link *link, enum source source)
{
    uint64_t expirations;
    switch (source) {
    case FROM_NEAR:
    case FROM_FAR:
        if (!link->lanes[source].full)
            lane_read(link, source);
        break;
    case TIMER:
        if (read(link->timer, &expirations, sizeof expirations) > 0)
            link->armed_ns = 0;
        break;
    case COMMANDS:
        commands_read(link);
    }
}

static void link_init(struct link *link, const char *near, const char *far)
{
    *link = (struct link){.random = SEED,
                          .poll = epoll_create1(EPOLL_CLOEXEC),
                          .timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    if (link->poll < 0 || link->timer < 0)
        fail("epoll or timerfd");
    int taps[] = {tap_open(near), tap_open(far)};
    for (int i = 0; i < 2; i++) {
        link->lanes[i] =
            (struct lane){.from = taps[i], .to = taps[1 - i], .bytes = malloc(LANE_BYTES)};
        if (!link->lanes[i].bytes)
            fail("memory");
        watch(link, taps[i], (enum source)i, EPOLL_CTL_ADD, EPOLLIN);
    }
    watch(link, link->timer, TIMER, EPOLL_CTL_ADD, EPOLLIN);
    watch(link, STDIN_FILENO, COMMANDS, EPOLL_CTL_ADD, EPOLLIN);
}

int main(int argc, char **argv)
{
    struct link link;
    struct epoll_event events[4];
    if (argc != 3) {
        fprintf(stderr, "usage: delay_link NEAR FAR\n");
        return 2;
    }
    link_init(&link, argv[1], argv[2]);
    puts("ready");
    fflush(stdout);
    for (;;) {
        int n = epoll_wait(link.poll, events, 4, -1);
        if (n < 0 && errno != EINTR)
            fail("epoll_wait");
        for (int i = 0; i < n; i++)
            serve(&link, (enum source)events[i].data.u32);
        int64_t near = lane_send(&link, FROM_NEAR), far = lane_send(&link, FROM_FAR);
        timer_set(&link, near && (!far || near < far) ? near : far);
    }
}
