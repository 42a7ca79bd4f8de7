/* What an ELF file asks the dynamic linker for: the libraries it needs and where it says they lie.
 * The file is only read, never loaded or run (elf(5)). */
#ifndef HOLTER_AGENT_LAUNCH_ELF_FILE_H
#define HOLTER_AGENT_LAUNCH_ELF_FILE_H

#include <stdint.h>

#define ELF_MAX_NEEDED 512 /**< maximum of DT_NEEDED entries that are read */

/** The dynamic section of one file. Texts are owned. */
struct elf_file {
    uint8_t class_;   /**< ELFCLASS64; ELFCLASS32: nothing else is known */
    uint16_t machine; /**< EM_X86_64, EM_AARCH64, ... */
    int dynamic;      /**< 0: statically linked, nothing can be preloaded */
    char *rpath;      /**< DT_RPATH; NULL: none */
    char *runpath;    /**< DT_RUNPATH; NULL: none */
    char **needed;    /**< DT_NEEDED, in order */
    unsigned needed_count;
};

/** Read a file's needs.
 *  @param out  filled on success; elf_file_finish() frees what it holds
 *  @return 0, -ENOEXEC when it is no ELF file of this machine's byte order, -HOLTER_ECORRUPT when
 *          an offset or a length in it points nowhere, -ENOMEM or another -errno */
int elf_file_init(struct elf_file *out, const char *path);

void elf_file_finish(struct elf_file *file);

#endif
