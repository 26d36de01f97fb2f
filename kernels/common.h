// What every kernel shares: types, ids, LDS tile layout, wide loads and stores, MFMA and number
// conversions for gfx942 and gfx950. Freestanding: needs no HIP header, and compiles with hipcc too.
#pragma once

#ifndef __global__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#endif
#define DEVICE __device__ inline __attribute__((always_inline))
#define KERNEL(threads) \
  extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(threads, threads)))
#define AS_GLOBAL __attribute__((address_space(1)))
#define AS_LDS __attribute__((address_space(3)))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

template <class T, int N>
using vec = T __attribute__((ext_vector_type(N)));
typedef vec<u32, 2> u32x2;
typedef vec<u32, 4> u32x4;
typedef vec<int, 4> i32x4;
typedef vec<int, 8> i32x8;
typedef vec<float, 2> f32x2;
typedef vec<float, 4> f32x4;
typedef vec<short, 4> i16x4;
typedef vec<u16, 2> u16x2;
typedef vec<__bf16, 8> bf16x8;

typedef __amdgpu_buffer_rsrc_t buffer;

// A byte offset that every buffer resource rejects: reads give 0, writes are dropped.
constexpr u32 OUT_OF_RANGE = 0x80000000u;

#if defined(__gfx950__)
// e4m3fn.
constexpr float FP8_MAX = 448.0f;
constexpr bool GFX950 = true;
#else
// e4m3fnuz. AITER and SGLang scale to 240 on gfx942, though the format reaches 240 exactly.
constexpr float FP8_MAX = 240.0f;
constexpr bool GFX950 = false;
#endif

DEVICE u32 thread_id() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 group_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE u32 group_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEVICE u32 group_z() { return __builtin_amdgcn_workgroup_id_z(); }
// Wave within the workgroup, in a scalar register.
DEVICE u32 wave_id() { return __builtin_amdgcn_readfirstlane(thread_id() >> 6); }
DEVICE u32 lane_id() { return thread_id() & 63; }

template <class T>
DEVICE T min_of(T a, T b) { return a < b ? a : b; }
template <class T>
DEVICE T max_of(T a, T b) { return a > b ? a : b; }

// LDS writes of this wave are visible to the workgroup after the barrier.
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Waits until this wave's vector memory loads, those into LDS included, have landed.
DEVICE void wait_vmem() { __builtin_amdgcn_s_waitcnt(0x0f70); }

// A raw buffer of `bytes` bytes. Flags: 32-bit data format, as every raw access on gfx9 uses.
DEVICE buffer make_buffer(const void* base, u64 bytes) {
  u64 limit = 0x7fffffffu;
  return __builtin_amdgcn_make_buffer_rsrc(const_cast<void*>(base), 0, (int)min_of(bytes, limit),
                                           0x00027000);
}

DEVICE u32x4 load16(buffer b, u32 offset, u32 uniform_offset) {
  return __builtin_amdgcn_raw_buffer_load_b128(b, offset, uniform_offset, 0);
}
DEVICE void store16(buffer b, u32 offset, u32x4 v) {
  __builtin_amdgcn_raw_buffer_store_b128(v, b, offset, 0, 0);
}
DEVICE void store8(buffer b, u32 offset, u32x2 v) {
  __builtin_amdgcn_raw_buffer_store_b64(v, b, offset, 0, 0);
}
DEVICE void store2(buffer b, u32 offset, u16 v) {
  __builtin_amdgcn_raw_buffer_store_b16(v, b, offset, 0, 0);
}

#if defined(__gfx950__)
// 16 bytes per lane straight into LDS at `lds + 16 * lane`; `lds` is wave-uniform.
DEVICE void load16_to_lds(buffer b, u8* lds, u32 offset, u32 uniform_offset) {
  __builtin_amdgcn_raw_ptr_buffer_load_lds(b, (AS_LDS void*)lds, 16, offset, uniform_offset, 0, 0);
}
#endif

// LDS tiles are rows of ROW bytes (128 or 64) in chunks of 16; chunk c of row r lies at position
// c ^ swizzle(r). With it the 16 rows that an MFMA fragment read touches fall on distinct banks in
// every phase of ds_read_b128, on gfx942 (8 phases of 8 lanes, 32 banks) and gfx950 (4 phases of
// 16 lanes, 64 banks), and whole-row writes stay conflict free.
template <int ROW>
DEVICE u32 swizzle(u32 row) {
  static_assert(ROW == 128 || ROW == 64, "row bytes");
  return ROW == 128 ? row & 7 : (row >> 1) & 3;
}

// Operand rows that become the rows of a 16x16 MFMA result are stored in this order within each 32,
// so that a lane's results of two neighbouring subtiles are 8 consecutive columns of C: position
// p = j<<4 | g<<2 | r (subtile, lane group, register) holds row g<<3 | j<<2 | r.
DEVICE u32 interleaved_row(u32 p) {
  return (p & ~31u) | ((p >> 2) & 3) << 3 | ((p >> 4) & 1) << 2 | (p & 3);
}

// fp32 to bf16, round to nearest even; two values to a dword. NaN is not preserved on gfx942.
DEVICE u32 pack_bf16(float lo, float hi) {
#if defined(__gfx950__)
  vec<__bf16, 2> v = {(__bf16)lo, (__bf16)hi};
  return __builtin_bit_cast(u32, v);
#else
  u32 a = __builtin_bit_cast(u32, lo), b = __builtin_bit_cast(u32, hi);
  a += 0x7fff + ((a >> 16) & 1);
  b += 0x7fff + ((b >> 16) & 1);
  return __builtin_amdgcn_perm(b, a, 0x07060302);
#endif
}

