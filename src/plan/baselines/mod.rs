//! How other engines size prefill chunks: SGLang's dynamic sizer.

pub mod sglang;
