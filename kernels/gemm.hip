// C[M,N] = A[M,K] * B[N,K]^T: bf16 or fp8 in, f32 accumulation, bf16 out.
//
// A workgroup makes one BM x BN tile. Rows of A and B enter LDS in slices of ROW bytes along K,
// double buffered, swizzled against bank conflicts (common.h): on gfx950 by 16-byte loads straight
// into LDS, on gfx942 through registers. Each wave multiplies its part by 16x16 MFMAs; B provides
// the result's rows, so that a lane ends up with 8 consecutive columns of C and stores 16 bytes.
//
// Grid: x = column tiles (fastest), y = row tiles. Plain order: neighbouring workgroups, which
// the hardware deals round robin to the XCDs, share rows of A through the memory-side cache.
//
// K and the strides must keep rows 16-byte aligned. `even` needs M % BM == N % BN == 0; `ragged`
// bounds rows by the buffer resource's num_records and takes a narrow store path in the last
// column tile only, when N is not a multiple of BN.
#include "common.h"

template <Type T, int BM, int BN, int ROW, int WAVES_M, int WAVES_N>
struct Gemm {
  static constexpr int WAVES = WAVES_M * WAVES_N;
  static constexpr int THREADS = WAVES * 64;
  static constexpr int ELEM = T == BF16 ? 2 : 1;
  static constexpr int CHUNKS = ROW / 16;
  static constexpr int ROWS_PER_PASS = THREADS / CHUNKS;
  static constexpr int A_PASSES = BM / ROWS_PER_PASS;
  static constexpr int B_PASSES = BN / ROWS_PER_PASS;
  static constexpr int A_BYTES = BM * ROW;
  static constexpr int STAGE = (BM + BN) * ROW;
  static constexpr int MI = BM / WAVES_M / 16;
  static constexpr int NI = BN / WAVES_N / 16;
  static constexpr int STEPS = ROW / 64;
  static constexpr int LDS_BYTES = 2 * STAGE;

  // One thread's share of a K slice on its way from memory to LDS.
  struct Loader {
    buffer a, b;
    u32 a_offset[A_PASSES], b_offset[B_PASSES];
    u32 chunk;
    u32 depth;
    u32 wave;
    u32 thread;
#if !defined(__gfx950__)
    u32x4 staged[A_PASSES + B_PASSES];
#endif

    DEVICE void slice([[maybe_unused]] u8* lds, u32 at, bool tail) {
      bool outside = tail && at + chunk >= depth;
#pragma unroll
      for (int i = 0; i < A_PASSES; i++) {
        u32 offset = outside ? OUT_OF_RANGE : a_offset[i];
#if defined(__gfx950__)
        load16_to_lds(a, lds + (i * WAVES + wave) * 1024, offset, at);
#else
        staged[i] = load16(a, offset, at);
#endif
      }
#pragma unroll
      for (int i = 0; i < B_PASSES; i++) {
        u32 offset = outside ? OUT_OF_RANGE : b_offset[i];
#if defined(__gfx950__)
        load16_to_lds(b, lds + A_BYTES + (i * WAVES + wave) * 1024, offset, at);
#else
        staged[A_PASSES + i] = load16(b, offset, at);
#endif
      }
    }

    // Starts the loads of the slice at byte `at` of K.
    DEVICE void start(u8* lds, u32 at) {
      if (at + ROW <= depth)
        slice(lds, at, false);
      else
        slice(lds, at, true);
    }

    // Makes the started slice land in LDS; a barrier must follow.
    DEVICE void finish([[maybe_unused]] u8* lds) {
#if defined(__gfx950__)
      wait_vmem();
#else
#pragma unroll
      for (int i = 0; i < A_PASSES + B_PASSES; i++)
        *(u32x4*)(lds + (i * THREADS + thread) * 16) = staged[i];
#endif
    }
  };

