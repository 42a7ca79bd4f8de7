/* The state of analyses as bytes, and back.
 *
 * Each NAME_copy_state() lists what its structure owns, once for both directions: it writes the
 * structure to the bytes, or makes it from them. A structure is copied as it lies in memory, and
 * each of its pointers is named after that: it is made of the bytes, or set to what it
 * borrows. So nothing is forgotten but what a function sets to zero itself: memory that is reused.
 *
 * The bytes are good for programs that lay out their structures alike: the size of each stands
 * before it, and a size that is another one is refused. Numbers in them are not checked: they come
 * from a daemon that is trusted, and a sum over all of them says that they are what it wrote.
 *
 * After an error all that follows is read as empty, so that what was made can be destroyed. Pure.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_STATE_BYTES_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_STATE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/** Zero-initialised: writes. */
struct state_bytes {
    int reads;
    int code;        /**< the first error; 0: none */
    uint8_t *bytes;  /**< writes: owned by the caller; reads: borrowed */
    size_t length;   /**< writes: of them so far; reads: of all */
    size_t at;       /**< reads: the next one */
    size_t capacity; /**< writes */
};

/** Copy so many bytes of a structure, where it lies. */
void state_copy_bytes(struct state_bytes *b, void *bytes, size_t length);

/** Copy a structure on the heap, or that there is none.
 *  @param pointer_address  address of the pointer to it
 *  @return 1: there is one, whose pointers are to be copied */
int state_copy_object(struct state_bytes *b, void *pointer_address, size_t size);

/** Copy an array on the heap, or that there is none.
 *  @param count  elements that are in use
 *  @param capacity   elements that there is memory for; further ones are zero */
void state_copy_array(struct state_bytes *b, void *pointer_address, size_t element, size_t count,
                      size_t capacity);

#define STATE_VALUE(b, value) state_copy_bytes(b, &(value), sizeof(value))
#define STATE_OBJECT(b, pointer) state_copy_object(b, &(pointer), sizeof(*(pointer)))
#define STATE_ARRAY(b, array, count, capacity)                                                     \
    state_copy_array(b, &(array), sizeof(*(array)), count, capacity)

/** Memory that is reused, or a pointer that is borrowed: there is none after reading. */
#define STATE_NO_POINTER(b, pointer) ((b)->reads ? (void)((pointer) = NULL) : (void)0)
#define STATE_NO_ARRAY(b, array, capacity)                                                         \
    ((b)->reads ? (void)((array) = NULL, (capacity) = 0) : (void)0)

#endif
