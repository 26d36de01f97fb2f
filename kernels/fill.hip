// Fills a buffer with pseudo-random bits, so that measured inputs are neither zero nor all alike:
// word i of the buffer becomes (hash(seed, i) & and_mask) | or_mask. The masks choose the numbers:
// they fix exponent bits and keep sign and mantissa random. Grid: x = 1024-word tiles.
#include "common.h"

KERNEL(256)
void fill(u32* out, u64 words, u32 and_mask, u32 or_mask, u32 seed) {
  u64 i = ((u64)group_x() * 256 + thread_id()) * 4;
  u32x4 v;
#pragma unroll
  for (u32 e = 0; e < 4; e++) {
    // Finaliser of MurmurHash3: every input bit reaches every output bit.
    u32 h = (u32)i + e + seed * 0x9e3779b9u;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    v[e] = ((h ^ h >> 16) & and_mask) | or_mask;
  }
  if (i + 4 <= words) {
    *(AS_GLOBAL u32x4*)(out + i) = v;
  } else {
    for (u32 e = 0; i + e < words; e++) out[i + e] = v[e];
  }
}
