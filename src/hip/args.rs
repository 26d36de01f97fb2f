//! Kernel arguments for `hipModuleLaunchKernel`'s `kernelParams`.
//!
//! Goes in: buffers and scalars in the order of the kernel's parameters. Comes out: one pointer per
//! argument into storage aligned for any of them.

use std::ffi::c_void;

use super::buffer::Buffer;

/// The arguments of one launch, in order.
#[derive(Clone, Debug, Default)]
pub struct Args {
    values: Vec<Value>,
}

#[derive(Clone, Debug)]
struct Value {
    words: Vec<u64>,
    bytes: usize,
}

impl Args {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the address of a buffer.
    pub fn ptr(self, buffer: &Buffer) -> Self {
        self.u64(buffer.ptr())
    }

    /// Appends the address `offset` bytes into a buffer. Kernels may be given addresses past the
    /// end as long as they do not access them, so the offset is not checked.
    pub fn ptr_at(self, buffer: &Buffer, offset: u64) -> Self {
        self.u64(buffer.ptr().wrapping_add(offset))
    }

    /// Appends a null pointer.
    pub fn null(self) -> Self {
        self.u64(0)
    }

    /// Appends a 32-bit unsigned integer.
    pub fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_ne_bytes())
    }

    /// Appends a 32-bit signed integer.
    pub fn i32(self, value: i32) -> Self {
        self.bytes(&value.to_ne_bytes())
    }

    /// Appends a 64-bit unsigned integer.
    pub fn u64(self, value: u64) -> Self {
        self.bytes(&value.to_ne_bytes())
    }

    /// Appends a 64-bit signed integer.
    pub fn i64(self, value: i64) -> Self {
        self.bytes(&value.to_ne_bytes())
    }

    /// Appends a single-precision float.
    pub fn f32(self, value: f32) -> Self {
        self.bytes(&value.to_ne_bytes())
    }

    /// Appends an argument of any other type by its bytes.
    pub fn bytes(mut self, value: &[u8]) -> Self {
        let mut words = vec![0u64; value.len().div_ceil(8).max(1)];
        for (word, chunk) in words.iter_mut().zip(value.chunks(8)) {
            let mut raw = [0u8; 8];
            raw[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_ne_bytes(raw);
        }
        self.values.push(Value { words, bytes: value.len() });
        self
    }

    /// Size of each argument in bytes.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.values.iter().map(|v| v.bytes)
    }

    /// Pointers to the arguments, valid while `self` is.
    pub(super) fn pointers(&self) -> Vec<*mut c_void> {
        self.values.iter().map(|v| v.words.as_ptr().cast_mut().cast()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_order_sizes_and_bytes() {
        let args = Args::new().u32(7).bytes(&[1, 2, 3]).f32(1.5).u64(9);
        assert_eq!(args.sizes().collect::<Vec<_>>(), [4, 3, 4, 8]);
        let pointers = args.pointers();
        // SAFETY: the pointers point at the values above.
        unsafe {
            assert_eq!(pointers[0].cast::<u32>().read(), 7);
            assert_eq!(pointers[1].cast::<[u8; 3]>().read(), [1, 2, 3]);
            assert_eq!(pointers[2].cast::<f32>().read(), 1.5);
            assert_eq!(pointers[3].cast::<u64>().read(), 9);
        }
    }
}
