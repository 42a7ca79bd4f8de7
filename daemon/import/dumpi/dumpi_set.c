/* Finds the files of a DUMPI trace, and scans each of them once: see dumpi_set.h. */
#include "daemon/import/dumpi/dumpi_set.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/import/dumpi/dumpi_ascii.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_META_BYTES (1u << 16) /* bytes of a .meta file */
#define LOOK_BYTES 65536u         /* bytes read at a time */

/* ---- the text beside the files ------------------------------------------------ */

static const char *dumpi_set_skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* "key=value"; hand-edited files have blanks around the parts. */
static int dumpi_set_is_key(const char **begin, const char *end, const char *key)
{
    size_t length = strlen(key);
    const char *at = dumpi_set_skip_blanks(*begin, end);
    if ((size_t)(end - at) <= length || memcmp(at, key, length) != 0)
        return 0;
    at = dumpi_set_skip_blanks(at + length, end);
    if (at == end || *at != '=')
        return 0;
    *begin = dumpi_set_skip_blanks(at + 1, end);
    return 1;
}

static void dumpi_set_copy_text(char *out, size_t capacity, const char *begin, const char *end)
{
    while (end > begin && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    size_t length = (size_t)(end - begin) < capacity - 1 ? (size_t)(end - begin) : capacity - 1;
    memcpy(out, begin, length);
    out[length] = '\0';
}

/* @param text  of length bytes, terminated by NUL */
static void dumpi_meta_read(struct dumpi_meta *out, const char *text, size_t length)
{
    static const char *const parts[] = {"version", "subversion", "subsubversion"};
    struct lines lines = lines_of(text, length);
    const char *begin, *end;
    uint64_t number;
    *out = (struct dumpi_meta){.version = {{1, 0, 0}}};
    while (lines_next(&lines, &begin, &end)) {
        if (dumpi_set_is_key(&begin, end, "hostname"))
            dumpi_set_copy_text(out->host, sizeof out->host, begin, end);
        else if (dumpi_set_is_key(&begin, end, "fileprefix"))
            dumpi_set_copy_text(out->prefix, sizeof out->prefix, begin, end);
        else if (dumpi_set_is_key(&begin, end, "numprocs"))
            word_whole(&begin, end, &out->ranks);
        else if (dumpi_set_is_key(&begin, end, "startime"))
            word_whole(&begin, end, &out->start_s);
        for (unsigned i = 0; i < 3; i++)
            if (dumpi_set_is_key(&begin, end, parts[i]) && word_whole(&begin, end, &number) &&
                number < 256)
                out->version.part[i] = (uint8_t)number;
    }
}

/* ---- finding -------------------------------------------------------------------- */

/* Split a path without its suffix, "DIRECTORY/PREFIX". */
static int dumpi_set_place(struct dumpi_set *set, const char *path, const char *suffix)
{
    const char *slash = strrchr(path, '/'), *base = text_base_name(path);
    size_t length = strlen(base) - (text_ends(base, suffix) ? strlen(suffix) : 0);
    int directory = slash == NULL   ? snprintf(set->directory, sizeof set->directory, ".")
                    : slash == path ? snprintf(set->directory, sizeof set->directory, "/")
                                    : snprintf(set->directory, sizeof set->directory, "%.*s",
                                               (int)(slash - path), path);
    int prefix = snprintf(set->prefix, sizeof set->prefix, "%.*s", (int)length, base);
    return directory < (int)sizeof set->directory && prefix < (int)sizeof set->prefix;
}

/* Remove "-NNNN" from a prefix. */
static void dumpi_set_cut_number(char *prefix)
{
    size_t length = strlen(prefix);
    while (length > 0 && prefix[length - 1] >= '0' && prefix[length - 1] <= '9')
        length--;
    if (length > 1 && prefix[length - 1] == '-')
        prefix[length - 1] = '\0';
}

/* The ending of the name of a rank's file. @return NULL: the name has none of these endings */
static const char *dumpi_set_ending_of(const char *name, int ascii)
{
    static const char *const endings[] = {".bin.txt", ".txt", ".bin.ascii", ".ascii"};
    if (!ascii)
        return text_ends(name, ".bin") ? ".bin" : NULL;
    for (unsigned i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (text_ends(name, endings[i]))
            return endings[i];
    return NULL;
}

/* Number of the rank in a file's name. @return -1: the file belongs to another trace */
static int64_t dumpi_set_rank_in(const char *name, const struct dumpi_set *set)
{
    size_t length = strlen(set->prefix);
    if (strncmp(name, set->prefix, length) != 0 || name[length] != '-')
        return -1;
    const char *digits = name + length + 1;
    const char *ending = dumpi_set_ending_of(name, set->ascii);
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 9 || ending == NULL || strcmp(digits + count, ending) != 0)
        return -1;
    return strtol(digits, NULL, 10);
}

static int dumpi_set_reserve_ranks(struct dumpi_set *set, uint64_t ranks)
{
    if (ranks <= set->ranks)
        return 0;
    if (ARRAY_RESIZE(set->parts, ranks) != 0)
        return -ENOMEM;
    memset(set->parts + set->ranks, 0, (ranks - set->ranks) * sizeof *set->parts);
    set->ranks = (uint32_t)ranks;
    return 0;
}

/* Set a minimum of the number of ranks. @return 0; -HOLTER_ELIMIT: implausible with so few files;
 * or -ENOMEM */
static int dumpi_set_reserve(struct dumpi_set *set, uint64_t ranks)
{
    uint64_t files = 0;
    for (uint32_t i = 0; i < set->ranks; i++)
        files += set->parts[i].path != NULL;
    if (ranks > DUMPI_RANKS_MOST || ranks > 65536 + 64 * files)
        return -HOLTER_ELIMIT;
    return dumpi_set_reserve_ranks(set, ranks);
}

static int64_t dumpi_set_count_parts(const struct dumpi_set *set)
{
    int64_t count = 0;
    DIR *list = opendir(set->directory);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;)
        count += dumpi_set_rank_in(entry->d_name, set) >= 0;
    if (list != NULL)
        closedir(list);
    return count;
}

