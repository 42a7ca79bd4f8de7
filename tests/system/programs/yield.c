/* Preloaded into MPICH programs that run on few cores or on several hosts:
 * - its progress engine (UCX) gives the core away when a poll finds nothing, where it would spin;
 * - in MPI_Finalize it goes on making progress while it waits for the process manager. MPICH 4.0
 * over TCP does not: one rank then waits for a connection to close, for ever, with one that has
 * stopped to listen. */
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

static _Thread_local int in_finalize;
static void *last_worker;

unsigned ucp_worker_progress(void *worker);
void ucp_worker_destroy(void *worker);
int PMPI_Finalize(void);
int MPI_Finalize(void);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    last_worker = worker;
    unsigned found = progress(worker);
    if (!found)
        sched_yield();
    return found;
}

void ucp_worker_destroy(void *worker)
{
    void (*destroy)(void *);
    *(void **)&destroy = dlsym(RTLD_NEXT, "ucp_worker_destroy");
    last_worker = NULL;
    destroy(worker);
}

ssize_t read(int fd, void *bytes, size_t capacity)
{
    static ssize_t (*next)(int, void *, size_t);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "read");
    while (in_finalize && last_worker && poll(&wait, 1, 0) == 0)
        ucp_worker_progress(last_worker);
    return next(fd, bytes, capacity);
}

int PMPI_Finalize(void)
{
    int (*finalize)(void);
    *(void **)&finalize = dlsym(RTLD_NEXT, "PMPI_Finalize");
    in_finalize = 1;
    int rc = finalize();
    in_finalize = 0;
    return rc;
}

int MPI_Finalize(void)
{
    return PMPI_Finalize();
}
