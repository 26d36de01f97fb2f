//! Kernel packs: folders of exported code objects with a manifest like the bundled one.
//!
//! In goes a folder; out come kernel entries that carry the launches they were compiled for, and
//! what the pack was made from. `python -m chunktune_sglang.export_kernels` writes such folders.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::inspect::inspect;
use super::manifest::{self, KernelEntry, KernelOp, Tile};
use crate::files::{FileError, sha256_hex};
use crate::text::quoted;

/// Manifest of a pack.
pub const MANIFEST: &str = "manifest.toml";

/// LDS of a workgroup on gfx950, bytes; gfx942 has less and says so itself.
const MAX_LDS: u32 = 160 << 10;

/// Most heads, columns or depth of a shape, and most rows that a range starts at.
const MAX_SIZE: u64 = 1 << 20;

/// Most weights of a head: 1 GiB in fp8, four times the largest of DeepSeek-V3.2 on one rank.
const MAX_WEIGHTS: u64 = 1 << 30;

/// What a pack says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackInfo {
    /// Target.
    pub arch: String,
    /// Version of the compiler.
    pub triton: String,
    /// Version of AITER, or `unknown`.
    pub aiter: String,
    /// Files that the kernels were compiled from.
    pub source: Vec<HashedFile>,
    /// Files that named the tiles.
    #[serde(default)]
    pub config: Vec<HashedFile>,
}

/// A file that a pack was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashedFile {
    /// Its name.
    pub file: String,
    /// SHA-256, hex.
    pub sha256: String,
}

/// Heads, columns and depth of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dims {
    /// Heads of a rank; the engine's choice of tile depends on them, the code does not.
    pub b: u64,
    /// Columns.
    pub n: u64,
    /// Depth.
    pub k: u64,
}

/// At which residues of M the engine runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Picks {
    /// Where the tile divides M.
    Even,
    /// Where it does not.
    Ragged,
    /// Everywhere: the engine has one kernel only.
    All,
}

/// Order of the workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GridOrder {
    /// Heads, then all tiles of a head: the absorb GEMM.
    #[serde(rename = "b_mn")]
    HeadsThenTiles,
    /// All tiles: the GEMM.
    #[serde(rename = "mn")]
    Tiles,
}

/// The launches that a kernel of a pack was compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackLaunch {
    /// Name of the shape.
    pub shape: String,
    /// The shape.
    pub dims: Dims,
    /// Ranges of M, both ends included, in which the engine takes this tile.
    pub rows: Vec<[u64; 2]>,
    /// At which M of them.
    pub picks: Picks,
    /// Order of the workgroups.
    pub grid: GridOrder,
    /// Dynamic LDS, bytes.
    pub lds: u32,
    /// Whether the result is `[b, m, n]`; else `[m, b, n]`.
    pub head_major_out: bool,
    /// Settings of the tile as the configuration has them, JSON.
    pub settings: String,
    /// What the compiler was told of the arguments.
    pub specialised: String,
    /// SHA-256 of the code object, hex; the first packs do not say.
    #[serde(default)]
    pub sha256: Option<String>,
}

impl PackLaunch {
    /// Whether the engine runs the kernel at `m` rows.
    pub fn runs(&self, m: u64, tile: Tile) -> bool {
        let whole =
            m.is_multiple_of(u64::from(tile.m)) && self.dims.n.is_multiple_of(u64::from(tile.n));
        self.rows.iter().any(|[first, last]| (*first..=*last).contains(&m))
            && match self.picks {
                Picks::Even => whole,
                Picks::Ragged => !whole,
                Picks::All => true,
            }
    }

    /// Why the kernel is not for a launch of `[m, n, k]`.
    pub(super) fn refusal(&self, [m, n, k]: [u64; 3], tile: Tile) -> Option<String> {
        let dims = self.dims;
        if (n, k) != (dims.n, dims.k) {
            return Some(format!("it was compiled for n = {} and k = {}", dims.n, dims.k));
        }
        let runs = self.runs(m, tile);
        (!runs).then(|| "the engine runs another kernel of the pack at this m".to_owned())
    }

    /// What is out of range for kernels of `op`, with its field.
    pub(super) fn problem(&self, op: KernelOp) -> Option<(&'static str, String)> {
        let Dims { b, n, k } = self.dims;
        let sizes = 1..=MAX_SIZE;
        if [b, n, k].iter().any(|size| !sizes.contains(size)) || n * k > MAX_WEIGHTS {
            let most = format!("expected 1 to {MAX_SIZE} each, and n * k at most {MAX_WEIGHTS}");
            return Some(("dims", format!("are {b}, {n}, {k}; {most}")));
        }
        if self.rows.is_empty() || self.rows.iter().any(|[first, last]| *first == 0 || first > last)
        {
            return Some(("rows", format!("are {:?}; expected [first, last] from 1", self.rows)));
        }
        if let Some([first, _]) = self.rows.iter().find(|[first, _]| *first > MAX_SIZE) {
            return Some(("rows", format!("start at {first}; expected at most {MAX_SIZE}")));
        }
        let order = match op {
            KernelOp::AbsorbBmm => GridOrder::HeadsThenTiles,
            KernelOp::Gemm => GridOrder::Tiles,
            KernelOp::Indexer | KernelOp::Support => {
                return Some(("op", "packs hold gemm and absorb_bmm".to_owned()));
            }
        };
        if self.grid != order {
            return Some(("grid", format!("is not that of {}", op.name())));
        }
        if self.lds > MAX_LDS {
            return Some(("lds", format!("is {}; expected at most {MAX_LDS}", self.lds)));
        }
        None
    }
}