/* Find the files of the ranks. If no text states the number of ranks, a number far above that of
 * the files is not taken for a rank. @return number of files, or -ENOMEM */
static int64_t dumpi_set_find_parts(struct dumpi_set *set)
{
    int64_t found = 0, most = 2 * dumpi_set_count_parts(set) + 1024;
    uint64_t stated = set->meta.ranks > set->ranks ? set->meta.ranks : set->ranks;
    if (set->meta.ranks > 0)
        most = stated < DUMPI_RANKS_MOST ? (int64_t)stated : DUMPI_RANKS_MOST;
    most = most < DUMPI_RANKS_MOST ? most : DUMPI_RANKS_MOST;
    set->others = 0;
    DIR *list = opendir(set->directory);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        int64_t rank = dumpi_set_rank_in(entry->d_name, set);
        char path[3400];
        set->others += rank >= most;
        if (rank < 0 || rank >= most)
            continue;
        snprintf(path, sizeof path, "%s/%s", set->directory, entry->d_name);
        if (dumpi_set_reserve_ranks(set, (uint64_t)rank + 1) != 0) {
            closedir(list);
            return -ENOMEM;
        }
        /* of two names with the same number always the same one is used */
        struct dumpi_part *part = &set->parts[rank];
        if (part->path != NULL && strcmp(part->path, path) <= 0)
            continue;
        found += part->path == NULL;
        free(part->path);
        part->path = strdup(path);
    }
    if (list != NULL)
        closedir(list);
    return found;
}

int dumpi_set_extend(struct dumpi_set *set, uint64_t ranks)
{
    int code = dumpi_set_reserve(set, ranks);
    return code != 0 || set->others == 0 ? code : dumpi_set_find_parts(set) < 0 ? -ENOMEM : 0;
}

static int dumpi_set_is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static size_t dumpi_set_begin_of(const char *path, uint8_t *out, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, out, capacity);
    if (fd >= 0)
        close(fd);
    return got < 0 ? 0 : (size_t)got;
}

