/* What a program on the module API may do besides one launch: tour MODULE DEVICE. Every line that it
 * prints is a call and what came of it. Like saxpy.c it declares what it uses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int hipError_t;
typedef void *hipModule_t, *hipFunction_t, *hipStream_t, *hipEvent_t;
enum { HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, Default = 4 };

hipError_t hipSetDevice(int device);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipGetDeviceProperties(void* properties, int device);
hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name);
hipError_t hipFuncGetAttribute(int* value, int attribute, hipFunction_t function);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int threads, size_t lds);
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function,
                                                   size_t lds, int limit);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 hipStream_t stream, void** params, void** extra);
hipError_t hipMalloc(void** pointer, size_t bytes);
hipError_t hipFree(void* pointer);
hipError_t hipMemGetInfo(size_t* free, size_t* total);
hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags);
hipError_t hipHostFree(void* pointer);
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* pointer, hipStream_t stream);
hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, int kind);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, hipStream_t stream);
hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, int kind);
hipError_t hipMemset(void* to, int value, size_t bytes);
hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream);
hipError_t hipMemsetD32(void* to, int value, size_t count);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
hipError_t hipStreamAddCallback(hipStream_t stream, void (*callback)(hipStream_t, hipError_t, void*),
                                void* data, unsigned flags);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipDeviceSynchronize(void);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
hipError_t hipGraphInstantiate(void* exec, void* graph, void* node, char* log, size_t bytes);
hipError_t hipMemAdvise(const void* pointer, size_t bytes, int advice, int device);
const char* hipGetErrorName(hipError_t error);

#define CALL(call) printf("%s: %s\n", #call, hipGetErrorName(call))
#define CHECK(call)                                                       \
  do {                                                                    \
    hipError_t error = (call);                                            \
    if (error != 0) {                                                     \
      printf("%s: %s\n", #call, hipGetErrorName(error));                  \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

enum { N = 4096 };

static void finished(hipStream_t stream, hipError_t error, void* data) {
  (void)stream;
  *(int*)data = error == 0;
}

static void* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(2);
  fseek(file, 0, SEEK_END);
  long bytes = ftell(file);
  rewind(file);
  void* image = malloc((size_t)bytes);
  if (fread(image, 1, (size_t)bytes, file) != (size_t)bytes) exit(2);
  fclose(file);
  return image;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int device = atoi(argv[2]), devices, value, grid, block, called = 0;
  hipModule_t first, second;
  hipFunction_t f, g;
  hipStream_t one, two;
  hipEvent_t start, stop, never;
  size_t available, total, after, pitch;
  float a = 3.0f, ms = 0;
  float *host, *x, *y, *z;
  unsigned n = N;
  char properties[1024], *rows, text[4][5];

  CHECK(hipGetDeviceCount(&devices));
  CHECK(hipSetDevice(device));
  CHECK(hipGetDeviceProperties(properties, device));
  printf("arch: %.6s\n", properties + 396);
  void* image = read_file(argv[1]);
  CHECK(hipModuleLoadData(&first, image));
  CHECK(hipModuleLoadData(&second, image));
  memset(image, 0, 64);
  hipModule_t none = first;
  CALL(hipModuleLoadData(&none, image));
  free(image);
  CHECK(hipModuleGetFunction(&f, first, "saxpy"));
  CHECK(hipModuleGetFunction(&g, second, "saxpy"));
  CALL(hipModuleGetFunction(&g, second, "nosuch"));
  CHECK(hipModuleUnload(second));
  CALL(hipFuncGetAttribute(&value, 0, g));
  CHECK(hipFuncGetAttribute(&value, 0, f));
  printf("threads: %d\n", value);
  CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 256, 0));
  CHECK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 256));
  printf("blocks: %d, potential: %d of %d\n", value, grid, block);

  /* Page-locked memory, two streams, the second waiting for the first. */
  CHECK(hipHostMalloc((void**)&host, N * sizeof *host, 0));
  for (int i = 0; i < N; i++) host[i] = (float)i;
  CHECK(hipStreamCreateWithFlags(&one, 1));
  CHECK(hipStreamCreateWithFlags(&two, 1));
  CHECK(hipEventCreateWithFlags(&start, 0));
  CHECK(hipEventCreateWithFlags(&stop, 0));
  CHECK(hipEventCreateWithFlags(&never, 0));
  CHECK(hipMalloc((void**)&x, N * sizeof *x));
  CHECK(hipMallocAsync((void**)&y, N * sizeof *y, one));
  CHECK(hipMemcpyAsync(x, host, N * sizeof *x, HostToDevice, one));
  CHECK(hipMemsetAsync(y, 0, N * sizeof *y, one));
  void* params[] = {&a, &x, &y, &n};
  CHECK(hipEventRecord(start, one));
  CHECK(hipModuleLaunchKernel(f, N / 64, 1, 1, 64, 1, 1, 0, one, params, NULL));
  CHECK(hipEventRecord(stop, one));
  CHECK(hipStreamWaitEvent(two, stop, 0));
  CHECK(hipModuleLaunchKernel(f, N / 64, 1, 1, 64, 1, 1, 0, two, params, NULL));
  CHECK(hipStreamAddCallback(two, finished, &called, 0));
  CHECK(hipMemcpyAsync(host, y, N * sizeof *y, Default, two));
  CHECK(hipStreamSynchronize(two));
  CHECK(hipEventQuery(stop));
  CHECK(hipEventElapsedTime(&ms, start, stop));
  int right = 0;
  for (int i = 0; i < N; i++) right += host[i] == 6.0f * (float)i;
  printf("right: %d, timed: %d, called back: %d\n", right, ms > 0, called);
  CALL(hipEventElapsedTime(&ms, start, never));

  /* The other device's memory, found by its address. */
  CHECK(hipSetDevice((device + 1) % devices));
  CHECK(hipMalloc((void**)&z, N * sizeof *z));
  CHECK(hipMemcpy(z, y, N * sizeof *z, DeviceToDevice));
  CHECK(hipMemsetD32(y, 0x3f800000, N));
  CHECK(hipMemcpy(host, z, N * sizeof *z, DeviceToHost));
  printf("across: %g, ", host[N - 1]);
  CHECK(hipMemcpy(host, y, N * sizeof *z, DeviceToHost));
  printf("filled: %g\n", host[N - 1]);
  CHECK(hipFree(z));
  CHECK(hipSetDevice(device));

  /* Rows with a pitch. */
  CHECK(hipMallocPitch((void**)&rows, &pitch, 5, 4));
  CHECK(hipMemcpy2D(rows, pitch, "abcd\0efgh\0ijkl\0mnop", 5, 5, 4, HostToDevice));
  CHECK(hipMemcpy2D(text, 5, rows, pitch, 5, 4, DeviceToHost));
  printf("pitch: %zu, rows: %s %s\n", pitch, text[0], text[3]);

  /* A large allocation costs nothing until it is used; a larger one than the device is refused. */
  CHECK(hipMemGetInfo(&available, &total));
  CHECK(hipMalloc((void**)&z, (size_t)64 << 30));
  CHECK(hipMemset(z, 0, (size_t)64 << 30));
  CHECK(hipMemGetInfo(&after, &total));
  printf("taken: %zu GiB\n", (available - after) >> 30);
  CALL(hipMalloc((void**)&rows, total));
  CHECK(hipFree(z));

  /* Mistakes. */
  CALL(hipFree(z));
  CALL(hipMemcpy(x, host, N * sizeof *x + 1, HostToDevice));
  CALL(hipMemcpy(host, x, 4, 9));
  CALL(hipModuleLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, params, NULL));
  CALL(hipModuleLaunchKernel(f, 1, 0, 1, 64, 1, 1, 0, NULL, params, NULL));
  CALL(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 1 << 20, NULL, params, NULL));
  CALL(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
  params[1] = &z;
  CALL(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
  params[1] = &x;
  CALL(hipPeekAtLastError());
  CALL(hipGetLastError() == 700 ? hipGetLastError() : 1);
  CALL(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
  CALL(hipSetDevice(devices));
  CALL(hipStreamSynchronize(start));
  CALL(hipGraphInstantiate(NULL, NULL, NULL, NULL, 0));
  CALL(hipMemAdvise(x, 4, 1, device));

  CHECK(hipDeviceSynchronize());
  CHECK(hipFree(x));
  CHECK(hipFreeAsync(y, one));
  CHECK(hipHostFree(host));
  CALL(hipHostFree(host));
  CHECK(hipEventDestroy(start));
  CHECK(hipStreamDestroy(one));
  CALL(hipStreamDestroy(one));
  return 0;
}
