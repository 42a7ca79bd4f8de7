/* Watches /dev/shm, the registrations and the ends of processes, and reports changes to the agent.
 */
#include "agent/node/node.h"

#include "holter/segment.h"
#include "proto/log.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_TOPIC "node"
#define SHM_DIR "/dev/shm"

struct node {
    struct node_options options;
    uv_fs_event_t shm, ranks;
    int open; /* handles not closed yet */
    int registrations_changed;
};

static void node_report_segment(struct node *node, const char *file)
{
    uint32_t uid;
    char session[32], name[80];
    int32_t pid;
    if (segment_name_parse(file, &uid, session, &pid) != 0 || uid != (uint32_t)getuid() ||
        strcmp(session, node->options.rendezvous->session) != 0 || strlen(file) > sizeof name - 2)
        return;
    snprintf(name, sizeof name, "/%.78s", file);
    if (node->options.segment(node->options.user, name, pid))
        node->options.wake(node->options.user);
}

static void node_on_shm(uv_fs_event_t *watch, const char *file, int events, int status)
{
    struct node *node = watch->data;
    if (status == 0 && file != NULL && (events & UV_RENAME)) /* created, moved or removed */
        node_report_segment(node, file);
}

static void node_on_ranks(uv_fs_event_t *watch, const char *file, int events, int status)
{
    struct node *node = watch->data;
    (void)file;
    (void)events;
    (void)status;
    node->registrations_changed = 1;
    node->options.wake(node->options.user);
}

static void node_start_watch(uv_fs_event_t *watch, uv_fs_event_cb callback, const char *path)
{
    int rc = uv_fs_event_start(watch, callback, path, 0);
    if (rc != 0)
        log_warn("cannot watch %s: %s; looking once a second instead", path, uv_strerror(rc));
}

int node_create(struct node **out, const struct node_options *options)
{
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return -ENOMEM;
    node->options = *options;
    node->registrations_changed = 1;
    node->open = 2;
    uv_fs_event_init(options->loop, &node->shm);
    uv_fs_event_init(options->loop, &node->ranks);
    node->shm.data = node->ranks.data = node;
    node_start_watch(&node->shm, node_on_shm, SHM_DIR);
    node_start_watch(&node->ranks, node_on_ranks, options->rendezvous->ranks);
    *out = node;
    return 0;
}

void node_scan_segments(struct node *node)
{
    DIR *d = opendir(SHM_DIR);
    for (struct dirent *entry; d != NULL && (entry = readdir(d)) != NULL;)
        node_report_segment(node, entry->d_name);
    if (d != NULL)
        closedir(d);
}

int node_registrations_changed(struct node *node)
{
    int changed = node->registrations_changed;
    node->registrations_changed = 0;
    return changed;
}

static void node_on_closed(uv_handle_t *handle)
{
    struct node *node = handle->data;
    if (--node->open == 0)
        free(node);
}

void node_close(struct node *node)
{
    if (node == NULL)
        return;
    uv_close((uv_handle_t *)&node->shm, node_on_closed);
    uv_close((uv_handle_t *)&node->ranks, node_on_closed);
}

struct process_watch {
    uv_poll_t poll;
    int fd; /* pidfd; -1: not available */
    int32_t pid;
    uint64_t pid_start;
    void (*ended)(void *user);
    void *user;
    int reported;
};

static void process_watch_report_end(struct process_watch *watch)
{
    if (watch->reported)
        return;
    watch->reported = 1;
    if (watch->fd >= 0)
        uv_poll_stop(&watch->poll);
    watch->ended(watch->user);
}

static void process_watch_on_pidfd(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    process_watch_report_end(poll->data);
}

int process_watch_open(struct process_watch **out, uv_loop_t *loop, int32_t pid, uint64_t pid_start,
                       void (*ended)(void *user), void *user)
{
    struct process_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return -ENOMEM;
    *watch = (struct process_watch){
        .fd = (int)syscall(SYS_pidfd_open, pid, 0),
        .pid = pid,
        .pid_start = pid_start,
        .ended = ended,
        .user = user,
    };
    /* Only while the pidfd is open can the pid not be reused: the start time is compared after
     * that. */
    if (process_start_time(pid) != pid_start) {
        if (watch->fd >= 0)
            close(watch->fd);
        free(watch);
        return -ESRCH;
    }
    if (watch->fd >= 0 && uv_poll_init(loop, &watch->poll, watch->fd) != 0) {
        close(watch->fd);
        watch->fd = -1;
    }
    watch->poll.data = watch;
    if (watch->fd >= 0)
        uv_poll_start(&watch->poll, UV_READABLE, process_watch_on_pidfd);
    else
        log_warn("no pidfd for process %d: its end will be noticed late", (int)pid);
    *out = watch;
    return 0;
}

void process_watch_check(struct process_watch *watch)
{
    if (watch->fd < 0 && process_start_time(watch->pid) != watch->pid_start)
        process_watch_report_end(watch);
}

static void process_watch_on_closed(uv_handle_t *handle)
{
    struct process_watch *watch = handle->data;
    close(watch->fd);
    free(watch);
}

void process_watch_close(struct process_watch *watch)
{
    if (watch == NULL)
        return;
    if (watch->fd >= 0)
        uv_close((uv_handle_t *)&watch->poll, process_watch_on_closed);
    else
        free(watch);
}
