/* A HIP program on the module API, in plain C: saxpy MODULE. Prints what it found; exits with 1 and
 * the failed call otherwise. It needs no HIP headers: the few declarations are the runtime's. */
#include <stdio.h>
#include <stdlib.h>

typedef int hipError_t;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;

hipError_t hipInit(unsigned flags);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceGetName(char* name, int bytes, int device);
hipError_t hipModuleLoad(hipModule_t* module, const char* path);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name);
hipError_t hipMalloc(void** pointer, size_t bytes);
hipError_t hipFree(void* pointer);
hipError_t hipMemcpyHtoD(void* to, const void* from, size_t bytes);
hipError_t hipMemcpyDtoH(void* to, void* from, size_t bytes);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 hipStream_t stream, void** params, void** extra);
hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags);
const char* hipGetErrorName(hipError_t error);

static void check(hipError_t error, const char* call) {
  if (error == 0) return;
  printf("%s: %s\n", call, hipGetErrorName(error));
  exit(1);
}
#define CHECK(call) check(call, #call)

enum { N = 1000 };

int main(int argc, char** argv) {
  int devices, device;
  hipModule_t module = NULL;
  hipFunction_t function;
  hipStream_t stream;
  hipEvent_t start, stop;
  char name[256];
  float host_x[N], host_y[N], a = 2.0f, ms;
  void *x, *y, *managed;
  unsigned n = N;

  if (argc != 2) return 2;
  CHECK(hipInit(0));
  CHECK(hipGetDeviceCount(&devices));
  /* The first device that the module is for. */
  for (device = 0; device < devices && module == NULL; device++) {
    CHECK(hipSetDevice(device));
    if (hipModuleLoad(&module, argv[1]) != 0) module = NULL;
  }
  if (module == NULL) return 3;
  CHECK(hipDeviceGetName(name, sizeof name, device - 1));
  CHECK(hipModuleGetFunction(&function, module, "saxpy"));
  for (int i = 0; i < N; i++) host_x[i] = (float)i, host_y[i] = 0.5f;
  CHECK(hipMalloc(&x, sizeof host_x));
  CHECK(hipMalloc(&y, sizeof host_y));
  CHECK(hipMemcpyHtoD(x, host_x, sizeof host_x));
  CHECK(hipMemcpyHtoD(y, host_y, sizeof host_y));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  CHECK(hipEventRecord(start, stream));
  void* params[] = {&a, &x, &y, &n};
  CHECK(hipModuleLaunchKernel(function, (N + 63) / 64, 1, 1, 64, 1, 1, 0, stream, params, NULL));
  CHECK(hipEventRecord(stop, stream));
  CHECK(hipEventSynchronize(stop));
  CHECK(hipEventElapsedTime(&ms, start, stop));
  CHECK(hipStreamSynchronize(stream));
  CHECK(hipMemcpyDtoH(host_y, y, sizeof host_y));
  int right = 0;
  for (int i = 0; i < N; i++) right += host_y[i] == 2.0f * (float)i + 0.5f;
  printf("device: %s\nright: %d\ntimed: %s\n", name, right, ms > 0 ? "yes" : "no");
  printf("managed: %s\n", hipGetErrorName(hipMallocManaged(&managed, 4, 1)));
  CHECK(hipFree(x));
  CHECK(hipFree(y));
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  CHECK(hipStreamDestroy(stream));
  CHECK(hipModuleUnload(module));
  return 0;
}
