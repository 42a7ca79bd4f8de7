/* Start and end of the probe: finds the MPI library, makes the shared memory segment and assigns
 * rings to threads.
 *
 * Every exported function is a stub that jumps through probe_jump. At first all stubs lead to
 * probe_first(), which looks for the MPI library. If it is the MPI that this probe was built for,
 * the stubs are pointed at the wrappers; if not, or if an error prevents recording, at the library
 * itself, and each call costs one additional jump from then on. The segment is made when the first
 * wrapper runs, so that a process that never calls MPI leaves no trace. */
#include "agent/probe/call_record.h"

#include PROBE_WRAPPERS_H

#include "holter/mpi_library.h"
#include "holter/quiet_write.h"
#include "version.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct probe probe = {.rank = -1};
#if defined(OPEN_MPI)
struct objects probe_objects;
#endif

__thread struct thread thread_self __attribute__((tls_model("initial-exec"))) = {
    .gate = GATE_NEW, .last = &comm_null, .type = &type_null};

static struct {
    pthread_mutex_t lock;
    pthread_key_t key; /* its destructor closes the ring of a thread */
    int resolved;      /* real_* are filled */
    int passive;       /* recording is off until the process ends */
    int watching;      /* the segment exists */
    int initialized;   /* MPI_Init has returned, MPI_Finalize has not been called */
    int pid;           /* of the process that made the segment */
    int complained;
    int linked;       /* MPI was there when this library was loaded */
    int loaded_pid;   /* of the process that loaded it; not of its children */
    char name[96];    /* of the segment */
    char job[64];     /* job id */
    int preload_left; /* the probe was removed from LD_PRELOAD */
} start = {.lock = PTHREAD_MUTEX_INITIALIZER};

void probe_print_error(const char *format, ...)
{
    char line[256];
    va_list arguments;
    const char *note = getenv("HOLTER_NOTE");
    int fd = note ? open(note, O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (start.complained++ || (fd < 0 && note && errno == EEXIST))
        return; /* this process, or another one of the job, has said it */
    if (fd >= 0)
        close(fd);
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof(line) - 2)
        length = (int)sizeof(line) - 2;
    line[length] = '\n';
    quiet_write(STDERR_FILENO, line, (size_t)length + 1);
}

int probe_fail_missing(void)
{
    return MPI_ERR_OTHER;
}

/* ---- the MPI library ----------------------------------------------------- */

static int start_match_mpi(struct dl_phdr_info *module, size_t size, void *argument)
{
    (void)size;
    if (!module->dlpi_name || !mpi_library_is_name(text_base_name(module->dlpi_name)))
        return 0;
    *(const char **)argument = module->dlpi_name;
    return 1;
}

static const char *start_find_mapped_mpi(void)
{
    const char *path = NULL;
    dl_iterate_phdr(start_match_mpi, &path);
    return path;
}

static void start_leave_preload(void);

/* Handle in which dlsym(3) searches for the functions of MPI: RTLD_NEXT if the program was linked
 * with MPI, so that other tools between this library and MPI keep their place; the MPI library
 * itself if it was opened later with RTLD_LOCAL (dlopen(3)), as Python does. NULL: there is no MPI
 * library. */
