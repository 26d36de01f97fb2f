//! The ELF side of a code object: headers, segments, symbols, relocations.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader, Sym};

use super::{
    CodeObject, CodeObjectError, Descriptor, KernelInfo, Relocation, Segment, Text, metadata,
};
use crate::isa::Arch;

type Header = elf::FileHeader64<LE>;

/// `EF_AMDGPU_MACH` values (LLVM's AMDGPU usage guide, "ELF header e_flags").
const MACH_GFX942: u32 = 0x4c;
const MACH_GFX950: u32 = 0x4f;
const MACH_MASK: u32 = 0xff;
/// `NT_AMDGPU_METADATA`.
const NOTE_METADATA: u32 = 32;
/// `R_AMDGPU_ABS64` and `R_AMDGPU_RELATIVE64`, the dynamic relocations the linker emits.
const R_ABS64: u32 = 3;
const R_RELATIVE64: u32 = 13;
/// Largest image a loaded object may take; real ones are a few MiB.
const MAX_IMAGE: u64 = 1 << 32;

/// Names of the supported targets.
pub(super) fn supported() -> String {
    Arch::ALL.map(Arch::name).join(" or ")
}

/// Length of the ELF image at the start of `head`, from its header alone. `hipModuleLoadData`
/// gets no length, so this is all it can go by. `None` if `head` does not start with a 64-bit
/// ELF header.
pub fn image_len(head: &[u8; 64]) -> Option<u64> {
    if &head[..5] != b"\x7fELF\x02" {
        return None;
    }
    let u16_at = |at: usize| u64::from(u16::from_le_bytes([head[at], head[at + 1]]));
    let offset = head[40..48].try_into().map(u64::from_le_bytes).ok()?;
    offset.checked_add(u16_at(58) * u16_at(60))
}

/// Parses an ELF image.
pub(super) fn parse(data: &[u8], wanted: Option<Arch>) -> Result<CodeObject, CodeObjectError> {
    if !data.starts_with(b"\x7fELF") {
        let what = if data.is_empty() { "the file is empty" } else { "no ELF header" };
        return Err(CodeObjectError::NotACodeObject { what: what.to_owned() });
    }
    let header = Header::parse(data).map_err(|_| CodeObjectError::damaged("ELF header"))?;
    if header.e_machine(LE) != elf::EM_AMDGPU {
        let what = format!("ELF machine {}", header.e_machine(LE));
        return Err(CodeObjectError::NotACodeObject { what });
    }
    let version = match header.e_ident.abi_version {
        v @ 2..=4 => v + 2,
        v => {
            let what = format!("ELF ABI version {v} (code object v4 to v6 have 2 to 4)");
            return Err(CodeObjectError::Unsupported { what });
        }
    };
    let segments = segments(header, data)?;
    let notes = metadata_note(header, data)?;
    let metadata = metadata::parse(notes)?;
    let arch = arch(header.e_flags(LE).0, &metadata.target, wanted)?;
    let symbols = symbols(header, data)?;
    let kernels = metadata
        .kernels
        .into_iter()
        .map(|kernel| finish(kernel, &symbols, &segments, data))
        .collect::<Result<Vec<_>, _>>()?;
    let text = text(header, data)?;
    let mut functions: Vec<_> = symbols
        .iter()
        .filter(|s| s.kind == elf::STT_FUNC)
        .map(|s| (s.name.clone(), s.value))
        .collect();
    functions.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    functions.dedup();
    Ok(CodeObject {
        arch,
        version,
        kernels,
        relocations: relocations(header, data, &segments)?,
        segments,
        text,
        functions,
        image: data.to_vec(),
    })
}

