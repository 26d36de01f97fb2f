// What follows the indexer logits: candidate blocks of 8 keys, their mask, and exact top-k.
//
// Selection is exact and deterministic: the k largest values of a row, equal values by lowest
// index, written in ascending index order, -1 after the last. -inf (and negative NaN) is never
// selected. One workgroup takes a row: three passes of radix select (11, 11 and 10 bits) with an LDS
// histogram find the k-th largest value; then every wave counts and writes its own stretch of the
// row, without barriers.
//
// Grid: x = rows for the row kernels; block_max and pad_copy put columns in x (fastest), rows in y.
// Row pitches are in elements; rows of values are 16-byte aligned, and what lies between a row's
// last key and its padded end is -inf.
#include "common.h"

constexpr u32 THREADS = 512, WAVES = THREADS / 64;
constexpr u32 BLOCK_KEYS = 8;
constexpr u32 DIGIT_BITS = 11, BINS = 1 << DIGIT_BITS;

// Order-preserving integer of an fp32; 0 for -inf and below.
DEVICE u32 ordered(u32 bits) {
  u32 u = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return u > 0x007fffffu ? u : 0;
}
DEVICE u32 unordered(u32 u) { return u & 0x80000000u ? u & 0x7fffffffu : ~u; }
DEVICE u32x4 ordered4(u32x4 v) {
  u32x4 r = {ordered(v.x), ordered(v.y), ordered(v.z), ordered(v.w)};
  return r;
}
DEVICE u32x4 read4(const u32* p) { return *(const AS_GLOBAL u32x4*)p; }

// Where a row's values come from: four at a time, `i` a multiple of 4 below the size, or one; and
// the id that is written for element i.
struct Plain {
  const u32* row;
  u32 n, first;
  DEVICE u32 size() const { return n; }
  DEVICE u32x4 get4(u32 i) const { return ordered4(read4(row + i)); }
  DEVICE u32 get(u32 i) const { return ordered(row[i]); }
  DEVICE u32 id(u32 i) const { return first + i; }
};

// Only elements whose mask byte is not zero.
struct Masked {
  const u32* row;
  const u8* mask;
  u32 n, first;
  DEVICE u32 size() const { return n; }
  DEVICE u32x4 get4(u32 i) const {
    u32x4 v = ordered4(read4(row + i));
    u32 m = *(const AS_GLOBAL u32*)(mask + i);
    u32x4 r = {m & 0xffu ? v.x : 0, m & 0xff00u ? v.y : 0, m & 0xff0000u ? v.z : 0, m >> 24 ? v.w : 0};
    return r;
  }
  DEVICE u32 get(u32 i) const { return mask[i] ? ordered(row[i]) : 0; }
  DEVICE u32 id(u32 i) const { return first + i; }
};

// Only the keys of candidate blocks: element i is key i%8 of block ids[i/8].
struct Candidates {
  const u32* row;
  const int* ids;
  u32 blocks;
  DEVICE u32 size() const { return blocks * BLOCK_KEYS; }
  DEVICE u32x4 get4(u32 i) const {
    int block = ids[i / BLOCK_KEYS];
    u32x4 zero = {0, 0, 0, 0};
    return block < 0 ? zero : ordered4(read4(row + block * BLOCK_KEYS + i % BLOCK_KEYS));
  }
  DEVICE u32 get(u32 i) const {
    int block = ids[i / BLOCK_KEYS];
    return block < 0 ? 0 : ordered(row[block * BLOCK_KEYS + i % BLOCK_KEYS]);
  }
  DEVICE u32 id(u32 i) const { return ids[i / BLOCK_KEYS] * BLOCK_KEYS + i % BLOCK_KEYS; }
};

// As Plain, with one element that always wins, unless it is -inf: then it is padding, and the newest
// key lies past these columns.
struct Forced {
  const u32* row;
  u32 n, first, forced;
  DEVICE u32 size() const { return n; }
  DEVICE u32 get(u32 i) const {
    u32 v = ordered(row[i]);
    return i == forced && v ? 0xffffffffu : v;
  }
  DEVICE u32x4 get4(u32 i) const {
    u32x4 v = ordered4(read4(row + i));
#pragma unroll
    for (u32 e = 0; e < 4; e++)
      if (i + e == forced && v[e]) v[e] = 0xffffffffu;
    return v;
  }
  DEVICE u32 id(u32 i) const { return first + i; }
};

// Values and ids already in LDS.
struct Local {
  const u32 *values, *ids;
  u32 n;
  DEVICE u32 size() const { return n; }
  DEVICE u32x4 get4(u32 i) const { return ordered4(*(const u32x4*)(values + i)); }
  DEVICE u32 get(u32 i) const { return ordered(values[i]); }
  DEVICE u32 id(u32 i) const { return ids[i]; }
};

struct Shared {
  u32 bins[BINS];
  u32 above[WAVES], equal[WAVES];
  u32 digit, left, total;
};

