//! The kernel manifest, `kernels/manifest.toml`: which kernels there are, their tiles and arguments.
//! Text comes in; typed, checked entries come out, or an error that names kernel and field.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::pack::{PackInfo, PackLaunch};

/// Schema that this version reads.
pub const SCHEMA: &str = "chunktune/kernels/v1";

/// Most threads of a workgroup on CDNA.
const MAX_THREADS: u32 = 1024;

/// A manifest that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel manifest: {place}: {problem}")]
pub struct ManifestError {
    /// Kernel or signature and field, such as `kernel fill: threads`.
    pub place: String,
    /// What is wrong and what was expected.
    pub problem: String,
}

/// What a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelOp {
    /// `C = A * B^T`.
    Gemm,
    /// MLA absorb batched GEMM.
    AbsorbBmm,
    /// One step of an indexer pipeline.
    Indexer,
    /// A helper that is not measured.
    Support,
}

impl KernelOp {
    /// Name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            KernelOp::Gemm => "gemm",
            KernelOp::AbsorbBmm => "absorb_bmm",
            KernelOp::Indexer => "indexer",
            KernelOp::Support => "support",
        }
    }
}

/// How a GEMM-like kernel treats sizes that its tile does not divide. Other kernels carry other
/// variant names, see [`KernelEntry::variant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Needs M and N to be multiples of the tile.
    Even,
    /// Wraps offsets modulo M and N and masks stores, as the deployed kernel does.
    RaggedWrap,
    /// Bounds by the buffer resource.
    RaggedBuffer,
}

impl Variant {
    /// Name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Even => "even",
            Variant::RaggedWrap => "ragged_wrap",
            Variant::RaggedBuffer => "ragged_buffer",
        }
    }

    /// The variant of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Variant::Even, Variant::RaggedWrap, Variant::RaggedBuffer]
            .into_iter()
            .find(|v| v.name() == name)
    }
}

/// BLOCK_SIZE_M, N and K in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tile {
    /// Rows.
    pub m: u32,
    /// Columns.
    pub n: u32,
    /// Depth of a step.
    pub k: u32,
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.m, self.n, self.k)
    }
}

/// Type of a kernel argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgType {
    /// Device pointer.
    Ptr,
    /// 32-bit unsigned integer.
    U32,
    /// 32-bit signed integer.
    I32,
    /// 64-bit unsigned integer.
    U64,
    /// 64-bit signed integer.
    I64,
    /// Single-precision float.
    F32,
}

impl ArgType {
    /// Bytes in the kernel argument segment.
    pub fn bytes(self) -> usize {
        match self {
            ArgType::U32 | ArgType::I32 | ArgType::F32 => 4,
            ArgType::Ptr | ArgType::U64 | ArgType::I64 => 8,
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "ptr" => ArgType::Ptr,
            "u32" => ArgType::U32,
            "i32" => ArgType::I32,
            "u64" => ArgType::U64,
            "i64" => ArgType::I64,
            "f32" => ArgType::F32,
            _ => return None,
        })
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arg {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: ArgType,
}

/// One kernel for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelEntry {
    /// Unique name, used in profiles.
    pub id: String,
    /// Operation.
    pub op: KernelOp,
    /// `even`, `ragged_wrap`, `ragged_buffer` for GEMM-like kernels; else the step's name.
    pub variant: String,
    /// Input element type.
    pub dtype: String,
    /// Tile, where the kernel has one.
    pub tile: Option<Tile>,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Target.
    pub arch: String,
    /// Source file without extension.
    pub file: String,
    /// Symbol in the code object.
    pub symbol: String,
    /// Arguments in order.
    pub args: Vec<Arg>,
    /// Whether a serving engine runs this very kernel.
    pub deployed: bool,
    /// Where the kernel is of a pack: the launches that it was compiled for.
    pub launch: Option<PackLaunch>,
    /// The code object.
    pub image: Cow<'static, [u8]>,
    /// SHA-256 of the code object, hex.
    pub sha256: String,
}