static void *start_find_library(void)
{
    if (!dlsym || !dlopen) /* see old_libc.h */
        return NULL;
    if (dlsym(RTLD_NEXT, "PMPI_Init"))
        return RTLD_NEXT;
    const char *path = start_find_mapped_mpi();
    return path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static int start_detect_flavour(void *library)
{
    if (dlsym(library, "ompi_mpi_comm_world"))
        return MPI_FLAVOUR_OPENMPI;
    if (dlsym(library, "MPIR_Err_create_code") || dlsym(library, "MPIR_Dup_fn"))
        return MPI_FLAVOUR_MPICH;
    return MPI_FLAVOUR_NONE;
}

static void start_point_stubs(int watch)
{
    for (size_t i = 0; i < probe_target_count; i++) {
        const struct target *target = &probe_targets[i];
        void *to = watch ? target->watch : *target->real;
        __atomic_store_n(&probe_jump[i], to ? to : (void *)probe_fail_missing, __ATOMIC_RELEASE);
    }
}

static void start_become_passive(void)
{
    start.passive = 1;
    start.watching = 0;
    if (start.resolved)
        start_point_stubs(0);
}

static int start_resolve_functions(void)
{
    void *library = start_find_library();
    if (!library)
        return 0;
    int flavour = start_detect_flavour(library);
    for (size_t i = 0; i < probe_target_count; i++)
        *probe_targets[i].real = dlsym(library, probe_targets[i].name);
    for (size_t i = 0; i < probe_use_count; i++)
        *probe_uses[i].real = dlsym(library, probe_uses[i].name);
#if defined(OPEN_MPI)
        /* The program may hold copies of them, which come first (ELF copy relocation). */
#define X(name)                                                                                    \
    probe_objects.name = dlsym(RTLD_DEFAULT, #name);                                               \
    if (!probe_objects.name)                                                                       \
        probe_objects.name = dlsym(library, #name);
    OBJECTS(X)
#undef X
#endif
    start.resolved = 1;
    if (flavour != PROBE_FLAVOUR) {
        if (getenv("HOLTER_SESSION"))
            probe_print_error(
                "holter: the MPI library is not the one that the probe was built for: not watched");
        start.passive = 1;
    }
    return 1;
}

void probe_first(void)
{
    int error = errno;
    pthread_mutex_lock(&start.lock);
    if (!start.resolved) {
        if (!start_resolve_functions()) {
            static const char text[] =
                "holter: an MPI function was called, but no MPI library is loaded\n";
            quiet_write(STDERR_FILENO, text, sizeof(text) - 1);
            abort(); /* the program would end here without the probe, too: undefined symbol */
        }
        const char *session = getenv("HOLTER_SESSION");
        if (!start.passive && (!session || !*session))
            start.passive = 1;
        start_leave_preload();
        start_point_stubs(!start.passive);
    }
    pthread_mutex_unlock(&start.lock);
    errno = error;
}

/* ---- clock --------------------------------------------------------------- */

static uint64_t start_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
/* Read the first bytes of a file of the kernel as text. */
static void start_read_file(char *out, size_t capacity, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, out, capacity - 1) : 0;
    out[length > 0 ? length : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Is the time stamp counter invariant (CPUID 0x80000007, EDX bit 8)? Emulated processors may not
 * report it; the kernel's flags are used then. */
static int start_tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) && d & (1u << 8))
        return 1;
    char text[4096]; /* contains the flags of the first processor */
    start_read_file(text, sizeof(text), "/proc/cpuinfo");
    return strstr(text, " constant_tsc") && strstr(text, " nonstop_tsc");
}
#endif

/* The time stamp counter, unless it is not invariant or the kernel does not use it. The counter of
 * aarch64 has a constant rate by its architecture, and every process may read it. */
static enum tick_unit start_choose_tick_unit(void)
{
#if defined(__x86_64__)
    char source[32];
    start_read_file(source, sizeof(source),
                    "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if (start_tsc_is_invariant() && strncmp(source, "hpet", 4) != 0 &&
        strncmp(source, "acpi_pm", 7) != 0 && strncmp(source, "jiffies", 7) != 0)
        return TICK_TSC;
    return TICK_NS;
#else
    return TICKS_COUNTED ? TICK_TSC : TICK_NS;
#endif
}

/* Read both clocks at one moment: the fastest of five readings. */
static void start_pair_clocks(uint64_t *tick, uint64_t *mono)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = probe_read_ticks(), ns = start_clock_ns(CLOCK_MONOTONIC),
                 after = probe_read_ticks();
        if (after - before < best) {
            best = after - before;
            *tick = before + (after - before) / 2;
            *mono = ns;
        }
    }
}

/* ---- segment ------------------------------------------------------------- */