static int dumpi_set_read_meta(struct dumpi_set *set, const char *path, struct faults *faults)
{
    char *text;
    size_t length;
    struct stat status;
    if (stat(path, &status) != 0) {
        dumpi_meta_read(&set->meta, "", 0);
        return 0;
    }
    int code = file_text(&text, &length, path, MAX_META_BYTES, faults);
    if (code != 0)
        return code;
    dumpi_meta_read(&set->meta, text, length);
    free(text);
    return 0;
}

/* The rank that the program of a text queried of MPI_COMM_WORLD; 0: it did not. */
static uint32_t dumpi_set_rank_from_name(const char *path)
{
    struct dumpi_file file;
    struct dumpi_stream stream;
    char why[200];
    uint32_t rank = 0;
    int code = dumpi_file_open(&file, path, why, sizeof why);
    code = code != 0 ? code : dumpi_stream_init(&stream, &file, LOOK_BYTES);
    while (code == 0 && dumpi_stream_next(&stream) == 1)
        if (stream.call.function == DUMPI_Comm_rank &&
            dumpi_value(&stream, 0) == DUMPI_COMM_WORLD) {
            rank = dumpi_value(&stream, 1) > 0 ? (uint32_t)dumpi_value(&stream, 1) : 0;
            break;
        }
    if (code == 0)
        dumpi_stream_finish(&stream);
    dumpi_file_finish(&file);
    return rank;
}

/* A text that the user named, and whose name has no rank. @return as dumpi_set_find_parts() */
static int64_t dumpi_set_find_alone(struct dumpi_set *set, const char *path)
{
    uint32_t rank = dumpi_set_rank_from_name(path);
    if (rank >= 65536u || dumpi_set_reserve_ranks(set, (uint64_t)rank + 1) != 0)
        return -ENOMEM;
    set->parts[rank].path = strdup(path);
    return set->parts[rank].path == NULL ? -ENOMEM : 1;
}

/* Find the files with the prefix of the .meta file; if these have been renamed, those with the
 * prefix of the .meta file's own name. */
static int64_t dumpi_set_find_named(struct dumpi_set *set, const char *prefix)
{
    char own[sizeof set->prefix];
    memcpy(own, set->prefix, sizeof own);
    snprintf(set->prefix, sizeof set->prefix, "%s", prefix);
    int64_t found = prefix[0] == '\0' ? 0 : dumpi_set_find_parts(set);
    if (found != 0)
        return found;
    memcpy(set->prefix, own, sizeof own);
    return dumpi_set_find_parts(set);
}

/* @param named  the file of a rank that the user named; NULL: none */
static int dumpi_set_find_all(struct dumpi_set *set, const char *named, struct faults *faults)
{
    const char *prefix = text_base_name(set->meta.prefix);
    int64_t found = dumpi_set_find_named(set, prefix);
    if (found == 0 && named == NULL) {
        set->ascii = 1;
        found = dumpi_set_find_named(set, prefix);
    }
    if (found == 0 && named != NULL && set->ascii)
        found = dumpi_set_find_alone(set, named);
    if (found < 0)
        return -ENOMEM;
    if (found == 0) {
        fault_at(faults, 0, "there is no file %s-0000.bin, or of another rank, beside it",
                 prefix[0] == '\0' ? set->prefix : prefix);
        return -ENOENT;
    }
    int code = dumpi_set_reserve(set, set->meta.ranks);
    if (code != -HOLTER_ELIMIT)
        return code;
    fault_at(
        faults, 0,
        "numprocs is %llu, but there are files of %lld ranks only: those up to the last of them "
        "are imported",
        (unsigned long long)set->meta.ranks, (long long)found);
    set->too_many = 1;
    return 0;
}