/// A pack for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// What it was made from.
    pub info: PackInfo,
    /// Its kernels.
    pub entries: Vec<KernelEntry>,
    /// SHA-256 of its manifest, hex.
    pub sha256: String,
}

impl Pack {
    /// The target that the pack in `dir` says it is for.
    ///
    /// # Errors
    /// A missing or damaged manifest.
    pub fn target(dir: &Path) -> Result<String, FileError> {
        #[derive(Deserialize)]
        struct Manifest {
            pack: Target,
        }
        #[derive(Deserialize)]
        struct Target {
            arch: String,
        }
        let path = dir.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|e| FileError::io(&path, "reading", e))?;
        let manifest: Manifest = toml::from_str(&text).map_err(|error| FileError::Malformed {
            path,
            format: "kernel pack",
            detail: error.to_string(),
        })?;
        Ok(manifest.pack.arch)
    }

    /// Reads the pack in `dir` for `arch`.
    ///
    /// # Errors
    /// A missing or damaged manifest or code object, or a pack of another target.
    pub fn read(dir: &Path, arch: &str) -> Result<Self, FileError> {
        let path = dir.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|e| FileError::io(&path, "reading", e))?;
        let object = |arch: &str, file: &str| {
            // A name that leaves the folder is none of the pack's.
            let inside = !file.contains(['/', '\\']);
            let object = dir.join(arch).join(format!("{file}.hsaco"));
            let there = inside && object.is_file();
            there.then(|| fs::read(object).ok()).flatten().map(Cow::Owned)
        };
        let malformed = |detail: String| FileError::Malformed {
            path: path.clone(),
            format: "kernel pack",
            detail,
        };
        let (entries, info) = manifest::read_pack(&text, arch, object)
            .map_err(|error| malformed(error.to_string()))?;
        let info = info.ok_or_else(|| malformed("it has no table `pack`".to_owned()))?;
        if info.arch != arch {
            return Err(FileError::field(&path, "pack.arch", arch, info.arch));
        }
        if let Some(entry) = entries.iter().find(|entry| entry.launch.is_none()) {
            return Err(malformed(format!("kernel {} has no table `launch`", entry.id)));
        }
        for entry in &entries {
            if let Some(problem) = unknown(entry) {
                return Err(malformed(format!("kernel {}: {problem}", entry.id)));
            }
            inspect(std::slice::from_ref(entry)).map_err(|error| FileError::Malformed {
                path: dir.join(arch).join(format!("{}.hsaco", entry.file)),
                format: "code object",
                detail: error.to_string(),
            })?;
        }
        Ok(Self { info, entries, sha256: sha256_hex(text.as_bytes()) })
    }

    /// The bundled kernels with those of the pack in place of the bundled ones of the same
    /// operation.
    pub fn over(&self, bundled: Vec<KernelEntry>) -> Vec<KernelEntry> {
        let replaced = |entry: &KernelEntry| self.entries.iter().any(|own| own.op == entry.op);
        let kept = bundled.into_iter().filter(|entry| !replaced(entry));
        kept.chain(self.entries.iter().cloned()).collect()
    }
}

/// What an entry is launched by and does not say, or says in words that nobody knows.
fn unknown(entry: &KernelEntry) -> Option<String> {
    let types: &[&str] = match entry.op {
        KernelOp::Gemm => &["bf16", "fp8"],
        _ => &["fp8"],
    };
    if entry.gemm_variant().is_none() {
        let variants = "even, ragged_wrap or ragged_buffer";
        return Some(format!("variant: is {}; expected {variants}", quoted(&entry.variant)));
    }
    if !types.contains(&entry.dtype.as_str()) {
        let (found, types) = (quoted(&entry.dtype), types.join(" or "));
        return Some(format!("dtype: is {found}; expected {types}"));
    }
    entry.tile.is_none().then(|| "tile: is not there".to_owned())
}

impl fmt::Display for PackInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        let list = |files: &[HashedFile]| {
            let named = files.iter().map(|file| format!("{} ({})", file.file, short(&file.sha256)));
            named.collect::<Vec<_>>().join(", ")
        };
        write!(
            f,
            "kernels of {}, AITER {}, compiled by triton {}; tiles of {}",
            list(&self.source),
            self.aiter,
            self.triton,
            list(&self.config)
        )
    }
}
