// Vector and scalar arithmetic, conversions, lane movement and atomics.

#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
typedef unsigned long long u64;
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));

static inline __attribute__((device)) int tid() { return __builtin_amdgcn_workitem_id_x(); }

KERNEL modulo64(const u64 *a, u64 *out, u64 m, u64 n) {
    u64 i = __builtin_amdgcn_workgroup_id_x() * 256ull + tid();
    if (i < n) out[i] = a[i * m % n] / (a[i] | 1) + (long long)a[n - i - 1] % 7;
}

KERNEL dpp_sum(const float *a, float *out) {
    float x = a[tid()];
    x += __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, x), 0xb1, 0xf, 0xf, true));
    x += __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, x), 0x4e, 0xf, 0xf, true));
    x += __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, x), 0x141, 0xf, 0xf, false));
    x += __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, x), 0x140, 0xa, 0xf, false));
    x += __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, x), 0x142, 0xa, 0xf, false));
    x += __builtin_bit_cast(float, __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, x), 0x401f));
    int y = __builtin_amdgcn_ds_bpermute(4 * (63 - tid()), __builtin_bit_cast(int, x));
    out[tid()] = x + __builtin_bit_cast(float, __builtin_amdgcn_readlane(y, 63));
}

KERNEL transcendental(const float *a, const double *d, float *out, double *dout) {
    int i = tid();
    float x = a[i];
    out[i] = __builtin_amdgcn_exp2f(x) + __builtin_amdgcn_logf(x) + __builtin_amdgcn_sqrtf(x)
        + __builtin_amdgcn_sinf(x) * __builtin_amdgcn_rsqf(x) + __builtin_amdgcn_fractf(x) + x / a[i + 1]
        + __builtin_amdgcn_fmed3f(x, a[i + 2], 3.0f) + __builtin_fabsf(-a[i + 3]) * -x;
    double y = d[i];
    dout[i] = y / d[i + 1] + __builtin_sqrt(y) + __builtin_floor(y) + (double)(long long)y + __builtin_fma(y, y, -1.0);
}

KERNEL packed(const half2 *h, const float2 *f, const short2 *s, half2 *ho, float2 *fo, short2 *so) {
    int i = tid();
    ho[i] = __builtin_elementwise_max(h[i] * h[i + 1] + h[i + 2], -h[i]);
    fo[i] = f[i] * f[i + 1] + f[i + 2];
    so[i] = __builtin_elementwise_min(s[i] * s[i + 1] + s[i + 2], s[i + 3] << (short)3);
    fo[i].x += __builtin_amdgcn_fdot2(h[i], h[i + 3], f[i].y, false);
}

KERNEL bytes(const unsigned char *a, const _Float16 *h, float *out, _Float16 *ho, short *so) {
    int i = tid();
    unsigned v = *(const unsigned *)(a + 4 * i);
    out[i] = (float)(v & 255) + (float)(v >> 8 & 255) + (float)(v >> 16 & 255) * (float)(v >> 24);
    ho[i] = h[i] * h[i + 1] + (_Float16)(a[i]);
    so[i] = (short)(a[i] * (signed char)a[i + 1] - a[i + 2]);
}

KERNEL atomics(int *a, float *f, double *d, u64 *u, int v) {
    SHARED int counter[64];
    SHARED float sum;
    int i = tid();
    __hip_atomic_fetch_add(&counter[v & 63], i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_add(&sum, (float)i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_max(a + i, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add(f + i, 1.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add(d + i, 2.5, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    u64 expected = u[i];
    __hip_atomic_compare_exchange_strong(u + i, &expected, expected + v, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
    __builtin_amdgcn_s_barrier();
    a[i + 64] = counter[i] + (int)sum + (int)expected;
}

KERNEL indexed_scratch(const int *a, int *out, int n) {
    int local[48];
    for (int j = 0; j < 48; j++) local[j] = a[j * tid()] * j;
    for (int j = 0; j < n; j++) local[(a[j] & 31) + 3] += local[a[j + 1] & 31];
    out[tid()] = local[n & 31] + local[a[tid()] & 31];
}

KERNEL modes(float *out, float a) {
    __builtin_amdgcn_s_setprio(2);
    __builtin_amdgcn_s_sleep(3);
    __builtin_amdgcn_s_setreg(0x801, 3);
    out[tid()] = out[tid()] * a + __builtin_amdgcn_s_getreg(0xf804) + __builtin_amdgcn_s_memtime();
    unsigned long long mask = __builtin_amdgcn_ballot_w64(out[tid() + 64] > a);
    out[tid() + 128] = __builtin_popcountll(mask) + __builtin_clzll(mask | 1)
        + __builtin_amdgcn_mbcnt_hi((unsigned)(mask >> 32), __builtin_amdgcn_mbcnt_lo((unsigned)mask, 0));
}

KERNEL buffers(void *base, int bytes, int n) {
    __amdgpu_buffer_rsrc_t rsrc = __builtin_amdgcn_make_buffer_rsrc(base, 0, bytes, 0x27000);
    typedef int int4v __attribute__((ext_vector_type(4)));
    int4v v = __builtin_amdgcn_raw_buffer_load_b128(rsrc, 16 * tid(), n, 0);
    v.x += __builtin_amdgcn_raw_buffer_load_b32(rsrc, 4 * tid() + 64, 0, 1);
    __builtin_amdgcn_raw_buffer_store_b128(v, rsrc, 16 * tid() + 4096, n, 2);
    __builtin_amdgcn_raw_buffer_store_b8((unsigned char)v.y, rsrc, tid(), 0, 0);
    __builtin_amdgcn_raw_buffer_store_b16((unsigned short)v.z, rsrc, 2 * tid() + 100, 0, 0);
}
