/* Key of a message between two nodes. Both ends are told with it, and both nodes keep those of the
 * lowest keys (consistent sampling): so all of its bits have to be good.
 *
 * The key is a sum, mixed one to one: of a number that stands for the communicator, one that stands
 * for the two ranks, 2^32 times the tag, and the ordinal. Mixed back, and less the number of the
 * ranks, which are told beside it, the next key of a channel is the one before and one more. So a
 * recording need not keep its 64 bits, which look like noise. */
#ifndef HOLTER_MESSAGE_KEY_H
#define HOLTER_MESSAGE_KEY_H

#include <stdint.h>

/** One to one; 0 becomes 0. The finish of SplitMix64 (Steele, Lea, Flood: Fast splittable
 * pseudorandom number generators, 2014, with the constants of Stafford's Mix13). */
static inline uint64_t message_key_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** The inverse: shifts that are undone by further ones, and the inverse factors modulo 2^64. */
static inline uint64_t message_key_unmix(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

/** What stands for two ranks. */
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
