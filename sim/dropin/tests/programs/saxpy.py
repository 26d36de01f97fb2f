"""A HIP program on the module API through ctypes: saxpy.py LIBRARY MODULE. The arguments of the kernel
go as one packed buffer."""

import ctypes
import struct
import sys

hip = ctypes.CDLL(sys.argv[1])
hip.hipGetErrorName.restype = ctypes.c_char_p


def check(error):
    if error:
        sys.exit(hip.hipGetErrorName(error).decode())


count = ctypes.c_int()
check(hip.hipGetDeviceCount(ctypes.byref(count)))
image = open(sys.argv[2], "rb").read()
module, function = ctypes.c_void_p(), ctypes.c_void_p()
for device in range(count.value):
    check(hip.hipSetDevice(device))
    if hip.hipModuleLoadData(ctypes.byref(module), image) == 0:
        break
else:
    sys.exit("no device for the module")
check(hip.hipModuleGetFunction(ctypes.byref(function), module, b"saxpy"))

n = 1000
x = (ctypes.c_float * n)(*range(n))
y = (ctypes.c_float * n)(*[0.25] * n)
pointers = []
for host in (x, y):
    pointer = ctypes.c_void_p()
    check(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(ctypes.sizeof(host))))
    check(hip.hipMemcpy(pointer, host, ctypes.c_size_t(ctypes.sizeof(host)), 1))
    pointers.append(pointer)

buffer = struct.pack("<f4xQQI4x", 3.0, pointers[0].value, pointers[1].value, n)
size = ctypes.c_size_t(len(buffer))
# HIP_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
extra = (ctypes.c_void_p * 5)(
    1, ctypes.cast(buffer, ctypes.c_void_p).value, 2, ctypes.addressof(size), 3
)
check(hip.hipModuleLaunchKernel(function, (n + 63) // 64, 1, 1, 64, 1, 1, 0, None, None, extra))
check(hip.hipDeviceSynchronize())
check(hip.hipMemcpy(y, pointers[1], ctypes.c_size_t(ctypes.sizeof(y)), 2))
print("right:", sum(y[i] == 3.0 * i + 0.25 for i in range(n)))
print("graph:", hip.hipGetErrorName(hip.hipGraphCreate(None, 0)).decode())
