/* Names of recordings and their parts: chooses, finds, renames and removes files. */
#include "daemon/storage/lock_file.h"
#include "daemon/storage/recording.h"
#include "daemon/storage/recording_file.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 10000u

/* ---- names --------------------------------------------------------------- */

int recording_part_path(const char *base, unsigned number, char *out, size_t capacity)
{
    size_t stem = strlen(base);
    if (text_ends(base, ".hrec"))
        stem -= strlen(".hrec");
    int length =
        number < 2 ? snprintf(out, capacity, "%s", base)
                   : snprintf(out, capacity, "%.*s.part%u%s", (int)stem, base, number, base + stem);
    return length > 0 && (size_t)length < capacity ? 0 : -ENAMETOOLONG;
}

/* Where the number of a part begins in a name: at the last mark, as the id of the job may have one,
 * too. @return NULL: there is none */
static const char *recording_name_find_mark(const char *name)
{
    const char *mark = NULL;
    for (const char *p = name; (p = strstr(p, ".part")) != NULL; p++)
        mark = p;
    return mark;
}

void recording_parts_find(const char *base, unsigned *first, unsigned *last)
{
    char directory[520], path[560];
    const char *slash = strrchr(base, '/');
    *first = *last = access(base, F_OK) == 0;
    snprintf(directory, sizeof(directory), "%.*s", slash == NULL ? 1 : (int)(slash - base + 1),
             slash == NULL ? "." : base);
    DIR *entries = opendir(directory);
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL;) {
        const char *number = recording_name_find_mark(e->d_name);
        unsigned part = 0;
        if (number == NULL || sscanf(number, ".part%u", &part) != 1 || part < 2 ||
            recording_part_path(base, part, path, sizeof(path)) != 0 ||
            strcmp(path + (slash == NULL ? 0 : slash - base + 1), e->d_name) != 0)
            continue;
        *first = *first == 0 || part < *first ? part : *first;
        *last = part > *last ? part : *last;
    }
    if (entries != NULL)
        closedir(entries);
}

/* ---- as files ------------------------------------------------------------ */

/* A file that is being created has a journal until it has its log. */
#define SUFFIXES 4
static const char *const suffixes[SUFFIXES] = {"", "-wal", "-shm", "-journal"};

uint64_t recording_bytes_at(const char *path)
{
    uint64_t bytes = 0;
    char target[PATH_MAX];
    path = realpath(path, target) != NULL ? target : path;
    for (int i = 0; i < 2; i++) {
        char name[PATH_MAX + 16];
        struct stat status;
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        bytes += stat(name, &status) == 0 ? (uint64_t)status.st_size : 0;
    }
    return bytes;
}

int recording_remove(const char *path)
{
    int code = 0;
    for (int i = 0; i < SUFFIXES; i++) {
        char name[600];
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        if (unlink(name) != 0 && i == 0)
            code = -errno;
    }
    return code;
}

/* Rename a file together with its log, which holds what is not yet in the file, and never beside
 * the log of another file, nor in place of a device. */
static int recording_name_rename_file(const char *path, const char *to)
{
    struct stat there;
    if (stat(to, &there) == 0 && !S_ISREG(there.st_mode))
        return -EEXIST;
    int code = rename(path, to) == 0 ? 0 : -errno;
    for (int i = 1; code == 0 && i < SUFFIXES; i++) {
        char from_name[600], to_name[600];
        snprintf(from_name, sizeof(from_name), "%s%s", path, suffixes[i]);
        snprintf(to_name, sizeof(to_name), "%s%s", to, suffixes[i]);
        if (rename(from_name, to_name) == 0)
            continue;
        code = errno == ENOENT ? 0 : -errno;
        unlink(to_name);
    }
    return code;
}

/* Find the path of the first part of a recording from the path of any part. @return number of the
 * given part */
static unsigned recording_name_find_base(const char *path, char *base, size_t capacity)
{
    char part[560];
    const char *slash = strrchr(path, '/');
    const char *mark = recording_name_find_mark(slash == NULL ? path : slash);
    unsigned number = 0;
    int end = 0;
    if (mark != NULL && sscanf(mark, ".part%u%n", &number, &end) == 1 && number >= 2 &&
        snprintf(base, capacity, "%.*s%s", (int)(mark - path), path, mark + end) < (int)capacity &&
        recording_part_path(base, number, part, sizeof(part)) == 0 && strcmp(part, path) == 0)
        return number;
    snprintf(base, capacity, "%s", path);
    return 1;
}

