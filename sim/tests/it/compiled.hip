// Arithmetic, control flow and lane exchange as clang compiles them, checked by compiled.rs.
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 64)))
#define DEVICE static __attribute__((device)) inline
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

DEVICE u32 thread() {
  return __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
}
DEVICE u32 bits(float x) { return __builtin_bit_cast(u32, x); }
DEVICE u64 bits(double x) { return __builtin_bit_cast(u64, x); }

KERNEL void integers(const u64 *a, const u64 *b, u64 *out) {
  u64 x = a[thread()], y = b[thread()] | 1;
  i64 sx = (i64)x, sy = (i64)y;
  u32 x32 = (u32)x, y32 = (u32)y;
  u64 *o = out + thread() * 16;
  o[0] = x / y;
  o[1] = x % y;
  o[2] = (u64)(sx / sy);
  o[3] = (u64)(sx % sy);
  o[4] = x32 / y32;
  o[5] = x32 % y32;
  o[6] = (u32)((i32)x32 / (i32)y32);
  o[7] = (u32)((i32)x32 % (i32)y32);
  o[8] = x * y;
  o[9] = (u64)(((unsigned __int128)x * y) >> 64);
  o[10] = (u64)__builtin_popcountll(x) | (u64)__builtin_clzll(y) << 8 | (u64)__builtin_ctzll(y) << 16;
  o[11] = x << (y & 63);
  o[12] = (u64)(sx >> (y & 63));
  o[13] = __builtin_rotateleft32(x32, y32 & 31);
  o[14] = __builtin_bitreverse64(x);
  o[15] = x32 / 10 + x % 1000;
}

KERNEL void singles(const float *a, const float *b, u32 *out) {
  float x = a[thread()], y = b[thread()];
  u32 *o = out + thread() * 16;
  o[0] = bits(x / y);
  o[1] = bits(__builtin_sqrtf(x));
  o[2] = bits(__builtin_fmaf(x, y, x));
  o[3] = bits(__builtin_exp2f(y));
  o[4] = bits(__builtin_expf(y));
  o[5] = bits(__builtin_logf(x));
  o[6] = bits(__builtin_log2f(x));
  o[7] = bits(__builtin_rintf(y));
  o[8] = bits(__builtin_floorf(y));
  o[9] = bits(__builtin_truncf(y));
  o[10] = bits(__builtin_fminf(x, y));
  o[11] = bits(__builtin_fmaxf(x, -__builtin_fabsf(y)));
  o[12] = (u32)(i32)y;
  o[13] = bits((float)(_Float16)y);
  o[14] = bits((float)(__bf16)y);
  o[15] = bits(__builtin_roundf(y));
}

KERNEL void doubles(const double *a, const double *b, u64 *out) {
  double x = a[thread()], y = b[thread()];
  u64 *o = out + thread() * 8;
  o[0] = bits(x / y);
  o[1] = bits(__builtin_sqrt(x));
  o[2] = bits(__builtin_fma(x, y, x));
  o[3] = (u64)(i64)y;
  o[4] = bits((double)(i64)__builtin_bit_cast(u64, x));
  o[5] = bits((double)(float)y);
  o[6] = bits(__builtin_floor(y));
  o[7] = bits((double)__builtin_bit_cast(u64, x));
}

KERNEL void halves(const _Float16 *a, const _Float16 *b, u32 *out) {
  _Float16 x = a[thread()], y = b[thread()];
  u32 *o = out + thread() * 8;
  o[0] = bits((float)(x + y));
  o[1] = bits((float)(x * y));
  o[2] = bits((float)(x - y));
  o[3] = bits((float)(x / y));
  o[4] = bits((float)__builtin_fmaf16(x, y, x));
  o[5] = bits((float)x * (float)y + 1.0f);
  o[6] = x < y;
  o[7] = (u32)(i32)(short)(x * (_Float16)0.001f);
}

// Steps until the Collatz sequence reaches 1: every lane leaves the loop at another time.
KERNEL void collatz(const u32 *a, u32 *out) {
  u64 n = a[thread()];
  u32 steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  out[thread()] = steps;
}

template <int ctrl> DEVICE i32 moved(i32 old, i32 x) {
  return __builtin_amdgcn_update_dpp(old, x, ctrl, 15, 15, false);
}

KERNEL void lanes(const i32 *a, i32 *out) {
  i32 x = a[thread()];
  u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  i32 *o = out + thread() * 8;
  // Sum over a wave as an inclusive scan within rows, then across them.
  i32 scan = x;
  scan += moved<0x111>(0, scan);
  scan += moved<0x112>(0, scan);
  scan += moved<0x114>(0, scan);
  scan += moved<0x118>(0, scan);
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x142, 10, 15, false);
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x143, 12, 15, false);
  o[0] = scan;
  o[1] = __builtin_amdgcn_readlane(scan, 63);
  o[2] = __builtin_amdgcn_ds_bpermute((63 - lane) * 4, x);
  u64 ballot = __builtin_amdgcn_ballot_w64(x < 0);
  o[3] = (i32)ballot;
  o[4] = (i32)(ballot >> 32);
  o[5] = __builtin_amdgcn_readfirstlane(x);
  i32 table[16];
  for (int k = 0; k < 16; ++k) table[k] = x * k;
  o[6] = table[a[lane ^ 1] & 15];
  o[7] = lane;
}