DEVICE float bf16_lo(u32 v) { return __builtin_bit_cast(float, v << 16); }
DEVICE float bf16_hi(u32 v) { return __builtin_bit_cast(float, v & 0xffff0000u); }

// Four floats to four fp8 of the target's format, already within +-FP8_MAX.
DEVICE u32 pack_fp8(float a, float b, float c, float d) {
  int v = __builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0, false);
  return (u32)__builtin_amdgcn_cvt_pk_fp8_f32(c, d, v, true);
}

// Element types of a matrix product.
enum Type { BF16, FP8 };

// acc += a . b^T over one 16-byte chunk per lane: 4 lane groups x 16 bytes along K. Lane l holds
// row l%16 of both operands, chunk l/16; the result has a's rows in registers (4*(l/16) + r) and
// b's rows in lanes (l%16). Any order of K works as long as both operands use the same one.
template <Type T>
DEVICE f32x4 mma(u32x4 a, u32x4 b, f32x4 acc) {
  if constexpr (T == BF16) {
#if defined(__gfx950__)
    return __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(bf16x8, a),
                                                   __builtin_bit_cast(bf16x8, b), acc, 0, 0, 0);
#else
    u32x2 al = a.lo, ah = a.hi, bl = b.lo, bh = b.hi;
    acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(i16x4, al),
                                                    __builtin_bit_cast(i16x4, bl), acc, 0, 0, 0);
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(i16x4, ah),
                                                     __builtin_bit_cast(i16x4, bh), acc, 0, 0, 0);
#endif
  } else {
    u32x2 al = a.lo, ah = a.hi, bl = b.lo, bh = b.hi;
    acc = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(__builtin_bit_cast(long, al),
                                                     __builtin_bit_cast(long, bl), acc, 0, 0, 0);
    return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(__builtin_bit_cast(long, ah),
                                                      __builtin_bit_cast(long, bh), acc, 0, 0, 0);
  }
}

// Two chunks at once: on gfx950 fp8 runs twice as fast through the 128-deep instruction.
template <Type T>
DEVICE f32x4 mma2(u32x4 a0, u32x4 a1, u32x4 b0, u32x4 b1, f32x4 acc) {
#if defined(__gfx950__)
  if constexpr (T == FP8) {
    vec<u32, 8> a = __builtin_shufflevector(a0, a1, 0, 1, 2, 3, 4, 5, 6, 7);
    vec<u32, 8> b = __builtin_shufflevector(b0, b1, 0, 1, 2, 3, 4, 5, 6, 7);
    // Formats 0 are e4m3; zero scale operands select the unscaled instruction.
    return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
        __builtin_bit_cast(i32x8, a), __builtin_bit_cast(i32x8, b), acc, 0, 0, 0, 0, 0, 0);
  }
#endif
  return mma<T>(a1, b1, mma<T>(a0, b0, acc));
}

// Value of the lane 32 (or 16) away, from `give`, plus this lane's `keep`, where lanes whose bit is
// clear keep `a` and give `b` and the others keep `b` and give `a`: half of a transposing reduction.
template <int STRIDE>
DEVICE float exchange_add(float a, float b) {
  static_assert(STRIDE == 32 || STRIDE == 16, "stride");
#if defined(__gfx950__)
  u32 x = __builtin_bit_cast(u32, a), y = __builtin_bit_cast(u32, b);
  // Not through __builtin_bit_cast: clang 22 then returns the first result twice.
  if constexpr (STRIDE == 32) {
    auto r = __builtin_amdgcn_permlane32_swap(x, y, false, false);
    return __builtin_bit_cast(float, (u32)r[0]) + __builtin_bit_cast(float, (u32)r[1]);
  } else {
    auto r = __builtin_amdgcn_permlane16_swap(x, y, false, false);
    return __builtin_bit_cast(float, (u32)r[0]) + __builtin_bit_cast(float, (u32)r[1]);
  }
#else
  u32 lane = lane_id();
  bool high = lane & STRIDE;
  float keep = high ? b : a, give = high ? a : b;
  int got = __builtin_amdgcn_ds_bpermute((lane ^ STRIDE) * 4, __builtin_bit_cast(int, give));
  return keep + __builtin_bit_cast(float, got);
#endif
}

// One e2m1 value (low 4 bits of v >> shift) times 2^(exponent - 127), as fp32: exact. Its three
// magnitude bits at the top of an fp32's exponent and mantissa are the value times 2^-126,
// subnormals included.
DEVICE float fp4_value(u32 v, u32 shift, int exponent) {
  u32 nibble = v >> shift;
  u32 bits = (nibble & 7) << 22 | (nibble & 8) << 28;
  return __builtin_amdgcn_ldexpf(__builtin_bit_cast(float, bits), exponent - 1);
}

// Sum over this lane and the lanes below it in the wave. DPP row_shr by 1, 2, 4, 8 inside rows of
// 16, then row_bcast of lanes 15 and 31 into the rows above.
DEVICE u32 wave_inclusive_sum(u32 v) {
#define SCAN_STEP(control, row_mask)                                                             \
  v += (u32)__builtin_amdgcn_update_dpp(0, (int)v, control, row_mask, 0xf, false)
  SCAN_STEP(0x111, 0xf);
  SCAN_STEP(0x112, 0xf);
  SCAN_STEP(0x114, 0xf);
  SCAN_STEP(0x118, 0xf);
  SCAN_STEP(0x142, 0xa);
  SCAN_STEP(0x143, 0xc);
#undef SCAN_STEP
  return v;
}

DEVICE u64 ballot(bool p) { return __builtin_amdgcn_ballot_w64(p); }
// Set bits of `mask` below this lane.
DEVICE u32 count_below(u64 mask) {
  return __builtin_amdgcn_mbcnt_hi((u32)(mask >> 32), __builtin_amdgcn_mbcnt_lo((u32)mask, 0));
}
