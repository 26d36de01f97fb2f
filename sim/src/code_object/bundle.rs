//! Clang offload bundles, as `hipcc --genco` writes them.

use super::CodeObjectError;
use crate::isa::Arch;

const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED: &[u8] = b"CCOB";

/// The code object inside `file`: the file itself, or a bundle's entry for `wanted` (without
/// `wanted`, its only entry for a supported target).
///
/// # Errors
/// A damaged or compressed bundle, or one without an entry for the target, which are then named.
pub fn extract(file: &[u8], wanted: Option<Arch>) -> Result<&[u8], CodeObjectError> {
    if file.starts_with(COMPRESSED) {
        return Err(CodeObjectError::Unsupported {
            what: "compressed offload bundle; unbundle it with clang-offload-bundler, or compile \
                   with --no-gpu-bundle-output or --no-offload-compress"
                .to_owned(),
        });
    }
    if !file.starts_with(MAGIC) {
        return Ok(file);
    }
    let entries = entries(file)?;
    let for_arch = |arch: Arch| {
        entries.iter().find(|(id, _)| target(id) == Some(arch.name())).map(|(_, data)| *data)
    };
    let found = match wanted {
        Some(arch) => for_arch(arch),
        None => Arch::ALL.into_iter().find_map(for_arch),
    };
    found.ok_or_else(|| CodeObjectError::WrongArch {
        found: entries.iter().filter_map(|(id, _)| target(id)).collect::<Vec<_>>().join(", "),
        wanted: wanted.map_or_else(super::elf::supported, |arch| arch.name().to_owned()),
    })
}

fn entries(file: &[u8]) -> Result<Vec<(&str, &[u8])>, CodeObjectError> {
    let short = || CodeObjectError::damaged("offload bundle header");
    let word = |at: usize| -> Result<usize, CodeObjectError> {
        let raw = at.checked_add(8).and_then(|end| file.get(at..end)).ok_or_else(short)?;
        let value = raw.try_into().map(u64::from_le_bytes).map_err(|_| short())?;
        usize::try_from(value).map_err(|_| short())
    };
    let slice = |at: usize, len: usize| {
        at.checked_add(len).and_then(|end| file.get(at..end)).ok_or_else(short)
    };
    let count = word(MAGIC.len())?;
    let mut at = MAGIC.len() + 8;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (offset, size, id_len) = (word(at)?, word(at + 8)?, word(at + 16)?);
        let id = std::str::from_utf8(slice(at + 24, id_len)?).map_err(|_| short())?;
        entries.push((id, slice(offset, size)?));
        at += 24 + id_len;
    }
    Ok(entries)
}

/// Processor of an entry id such as `hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+`.
fn target(id: &str) -> Option<&str> {
    let (_, processor) = id.split_once("amdgcn-amd-amdhsa")?;
    processor.trim_start_matches('-').split(':').next().filter(|p| !p.is_empty())
}
