/* Recordings as OTF2 archives, read by the library of OTF2. */
#include "tests/daemon/export/exported.h"

#include <errno.h>
#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void remove_archive(const char *archive)
{
    char file[260];
    for (int i = 0; i <= 4; i++) {
        snprintf(file, sizeof(file), "%s/traces/%d.evt", archive, i);
        unlink(file);
        snprintf(file, sizeof(file), "%s/traces/%d.def", archive, i);
        unlink(file);
    }
    snprintf(file, sizeof(file), "%s/traces", archive);
    rmdir(file);
    snprintf(file, sizeof(file), "%s/traces.otf2", archive);
    unlink(file);
    snprintf(file, sizeof(file), "%s/traces.def", archive);
    unlink(file);
    rmdir(archive);
}

struct regions {
    OTF2_RegionRef refs[8];
    OTF2_StringRef names[8];
    char strings[64][24];
    unsigned count;
    uint64_t phase_events; /* of the last location */
};

static OTF2_CallbackCode take_string(void *user, OTF2_StringRef self, const char *string)
{
    struct regions *r = user;
    assert_true(self < 64);
    snprintf(r->strings[self], sizeof(r->strings[self]), "%s", string);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                     OTF2_StringRef canonical, OTF2_StringRef description,
                                     OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                     OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                     uint32_t end)
{
    struct regions *r = user;
    (void)canonical, (void)description, (void)role, (void)paradigm, (void)flags, (void)file;
    (void)begin, (void)end;
    assert_true(r->count < 8 && name < 64);
    r->refs[r->count] = self;
    r->names[r->count++] = name;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                       OTF2_LocationType type, uint64_t events,
                                       OTF2_LocationGroupRef group)
{
    struct regions *r = user;
    (void)self, (void)name, (void)type, (void)group;
    r->phase_events = events;
    return OTF2_CALLBACK_SUCCESS;
}

static void read_regions(const char *archive, struct regions *out)
{
    char anchor[260];
    uint64_t read;
    snprintf(anchor, sizeof(anchor), "%s/traces.otf2", archive);
    OTF2_Reader *reader = OTF2_Reader_Open(anchor);
    assert_non_null(reader);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, take_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, take_region);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, take_location);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, out);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    assert_int_equal(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read),
                     OTF2_SUCCESS);
    OTF2_Reader_Close(reader);
}

/* Phases of a cut do not begin with 1, and may be like one that came before it. */
static void regions_of_an_archive_are_the_patterns_of_phases(void **state)
{
    (void)state;
    char archive[220], why[200] = "";
    struct regions regions = {.count = 0};
    change("DELETE FROM phase; DELETE FROM curve;"
           "INSERT INTO phase(id, begin_ns, end_ns) VALUES(3, 1, 2), (4, 2, 3), (5, 3, 4),"
           " (6, 4, 5), (7, 5, 6);"
           "INSERT INTO curve(phase, returned, resembles) VALUES(3, 0, 0), (4, 1, 3), (5, 1, 2),"
           " (6, 1, 2), (7, 0, 5);");
    snprintf(archive, sizeof(archive), "%s/otf2", directory);
    assert_int_equal(export_otf2(archive, &source, why, sizeof(why)), 0);
    read_regions(archive, &regions);
    remove_archive(archive);
    static const char *const wanted[] = {"phase 3", "phase 2", "phase 7"};
    assert_int_equal(regions.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(regions.refs[i], i);
        assert_string_equal(regions.strings[regions.names[i]], wanted[i]);
    }
}

static void an_archive_has_the_phases_of_a_long_job(void **state)
{
    (void)state;
    char archive[220], why[200] = "";
    struct regions regions = {.count = 0};
    change("DELETE FROM phase; DELETE FROM curve;"
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)"
           " INSERT INTO phase(id, begin_ns, end_ns) SELECT i, 10 * i, 10 * i + 5 FROM n;"
           "INSERT INTO curve(phase, returned, resembles) SELECT id, id > 1, id > 1 FROM phase;");
    snprintf(archive, sizeof(archive), "%s/otf2", directory);
    assert_int_equal(export_otf2(archive, &source, why, sizeof(why)), 0);
    read_regions(archive, &regions);
    remove_archive(archive);
    assert_int_equal(regions.count, 1);
    assert_int_equal(regions.phase_events, 2 * 70000);
}

static void an_archive_is_made_once(void **state)
{
    (void)state;
    char archive[220], file[260], why[200] = "";
    struct stat status;
    snprintf(archive, sizeof(archive), "%s/otf2", directory);
    assert_int_equal(export_otf2(archive, &source, why, sizeof(why)), 0);
    for (int i = 0; i <= 4; i++) { /* four ranks, and the phases */
        snprintf(file, sizeof(file), "%s/traces/%d.evt", archive, i);
        assert_int_equal(stat(file, &status), 0);
    }
    assert_int_equal(export_otf2(archive, &source, why, sizeof(why)), -EEXIST);
    assert_true(why[0] != '\0');
    remove_archive(archive);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, exported_set_up, exported_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_archive_is_made_once),
        TEST(an_archive_has_the_phases_of_a_long_job),
        TEST(regions_of_an_archive_are_the_patterns_of_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
