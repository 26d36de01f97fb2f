// Indexer logits: logits[t,s] = sum_h w[t,h] * relu(q[t,h,:] . k[s,:]), 128 dimensions, 32 or 64
// heads; -inf where key s is not visible to row t, that is unless s < (position of t + 1) / ratio.
//
// fp4: q and k are e2m1, two to a byte, low nibble first, with one ue8m0 scale per 32 values. On
// gfx950 the scaled 16x16x128 MFMA takes them as they are; gfx942 decodes to bf16 with the scale
// folded in, which is exact. fp8: q and k are e4m3 (of the target), k has one fp32 scale per key,
// applied to the sum, and q's scale is part of w.
//
// A workgroup makes 32 rows x 256 keys. Each wave keeps 64 keys in registers, as the columns of 4
// MFMA tiles; rows pass through LDS a few at a time, loaded one step ahead into registers. Heads are
// the MFMA's rows, so relu and the weighted sum over heads stay inside a lane but for a final
// transposing reduction over the 4 lane groups, after which lane l holds key l: stores are 256
// contiguous bytes. Tiles that no row can see only store -inf.
//
// Grid: x = key tiles (fastest), y = row tiles. Pointers are those of the launch's first row and key;
// `position` is the first row's, `key` the first key's index, so that rows or keys can be split over
// launches. `columns` >= keys is how many logits of a row are written (-inf past the keys).
// Needs 16-byte aligned q and k.
#include "common.h"

constexpr int TILE_ROWS = 32, TILE_KEYS = 256, THREADS = 256;

// The sign bit orders fp32 below zero as it does integers: one instruction, no canonicalisation.
DEVICE float relu(float x) { return __builtin_bit_cast(float, max_of(__builtin_bit_cast(int, x), 0)); }

// fp4 operands.
template <int HEADS>
struct Fp4 {
  static constexpr int ROW = GFX950 ? 64 : 256;  // LDS bytes of one head
  static constexpr int STAGE_HEADS = GFX950 ? 128 : 64;
  static constexpr int PASSES = STAGE_HEADS / 64;
  static constexpr int SCALE_AT = STAGE_HEADS * ROW;
  static constexpr int WEIGHT_AT = SCALE_AT + (GFX950 ? STAGE_HEADS * 4 : 0);

  struct Source {
    buffer q, scale;
  };
  static DEVICE Source source(const u8* q, const void* scale, u64 heads) {
    return {make_buffer(q, heads * 64), make_buffer(scale, heads * 4)};
  }

  struct Staged {
    u32x4 q[PASSES];
    u32 scale[PASSES];
  };
  // Thread t takes 16 bytes (one scale block) of a head: of wave w's 16 heads, head t%16, block g.
  static DEVICE void load(Staged& s, Source from, u32 head0, u32 t) {
#pragma unroll
    for (int i = 0; i < PASSES; i++) {
      u32 head = head0 + i * 64 + t / 64 * 16 + t % 16, block = t % 64 / 16;
      s.q[i] = load16(from.q, head * 64 + block * 16, 0);
      s.scale[i] = __builtin_amdgcn_raw_buffer_load_b8(from.scale, head * 4 + block, 0, 0);
    }
  }
  static DEVICE void store(const Staged& s, u8* lds, u32 t) {
#pragma unroll
    for (int i = 0; i < PASSES; i++) {
      u32 head = i * 64 + t / 64 * 16 + t % 16, block = t % 64 / 16;
#if defined(__gfx950__)
      *(u32x4*)(lds + head * ROW + (block ^ swizzle<64>(head)) * 16) = s.q[i];
      lds[SCALE_AT + head * 4 + block] = (u8)s.scale[i];
#else
#pragma unroll
      for (int p = 0; p < 4; p++)
        *(u32x4*)(lds + head * ROW + ((p * 4 + block) ^ (head & 7)) * 16) =
            decode(s.q[i][p], s.scale[i]);
#endif
    }
  }

#if defined(__gfx950__)
  struct Frag {
    u32x4 v;
    int scale;
  };
  static DEVICE Frag key(buffer k, buffer scale, u32 key, u32 group) {
    return {load16(k, key * 64 + group * 16, 0),
            (int)__builtin_amdgcn_raw_buffer_load_b8(scale, key * 4 + group, 0, 0)};
  }
  static DEVICE Frag head(const u8* lds, u32 first, u32 lane) {
    u32 row = lane % 16, group = lane / 16;
    return {*(const u32x4*)(lds + (first + row) * ROW + (group ^ swizzle<64>(row)) * 16),
            lds[SCALE_AT + (first + row) * 4 + group]};
  }
  static DEVICE f32x4 product(Frag q, Frag k) {
    f32x4 zero = {0, 0, 0, 0};
    i32x8 a = __builtin_bit_cast(i32x8, __builtin_shufflevector(q.v, q.v, 0, 1, 2, 3, -1, -1, -1, -1));
    i32x8 b = __builtin_bit_cast(i32x8, __builtin_shufflevector(k.v, k.v, 0, 1, 2, 3, -1, -1, -1, -1));
    // Formats 4 are e2m1; byte 0 of each lane's scale operand is its block's exponent.
    return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, zero, 4, 4, 0, q.scale, 0, k.scale);
  }