int recording_is_part(const char *path)
{
    char base[560];
    return recording_name_find_base(path, base, sizeof(base)) > 1;
}

int recording_is_cut_short(const char *path, const char *state)
{
    char base[560], lock[PATH_MAX + 16], target[PATH_MAX];
    /* Parts and the lock are beside the file that a link leads to. */
    path = realpath(path, target) != NULL ? target : path;
    unsigned first, last, number = recording_name_find_base(path, base, sizeof(base));
    recording_parts_find(base, &first, &last);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    if (strcmp(state, "cut short") == 0)
        return 1;
    return strcmp(state, "running") == 0 && last <= number && !lock_file_is_held(lock);
}

int recording_rename(const char *path, const char *to, char *out, size_t capacity)
{
    char base[560], from_part[560], to_part[560];
    unsigned first, last, newest = recording_name_find_base(path, base, sizeof(base));
    if (strlen(to) >= sizeof(to_part) - 16)
        return -ENAMETOOLONG;
    int code = recording_part_path(to, newest, out, capacity);
    recording_parts_find(base, &first, &last);
    if (code == 0 && last == 0)
        return -ENOENT;
    for (unsigned n = first; code == 0 && n <= last; n++) {
        code = recording_part_path(base, n, from_part, sizeof(from_part));
        code = code != 0 ? code : recording_part_path(to, n, to_part, sizeof(to_part));
        code = code != 0 ? code : recording_name_rename_file(from_part, to_part);
        code = code == -ENOENT && n < last ? 0 : code; /* a part in between was removed */
    }
    return code;
}

/* Ask a file for one number. @return 0, or why it gives none */
static int recording_name_ask(const char *path, const char *query, int64_t *out)
{
    struct recording_file file = {0};
    char why[256];
    int code = recording_file_open(&file, path, RECORDING_READ, why, sizeof(why));
    if (code == 0)
        code = recording_file_number(&file, query, out);
    recording_file_close(&file);
    return code;
}

void recording_find_stop(const char *path, struct recording_stop *out)
{
    struct recording_file file = {0};
    sqlite3_stmt *s = NULL;
    char why[256];
    *out = (struct recording_stop){0};
    if (recording_file_open(&file, path, RECORDING_SALVAGE, why, sizeof(why)) == 0 &&
        recording_file_query(&file, &s, "SELECT at_ns, why FROM stopped") == 1) {
        out->at_ns = (uint64_t)sqlite3_column_int64(s, 0);
        text_copy(out->why, sizeof(out->why), recording_file_text(s, 1));
    }
    sqlite3_finalize(s);
    recording_file_close(&file);
}

static int recording_name_find_largest(const char *base, const char *query, uint64_t *out)
{
    unsigned first, last;
    int64_t newest = 0, number = 0;
    char path[560];
    int code = 0;
    recording_parts_find(base, &first, &last);
    for (; code == 0 && first <= last; first++) {
        code = recording_part_path(base, first, path, sizeof(path));
        if (code == 0 && access(path, F_OK) == 0)
            code = recording_name_ask(path, query, &number);
        newest = number > newest ? number : newest;
    }
    if (code == 0)
        *out = (uint64_t)newest;
    return code;
}

int recording_find_last_window(const char *base, uint64_t *out)
{
    return recording_name_find_largest(
        base, "SELECT ifnull(max(window), 0) FROM totals WHERE start_ns <= published_ns", out);
}

int recording_find_last_phase(const char *base, uint64_t *out)
{
    return recording_name_find_largest(base, "SELECT ifnull(max(id), 0) FROM phase", out);
}

static int recording_name_read_matches(const char *path, struct recorded_matches *out)
{
    struct recording_file file = {0};
    sqlite3_stmt *s = NULL;
    char why[256];
    int code = recording_file_open(&file, path, RECORDING_READ, why, sizeof(why));
    if (code == 0)
        code = recording_file_query(&file, &s,
                                    "SELECT window, matched, unmatched, unwatched FROM totals"
                                    " ORDER BY window DESC LIMIT 1");
    if (code == 1)
        *out = (struct recorded_matches){
            (uint64_t)sqlite3_column_int64(s, 0), (uint64_t)sqlite3_column_int64(s, 1),
            (uint64_t)sqlite3_column_int64(s, 2), (uint64_t)sqlite3_column_int64(s, 3)};
    sqlite3_finalize(s);
    recording_file_close(&file);
    return code == 1 ? 0 : code == 0 ? -HOLTER_EEMPTY : code;
}

