/* Key of a message between two nodes. Both agents send their end of the message with the key, and
 * both select the messages with the lowest keys (consistent sampling), so all bits of the key must
 * be well distributed.
 *
 * The key is an invertible hash of a sum: a hash of the communicator, a hash of the two ranks, 2^32
 * times the tag, and the ordinal of the message in its channel. With the hash inverted and the hash
 * of the ranks subtracted, successive keys of a channel differ by one, so that a recording can
 * compress them. */
#ifndef HOLTER_MESSAGE_KEY_H
#define HOLTER_MESSAGE_KEY_H

#include <stdint.h>

/** Invertible hash with 0 -> 0: the finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable
 * pseudorandom number generators, 2014, with the constants of Stafford's Mix13). */
static inline uint64_t message_key_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** Inverse of message_key_mix(): inverse shifts, and the inverse factors modulo 2^64. */
static inline uint64_t message_key_unmix(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

/** Hash of the two ranks. */
static inline uint64_t message_key_ranks(uint64_t source, uint64_t destination)
{
    return message_key_mix((source << 32 ^ destination) + UINT64_C(0x9e3779b97f4a7c15));
}

/** @param ordinal  of the message in its channel, from 0 @return never 0 */
static inline uint64_t message_key(uint64_t comm, uint32_t source, uint32_t destination,
                                   int32_t tag, uint64_t ordinal)
{
    uint64_t sum = message_key_mix(comm ^ UINT64_C(0xa0761d6478bd642f)) +
                   message_key_ranks(source, destination) + ((uint64_t)(uint32_t)tag << 32) +
                   ordinal;
    uint64_t key = message_key_mix(sum);
    return key == 0 ? 1 : key;
}

#endif