#else
  // Eight values to bf16.
  static DEVICE u32x4 decode(u32 v, u32 exponent) {
    u32x4 r;
#pragma unroll
    for (int p = 0; p < 4; p++) {
      u32 lo = __builtin_bit_cast(u32, fp4_value(v, p * 8, exponent));
      u32 hi = __builtin_bit_cast(u32, fp4_value(v, p * 8 + 4, exponent));
      r[p] = __builtin_amdgcn_perm(hi, lo, 0x07060302);
    }
    return r;
  }
  struct Frag {
    u32x4 v[4];
  };
  static DEVICE Frag key(buffer k, buffer scale, u32 key, u32 group) {
    u32x4 raw = load16(k, key * 64 + group * 16, 0);
    u32 exponent = __builtin_amdgcn_raw_buffer_load_b8(scale, key * 4 + group, 0, 0);
    Frag f;
#pragma unroll
    for (int p = 0; p < 4; p++) f.v[p] = decode(raw[p], exponent);
    return f;
  }
  static DEVICE Frag head(const u8* lds, u32 first, u32 lane) {
    u32 row = lane % 16, group = lane / 16;
    Frag f;
#pragma unroll
    for (int p = 0; p < 4; p++)
      f.v[p] = *(const u32x4*)(lds + (first + row) * ROW + ((p * 4 + group) ^ (row & 7)) * 16);
    return f;
  }
  static DEVICE f32x4 product(const Frag& q, const Frag& k) {
    f32x4 acc = {0, 0, 0, 0};
#pragma unroll
    for (int p = 0; p < 4; p++) acc = mma<BF16>(q.v[p], k.v[p], acc);
    return acc;
  }
#endif
  static constexpr u32 KEY_BYTES = 64;
};

// fp8 operands.
template <int HEADS>
struct Fp8 {
  static constexpr int ROW = 128;
  static constexpr int STAGE_HEADS = 64;
  static constexpr int PASSES = STAGE_HEADS * ROW / 16 / THREADS;
  static constexpr int WEIGHT_AT = STAGE_HEADS * ROW;

  struct Source {
    buffer q;
  };
  static DEVICE Source source(const u8* q, const void*, u64 heads) {
    return {make_buffer(q, heads * ROW)};
  }
  struct Staged {
    u32x4 q[PASSES];
  };
  static DEVICE void load(Staged& s, Source from, u32 head0, u32 t) {
#pragma unroll
    for (int i = 0; i < PASSES; i++) s.q[i] = load16(from.q, head0 * ROW + (i * THREADS + t) * 16, 0);
  }
  static DEVICE void store(const Staged& s, u8* lds, u32 t) {
#pragma unroll
    for (int i = 0; i < PASSES; i++) {
      u32 head = i * (THREADS / 8) + t / 8;
      *(u32x4*)(lds + head * ROW + ((t % 8) ^ swizzle<ROW>(head)) * 16) = s.q[i];
    }
  }
  struct Frag {
    u32x4 lo, hi;
  };
  static DEVICE Frag key(buffer k, buffer, u32 key, u32 group) {
    return {load16(k, key * ROW + group * 16, 0), load16(k, key * ROW + group * 16 + 64, 0)};
  }
  static DEVICE Frag head(const u8* lds, u32 first, u32 lane) {
    u32 at = (first + lane % 16) * ROW + (((lane / 16) ^ swizzle<ROW>(lane % 16)) * 16);
    return {*(const u32x4*)(lds + at), *(const u32x4*)(lds + (at ^ 64))};
  }
  static DEVICE f32x4 product(const Frag& q, const Frag& k) {
    f32x4 zero = {0, 0, 0, 0};
    return mma2<FP8>(q.lo, q.hi, k.lo, k.hi, zero);
  }
  static constexpr u32 KEY_BYTES = ROW;
};

template <class Kind, int HEADS, bool KEY_SCALE>
struct Logits {
  static constexpr int STAGE_ROWS = Kind::STAGE_HEADS / HEADS;
  static constexpr int LDS_BYTES = Kind::WEIGHT_AT + Kind::STAGE_HEADS * 4;

