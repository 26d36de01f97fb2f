// MLA absorb batched GEMM: out[b] = bf16((fp8(X[b]) * W[b]^T) * scales), one head b per z.
//
// X[b,M,K] is bf16 and quantised here: per row and group of 128 along K,
//   a_scale = max(max|x|, 1e-10) / FP8_MAX, q = fp8(clamp(x / a_scale)), acc += (q . w) * a_scale
// (both divisions as products with a reciprocal, the second one v_rcp_f32's),
// and out = bf16(acc * w_scale). W[b,N,K] is fp8 with one scale for all heads. Any row and head
// strides, so that X may be [M,b,K] and out [M,b,N].
//
// A workgroup makes one BM x BN tile in groups of 128 along K. 16 lanes share a row of X: they load
// 16 bytes each, reduce |x| over the row by DPP, quantise, and write fp8 to LDS; both
// operands are in registers one group ahead, so one LDS stage is enough and two workgroups fit a
// gfx950 CU. Every wave multiplies all rows by its BN/WAVES columns
// with 16x16 MFMAs; W provides the result's rows, so that a lane needs one a_scale per subtile and
// ends up with 8 consecutive columns of a row.
//
// Grid: x = column tiles (fastest), y = row tiles, z = heads; plain order, so the column tiles of
// one row tile run together and find X in the memory-side cache.
//
// Variants; all mask K alike (a group past K reads zeros), as the deployed kernel does when K is
// not a multiple of 128:
//  - even: M % BM == N % BN == 0. Rows addressed directly, 16-byte stores.
//  - ragged_wrap: what AITER's Triton kernel does when EVEN_MN is false. Every row pointer of X
//    and W that a thread holds is wrapped by its own 64-bit `% M` or `% N` (row ids are int64
//    there, M and N int32 arguments), addresses are 64-bit pointers, and each bf16 of the result
//    is stored alone under its own mask (row < M) & (column < N): a mask that is not known to be
//    constant over neighbouring elements keeps the compiler from joining them. That is the form
//    Triton 3.9 gives when it does not know that N is a multiple of 16 (64 two-byte stores a
//    thread at this tile); where N is specialised as such, it keeps the masked stores wide, and
//    wrapping alone then costs about a tenth in the simulator. Most of this variant's penalty is
//    its narrow stores.
//  - ragged_buffer: the same bounds for free. Rows past the end are dropped by num_records of the
//    buffer resource; only the column bound, needed when N is not a multiple of BN, costs one
//    select per 8 columns. Needs N % 8 == 0.
#include "common.h"

enum Variant { EVEN, WRAP, BUFFER };

constexpr int GROUP = 128;

// Largest |x| of 8 bf16 and of the 16 lanes that share a row, as fp32. For finite values the order
// of bf16 magnitudes is that of their bits.
DEVICE float row_max_abs(u32x4 v) {
  u16x2 m = {0, 0};
#pragma unroll
  for (int i = 0; i < 4; i++)
    m = __builtin_elementwise_max(m, __builtin_bit_cast(u16x2, v[i] & 0x7fff7fffu));
  // DPP row_ror by 8, 4, 2, 1 lanes.
#define ROTATE_MAX(n)                                                                            \
  m = __builtin_elementwise_max(                                                                 \
      m, __builtin_bit_cast(u16x2, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, m),     \
                                                               0x120 + n, 0xf, 0xf, false)))
  ROTATE_MAX(8);
  ROTATE_MAX(4);
  ROTATE_MAX(2);
  ROTATE_MAX(1);
#undef ROTATE_MAX
  u32 both = __builtin_bit_cast(u32, m);
  return __builtin_bit_cast(float, max_of(both << 16, both & 0xffff0000u));
}

template <int BM, int BN, Variant V>
struct Absorb {
  static constexpr int WAVES = 4;
  static constexpr int THREADS = WAVES * 64;
  static constexpr int X_PASSES = BM * 16 / THREADS;
  static constexpr int W_PASSES = BN * 8 / THREADS;
  static constexpr int MI = BM / 16;
  static constexpr int NI = BN / WAVES / 16;
  static constexpr int W_AT = BM * GROUP;
  static constexpr int SCALE_AT = W_AT + BN * GROUP;
  static constexpr int LDS_BYTES = SCALE_AT + BM * 4;