int recording_find_matches(const char *base, struct recorded_matches *out)
{
    unsigned first, last;
    char path[560];
    int code = -HOLTER_EEMPTY;
    recording_parts_find(base, &first, &last);
    for (; code != 0 && last > 0 && last >= first; last--)
        if (recording_part_path(base, last, path, sizeof(path)) == 0)
            code = recording_name_read_matches(path, out);
    return code;
}

int recording_has_other_windows(const char *base, uint64_t window_ns)
{
    unsigned first, last;
    int64_t recorded = 0;
    char path[560];
    recording_parts_find(base, &first, &last);
    return last > 0 && recording_part_path(base, last, path, sizeof(path)) == 0 &&
           recording_name_ask(path, "SELECT window_ns FROM job", &recorded) == 0 && recorded > 0 &&
           (uint64_t)recorded != window_ns;
}

int recording_has_other_processes(const char *base, uint64_t instance,
                                  const struct wire_ranks *ranks)
{
    struct recording_file file = {0};
    unsigned first, last;
    int64_t own = 0, other = 0;
    char path[560], query[128], why[256];
    recording_parts_find(base, &first, &last);
    if (last == 0 || recording_part_path(base, last, path, sizeof(path)) != 0)
        return 0;
    int code = recording_file_open(&file, path, RECORDING_READ, why, sizeof(why));
    snprintf(query, sizeof(query),
             "SELECT EXISTS(SELECT 1 FROM agent WHERE instance = %" PRId64 ")", (int64_t)instance);
    code = code != 0 ? code : recording_file_number(&file, query, &own);
    for (uint64_t i = 0; code == 0 && !own && !other && i < ranks->members_count; i++) {
        snprintf(query, sizeof(query),
                 "SELECT EXISTS(SELECT 1 FROM places WHERE rank = %" PRId64 " AND pid <> %" PRId64
                 ")",
                 (int64_t)ranks->members[i].rank, (int64_t)ranks->members[i].pid);
        code = recording_file_number(&file, query, &other);
    }
    recording_file_close(&file);
    return code == 0 && other != 0;
}

/* ---- directories --------------------------------------------------------- */

static int recording_name_make_directories(const char *path)
{
    char part[512];
    if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
        return -ENAMETOOLONG;
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return mkdir(part, 0777) != 0 && errno != EEXIST ? -errno : 0;
}

int recording_make_directory(const char *path)
{
    struct stat status;
    int code = recording_name_make_directories(path);
    if (code != 0)
        return code;
    if (stat(path, &status) != 0)
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return access(path, W_OK | X_OK) != 0 ? -errno : 0;
}

/* ---- finding ------------------------------------------------------------- */

/* Does a part have the state that the earlier parts have left? Not if its daemon was killed while
 * creating it. */
static int recording_name_is_begun(const char *path)
{
    struct recording_file file = {0};
    int64_t rows = 0;
    char why[256];
    if (recording_file_open(&file, path, RECORDING_WRITE, why, sizeof(why)) != 0)
        return 1;
    int begun = file.version != 0 && (recording_file_number(&file,
                                                            "SELECT (SELECT count(*) FROM part) +"
                                                            " (SELECT count(*) FROM block)",
                                                            &rows) != 0 ||
                                      rows > 0);
    recording_file_close(&file);
    return begun;
}

static int recording_name_has_tables(const char *path)
{
    struct recording_file file = {0};
    char why[256];
    int code = recording_file_open(&file, path, RECORDING_READ, why, sizeof(why));
    recording_file_close(&file);
    return code != -HOLTER_EEMPTY;
}

/* @param only  there is no earlier part that could take its place: then the part counts as begun
 * once it has tables
 * @return whether the part was removed; one that is being created by another process stays */
static int recording_name_drop_unbegun(const char *path, int only)
{
    char lock_path[600];
    if (only && recording_name_has_tables(path))
        return 0;
    snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
    int lock = lock_file_acquire(lock_path);
    int gone = lock >= 0 && !recording_name_is_begun(path) && recording_remove(path) == 0;
    lock_file_release(lock, lock_path);
    return gone;
}