int dumpi_set_find(struct dumpi_set *out, const char *source, struct faults *faults)
{
    char meta[4096];
    uint8_t begin[DUMPI_ASCII_LOOK];
    *out = (struct dumpi_set){0};
    if (dumpi_set_is_directory(source)) { /* in which import_format_find() has found no trace */
        fault_at(faults, 0, "there is not one .meta file in this directory");
        return -ENOENT;
    }
    if (snprintf(meta, sizeof meta, "%s", source) >= (int)sizeof meta)
        return -ENAMETOOLONG;
    size_t length = dumpi_set_begin_of(meta, begin, sizeof begin);
    out->ascii = dumpi_is_ascii(begin, length);
    int part = out->ascii || dumpi_is_file(begin, length);
    const char *ending = part ? dumpi_set_ending_of(meta, out->ascii) : ".meta";
    if (!dumpi_set_place(out, meta, ending == NULL ? "" : ending)) {
        fault_at(faults, 0, "the name is too long");
        return -ENAMETOOLONG;
    }
    if (part) {
        dumpi_set_cut_number(out->prefix);
        if (snprintf(meta, sizeof meta, "%s/%s.meta", out->directory, out->prefix) >=
            (int)sizeof meta)
            return -ENAMETOOLONG;
    } else if (access(meta, R_OK) != 0) {
        int code = -errno;
        fault_at(faults, 0, "%s", holter_strerror(code));
        return code;
    }
    int code = dumpi_set_read_meta(out, meta, faults);
    if (code == 0 && part) /* the file that the user named takes precedence */
        snprintf(out->meta.prefix, sizeof out->meta.prefix, "%s", out->prefix);
    return code == 0 ? dumpi_set_find_all(out, part ? source : NULL, faults) : code;
}

void dumpi_set_finish(struct dumpi_set *set)
{
    for (uint32_t i = 0; i < set->ranks; i++) {
        dumpi_file_finish(&set->parts[i].file);
        free(set->parts[i].path);
        free(set->parts[i].app);
    }
    free(set->parts);
    *set = (struct dumpi_set){0};
}

/* ---- a first look --------------------------------------------------------------- */

static void dumpi_set_note_thread(struct dumpi_part *part, uint16_t thread)
{
    uint32_t count = part->thread_count;
    if (count > DUMPI_MAX_THREADS || (count > 0 && part->threads[count - 1] == thread))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (part->threads[i] == thread)
            return;
    if (count < DUMPI_MAX_THREADS)
        part->threads[count] = thread;
    part->thread_count++;
}

static void dumpi_set_note_call(struct dumpi_part *part, const struct dumpi_stream *stream,
                                struct dumpi_clock *clock)
{
    const struct dumpi_call *call = &stream->call;
    int64_t enter_ns, exit_ns;
    dumpi_clock_read(clock, call, &enter_ns, &exit_ns);
    if (part->calls++ == 0) {
        part->first_ns = part->init_ns = enter_ns;
        part->last_ns = exit_ns;
        part->wall = (call->mask & DUMPI_HAS_WALL_TIME) != 0;
    }
    part->first_ns = enter_ns < part->first_ns ? enter_ns : part->first_ns;
    part->last_ns = exit_ns > part->last_ns ? exit_ns : part->last_ns;
    dumpi_set_note_thread(part, call->thread);
    if (call->function == DUMPI_Comm_size && dumpi_value(stream, 0) == DUMPI_COMM_WORLD &&
        dumpi_value(stream, 1) > 0)
        part->world = (uint32_t)dumpi_value(stream, 1);
    if (call->function != DUMPI_Init && call->function != DUMPI_Init_thread)
        return;
    part->init_ns = exit_ns;
    unsigned argv = call->function == DUMPI_Init ? 2 : 1;
    if (part->app == NULL && dumpi_value(stream, argv) > 0)
        part->app = strdup(dumpi_text(stream, argv));
}

static void dumpi_set_scan_calls(struct dumpi_part *part, struct dumpi_stream *stream,
                                 struct dumpi_comms *comms, uint32_t rank)
{
    struct dumpi_clock clock = {0};
    int got;
    while ((got = dumpi_stream_next(stream)) == 1) {
        dumpi_set_note_call(part, stream, &clock);
        if (dumpi_comms_note(comms, rank, stream) != 0) {
            got = -ENOMEM;
            break;
        }
    }
    part->code = got;
    part->outcome = stream->outcome;
    part->read_error = stream->reader.error;
}

/* Count the calls that were made while tracing was off. The last count is the total of all
 * functions. */