  // A thread's rows of X and W, and the group of K in flight.
  struct Loader {
    buffer xb, wb;
    u32 x_offset[X_PASSES], w_offset[W_PASSES];
    const u8 *x_row[X_PASSES], *w_row[W_PASSES];
    u32x4 x[X_PASSES], w[W_PASSES];
    u32 x_chunk, w_chunk;  // byte within the group's row
    u32 depth;             // K, elements (= bytes of W)

    DEVICE static u32x4 read(buffer b, const u8* row, u32 offset, u32 at, bool inside) {
      if constexpr (V == WRAP) {
        u32x4 zero = {0, 0, 0, 0};
        return inside ? *(const AS_GLOBAL u32x4*)(row + at) : zero;
      }
      return load16(b, inside ? offset : OUT_OF_RANGE, at);
    }

    DEVICE void start(u32 k0) {
      bool x_inside = k0 + x_chunk / 2 < depth, w_inside = k0 + w_chunk < depth;
#pragma unroll
      for (int i = 0; i < X_PASSES; i++)
        x[i] = read(xb, x_row[i], x_offset[i], k0 * 2, x_inside);
#pragma unroll
      for (int i = 0; i < W_PASSES; i++) w[i] = read(wb, w_row[i], w_offset[i], k0, w_inside);
    }

    // Quantises X and puts the group into LDS; a barrier must follow.
    DEVICE void finish(u8* lds, u32 t) {
      u32 x_at = (t / 16) * GROUP + (((t % 16 / 2) ^ swizzle<GROUP>(t / 16)) * 16) + t % 2 * 8;
      float scale[X_PASSES];
#pragma unroll
      for (int i = 0; i < X_PASSES; i++) {
        u32x4 v = x[i];
        scale[i] = max_of(row_max_abs(v), 1e-10f) * (1.0f / FP8_MAX);
        float inverse = __builtin_amdgcn_rcpf(scale[i]);
        float q[8];
#pragma unroll
        for (int e = 0; e < 4; e++) {
          f32x2 pair = {bf16_lo(v[e]), bf16_hi(v[e])};
          pair *= inverse;
          q[2 * e] = __builtin_amdgcn_fmed3f(pair.x, -FP8_MAX, FP8_MAX);
          q[2 * e + 1] = __builtin_amdgcn_fmed3f(pair.y, -FP8_MAX, FP8_MAX);
        }
        u32x2 packed = {pack_fp8(q[0], q[1], q[2], q[3]), pack_fp8(q[4], q[5], q[6], q[7])};
        *(u32x2*)(lds + x_at + i * (THREADS / 16) * GROUP) = packed;
      }
      if (t % 16 == 0) {
#pragma unroll
        for (int i = 0; i < X_PASSES; i++)
          *(float*)(lds + SCALE_AT + (t / 16 + i * (THREADS / 16)) * 4) = scale[i];
      }
#pragma unroll
      for (int i = 0; i < W_PASSES; i++)
        *(u32x4*)(lds + W_AT + (i * THREADS + t) * 16) = w[i];
    }
  };