fn arch(flags: u32, target: &str, wanted: Option<Arch>) -> Result<Arch, CodeObjectError> {
    let found = match flags & MACH_MASK {
        MACH_GFX942 => Some(Arch::Gfx942),
        MACH_GFX950 => Some(Arch::Gfx950),
        _ => None,
    };
    match (found, wanted) {
        (Some(arch), None) => Ok(arch),
        (Some(arch), Some(wanted)) if arch == wanted => Ok(arch),
        _ => Err(CodeObjectError::WrongArch {
            found: match (found, target.rsplit('-').next()) {
                (Some(arch), _) => arch.name().to_owned(),
                (None, Some(name)) if !name.is_empty() => name.to_owned(),
                _ => format!("an unknown target ({:#x})", flags & MACH_MASK),
            },
            wanted: wanted.map_or_else(supported, |arch| arch.name().to_owned()),
        }),
    }
}

fn segments(header: &Header, data: &[u8]) -> Result<Vec<Segment>, CodeObjectError> {
    let damaged = |what: &str| CodeObjectError::damaged(what.to_owned());
    let headers = header.program_headers(LE, data).map_err(|_| damaged("program headers"))?;
    let mut segments = Vec::new();
    for segment in headers.iter().filter(|p| p.p_type(LE) == elf::PT_LOAD) {
        let file = file_range(data, segment.p_offset(LE), segment.p_filesz(LE))
            .ok_or_else(|| damaged("a segment reaches past the end of the file"))?;
        let (addr, size) = (segment.p_vaddr(LE), segment.p_memsz(LE));
        if size < file.len() as u64 || addr.checked_add(size).is_none_or(|end| end > MAX_IMAGE) {
            return Err(damaged("a segment's size or address"));
        }
        segments.push(Segment { addr, size, file });
    }
    if segments.is_empty() {
        return Err(damaged("it has no loadable segment"));
    }
    segments.sort_by_key(|s| s.addr);
    Ok(segments)
}

fn text(header: &Header, data: &[u8]) -> Result<Text, CodeObjectError> {
    let headers = header
        .program_headers(LE, data)
        .map_err(|_| CodeObjectError::damaged("program headers"))?;
    let mut code = headers
        .iter()
        .filter(|p| p.p_type(LE) == elf::PT_LOAD && p.p_flags(LE).contains(elf::PF_X));
    let Some(segment) = code.next() else {
        return Err(CodeObjectError::damaged("it has no executable segment"));
    };
    if code.next().is_some() {
        let what = "several executable segments".to_owned();
        return Err(CodeObjectError::Unsupported { what });
    }
    let file = file_range(data, segment.p_offset(LE), segment.p_filesz(LE))
        .ok_or_else(|| CodeObjectError::damaged("the code reaches past the end of the file"))?;
    Ok(Text { addr: segment.p_vaddr(LE), file })
}

fn metadata_note<'a>(header: &Header, data: &'a [u8]) -> Result<&'a [u8], CodeObjectError> {
    let damaged = |_| CodeObjectError::damaged("notes");
    let headers = header.program_headers(LE, data).map_err(damaged)?;
    for segment in headers {
        let Some(mut notes) = segment.notes(LE, data).map_err(damaged)? else { continue };
        while let Some(note) = notes.next().map_err(damaged)? {
            if note.n_type(LE).0 == NOTE_METADATA && note.name() == b"AMDGPU" {
                return Ok(note.desc());
            }
        }
    }
    Err(CodeObjectError::damaged("it has no AMDGPU metadata note"))
}

struct Symbol {
    name: String,
    value: u64,
    kind: elf::SymbolType,
}

fn symbols(header: &Header, data: &[u8]) -> Result<Vec<Symbol>, CodeObjectError> {
    let damaged = |_| CodeObjectError::damaged("symbol table");
    let sections = header.sections(LE, data).map_err(damaged)?;
    // Stripped objects still have the dynamic symbols, and those name every kernel.
    let mut symbols = Vec::new();
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let table = sections.symbols(LE, data, kind).map_err(damaged)?;
        for symbol in table.iter().filter(|s| s.st_shndx(LE) != elf::SHN_UNDEF) {
            let name = table.symbol_name(LE, symbol).map_err(damaged)?;
            symbols.push(Symbol {
                name: String::from_utf8_lossy(name).into_owned(),
                value: symbol.st_value(LE),
                kind: symbol.st_type(),
            });
        }
    }
    Ok(symbols)
}

