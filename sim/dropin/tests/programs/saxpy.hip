// y[i] = a * x[i] + y[i] for i < n, 64 threads a workgroup.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned n) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) y[i] = a * x[i] + y[i];
}