  static DEVICE void run(u8* lds, const u8* x, const u8* w, u16* out, const float* w_scale, int m,
                         int n, int k, i64 x_stride_b, i64 x_stride_m, i64 w_stride_b,
                         i64 w_stride_n, i64 out_stride_b, i64 out_stride_m) {
    u32 t = thread_id(), lane = lane_id(), wave = wave_id(), head = group_z();
    u32 m0 = group_y() * BM, n0 = group_x() * BN;
    u32 rows = min_of<u32>(BM, m - m0), cols = min_of<u32>(BN, n - n0);
    x += head * x_stride_b * 2;
    w += head * w_stride_b;
    out += head * out_stride_b;

    Loader load;
    load.depth = k;
    load.x_chunk = t % 16 * 16;
    load.w_chunk = ((t % 8) ^ swizzle<GROUP>(t / 8)) * 16;
    u32 x_pitch = (u32)x_stride_m * 2, w_pitch = (u32)w_stride_n;
    if constexpr (V != WRAP) {
      load.xb = make_buffer(x + m0 * x_stride_m * 2, (u64)rows * x_pitch);
      load.wb = make_buffer(w + n0 * w_stride_n, (u64)cols * w_pitch);
    }
#pragma unroll
    for (int i = 0; i < X_PASSES; i++) {
      u32 row = t / 16 + i * (THREADS / 16);
      if constexpr (V == WRAP)
        load.x_row[i] = x + ((i64)m0 + row) % m * x_stride_m * 2 + load.x_chunk;
      else
        load.x_offset[i] = row * x_pitch + load.x_chunk;
    }
#pragma unroll
    for (int i = 0; i < W_PASSES; i++) {
      u32 row = interleaved_row(t / 8 + i * (THREADS / 8));
      if constexpr (V == WRAP)
        load.w_row[i] = w + ((i64)n0 + row) % n * w_stride_n + load.w_chunk;
      else
        load.w_offset[i] = row * w_pitch + load.w_chunk;
    }

    u32 frag = (lane % 16) * GROUP + (((lane / 16) ^ swizzle<GROUP>(lane % 16)) * 16);
    u32 wave_n = wave * (BN / WAVES);
    f32x4 acc[MI][NI] = {};
    load.start(0);
    u32 groups = (k + GROUP - 1) / GROUP;
    for (u32 s = 0; s < groups; s++) {
      load.finish(lds, t);
      barrier();
      const u8 *f0 = lds + frag, *f1 = lds + (frag ^ 64);
      u32x4 x0[MI], x1[MI], w0[NI], w1[NI];
      float scale[MI];
#pragma unroll
      for (int j = 0; j < NI; j++) {
        w0[j] = *(const u32x4*)(f0 + W_AT + wave_n * GROUP + j * 16 * GROUP);
        w1[j] = *(const u32x4*)(f1 + W_AT + wave_n * GROUP + j * 16 * GROUP);
      }
#pragma unroll
      for (int i = 0; i < MI; i++) {
        x0[i] = *(const u32x4*)(f0 + i * 16 * GROUP);
        x1[i] = *(const u32x4*)(f1 + i * 16 * GROUP);
        scale[i] = *(const float*)(lds + SCALE_AT + (i * 16 + lane % 16) * 4);
      }
      if (s + 1 < groups) load.start((s + 1) * GROUP);
#pragma unroll
      for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++) {
          f32x4 zero = {0, 0, 0, 0};
          acc[i][j] += mma2<FP8>(w0[j], w1[j], x0[i], x1[i], zero) * scale[i];
        }
      barrier();
    }

    float ws = *w_scale;
    u32 row0 = lane % 16, col0 = wave_n + lane / 16 * 8;
    buffer ob;
    if constexpr (V != WRAP)
      ob = make_buffer(out + m0 * out_stride_m + n0, ((u64)rows * out_stride_m - n0) * 2);
#pragma unroll
    for (int i = 0; i < MI; i++) {
      u32 row = row0 + i * 16;
#pragma unroll
      for (int j = 0; j < NI; j += 2) {
        u32 col = col0 + j * 16;
        f32x4 lo = acc[i][j] * ws, hi = acc[i][j + 1] * ws;
        u32x4 v = {pack_bf16(lo.x, lo.y), pack_bf16(lo.z, lo.w), pack_bf16(hi.x, hi.y),
                   pack_bf16(hi.z, hi.w)};
        if constexpr (V == WRAP) {
          i64 r = (i64)m0 + row, c = (i64)n0 + col;
          u16* at = out + r * out_stride_m + c;
#pragma unroll
          for (int e = 0; e < 8; e++)
            if (r < m && c + e < n) ((AS_GLOBAL u16*)at)[e] = (u16)(v[e / 2] >> (e % 2 * 16));
        } else {
          u32 offset = (row * (u32)out_stride_m + col) * 2;
          store16(ob, V == EVEN || col < cols ? offset : OUT_OF_RANGE, v);
        }
      }
    }
  }
};

#define ABSORB(bm, bn, name, variant)                                                            \
  KERNEL(256)                                                                                    \
  void absorb_bmm_##bm##x##bn##_##name(const u8* x, const u8* w, u16* out, const float* w_scale, \
                                       int m, int n, int k, i64 x_stride_b, i64 x_stride_m,      \
                                       i64 w_stride_b, i64 w_stride_n, i64 out_stride_b,         \
                                       i64 out_stride_m) {                                       \
    typedef Absorb<bm, bn, variant> A;                                                           \
    __shared__ static u8 lds[A::LDS_BYTES] __attribute__((aligned(1024)));                       \
    A::run(lds, x, w, out, w_scale, m, n, k, x_stride_b, x_stride_m, w_stride_b, w_stride_n,     \
           out_stride_b, out_stride_m);                                                          \
  }

#define ABSORB_TILE(bm, bn)           \
  ABSORB(bm, bn, even, EVEN)          \
  ABSORB(bm, bn, ragged_wrap, WRAP)   \
  ABSORB(bm, bn, ragged_buffer, BUFFER)

ABSORB_TILE(64, 256)
ABSORB_TILE(32, 128)