static void dumpi_set_note_off(struct dumpi_part *part)
{
    struct dumpi_file *file = &part->file;
    for (uint32_t i = 0; file->calls_left_out != NULL && i + 1 < file->call_count; i++) {
        part->off += file->calls_left_out[i];
        if (file->calls_left_out[i] > part->off_most) {
            part->off_most = file->calls_left_out[i];
            part->off_function = i;
        }
    }
    free(file->calls);
    free(file->calls_left_out);
    file->calls = file->calls_left_out = NULL;
    file->call_count = 0;
}

void dumpi_part_scan(struct dumpi_set *set, uint32_t rank, struct dumpi_comms *comms)
{
    struct dumpi_part *part = &set->parts[rank];
    if (part->path == NULL)
        return;
    part->code = dumpi_file_open(&part->file, part->path, part->why, sizeof part->why);
    if (part->code != 0)
        return;
    if (!part->file.whole || (part->file.ascii && !part->file.version_known))
        part->file.version = set->meta.version;
    dumpi_set_note_off(part);
    struct dumpi_stream stream;
    part->code = dumpi_stream_init(&stream, &part->file, LOOK_BYTES);
    if (part->code == 0)
        dumpi_set_scan_calls(part, &stream, comms, rank);
    dumpi_stream_finish(&stream);
}

/* Report the faults of a text, with line numbers. */
static int dumpi_set_report_ascii(const struct dumpi_part *part, struct faults *faults)
{
    unsigned long long calls = part->calls;
    if (part->outcome.unknown > 0)
        fault_at(
            faults, (unsigned)part->outcome.unknown_at,
            "here is the first of %llu calls of functions that are not known: they are left out",
            (unsigned long long)part->outcome.unknown);
    if (part->outcome.damaged > 0)
        fault_at(faults, (unsigned)part->outcome.damaged_at,
                 "here is the first of %llu calls that are not whole: they are left out",
                 (unsigned long long)part->outcome.damaged);
    if (part->outcome.ending == DUMPI_ENDED_EARLY)
        fault_at(faults, (unsigned)part->outcome.ended_at,
                 "the file ends within this call; %llu calls before it are imported", calls);
    else if (part->outcome.ending == DUMPI_ENDED_BROKEN)
        fault_at(faults, (unsigned)part->outcome.ended_at,
                 "behind this line stands no text; %llu calls before it are imported", calls);
    else if (part->outcome.ending == DUMPI_ENDED_UNREADABLE)
        fault_at(faults, (unsigned)part->outcome.ended_at, "cannot be read after this line: %s",
                 holter_strerror(part->read_error));
    return part->outcome.ending != DUMPI_ENDED || part->outcome.damaged > 0;
}

int dumpi_part_report(const struct dumpi_part *part, struct faults *faults)
{
    unsigned long long at = part->outcome.ended_at;
    if (part->path == NULL)
        return 0;
    faults->name = part->path;
    if (part->code != 0) {
        fault_at(faults, 0, "%s", part->why[0] != '\0' ? part->why : holter_strerror(part->code));
        return 1;
    }
    if (part->file.ascii)
        return dumpi_set_report_ascii(part, faults);
    if (part->why[0] != '\0')
        fault_at(faults, 0, "%s", part->why);
    if (part->outcome.unknown > 0)
        fault_at(faults, 0,
                 "%llu calls of functions that are not known are left out, %llu bytes; the first "
                 "is number %u at "
                 "offset %llu",
                 (unsigned long long)part->outcome.unknown,
                 (unsigned long long)part->outcome.unknown_bytes, part->outcome.unknown_first,
                 (unsigned long long)part->outcome.unknown_at);
    if (part->outcome.ending == DUMPI_ENDED_EARLY)
        fault_at(faults, 0,
                 "the file ends within the call at offset %llu; %llu calls before it are imported",
                 at, (unsigned long long)part->calls);
    else if (part->outcome.ending == DUMPI_ENDED_BROKEN)
        fault_at(faults, 0,
                 "what stands at offset %llu is no call; %llu calls before it are imported", at,
                 (unsigned long long)part->calls);
    else if (part->outcome.ending == DUMPI_ENDED_UNREADABLE)
        fault_at(faults, 0, "cannot be read after offset %llu: %s", at,
                 holter_strerror(part->read_error));
    return part->outcome.ending != DUMPI_ENDED || !part->file.whole || part->why[0] != '\0';
}
