// Kernels that show what a wave finds when it starts: ids, hidden arguments, LDS, private memory,
// relocated pointers; and kernels that go wrong on purpose. Built by build.sh for both targets.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
typedef unsigned int u32;
typedef unsigned long long u64;

// Per thread, 8 words: work-item id, workgroup id, the flat wave-relative lane count, a marker.
GLOBAL void ids(u32* out, u32 gx, u32 gy, u32 bx, u32 by, u32 bz) {
  u32 tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y(),
      tz = __builtin_amdgcn_workitem_id_z();
  u32 wx = __builtin_amdgcn_workgroup_id_x(), wy = __builtin_amdgcn_workgroup_id_y(),
      wz = __builtin_amdgcn_workgroup_id_z();
  u32 group = (wz * gy + wy) * gx + wx;
  u32 thread = (tz * by + ty) * bx + tx;
  u32* at = out + 8 * (group * bx * by * bz + thread);
  at[0] = tx;
  at[1] = ty;
  at[2] = tz;
  at[3] = wx;
  at[4] = wy;
  at[5] = wz;
  at[6] = __builtin_popcountll(__builtin_amdgcn_read_exec());
  at[7] = 0xabcd;
}

extern SHARED u32 dynamic[];

// Thread 0 stores the sizes of workgroup and grid, as the hidden arguments and the dispatch packet
// give them.
GLOBAL void sizes(u32* out) {
  if (__builtin_amdgcn_workitem_id_x() != 0 || __builtin_amdgcn_workgroup_id_x() != 0) return;
  const __attribute__((address_space(4))) u32* hidden =
      (const __attribute__((address_space(4))) u32*)__builtin_amdgcn_implicitarg_ptr();
  out[0] = __builtin_amdgcn_workgroup_size_x();
  out[1] = __builtin_amdgcn_workgroup_size_y();
  out[2] = __builtin_amdgcn_workgroup_size_z();
  out[3] = __builtin_amdgcn_grid_size_x();
  out[4] = __builtin_amdgcn_grid_size_y();
  out[5] = __builtin_amdgcn_grid_size_z();
  out[6] = hidden[0];
  out[7] = hidden[1];
  out[8] = hidden[2];
  out[9] = hidden[16] & 0xffff;
  out[10] = hidden[30];
  if (out[11] != 0) out[12] = dynamic[0];
}

// Reverses a workgroup's elements through static LDS, and sums them through dynamic LDS.
GLOBAL void reverse(u32* data, u32* sum, u32 threads) {
  SHARED u32 tile[1024];
  u32 t = __builtin_amdgcn_workitem_id_x();
  u32 base = __builtin_amdgcn_workgroup_id_x() * threads;
  tile[t] = data[base + t];
  dynamic[t] = tile[t];
  __builtin_amdgcn_s_barrier();
  data[base + t] = tile[threads - 1 - t];
  if (t == 0) {
    u32 total = 0;
    for (u32 i = 0; i < threads; i++) total += dynamic[i];
    sum[__builtin_amdgcn_workgroup_id_x()] = total;
  }
}

// Private array with an index the compiler does not know.
GLOBAL void scratch(u32* out, u32 stride) {
  volatile u32 local[32];
  u32 t = __builtin_amdgcn_workitem_id_x();
  for (u32 i = 0; i < 32; i++) local[i * stride & 31] = t * 100 + i;
  out[t] = local[t & 31];
}

// A table of pointers, which the loader has to relocate.
DEVICE u32 first = 11, second = 22;
DEVICE u32* table[2] = {&first, &second};
GLOBAL void relocated(u32* out) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  if (t < 2) out[t] = *table[t];
}

// Thread `thread` of workgroup `group` writes `offset` bytes past `out`.
GLOBAL void stray(char* out, u32 group, u32 thread, u64 offset) {
  if (__builtin_amdgcn_workgroup_id_x() == group && __builtin_amdgcn_workitem_id_x() == thread)
    out[offset] = 1;
}

// Never ends.
GLOBAL void spin(volatile u32* flag) {
  while (*flag == 0) {
  }
}

// Wave 0 waits for wave 1 without a barrier.
GLOBAL void handshake(u32* out) {
  SHARED volatile u32 flag;
  u32 t = __builtin_amdgcn_workitem_id_x();
  if (t == 0) flag = 0;
  __builtin_amdgcn_s_barrier();
  if (t == 64) flag = 7;
  if (t == 0) {
    while (flag == 0) {
    }
    out[0] = flag;
  }
}

// Hands out tickets and sums in f32: the result depends on the order of execution.
GLOBAL void tickets(u32* counter, u32* out, float* sum) {
  u32 i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  out[i] = __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  __builtin_amdgcn_global_atomic_fadd_f32(
      (__attribute__((address_space(1))) float*)sum, 1.0f / (i + 1));
}
