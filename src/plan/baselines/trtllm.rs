//! TensorRT-LLM's table of indexer rows.
//!
//! In go the configured rows and the compressed keys; out come the rows that one indexer call
//! takes: the configured number below 256K keys, at most 16K up to 512K, at most 8K above
//! (NVIDIA/TensorRT-LLM pull request 15459). It never takes more than was configured.

/// Rows that TensorRT-LLM configures by default.
pub const CONFIGURED: u64 = 32_768;

/// Rows of one call over `keys` compressed keys.
pub fn rows(configured: u64, keys: u64) -> u64 {
    match keys {
        0..262_144 => configured,
        262_144..=524_288 => configured.min(16_384),
        _ => configured.min(8_192),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_leaves_its_own_example_alone_and_has_three_corners_of_32_gib() {
        // 500,000 tokens at 4 tokens a key are 125,000 keys, below 256K: 32K rows stay, and cost
        // 32768 * 125000 * 4 = 16.384e9 B.
        assert_eq!(rows(CONFIGURED, 125_000), CONFIGURED);
        assert_eq!(rows(CONFIGURED, 125_000) * 125_000 * 4, 16_384_000_000);
        let bytes = |keys: u64| rows(CONFIGURED, keys) * keys * 4;
        assert!(bytes(262_143) > (32 << 30) - (1 << 18));
        assert_eq!([bytes(524_288), bytes(1 << 20)], [32 << 30, 32 << 30]);
        assert_eq!(rows(2048, 1 << 20), 2048);
    }
}