/* @return the newest part that can be continued; 0: none */
static unsigned recording_name_newest_part(const char *base)
{
    unsigned first, last;
    char path[560];
    do
        recording_parts_find(base, &first, &last);
    while (last > 0 && recording_part_path(base, last, path, sizeof(path)) == 0 &&
           recording_name_drop_unbegun(path, last == first));
    return last;
}

/* @param own  only if it has messages of the agent */
static int recording_name_may_continue(const char *path, uint64_t instance, int own)
{
    char query[256];
    int64_t yes = 0;
    snprintf(query, sizeof(query),
             "SELECT EXISTS(SELECT 1 FROM agent WHERE instance=%" PRId64 ")%s", (int64_t)instance,
             own ? "" : " OR NOT EXISTS(SELECT 1 FROM job WHERE state IN ('ended', 'died'))");
    return recording_name_ask(path, query, &yes) == 0 && yes != 0;
}

/* Does a file say that it is of another job? "a-2" is a job, too, and its first recording is named
 * as the second one of "a". */
static int recording_name_is_of_another(const char *path, const char *job)
{
    int64_t another = 0;
    char *query = sqlite3_mprintf("SELECT EXISTS(SELECT 1 FROM job WHERE job <> %Q)", job);
    int code = query == NULL ? -ENOMEM : recording_name_ask(path, query, &another);
    sqlite3_free(query);
    return code == 0 && another != 0;
}

/* `holter record`, and a recorded replay of a job that runs, name their recordings as the daemon
 * does that of a next run. */
static int recording_name_is_copy(const char *path)
{
    int64_t copy = 0;
    return recording_name_ask(path,
                              "SELECT EXISTS(SELECT 1 FROM part WHERE attached_ns > 0)"
                              " OR EXISTS(SELECT 1 FROM job WHERE state = 'cut short')",
                              &copy) == 0 &&
           copy != 0;
}

/* Is a file being written? Two daemons that share a directory, as a home directory on two hosts,
 * may have jobs of one id. */
static int recording_name_is_written(const char *path)
{
    char lock_path[600];
    snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
    return lock_file_is_held(lock_path);
}

static int recording_name_make_path(const char *directory, const char *job, unsigned number,
                                    char *out, size_t capacity)
{
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof(suffix), "-%u", number);
    int length = snprintf(out, capacity, "%s/holter-%s%s.hrec", directory, job, suffix);
    return length > 0 && (size_t)length < capacity ? 0 : -ENAMETOOLONG;
}

/* The first name that no recording has. @param number  of the name, from 1
 * @return 0, -ENAMETOOLONG or -EEXIST: all are taken */
static int recording_name_first_free(const char *directory, const char *job, char *out,
                                     size_t capacity, unsigned *number)
{
    unsigned first, last = 1;
    for (*number = 1; *number < MAX_FILES; ++*number) {
        if (recording_name_make_path(directory, job, *number, out, capacity) != 0)
            return -ENAMETOOLONG;
        recording_parts_find(out, &first, &last);
        if (last == 0)
            return 0;
    }
    return -EEXIST;
}

int recording_choose_path(const char *directory, const char *job, uint64_t instance, char *out,
                          size_t capacity, int *exists)
{
    unsigned number;
    char path[560];
    int own = 0;
    *exists = 0;
    int code = recording_name_first_free(directory, job, out, capacity, &number);
    if (code == -ENAMETOOLONG || number == 1)
        return code;
    for (unsigned n = number - 1; n > 0; n--) {
        if (recording_name_make_path(directory, job, n, out, capacity) != 0)
            break;
        unsigned newest = recording_name_newest_part(out);
        if (newest == 0)
            return 0;
        if (recording_part_path(out, newest, path, sizeof(path)) != 0)
            break;
        if (recording_name_is_of_another(path, job) || recording_name_is_copy(path))
            continue;
        if (recording_name_is_written(path)) {
            own = 1; /* what is before it may be of the job that writes it */
            continue;
        }
        *exists = recording_name_may_continue(path, instance, own);
        if (*exists)
            return 0;
        break;
    }
    return recording_name_make_path(directory, job, number, out, capacity);
}

int recording_choose_new(const char *directory, const char *job, char *out, size_t capacity)
{
    unsigned number;
    return recording_name_first_free(directory, job, out, capacity, &number);
}
