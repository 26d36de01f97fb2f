//! Disassembly of a code object in LLVM syntax: `tune kernel disasm`.

use std::path::Path;

use cdna_sim::code_object::CodeObject;
use cdna_sim::isa;

use super::RunError;
use crate::files;

/// The code of an object, line by line as `llvm-objdump -d` prints it: a label a function, an
/// instruction a line with its address and encoding.
///
/// # Errors
/// An unreadable file, or one that is no code object for a supported target.
pub fn disassemble(path: &Path) -> Result<String, RunError> {
    let file = files::read_bytes(path)?;
    let object = CodeObject::parse(&file, None)
        .map_err(|source| RunError::CodeObject { path: path.to_owned(), source })?;
    let mut functions = object.functions.iter().peekable();
    let mut text = String::new();
    for line in isa::listing(object.code(), object.text.addr, object.arch) {
        while let Some((name, start)) = functions.next_if(|(_, start)| *start <= line.address) {
            text.push_str(&format!("\n{start:016x} <{name}>:\n"));
        }
        let symbol = |address| symbol(&object, address);
        text.push_str(&format!("\t{}\n", line.render(symbol)));
    }
    Ok(text)
}

/// `function+0xoffset` of an address in the code.
fn symbol(object: &CodeObject, address: u64) -> Option<String> {
    let at = object.functions.partition_point(|(_, start)| *start <= address);
    let (name, start) = object.functions.get(at.checked_sub(1)?)?;
    Some(match address - start {
        0 => name.clone(),
        offset => format!("{name}+{offset:#x}"),
    })
}