// Largest value such that at least k elements reach it, and how many of its equals are taken; with
// fewer than k elements, 0 and 0.
template <class Source>
DEVICE void find_threshold(Shared& lds, const Source& from, u32 k, u32& threshold, u32& take_equal) {
  u32 t = thread_id(), wave = wave_id();
  u32 prefix = 0, known = 0, left = k;
  for (u32 pass = 0; pass < 3; pass++) {
    u32 shift = pass == 0 ? 21 : pass == 1 ? 10 : 0;
    u32 digits = pass == 2 ? BINS / 2 : BINS;
    u32x4 zero = {0, 0, 0, 0};
    *(u32x4*)(lds.bins + t * 4) = zero;
    barrier();
    for (u32 i = t * 4; i < from.size(); i += THREADS * 4) {
      u32x4 v = from.get4(i);
#pragma unroll
      for (u32 e = 0; e < 4; e++)
        if (v[e] != 0 && (v[e] & known) == prefix)
          __hip_atomic_fetch_add((AS_LDS u32*)&lds.bins[v[e] >> shift & (digits - 1)], 1u,
                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    barrier();
    // Thread t sums bins from the top: 4 of them, in descending order.
    u32 top = BINS - 4 - t * 4;
    u32x4 bin = *(const u32x4*)(lds.bins + top);
    u32 sum = bin.x + bin.y + bin.z + bin.w;
    u32 inclusive = wave_inclusive_sum(sum);
    if (lane_id() == 63) lds.above[wave] = inclusive;
    if (t == 0) lds.digit = BINS;
    barrier();
    u32 before = inclusive - sum;
    for (u32 w = 0; w < wave; w++) before += lds.above[w];
    if (before < left && left <= before + sum) {
      u32 d = 3;
      while (before + bin[3] < left) {
        before += bin[3];
        bin = __builtin_shufflevector(bin, bin, 0, 0, 1, 2);
        d--;
      }
      lds.digit = top + d;
      lds.left = left - before;
    }
    barrier();
    u32 digit = lds.digit;
    if (digit == BINS) {
      threshold = take_equal = 0;
      return;
    }
    left = lds.left;
    prefix |= digit << shift;
    known |= (digits - 1) << shift;
  }
  threshold = prefix;
  take_equal = left;
}

template <class Source>
DEVICE void select(Shared& lds, const Source& from, u32 k, u32* values, u32* ids) {
  u32 t = thread_id(), lane = lane_id(), wave = wave_id();
  u32 threshold, take_equal;
  find_threshold(lds, from, k, threshold, take_equal);

  u32 n = from.size();
  u32 stretch = ((n + WAVES - 1) / WAVES + 255) & ~255u;
  u32 begin = wave * stretch, end = min_of(n, begin + stretch);
  u32 above = 0, equal = 0;
  for (u32 i = begin + lane * 4; i < end; i += 256) {
    u32x4 v = from.get4(i);
#pragma unroll
    for (u32 e = 0; e < 4; e++) {
      above += v[e] > threshold;
      equal += v[e] == threshold;
    }
  }
  above = wave_inclusive_sum(above);
  equal = wave_inclusive_sum(equal);
  if (lane == 63) {
    lds.above[wave] = above;
    lds.equal[wave] = equal;
  }
  barrier();
  above = equal = 0;
  for (u32 w = 0; w < wave; w++) {
    above += lds.above[w];
    equal += lds.equal[w];
  }
  for (u32 i = begin; i < end; i += 64) {
    u32 v = i + lane < end ? from.get(i + lane) : 0;
    bool is_above = v > threshold, is_equal = threshold != 0 && v == threshold;
    u64 above_mask = ballot(is_above), equal_mask = ballot(is_equal);
    if ((above_mask | equal_mask) == 0) continue;
    u32 rank = equal + count_below(equal_mask);
    if (is_above || (is_equal && rank < take_equal)) {
      u32 at = above + count_below(above_mask) + min_of(rank, take_equal);
      ids[at] = from.id(i + lane);
      if (values) values[at] = v == 0xffffffffu ? 0x7f800000u : unordered(v);
    }
    above += __builtin_popcountll(above_mask);
    equal += __builtin_popcountll(equal_mask);
  }
  u32 found = 0;
  for (u32 w = 0; w < WAVES; w++) found += lds.above[w];
  found += take_equal;
  for (u32 i = found + t; i < k; i += THREADS) {
    ids[i] = 0xffffffffu;
    if (values) values[i] = 0xff800000u;
  }
}

// `values` [rows, pitch] fp32; `aux` what the source needs beside them; results [rows, k].
#define SELECT(name, ...)                                                                         \
  KERNEL(THREADS)                                                                                 \
  void indexer_##name(const u32* values, [[maybe_unused]] const u8* aux, u32* out_values,         \
                      u32* out_ids, u32 n, u32 k, u64 pitch, [[maybe_unused]] u64 aux_pitch,      \
                      [[maybe_unused]] u32 first, [[maybe_unused]] u32 position,                  \
                      [[maybe_unused]] u32 ratio) {                                               \
    __shared__ static Shared lds __attribute__((aligned(16)));                                    \
    u64 row = group_x();                                                                          \
    const u32* source = values + row * pitch;                                                     \
    __VA_ARGS__;                                                                                  \
    select(lds, from, k, out_values ? out_values + row * k : nullptr, out_ids + row * k);         \
  }

// Ids are first + column.
SELECT(topk, Plain from = {source, n, first})
// aux: mask [rows, aux_pitch] of bytes.
SELECT(topk_masked, Masked from = {source, aux + row * aux_pitch, n, first})
// aux: candidate block ids [rows, aux_pitch] int32, ascending, n of them.
SELECT(topk_candidates, Candidates from = {source, (const int*)aux + row * aux_pitch, n})

// The best k of n blocks by their maxima, first + column each; the block of the newest key that the
// row sees is always among them.
DEVICE u32 newest_block(u32 position, u32 row, u32 ratio, u32 first) {
  u32 seen = (position + row + 1) / ratio;
  u32 block = seen ? (seen - 1) / BLOCK_KEYS : 0;
  return seen && block >= first ? block - first : 0xffffffffu;
}
SELECT(candidate_blocks,
       Forced from = {source, n, first, newest_block(position, (u32)row, ratio, first)})

// Merges two selections of a row, `values`/`ids` and `new_values`/`new_ids` [rows, k], into the
// former. Ids of the former are smaller: equal values keep the lowest.
constexpr u32 MERGE_MAX = 2048;
KERNEL(THREADS)
void indexer_topk_merge(u32* values, u32* ids, const u32* new_values, const u32* new_ids, u32 k) {
  __shared__ static Shared lds __attribute__((aligned(16)));
  __shared__ static u32 local_values[2 * MERGE_MAX] __attribute__((aligned(16)));
  __shared__ static u32 local_ids[2 * MERGE_MAX] __attribute__((aligned(16)));
  u64 at = (u64)group_x() * k;
  for (u32 i = thread_id() * 4; i < k; i += THREADS * 4) {
    *(u32x4*)(local_values + i) = read4(values + at + i);
    *(u32x4*)(local_ids + i) = read4(ids + at + i);
    *(u32x4*)(local_values + k + i) = read4(new_values + at + i);
    *(u32x4*)(local_ids + k + i) = read4(new_ids + at + i);
  }
  barrier();
  Local from = {local_values, local_ids, 2 * k};
  select(lds, from, k, values + at, ids + at);
}

// Maximum of each block of 8 keys: out [rows, out_pitch], -inf past `blocks`. y = row.
KERNEL(256)
void indexer_block_max(const float* values, float* out, u32 blocks, u64 pitch, u32 out_pitch) {
  u32 block = group_x() * 256 + thread_id();
  u64 row = group_y();
  if (block >= out_pitch) return;
  float best = -__builtin_inff();
  if (block < blocks) {
    const f32x4* p = (const f32x4*)(values + row * pitch + block * BLOCK_KEYS);
    f32x4 a = p[0], b = p[1];
    a = __builtin_elementwise_max(a, b);
    best = max_of(max_of(a.x, a.y), max_of(a.z, a.w));
  }
  out[row * out_pitch + block] = best;
}

// Copies rows of `n` (a multiple of 4) values to rows of `out_pitch`, -inf past them. y = row.
KERNEL(256)
void indexer_pad_copy(const float* values, float* out, u32 n, u64 pitch, u32 out_pitch) {
  u32 i = (group_x() * 256 + thread_id()) * 4;
  u64 row = group_y();
  if (i >= out_pitch) return;
  const float none = -__builtin_inff();
  f32x4 v = {none, none, none, none};
  if (i < n) v = *(const f32x4*)(values + row * pitch + i);
  *(f32x4*)(out + row * out_pitch + i) = v;
}

// Mask bytes [rows, pitch] of the keys in candidate blocks `ids` [rows, count]: 1 inside, else 0.
// The row's blocks pass through an LDS bitmap, MASK_BLOCKS at a time.
constexpr u32 MASK_BLOCKS = 65536;
KERNEL(256)
void indexer_candidate_mask(const int* ids, u8* mask, u32 count, u32 blocks, u64 pitch) {
  __shared__ static u32 bits[MASK_BLOCKS / 32];
  u32 t = thread_id();
  u64 row = group_x();
  ids += row * count;
  mask += row * pitch;
  for (u32 base = 0; base < blocks; base += MASK_BLOCKS) {
    u32 here = min_of(MASK_BLOCKS, blocks - base);
    if (base) barrier();
    for (u32 i = t; i < (here + 31) / 32; i += 256) bits[i] = 0;
    barrier();
    for (u32 i = t; i < count; i += 256) {
      u32 block = (u32)ids[i] - base;
      if (block < here)
        __hip_atomic_fetch_or((AS_LDS u32*)&bits[block / 32], 1u << block % 32, __ATOMIC_RELAXED,
                              __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    barrier();
    for (u32 i = t; i < here; i += 256) {
      u32 byte = bits[i / 32] >> i % 32 & 1 ? 0x01010101u : 0;
      u32x2 v = {byte, byte};
      *(AS_GLOBAL u32x2*)(mask + (u64)(base + i) * BLOCK_KEYS) = v;
    }
  }
}
