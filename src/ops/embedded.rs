//! The prebuilt code objects and their manifest, inside the binary: `tune` needs no kernel files at
//! run time.

/// `kernels/manifest.toml`.
pub const MANIFEST: &str = include_str!("../../kernels/manifest.toml");

macro_rules! objects {
    ($($arch:literal: $($file:literal),+;)+) => {
        /// Every prebuilt object: target, source file without extension, bytes.
        pub const OBJECTS: &[(&str, &str, &[u8])] = &[
            $($((
                $arch,
                $file,
                include_bytes!(concat!("../../kernels/prebuilt/", $arch, "/", $file, ".hsaco")),
            ),)+)+
        ];
    };
}

objects! {
    "gfx942": "absorb_bmm", "fill", "gemm", "indexer_logits", "indexer_select";
    "gfx950": "absorb_bmm", "fill", "gemm", "indexer_logits", "indexer_select";
}

/// The object of a source file for a target.
pub fn object(arch: &str, file: &str) -> Option<&'static [u8]> {
    OBJECTS.iter().find(|(a, f, _)| *a == arch && *f == file).map(|(_, _, bytes)| *bytes)
}
