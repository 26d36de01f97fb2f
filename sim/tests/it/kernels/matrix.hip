// Matrix operations of both targets, loads to LDS, and on gfx950 the scaled formats.

#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
typedef long i64;
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef float f32v __attribute__((ext_vector_type(32)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef __bf16 b8 __attribute__((ext_vector_type(8)));
typedef __bf16 b2 __attribute__((ext_vector_type(2)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef unsigned u6 __attribute__((ext_vector_type(6)));

static inline __attribute__((device)) int tid() { return __builtin_amdgcn_workitem_id_x(); }

KERNEL mfma(const h4 *h, const s4 *b, const i64 *q, const float *f, const double *d, f4 *o4, f16v *o16, f32v *o32, d4 *od) {
    int i = tid();
    f4 acc = o4[i];
    for (int k = 0; k < 8; k++) {
        acc = __builtin_amdgcn_mfma_f32_16x16x16f16(h[i + k], h[i + 64 * k], acc, 0, 0, 0);
        acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(b[i + k], b[i + 64 * k], acc, 0, 0, 0);
        acc = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(q[i + k], q[i + 64 * k], acc, 0, 0, 0);
        acc = __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(q[i], q[i + 64 * k], acc, 0, 0, 0);
        acc = __builtin_amdgcn_mfma_f32_16x16x4f32(f[i + k], f[i + 64 * k], acc, 0, 0, 0);
        acc = __builtin_amdgcn_mfma_f32_4x4x4f16(h[i + k], h[i], acc, 4, 3, 2);
    }
    o4[i] = acc;
    o16[i] = __builtin_amdgcn_mfma_f32_32x32x8f16(h[i], h[i + 1], o16[i], 0, 0, 0);
    o32[i] = __builtin_amdgcn_mfma_f32_32x32x4f16(h[i], h[i + 1], o32[i], 1, 1, 0);
    od[i] = __builtin_amdgcn_mfma_f64_16x16x4f64(d[i], d[i + 1], od[i], 0, 0, 3);
}

KERNEL fp8(const float *f, const unsigned *p, unsigned *out, float *fo) {
    int i = tid();
    int v = __builtin_amdgcn_cvt_pk_fp8_f32(f[i], f[i + 1], 0, false);
    v = __builtin_amdgcn_cvt_pk_bf8_f32(f[i + 2], f[i + 3], v, true);
    out[i] = __builtin_amdgcn_cvt_sr_fp8_f32(f[i], i, v, 2);
    f2 x = __builtin_amdgcn_cvt_pk_f32_fp8(p[i], true);
    fo[i] = x.x * x.y + __builtin_amdgcn_cvt_f32_fp8(p[i], 3) + __builtin_amdgcn_cvt_f32_bf8(p[i], 1);
}

KERNEL lds_tile(const GLOBAL f4 *a, f4 *out, int n) {
    SHARED f4 tile[512];
    for (int k = 0; k < n; k += 512) {
        for (int j = 0; j < 8; j++) tile[tid() + 64 * j] = a[k + tid() + 64 * j];
        __builtin_amdgcn_s_barrier();
        out[k + tid()] = tile[(tid() * 9) & 511] + tile[(tid() * 5 + 3) & 511];
        __builtin_amdgcn_s_barrier();
    }
}

KERNEL load_to_lds(GLOBAL int *a, int *out) {
    SHARED int tile[1024];
    __builtin_amdgcn_global_load_lds(a + tid(), (LOCAL void *)tile, 4, 0, 0);
#ifdef __gfx950__
    __builtin_amdgcn_global_load_lds(a + 4 * tid(), (LOCAL void *)(tile + 256), 16, 16, 0);
#endif
    __builtin_amdgcn_s_waitcnt(0);
    out[tid()] = tile[tid() ^ 1] + tile[256 + tid() * 3];
}

#ifdef __gfx950__
KERNEL wide_mfma(const h8 *h, const b8 *b, const i4 *q, f4 *o, f16v *o16, i4 *oi) {
    int i = tid();
    o[i] = __builtin_amdgcn_mfma_f32_16x16x32_f16(h[i], h[i + 1], o[i], 0, 0, 0);
    o16[i] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(b[i], b[i + 1], o16[i], 0, 0, 0);
    oi[i] = __builtin_amdgcn_mfma_i32_16x16x64_i8(q[i], q[i + 1], oi[i], 0, 0, 0);
}

KERNEL scaled_mfma(const i8 *a, const i8 *b, const int *s, f4 *o, f16v *o16) {
    int i = tid();
    f4 acc = o[i];
    acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], acc, 0, 0, 0, s[i], 1, s[i + 1]);
    acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], acc, 4, 4, 3, s[i], 2, s[i + 1]);
    acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], acc, 0, 0, 0, 0, 0, 0);
    acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], acc, 2, 1, 0, s[i], 0, s[i + 1]);
    o[i] = acc;
    o16[i] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a[i], b[i], o16[i], 4, 2, 1, s[i], 3, s[i + 1]);
}

KERNEL scaled_conversions(const f16v *f, const unsigned *p, const float *s, u6 *o6, unsigned *o, f2 *of, b2 *ob) {
    int i = tid();
    o6[i] = __builtin_amdgcn_cvt_scalef32_2xpk16_fp6_f32(f[i], f[i + 1], s[i]);
    unsigned v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(0, f[i].x, f[i].y, s[i], 0);
    v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(v, f[i].z, f[i].w, s[i], 3);
    o[i] = v;
    of[i] = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(p[i], s[i], 2);
    of[i + 64] = __builtin_amdgcn_cvt_scalef32_pk_f32_fp8(p[i], s[i], true);
    ob[i] = __builtin_amdgcn_cvt_scalef32_pk_bf16_fp4(p[i], s[i], 1);
    ob[i + 64].x = (__bf16)f[i].x;
    ob[i + 64].y = (__bf16)f[i].y;
    o[i + 64] = __builtin_amdgcn_bitop3_b32(p[i], p[i + 1], p[i + 2], 0x6a);
}
#endif