  static DEVICE void run(u8* lds, const u8* q, const void* q_scale, const u8* k, const void* k_scale,
                         const float* weights, float* logits, u32 rows, u32 keys, u32 columns,
                         u64 pitch, u32 position, u32 first_key, u32 ratio) {
    u32 t = thread_id(), lane = lane_id(), wave = wave_id();
    u32 row0 = group_y() * TILE_ROWS, key0 = group_x() * TILE_KEYS + wave * 64;
    u32 tile_rows = min_of<u32>(TILE_ROWS, rows - row0);
    logits += (u64)row0 * pitch + key0;
    bool stored = key0 + lane < columns;
    const float none = -__builtin_inff();

    // First key of the workgroup against what the tile's last row sees.
    u32 seen_last = (position + row0 + tile_rows) / ratio;
    if (first_key + group_x() * TILE_KEYS >= seen_last) {
      for (u32 r = 0; r < tile_rows; r++, logits += pitch)
        if (stored) logits[lane] = none;
      return;
    }

    u32 wave_keys = keys > key0 ? min_of<u32>(64, keys - key0) : 0;
    buffer kb = make_buffer(k + (u64)key0 * Kind::KEY_BYTES, wave_keys * Kind::KEY_BYTES);
    buffer sb = make_buffer((const u8*)k_scale + (u64)key0 * 4, wave_keys * 4);
    typename Kind::Frag kf[4];
#pragma unroll
    for (int j = 0; j < 4; j++) kf[j] = Kind::key(kb, sb, j * 16 + lane % 16, lane / 16);
    float key_scale = 1;
    if constexpr (KEY_SCALE)
      key_scale = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(sb, lane * 4, 0, 0));

    u64 head0 = (u64)row0 * HEADS;
    auto source = Kind::source(q + head0 * (Kind::KEY_BYTES), (const u8*)q_scale + head0 * 4,
                               tile_rows * HEADS);
    buffer wb = make_buffer(weights + head0, (u64)tile_rows * HEADS * 4);
    typename Kind::Staged staged;
    float staged_weight = 0;
    auto load = [&](u32 head) {
      Kind::load(staged, source, head, t);
      if (t < Kind::STAGE_HEADS)
        staged_weight = __builtin_bit_cast(
            float, __builtin_amdgcn_raw_buffer_load_b32(wb, (head + t) * 4, 0, 0));
    };

    load(0);
    for (u32 r0 = 0; r0 < tile_rows; r0 += STAGE_ROWS) {
      if (r0) barrier();
      Kind::store(staged, lds, t);
      if (t < Kind::STAGE_HEADS) *(float*)(lds + Kind::WEIGHT_AT + t * 4) = staged_weight;
      barrier();
      if (r0 + STAGE_ROWS < tile_rows) load((r0 + STAGE_ROWS) * HEADS);
#pragma unroll 1
      for (u32 r = 0; r < STAGE_ROWS; r++) {
        f32x2 sum[4] = {};
#pragma unroll
        for (u32 h = 0; h < HEADS; h += 16) {
          u32 first = r * HEADS + h;
          auto qf = Kind::head(lds, first, lane);
          f32x4 w = *(const f32x4*)(lds + Kind::WEIGHT_AT + (first + lane / 16 * 4) * 4);
          f32x4 d[4];
#pragma unroll
          for (int j = 0; j < 4; j++) d[j] = Kind::product(qf, kf[j]);
#pragma unroll
          for (int j = 0; j < 4; j++) {
            f32x2 lo = {relu(d[j].x), relu(d[j].y)}, hi = {relu(d[j].z), relu(d[j].w)};
            sum[j] = __builtin_elementwise_fma(hi, w.hi, __builtin_elementwise_fma(lo, w.lo, sum[j]));
          }
        }
        float s02 = exchange_add<32>(sum[0].x + sum[0].y, sum[2].x + sum[2].y);
        float s13 = exchange_add<32>(sum[1].x + sum[1].y, sum[3].x + sum[3].y);
        float logit = exchange_add<16>(s02, s13);
        if constexpr (KEY_SCALE) logit *= key_scale;
        u32 row = r0 + r;
        u32 seen = min_of((position + row0 + row + 1) / ratio, first_key + keys);
        if (row < tile_rows && stored)
          logits[row * pitch + lane] = first_key + key0 + lane < seen ? logit : none;
      }
    }
  }
};

#define LOGITS(name, heads, ...)                                                                 \
  KERNEL(THREADS)                                                                                \
  void indexer_logits_##name##_h##heads(                                                         \
      const u8* q, const u8* q_scale, const u8* k, const u8* k_scale, const float* weights,      \
      float* logits, u32 rows, u32 keys, u32 columns, u64 pitch, u32 position, u32 key,          \
      u32 ratio) {                                                                               \
    typedef __VA_ARGS__ L;                                                                       \
    __shared__ static u8 lds[L::LDS_BYTES] __attribute__((aligned(1024)));                       \
    L::run(lds, q, q_scale, k, k_scale, weights, logits, rows, keys, columns, pitch, position,   \
           key, ratio);                                                                          \
  }

LOGITS(fp4, 32, Logits<Fp4<32>, 32, false>)
LOGITS(fp4, 64, Logits<Fp4<64>, 64, false>)
LOGITS(fp8, 32, Logits<Fp8<32>, 32, true>)
LOGITS(fp8, 64, Logits<Fp8<64>, 64, true>)
