/* Any text to the parsers of endpoints, sessions, roles and names: what comes from flags,
 * environment and directory entries. */
#include "holter/error.h"
#include "holter/segment.h"
#include "holter/session.h"
#include "proto/curve_keys.h"
#include "proto/endpoint.h"
#include "proto/utf8.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void endpoints(const char *text)
{
    char why[64] = "", stream[128];
    int error = endpoint_check(text, why, sizeof why);
    FUZZ_HOLDS(error == 0 || error == -HOLTER_EUSAGE);
    FUZZ_HOLDS((error == 0) == (why[0] == '\0'));
    int made = endpoint_stream(stream, sizeof stream, text);
    FUZZ_HOLDS(made == 0 || made == -HOLTER_ERANGE);
    if (made == 0) {
        FUZZ_HOLDS(error == 0 && strlen(stream) < sizeof stream);
        FUZZ_HOLDS(strncmp(stream, text, 6) == 0);
    }
    if (endpoint_is_local(text))
        FUZZ_HOLDS(error == 0 || strncmp(text, "ipc://", 6) == 0);
}

static void sessions(const char *text)
{
    char key[17], job[64], session[32];
    uint32_t uid;
    int32_t pid;
    session_key_of(text, key);
    FUZZ_HOLDS(strlen(key) == 16 && session_key_valid(key));
    if (session_key_valid(text))
        FUZZ_HOLDS(strlen(text) <= 31 && !strchr(text, '/') && !strchr(text, '.'));
    session_job_id(job, text, text);
    FUZZ_HOLDS(strlen(job) < sizeof job && !strchr(job, '/') && job[0] != '.');
    FUZZ_HOLDS(!*text || strchr(job, '.'));
    if (segment_name_parse(text, &uid, session, &pid) == 0)
        FUZZ_HOLDS(session_key_valid(session) && pid > 0);
    (void)role_by_name(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    size_t valid = utf8_prefix(text, size);
    FUZZ_HOLDS(valid <= size && !memchr(text, 0, valid));
    FUZZ_HOLDS(utf8_cut(text, size, size / 2) <= size);
    endpoints(text);
    sessions(text);
    free(text);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const char *const seeds[] = {"tcp://127.0.0.1:5555",
                                        "tcp://[fe80::1]:1",
                                        "tcp://*:65534",
                                        "tcp://node-17.cluster:5555",
                                        "ipc:///tmp/holter-0/holterd.sock",
                                        "holter.1000.0123456789abcdef.4711",
                                        "0123456789abcdefABCDEF",
                                        "operator",
                                        "slurm job 12/3",
                                        "Gr\xc3\xbc\xc3\x9f"
                                        "e \xe2\x82\xac \xf0\x9d\x84\x9e"};
    if (number >= sizeof seeds / sizeof *seeds)
        return SIZE_MAX;
    memcpy(out, seeds[number], strlen(seeds[number]));
    return strlen(seeds[number]);
}
