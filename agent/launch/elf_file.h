/* What an ELF file is and which dynamic linker it names. The file is only read (elf(5)). */
#ifndef HOLTER_AGENT_LAUNCH_ELF_FILE_H
#define HOLTER_AGENT_LAUNCH_ELF_FILE_H

#include <stdint.h>

struct elf_file {
    uint8_t class_;        /**< ELFCLASS64; ELFCLASS32: nothing else is known */
    uint16_t machine;      /**< EM_X86_64, EM_AARCH64, ... */
    char interpreter[256]; /**< path of the dynamic linker; "": none, nothing can be preloaded */
};

/** @param out  filled on success
 *  @return 0, -ENOEXEC when it is no ELF file of this machine's byte order, -HOLTER_ECORRUPT when
 *          an offset or a length in it points nowhere, or another -errno */
int elf_file_read(struct elf_file *out, const char *path);

/** Does a program of a 64-bit machine define a symbol, as one that was linked into it from an
 *  archive? @return 1, or 0 for no, for a program without symbols and for all errors */
int elf_file_defines(const char *path, const char *symbol);

#endif
