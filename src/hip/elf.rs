//! Whether a shared library is whole. A path goes in; out comes nothing, or what is wrong with the
//! file. The loader maps segments without asking whether the file reaches that far, and a process
//! that touches such a page is killed: a library cut short must be found out before.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes read at most: header and program headers of any real library.
const HEAD: u64 = 1 << 20;
/// Size of a 64-bit ELF header and of one program header.
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
/// `ET_DYN` and `EM_X86_64`, `EM_AARCH64` (elf.h).
const SHARED: u16 = 3;
const MACHINES: [(u16, &str); 2] = [(62, "x86_64"), (183, "aarch64")];
/// Segment types whose contents the loader reads.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

/// Checks that `path` is a shared library of this machine with all its segments inside the file.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(path: &Path) -> Result<(), String> {
    let read = || -> std::io::Result<(Vec<u8>, u64)> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = Vec::new();
        file.take(HEAD).read_to_end(&mut head)?;
        Ok((head, length))
    };
    let (head, length) = read().map_err(|error| error.to_string())?;
    whole(&head, length)
}

/// Checks the first bytes of a file of `length` bytes.
fn whole(head: &[u8], length: u64) -> Result<(), String> {
    if !head.starts_with(b"\x7fELF") {
        return Err("it is no shared library (no ELF header)".to_owned());
    }
    let short = || format!("it is cut short: {length} bytes do not hold its headers");
    if head.len() < HEADER {
        return Err(short());
    }
    // 64-bit, little-endian.
    if head[4..6] != [2, 1] {
        return Err("it is not for a 64-bit little-endian machine".to_owned());
    }
    let half = |at: usize| number(head, at, 2).map(|n| n as u16);
    let (kind, machine) = (half(16).ok_or_else(short)?, half(18).ok_or_else(short)?);
    if kind != SHARED {
        return Err(format!("it is no shared library (ELF type {kind})"));
    }
    if let Some((_, name)) = MACHINES.iter().find(|(number, _)| *number == machine)
        && *name != std::env::consts::ARCH
    {
        return Err(format!("it is for {name}, this machine is {}", std::env::consts::ARCH));
    }
    let table = number(head, 32, 8).ok_or_else(short)?;
    let (size, count) = (half(54).ok_or_else(short)?, half(56).ok_or_else(short)?);
    if usize::from(size) != PROGRAM_HEADER || count == 0 {
        return Err(format!("its ELF header is damaged ({count} program headers of {size} bytes)"));
    }
    for index in 0..u64::from(count) {
        let at = table
            .checked_add(index * PROGRAM_HEADER as u64)
            .and_then(|at| usize::try_from(at).ok())
            .ok_or_else(short)?;
        let segment = number(head, at, 4).ok_or_else(short)? as u32;
        let field = |offset: usize| number(head, at.checked_add(offset)?, 8);
        let (offset, bytes) = (field(8).ok_or_else(short)?, field(32).ok_or_else(short)?);
        let end = offset.checked_add(bytes);
        if matches!(segment, LOAD | DYNAMIC) && end.is_none_or(|end| end > length) {
            return Err(format!(
                "it is cut short or damaged: segment {index} has {bytes} bytes at {offset}, the \
                 file has {length}"
            ));
        }
    }
    Ok(())
}

/// Little-endian number of `bytes` bytes at `at`.
fn number(head: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let slice = head.get(at..at.checked_add(bytes)?)?;
    Some(slice.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test program itself: position-independent, so an ELF file of type 3.
    fn this() -> (Vec<u8>, u64) {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let length = bytes.len() as u64;
        (bytes, length)
    }

    #[test]
    fn a_whole_file_passes() {
        let (bytes, length) = this();
        assert_eq!(whole(&bytes, length), Ok(()));
    }

    #[test]
    fn a_file_cut_anywhere_before_its_last_segment_is_refused() {
        let (bytes, length) = this();
        // The segments of a program end well behind its first half-percent.
        for cut in [0, 3, 4, 20, 63, 64, 100, 500, length / 200] {
            let head = &bytes[..cut as usize];
            let message = whole(head, cut).unwrap_err();
            assert!(message.contains("cut short") || message.contains("no ELF"), "{message}");
        }
    }

    #[test]
    fn damaged_headers_are_refused() {
        let (bytes, length) = this();
        let damaged = |at: usize, with: &[u8]| {
            let mut head = bytes[..4096].to_vec();
            head[at..at + with.len()].copy_from_slice(with);
            whole(&head, length).unwrap_err()
        };
        assert!(damaged(4, &[1]).contains("64-bit"));
        assert!(damaged(16, &[1]).contains("ELF type 1"));
        assert!(damaged(32, &[0xff; 8]).contains("cut short"));
        assert!(damaged(56, &[0, 0]).contains("0 program headers"));
        // File size of the first segment that is loaded.
        let first = (0..16).map(|i| 64 + i * 56).find(|at| bytes[*at] == 1).unwrap();
        assert!(damaged(first + 32, &[0xff; 8]).contains("cut short or damaged"));
    }
}
