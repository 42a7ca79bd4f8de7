#include "tests/daemon/import/otf2/otf2_writing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// clang-format off
#include <cmocka.h>
// clang-format on

void good(OTF2_ErrorCode code)
{
    assert_int_equal(code, OTF2_SUCCESS);
}

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                            bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

OTF2_Archive *otf2_writing(const char *folder, const char *name, uint64_t chunk)
{
    static const OTF2_FlushCallbacks flushing = {.otf2_pre_flush = flush};
    OTF2_Archive *archive =
        OTF2_Archive_Open(folder, name, OTF2_FILEMODE_WRITE, chunk, 4 * 1024 * 1024,
                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    assert_non_null(archive);
    good(OTF2_Archive_SetFlushCallbacks(archive, &flushing, NULL));
    good(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    good(OTF2_Archive_OpenEvtFiles(archive));
    return archive;
}