  template <bool EVEN>
  static DEVICE void run(u8* lds, const u8* a, const u8* b, u16* c, u32 m, u32 n, u32 k, u32 lda,
                         u32 ldb, u32 ldc) {
    u32 m0 = group_y() * BM, n0 = group_x() * BN;
    u32 t = thread_id(), lane = lane_id(), wave = wave_id();
    u32 rows = EVEN ? BM : min_of<u32>(BM, m - m0), cols = EVEN ? BN : min_of<u32>(BN, n - n0);
    u32 a_pitch = lda * ELEM, b_pitch = ldb * ELEM;

    Loader load;
    load.a = make_buffer(a + (u64)m0 * a_pitch, (u64)rows * a_pitch);
    load.b = make_buffer(b + (u64)n0 * b_pitch, (u64)cols * b_pitch);
    load.depth = k * ELEM;
    load.wave = wave;
    load.thread = t;
    u32 row = t / CHUNKS;
    load.chunk = ((t % CHUNKS) ^ swizzle<ROW>(row)) * 16;
#pragma unroll
    for (int i = 0; i < A_PASSES; i++)
      load.a_offset[i] = (row + i * ROWS_PER_PASS) * a_pitch + load.chunk;
#pragma unroll
    for (int i = 0; i < B_PASSES; i++)
      load.b_offset[i] = interleaved_row(row + i * ROWS_PER_PASS) * b_pitch + load.chunk;

    u32 wave_m = wave / WAVES_N * (BM / WAVES_M), wave_n = wave % WAVES_N * (BN / WAVES_N);
    u32 frag[2];
    frag[0] = (lane % 16) * ROW + (((lane / 16) ^ swizzle<ROW>(lane % 16)) * 16);
    frag[1] = frag[0] ^ 64;
    f32x4 acc[MI][NI] = {};

    load.start(lds, 0);
    u32 slices = (load.depth + ROW - 1) / ROW;
    load.finish(lds);
    for (u32 s = 0; s < slices; s++) {
      u8* now = lds + (s & 1) * STAGE;
      u8* next = lds + STAGE - (s & 1) * STAGE;
      barrier();
      const u8* fa = now + wave_m * ROW;
      const u8* fb = now + A_BYTES + wave_n * ROW;
      u32x4 av[MI][STEPS], bv[NI][STEPS];
#pragma unroll
      for (int q = 0; q < STEPS; q++) {
#pragma unroll
        for (int j = 0; j < NI; j++) bv[j][q] = *(const u32x4*)(fb + frag[q] + j * 16 * ROW);
#pragma unroll
        for (int i = 0; i < MI; i++) av[i][q] = *(const u32x4*)(fa + frag[q] + i * 16 * ROW);
      }
      if (s + 1 < slices) load.start(next, (s + 1) * ROW);
#pragma unroll
      for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++) {
          if constexpr (STEPS == 2)
            acc[i][j] = mma2<T>(bv[j][0], bv[j][1], av[i][0], av[i][1], acc[i][j]);
          else
            acc[i][j] = mma<T>(bv[j][0], av[i][0], acc[i][j]);
        }
      if (s + 1 < slices) load.finish(next);
    }

    // A lane holds, for every pair of subtiles, 8 consecutive columns of one row.
    bool wide = EVEN || (cols == BN && ldc % 8 == 0);
    buffer out = make_buffer(c + (u64)m0 * ldc + n0, ((u64)rows * ldc - n0) * 2);
    u32 row0 = wave_m + lane % 16, col0 = wave_n + lane / 16 * 8;
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
      for (int j = 0; j < NI; j += 2) {
        f32x4 lo = acc[i][j], hi = acc[i][j + 1];
        u32x4 v = {pack_bf16(lo.x, lo.y), pack_bf16(lo.z, lo.w), pack_bf16(hi.x, hi.y),
                   pack_bf16(hi.z, hi.w)};
        u32 row = row0 + i * 16, col = col0 + j * 16;
        u32 offset = (row * ldc + col) * 2;
        if (wide) {
          store16(out, offset, v);
        } else {
#pragma unroll
          for (u32 e = 0; e < 8; e++)
            store2(out, col + e < cols && row < rows ? offset + e * 2 : OUT_OF_RANGE,
                   (u16)(v[e / 2] >> (e % 2 * 16)));
        }
      }
  }
};

#define GEMM(type, name, bm, bn, row, wm, wn, variant, is_even)                                  \
  KERNEL(wm * wn * 64)                                                                           \
  void gemm_##name##_##bm##x##bn##_##variant(const u8* a, const u8* b, u16* c, u32 m, u32 n,     \
                                             u32 k, u32 lda, u32 ldb, u32 ldc) {                 \
    typedef Gemm<type, bm, bn, row, wm, wn> G;                                                   \
    __shared__ static u8 lds[G::LDS_BYTES] __attribute__((aligned(1024)));                       \
    G::run<is_even>(lds, a, b, c, m, n, k, lda, ldb, ldc);                                       \
  }

#define GEMM_TILE(bm, bn, row, wm, wn)                                                           \
  GEMM(BF16, bf16, bm, bn, row, wm, wn, even, true)                                              \
  GEMM(BF16, bf16, bm, bn, row, wm, wn, ragged_buffer, false)                                    \
  GEMM(FP8, fp8, bm, bn, row, wm, wn, even, true)                                                \
  GEMM(FP8, fp8, bm, bn, row, wm, wn, ragged_buffer, false)

// gfx942 has 64 KB of LDS against 160: its slices are half as deep.
#if defined(__gfx950__)
GEMM_TILE(128, 128, 128, 2, 2)
GEMM_TILE(256, 256, 128, 2, 4)
#else
GEMM_TILE(128, 128, 64, 2, 2)
GEMM_TILE(256, 256, 64, 2, 4)
#endif