impl KernelEntry {
    /// The variant, for GEMM-like kernels.
    pub fn gemm_variant(&self) -> Option<Variant> {
        Variant::parse(&self.variant)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: String,
    pack: Option<PackInfo>,
    signature: BTreeMap<String, Signature>,
    kernel: Vec<Kernel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    args: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    id: String,
    op: KernelOp,
    variant: String,
    dtype: String,
    tile: Option<ArchTile>,
    threads: u32,
    file: String,
    symbol: String,
    signature: String,
    archs: Vec<String>,
    deployed: bool,
    launch: Option<PackLaunch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArchTile {
    m: u32,
    n: u32,
    k: BTreeMap<String, u32>,
}

/// Reads a manifest and returns its kernels for `arch`. `object` gives the code object of a target
/// and source file.
///
/// # Errors
/// When the text is not a manifest of this schema, a field is out of range, an id occurs twice, or
/// an object is missing.
pub fn read(
    text: &str,
    arch: &str,
    object: impl Fn(&str, &str) -> Option<Cow<'static, [u8]>>,
) -> Result<Vec<KernelEntry>, ManifestError> {
    read_pack(text, arch, object).map(|(entries, _)| entries)
}

/// As [`read`], with what the manifest of a pack says about itself.
///
/// # Errors
/// As [`read`].
pub fn read_pack(
    text: &str,
    arch: &str,
    object: impl Fn(&str, &str) -> Option<Cow<'static, [u8]>>,
) -> Result<(Vec<KernelEntry>, Option<PackInfo>), ManifestError> {
    let file: File = toml::from_str(text).map_err(|e| ManifestError {
        place: "file".into(),
        problem: e.to_string().trim_end().into(),
    })?;
    if file.schema != SCHEMA {
        return Err(fault("schema", format!("is {:?}; expected {SCHEMA:?}", file.schema)));
    }
    let mut ids = BTreeSet::new();
    let mut signatures = BTreeMap::new();
    for (name, signature) in &file.signature {
        signatures.insert(name.as_str(), args(name, signature)?);
    }
    let mut hashes: BTreeMap<String, (Cow<'static, [u8]>, String)> = BTreeMap::new();
    let mut entries = Vec::new();
    for kernel in file.kernel {
        let place = |field: &str| format!("kernel {}: {field}", kernel.id);
        if !ids.insert(kernel.id.clone()) {
            return Err(fault(place("id"), "occurs twice"));
        }
        if kernel.threads == 0 || kernel.threads > MAX_THREADS || kernel.threads % 64 != 0 {
            return Err(fault(
                place("threads"),
                format!("is {}; expected whole waves of 64, at most {MAX_THREADS}", kernel.threads),
            ));
        }
        if let Some((field, problem)) =
            kernel.launch.as_ref().and_then(|launch| launch.problem(kernel.op))
        {
            return Err(fault(place(&format!("launch.{field}")), problem));
        }
        let args = signatures.get(kernel.signature.as_str()).ok_or_else(|| {
            fault(place("signature"), format!("names {:?}, which is not there", kernel.signature))
        })?;
        if !kernel.archs.iter().any(|a| a == arch) {
            continue;
        }
        let tile = kernel.tile.as_ref().map(|t| tile(t, arch, &place)).transpose()?;
        if !hashes.contains_key(&kernel.file) {
            let image = object(arch, &kernel.file).ok_or_else(|| {
                fault(place("file"), format!("{arch}/{}.hsaco is missing", kernel.file))
            })?;
            let hash = hex(&Sha256::digest(&image));
            hashes.insert(kernel.file.clone(), (image, hash));
        }
        let (image, sha256) = hashes[&kernel.file].clone();
        if let Some(made) = kernel.launch.as_ref().and_then(|launch| launch.sha256.as_ref())
            && *made != sha256
        {
            let problem = format!(
                "{arch}/{}.hsaco has {sha256}; expected {made}: it was changed or cut short, or is \
                 another kernel's",
                kernel.file
            );
            return Err(fault(place("launch.sha256"), problem));
        }
        entries.push(KernelEntry {
            id: kernel.id,
            op: kernel.op,
            variant: kernel.variant,
            dtype: kernel.dtype,
            tile,
            threads: kernel.threads,
            arch: arch.to_owned(),
            file: kernel.file,
            symbol: kernel.symbol,
            args: args.clone(),
            deployed: kernel.deployed,
            launch: kernel.launch,
            image,
            sha256,
        });
    }
    Ok((entries, file.pack))
}

fn fault(place: impl Into<String>, problem: impl Into<String>) -> ManifestError {
    ManifestError { place: place.into(), problem: problem.into() }
}

fn args(name: &str, signature: &Signature) -> Result<Vec<Arg>, ManifestError> {
    let parse = |text: &String| {
        let (arg, ty) = text.split_once(':')?;
        Some(Arg { name: arg.to_owned(), ty: ArgType::parse(ty)? })
    };
    signature
        .args
        .iter()
        .map(|text| {
            parse(text).ok_or_else(|| {
                fault(
                    format!("signature {name}: args"),
                    format!("{text:?} is not name:type with type ptr, u32, i32, u64, i64 or f32"),
                )
            })
        })
        .collect()
}

fn tile(
    tile: &ArchTile,
    arch: &str,
    place: &impl Fn(&str) -> String,
) -> Result<Tile, ManifestError> {
    let k =
        *tile.k.get(arch).ok_or_else(|| fault(place("tile"), format!("has no k for {arch}")))?;
    let tile = Tile { m: tile.m, n: tile.n, k };
    for (name, value) in [("m", tile.m), ("n", tile.n), ("k", tile.k)] {
        if !(1..=4096).contains(&value) {
            return Err(fault(place("tile"), format!("{name} is {value}; expected 1..=4096")));
        }
    }
    Ok(tile)
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::embedded;

    fn with(change: impl Fn(&str) -> String) -> Result<Vec<KernelEntry>, ManifestError> {
        read(&change(embedded::MANIFEST), "gfx950", |arch, file| {
            embedded::object(arch, file).map(Cow::Borrowed)
        })
    }

    #[track_caller]
    fn fails(change: impl Fn(&str) -> String, words: &[&str]) {
        let error = with(change).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "`{word}` is not in: {error}");
        }
    }

    #[test]
    fn the_bundled_manifest_lists_the_promised_tiles_and_variants() {
        let entries = with(str::to_owned).unwrap();
        for id in [
            "gemm_bf16_128x128_even",
            "gemm_fp8_256x256_ragged_buffer",
            "absorb_bmm_64x256_even",
            "absorb_bmm_64x256_ragged_wrap",
            "absorb_bmm_32x128_ragged_buffer",
            "indexer_logits_fp4_h64",
        ] {
            assert!(entries.iter().any(|e| e.id == id && !e.deployed), "{id}");
        }
    }

    #[test]
    fn the_depth_of_a_tile_is_that_of_the_target() {
        // gfx942 has 64 KB of LDS: its bf16 slices are 64 bytes deep, 32 elements.
        let depth = |arch: &str| {
            let entries = crate::ops::catalog(arch).unwrap();
            entries.iter().find(|e| e.id == "gemm_bf16_256x256_even").unwrap().tile.unwrap().k
        };
        assert_eq!((depth("gfx942"), depth("gfx950")), (32, 64));
    }

    #[test]
    fn a_target_without_kernels_has_an_empty_catalog() {
        assert_eq!(crate::ops::catalog("gfx90a"), Ok(vec![]));
    }

    #[test]
    fn errors_name_kernel_and_field() {
        fails(|t| t.replacen("kernels/v1", "kernels/v9", 1), &["schema", "kernels/v9"]);
        fails(
            |t| t.replacen("id = \"fill\"", "id = \"indexer_topk\"", 1),
            &["kernel indexer_topk", "id", "twice"],
        );
        fails(|t| t.replacen("threads = 256", "threads = 100", 1), &["threads", "100", "64"]);
        fails(|t| t.replacen("\"a:ptr\"", "\"a:f64\"", 1), &["signature gemm", "a:f64"]);
        fails(
            |t| t.replacen("file = \"gemm\"", "file = \"gone\"", 1),
            &["gemm_bf16_128x128_even", "file", "gfx950/gone.hsaco"],
        );
        fails(|t| t.replacen("signature = \"fill\"", "signature = \"no\"", 1), &["fill", "\"no\""]);
        fails(|t| t.replacen("m = 128", "m = 0", 1), &["tile", "m is 0", "1..=4096"]);
        fails(|t| t.replacen("\nthreads", "\ntreads", 1), &["treads"]);
    }
}