static void start_copy_text(char *out, size_t capacity, const char *text)
{
    if (!text)
        text = "";
    size_t length = strnlen(text, capacity - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

/* Write the list of cores on which the process may run, "0-3,8". */
static void start_write_affinity(char *out, size_t capacity)
{
    cpu_set_t set;
    size_t used = 0;
    out[0] = '\0';
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        size_t last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            last++;
        char range[32];
        int length = last > cpu
                         ? snprintf(range, sizeof(range), "%s%zu-%zu", used ? "," : "", cpu, last)
                         : snprintf(range, sizeof(range), "%s%zu", used ? "," : "", cpu);
        if (used + (size_t)length >= capacity)
            return;
        memcpy(out + used, range, (size_t)length + 1);
        used += (size_t)length;
        cpu = last;
    }
}

static void start_write_header(struct segment *segment)
{
    segment->pid = (int32_t)getpid();
    segment->uid = (uint32_t)getuid();
    segment->pid_start = process_start_time(segment->pid);
    segment->flavour = PROBE_FLAVOUR;
    segment->tick_unit = probe.tick_unit;
    start_pair_clocks(&segment->tick_start, &segment->mono_start_ns);
    start_copy_text(segment->session, sizeof(segment->session), getenv("HOLTER_SESSION"));
    start_copy_text(segment->job, sizeof(segment->job), start.job);
    start_copy_text(segment->probe, sizeof(segment->probe), HOLTER_VERSION);
    struct utsname names;
    start_copy_text(segment->host, sizeof(segment->host), uname(&names) == 0 ? names.nodename : "");
    ssize_t length = readlink("/proc/self/exe", segment->app, sizeof(segment->app) - 1);
    segment->app[length > 0 ? length : 0] = '\0';
    start_write_affinity(segment->placement, sizeof(segment->placement));
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int version_length = 0;
    if (real_PMPI_Get_library_version(version, &version_length) == MPI_SUCCESS) {
        version[strcspn(version, "\n,")] = '\0';
        for (char *tab = version; (tab = strchr(tab, '\t'));)
            *tab = ' ';
        start_copy_text(segment->mpi, sizeof(segment->mpi), version);
    }
}

static uint32_t start_ring_capacity(void)
{
    const char *text = getenv("HOLTER_RING");
    uint32_t records = text ? segment_ring_records(text) : 0;
    return records ? records : SEGMENT_FIRST_CAPACITY;
}

static int start_create_segment(void)
{
    struct segment_shape shape = {.rings = SEGMENT_RINGS,
                                  .comms = SEGMENT_COMMS,
                                  .regions = SEGMENT_REGIONS,
                                  .carts = SEGMENT_CARTS,
                                  .first_capacity = start_ring_capacity(),
                                  .early_capacity = SEGMENT_EARLY_CAPACITY,
                                  .late_capacity = SEGMENT_LATE_CAPACITY};
    for (;;) {
        int error = segment_create(&probe.segment, start.name, &shape);
        if ((error != -ENOSPC && error != -EFBIG && error != -ENOMEM) ||
            shape.first_capacity <= 1024)
            return error;
        shape.first_capacity /= 4; /* /dev/shm is nearly full: shorter rings, then fewer */
        if (shape.first_capacity < 1024)
            shape.first_capacity = 1024;
        shape.early_capacity = 1024;
        shape.late_capacity = 512;
        shape.rings = shape.first_capacity > 1024 ? 8 : 2;
        shape.comms = shape.first_capacity > 1024 ? 512 : 64;
        shape.regions = 32;
    }
}

/* Is the segment of this name that of a rank with the same pid on another host? Containers with
 * pids and names of their own may share /dev/shm. */
static int start_is_of_other_host(void)
{
    char path[sizeof("/dev/shm") + sizeof(start.name)];
    char made[sizeof(probe.segment->host)] = "";
    struct utsname names;
    snprintf(path, sizeof(path), "/dev/shm%s", start.name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    ssize_t length = pread(fd, made, sizeof(made) - 1, offsetof(struct segment, host));
    close(fd);
    return length > 0 && made[0] != '\0' && uname(&names) == 0 &&
           strncmp(made, names.nodename, sizeof(made) - 1) != 0;
}

static int start_prepare_segment(void)
{
    start.pid = (int)getpid();
    int error = segment_name(start.name, sizeof(start.name), (uint32_t)getuid(),
                             getenv("HOLTER_SESSION"), (int32_t)start.pid);
    if (error != 0) {
        probe_print_error(
            "holter: HOLTER_SESSION is not a key of 1 to 31 hexadecimal digits: not watched");
        return error;
    }
    probe.tick_unit = start_choose_tick_unit();
    error = start_create_segment();
    if (error == -EEXIST && !start_is_of_other_host()) { /* left by a process with the same pid */
        segment_remove(start.name);
        error = start_create_segment();
    }
    if (error ==
        -EEXIST) { /* of another host, or made by another user to hinder us: another name */
        uint64_t number;
        /* getrandom(2), which the C library has since 2.25; the flag is GRND_NONBLOCK */
        if (syscall(SYS_getrandom, &number, sizeof(number), 1) != (long)sizeof(number))
            number = start_clock_ns(CLOCK_REALTIME) ^ ticks_read();
        error = segment_name_extend(start.name, sizeof(start.name), number);
        if (error == 0)
            error = start_create_segment();
    }
    if (error != 0) {
        probe_print_error("holter: cannot make /dev/shm%s: %s; ranks without such a file "
                          "are not watched",
                          start.name, strerror(-error));
        return error;
    }
    start_write_header(probe.segment);
    atomic_store_explicit(&probe.segment->state, SEGMENT_RUNNING, memory_order_release);
    return 0;
}

/* ---- threads ------------------------------------------------------------- */

static void start_close_ring(void *argument)
{
    struct thread *t = argument;
    t->gate |= GATE_CLOSED;
    if (t->ring.control && !start.passive)
        atomic_store_explicit(&t->ring.control->state, RING_CLOSED, memory_order_release);
    t->ring.control = NULL;
    memory_free_scratch(t);
}

void poll_find_row(struct thread *t, enum poll_family family, uint16_t call)
{
    struct tally_row *row = tally_find_polls(&t->ring, call, t->region);
    t->polls[family].row = row ? row : &t->no_polls;
    t->polls[family].call = row ? call : 0;
    if (!row)
        request_count_untracked(t, 1);
}

static int start_claim_ring(struct thread *t, enum ring_state wanted)
{
    for (uint32_t i = 0; i < probe.segment->rings; i++) {
        struct ring_control *control = segment_ring(probe.segment, i);
        uint32_t state = wanted;
        if (!atomic_compare_exchange_strong(&control->state, &state, RING_RESERVING))
            continue;
        /* Rings are opened in order: without memory for this one, later ones are not used. */
        if (wanted == RING_FREE && i > 0 &&
            segment_reserve_ring(probe.segment, start.name, i) != 0) {
            atomic_store(&control->state, RING_FREE);
            return 0;
        }
        control->tid = (uint32_t)syscall(SYS_gettid);
        ring_writer_init(&t->ring, probe.segment, control);
        atomic_store(&control->state, RING_ACTIVE);
        return 1;
    }
    return 0;
}

static int start_open_segment(void)
{
    if (start.passive)
        return 0;
    if (probe.segment)
        return 1;
    if (!pthread_key_create || !pthread_setspecific || start_prepare_segment() != 0 ||
        pthread_key_create(&start.key, start_close_ring) != 0) {
        start_become_passive();
        return 0;
    }
    __atomic_store_n(&start.watching, 1, __ATOMIC_RELEASE);
    return 1;
}

struct thread *thread_start(void)
{
    struct thread *t = &thread_self;
    int error = errno, ready = 0;
    t->gate = GATE_INSIDE; /* calls of MPI made below are not recorded */
    t->frame = (const void *)UINTPTR_MAX;
    int watched = __atomic_load_n(&start.watching, __ATOMIC_ACQUIRE);
    if (!watched) {
        pthread_mutex_lock(&start.lock);
        watched = start_open_segment();
        pthread_mutex_unlock(&start.lock);
    }
    if (watched) {
        pthread_mutex_lock(&start.lock);
        ready = start_claim_ring(t, RING_FREE) || start_claim_ring(t, RING_CLOSED);
        pthread_mutex_unlock(&start.lock);
        if (ready)
            pthread_setspecific(start.key, t);
        else
            atomic_fetch_add_explicit(&probe.segment->dropped, 1, memory_order_relaxed);
    }
    if (ready && probe.rank < 0) {
        int initialized = 0, finalized = 0;
        real_PMPI_Initialized(&initialized);
        real_PMPI_Finalized(&finalized);
        if (initialized && !finalized)
            probe_on_initialized();
    }
    errno = error;
    /* A thread without a ring tries again at its next call: another thread may have ended. */
    t->gate = ready ? 0 : probe.segment && !start.passive ? GATE_NEW : GATE_CLOSED;
    return ready ? t : NULL;
}

/* The call in progress was left by longjmp(3) or an exception of C++, as a handler of errors does.
 * When that was is not known. */
static void thread_end_left_call(struct thread *t)
{
    struct event *slot = ring_slot(&t->ring);
    if (record_read_word(slot, RING_WORD_SEQ) != t->ring.head)
        return;
    ring_put(slot, RING_WORD_T_EXIT, record_read_word(slot, RING_WORD_T_ENTER));
    ring_fence();
    ring_put(
        slot, RING_WORD_WHAT,
        ring_what((uint16_t)record_read_word(slot, RING_WORD_WHAT), EVENT_FAILED, EVENT_CALL, 0));
    record_publish(t, slot);
}

struct thread *thread_enter(const void *frame)
{
    struct thread *t = &thread_self;
    if (t->gate == GATE_NEW)
        return thread_start();
    if (t->gate != GATE_INSIDE || (uintptr_t)frame < (uintptr_t)t->frame)
        return NULL;
    thread_end_left_call(t);
    return t;
}

/* ---- life of MPI --------------------------------------------------------- */

static void start_publish_rank(int rank, int size)
{
    probe.size = size;
    probe.rank = rank;
    atomic_store_explicit(&probe.segment->size, size, memory_order_relaxed);
    atomic_store_explicit(&probe.segment->rank, rank, memory_order_release);
}

void probe_on_initialized(void)
{
    int level = MPI_THREAD_SINGLE, size = 0, rank = -1;
    MPI_Group world = MPI_GROUP_NULL;
    pthread_mutex_lock(&start.lock);
    if (!start.initialized) {
        start.initialized = 1;
        real_PMPI_Query_thread(&level);
        probe.multiple |= level == MPI_THREAD_MULTIPLE;
        real_PMPI_Comm_size(MPI_COMM_WORLD, &size);
        real_PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        real_PMPI_Comm_group(MPI_COMM_WORLD, &world);
        comm_set_world(world);
        start_publish_rank(rank, size);
        comm_predefined();
    }
    pthread_mutex_unlock(&start.lock);
}

#if defined(MPI_SESSION_NULL)
#define SESSIONS 16

/* Sessions that are open. If MPI_Init has not been called, world ranks are those of the process set
 * mpi://WORLD of the first one. */
static MPI_Session sessions[SESSIONS];
static unsigned session_count;

static void start_set_state(uint32_t state)
{
    atomic_store_explicit(&probe.segment->state, state, memory_order_release);
}

static void start_read_world_of_session(void)
{
    int size = 0, rank = -1;
    MPI_Group world = MPI_GROUP_NULL;
    if (start.initialized)
        return;
    if (session_count > 0)
        real_PMPI_Group_from_session_pset(sessions[0], "mpi://WORLD", &world);
    comm_set_world(world);
    if (world == MPI_GROUP_NULL || probe.rank >= 0)
        return;
    real_PMPI_Group_size(world, &size);
    real_PMPI_Group_rank(world, &rank);
    probe.multiple = 1; /* sessions may have different levels of thread support */
    start_publish_rank(rank, size);
}

void probe_on_session(MPI_Session session)
{
    pthread_mutex_lock(&start.lock);
    if (session_count < SESSIONS)
        sessions[session_count++] = session;
    if (session_count == 1)
        start_read_world_of_session();
    start_set_state(SEGMENT_RUNNING);
    pthread_mutex_unlock(&start.lock);
}

/* The group is freed before its session is finalized, because that may fail if objects are left. */
void probe_on_session_finalize(MPI_Session session)
{
    unsigned i = 0;
    pthread_mutex_lock(&start.lock);
    while (i < session_count && sessions[i] != session)
        i++;
    if (i < session_count) {
        sessions[i] = sessions[--session_count];
        if (i == 0)
            start_read_world_of_session();
    }
    pthread_mutex_unlock(&start.lock);
}

void probe_on_session_finalized(void)
{
    pthread_mutex_lock(&start.lock);
    if (session_count == 0 && !start.initialized)
        start_set_state(SEGMENT_FINALIZED);
    pthread_mutex_unlock(&start.lock);
}
#else
static void start_read_world_of_session(void)
{
    comm_set_world(MPI_GROUP_NULL);
}
#endif

void probe_on_finalize(void)
{
    pthread_mutex_lock(&start.lock);
    start.initialized = 0;
    start_read_world_of_session();
    pthread_mutex_unlock(&start.lock);
}

/* A child of fork() has the segment of its parent mapped: it must neither write to it nor close it.
 * Before the first call of MPI there is none, and the child may be the application. */
static void start_after_fork_in_child(void)
{
    if (!start.resolved)
        return;
    thread_self.gate |= GATE_CLOSED;
    start_become_passive();
    start.pid = 0;
}

/* Remove this library from LD_PRELOAD: children of the application are not watched. What becomes
 * another program before its first call of MPI, or leaves MPI to a child, is not the application.
 */
static void start_leave_preload(void)
{
    Dl_info self;
    const char *preload = getenv("LD_PRELOAD");
    if (start.preload_left++)
        return;
    unsetenv("HOLTER_JOB_ID");
    if (!preload || !dladdr || !dladdr((void *)probe_first, &self) || !self.dli_fname)
        return;
    const char *own = strrchr(self.dli_fname, '/');
    own = own ? own + 1 : self.dli_fname;
    char *kept = malloc(strlen(preload) + 1), *end = kept;
    if (!kept)
        return;
    for (const char *p = preload; *p;) {
        size_t length = strcspn(p, ": "), name = strlen(own);
        int ours = length >= name && memcmp(p + length - name, own, name) == 0 &&
                   (length == name || p[length - name - 1] == '/');
        if (length > 0 && !ours) {
            if (end > kept)
                *end++ = ':';
            memcpy(end, p, length);
            end += length;
        }
        p += length + strspn(p + length, ": ");
    }
    *end = '\0';
    if (end > kept)
        setenv("LD_PRELOAD", kept, 1);
    else
        unsetenv("LD_PRELOAD");
    free(kept);
}

__attribute__((constructor)) static void start_on_load(void)
{
    int error = errno;
    start_copy_text(start.job, sizeof(start.job), getenv("HOLTER_JOB_ID"));
    start.loaded_pid = (int)getpid();
    start.linked = start_find_mapped_mpi() != NULL;
    pthread_atfork(NULL, NULL, start_after_fork_in_child);
    errno = error;
}

/* Will an agent read and remove the segment? On a busy node the agent may not have attached yet;
 * one exists if the process was started by `holter exec`, which passes the id of the job. */
static int start_agent_will_read(void)
{
    int32_t agent = atomic_load_explicit(&probe.segment->agent_pid, memory_order_relaxed);
    if (agent == 0)
        return start.job[0] != '\0';
    return kill(agent, 0) == 0 || errno == EPERM;
}

/* A program may ask the MPI library itself for the addresses of functions, by dlsym(3): its calls
 * do not come here. */
static void start_report_unseen_calls(void)
{
    const char *path = NULL;
    if (!start.linked && !start.resolved && start.job[0] && start.loaded_pid == (int)getpid())
        path = start_find_mapped_mpi();
    if (path)
        probe_print_error("holter: %s was opened at run time, and none of its functions was called "
                          "through the dynamic linker; calls by dlsym(), as of Julia and R, are "
                          "not watched",
                          path);
}

/* Runs at exit(). Later calls of MPI go directly to the library. */
__attribute__((destructor)) static void start_on_exit(void)
{
    start_report_unseen_calls();
    if (!probe.segment || start.passive || start.pid != (int)getpid())
        return;
    thread_self.gate |= GATE_CLOSED;
    start_close_ring(&thread_self);
    start_become_passive();
    atomic_store_explicit(&probe.segment->exit_ns, start_clock_ns(CLOCK_MONOTONIC),
                          memory_order_relaxed);
    if (atomic_load_explicit(&probe.segment->state, memory_order_relaxed) == SEGMENT_RUNNING)
        atomic_store_explicit(&probe.segment->state, SEGMENT_ENDED, memory_order_release);
    if (!start_agent_will_read())
        segment_remove(start.name);
}
