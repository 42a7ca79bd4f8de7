/* Archives that tests write with the library of OTF2. */
#ifndef TESTS_DAEMON_IMPORT_OTF2_OTF2_WRITING_H
#define TESTS_DAEMON_IMPORT_OTF2_OTF2_WRITING_H

#include <otf2/otf2.h>

/** The call of the library did what it should. */
void good(OTF2_ErrorCode code);

/** A new archive whose files of events are open. @param chunk  of events, bytes */
OTF2_Archive *otf2_writing(const char *folder, const char *name, uint64_t chunk);

#endif