fn relocations(
    header: &Header,
    data: &[u8],
    segments: &[Segment],
) -> Result<Vec<Relocation>, CodeObjectError> {
    let damaged = |_| CodeObjectError::damaged("relocations");
    let sections = header.sections(LE, data).map_err(damaged)?;
    let dynamic = sections.symbols(LE, data, elf::SHT_DYNSYM).map_err(damaged)?;
    let mut relocations = Vec::new();
    for section in sections.iter().filter(|s| s.sh_flags(LE).contains(elf::SHF_ALLOC)) {
        let Some((entries, _)) = section.rela(LE, data).map_err(damaged)? else { continue };
        for entry in entries {
            let symbol = entry.symbol(LE, false);
            let base = match (entry.r_type(LE, false).0, symbol) {
                (R_RELATIVE64, _) => 0,
                (R_ABS64, Some(index)) => {
                    let symbol = dynamic.symbol(index).map_err(damaged)?;
                    if symbol.st_shndx(LE) == elf::SHN_UNDEF {
                        let name = dynamic.symbol_name(LE, symbol).unwrap_or_default();
                        let what = format!("undefined symbol {}", String::from_utf8_lossy(name));
                        return Err(CodeObjectError::Unsupported { what });
                    }
                    symbol.st_value(LE)
                }
                (other, _) => {
                    let what = format!("relocation type {other}");
                    return Err(CodeObjectError::Unsupported { what });
                }
            };
            let place = entry.r_offset(LE);
            if !within(segments, place, 8) {
                return Err(CodeObjectError::damaged("a relocation outside every segment"));
            }
            let value = base.wrapping_add_signed(entry.r_addend(LE));
            relocations.push(Relocation { place, value });
        }
    }
    Ok(relocations)
}

/// Joins a kernel's metadata with its descriptor.
fn finish(
    mut kernel: metadata::Kernel,
    symbols: &[Symbol],
    segments: &[Segment],
    data: &[u8],
) -> Result<KernelInfo, CodeObjectError> {
    let damaged =
        |what: &str| CodeObjectError::damaged(format!("kernel {}: {what}", kernel.info.name));
    let symbol = symbols
        .iter()
        .find(|s| s.name == kernel.symbol)
        .ok_or_else(|| damaged(&format!("no symbol {}", kernel.symbol)))?;
    let segment = segments
        .iter()
        .find(|s| within(std::slice::from_ref(s), symbol.value, 64))
        .ok_or_else(|| damaged("its descriptor is in no segment"))?;
    let start = usize::try_from(symbol.value - segment.addr)
        .ok()
        .and_then(|offset| segment.file.start.checked_add(offset));
    let descriptor = start
        .and_then(|start| Descriptor::parse(data.get(start..segment.file.end)?))
        .ok_or_else(|| damaged("its descriptor is cut short"))?;
    let entry = symbol.value.wrapping_add_signed(descriptor.entry_offset);
    if !within(segments, entry, 4) {
        return Err(damaged("its entry point is in no segment"));
    }
    kernel.info.descriptor_addr = symbol.value;
    kernel.info.entry = entry;
    kernel.info.descriptor = descriptor;
    Ok(kernel.info)
}

fn within(segments: &[Segment], addr: u64, bytes: u64) -> bool {
    segments
        .iter()
        .any(|s| addr.checked_sub(s.addr).is_some_and(|at| at <= s.size && bytes <= s.size - at))
}

fn file_range(data: &[u8], offset: u64, len: u64) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(len).ok()?)?;
    (end <= data.len()).then_some(start..end)
}
