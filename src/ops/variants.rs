//! What a ragged variant costs in code: the kernels of an even/ragged pair side by side, unrun.
//!
//! Goes in: kernel entries, bundled or of a pack. Comes out: for every even kernel and each ragged one
//! with the same operation, types, tile and target, a [`Pair`] of static counts.

use std::collections::BTreeMap;
use std::fmt;

use cdna_sim::code_object::CodeObject;
use cdna_sim::isa::{Arch, Class, Inst, MemOp, class};
use serde::Serialize;

use super::inspect::{InspectError, KernelReport, inspect, instructions};
use super::manifest::KernelEntry;

/// Static counts of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Static {
    /// Registers, LDS, spills, occupancy, instructions.
    pub kernel: KernelReport,
    /// Store instructions to global memory by bytes a lane.
    pub stores: BTreeMap<u32, usize>,
    /// Instructions by class.
    pub classes: BTreeMap<&'static str, usize>,
}

/// An even kernel and a ragged one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// Needs M and N to be multiples of the tile.
    pub even: Static,
    /// Takes any M and N.
    pub ragged: Static,
}

/// The pairs among `entries`.
///
/// # Errors
/// A code object that is damaged or does not match its manifest.
pub fn pairs(entries: &[KernelEntry]) -> Result<Vec<Pair>, InspectError> {
    let reports = inspect(entries)?;
    let described = reports
        .into_iter()
        .zip(entries)
        .map(|(kernel, entry)| describe(kernel, entry))
        .collect::<Result<Vec<_>, _>>()?;
    let even = described.iter().filter(|d| d.kernel.variant == "even");
    let pair = |even: &Static| {
        let ragged = described.iter().filter(|r| is_ragged_of(&r.kernel, &even.kernel));
        ragged.map(|r| Pair { even: even.clone(), ragged: r.clone() }).collect::<Vec<_>>()
    };
    Ok(even.flat_map(pair).collect())
}

fn is_ragged_of(ragged: &KernelReport, even: &KernelReport) -> bool {
    let family = |id: &str, variant: &str| id.replacen(variant, "", 1);
    ragged.variant.starts_with("ragged")
        && (&ragged.op, &ragged.dtype, ragged.tile, &ragged.arch)
            == (&even.op, &even.dtype, even.tile, &even.arch)
        && family(&ragged.id, &ragged.variant) == family(&even.id, &even.variant)
}

fn describe(kernel: KernelReport, entry: &KernelEntry) -> Result<Static, InspectError> {
    let fail =
        |problem: String| InspectError { id: entry.id.clone(), arch: entry.arch.clone(), problem };
    let object = CodeObject::parse(&entry.image, None).map_err(|error| fail(error.to_string()))?;
    let info = object.kernel(&entry.symbol).ok_or_else(|| fail("no such kernel".to_owned()))?;
    let (mut stores, mut classes) = (BTreeMap::new(), BTreeMap::new());
    for inst in instructions(&object, info) {
        *classes.entry(class_name(&inst, object.arch)).or_default() += 1;
        if let Some(bytes) = store_bytes(&inst, object.arch) {
            *stores.entry(bytes).or_default() += 1;
        }
    }
    Ok(Static { kernel, stores, classes })
}

/// Bytes a lane that a store to global memory writes; none for other instructions.
fn store_bytes(inst: &Inst, arch: Arch) -> Option<u32> {
    if !matches!(class(inst, arch), Class::Vmem(MemOp::Store) | Class::Flat(MemOp::Store)) {
        return None;
    }
    let name = inst.op.info().name;
    if name.starts_with("scratch") {
        return None;
    }
    let (_, width) = name.split_once("_store_")?;
    Some(match width {
        "dwordx4" | "format_xyzw" => 16,
        "dwordx3" | "format_xyz" => 12,
        "dwordx2" | "format_xy" => 8,
        w if w.starts_with("short") => 2,
        w if w.starts_with("byte") => 1,
        _ => 4,
    })
}

fn class_name(inst: &Inst, arch: Arch) -> &'static str {
    match class(inst, arch) {
        Class::Salu | Class::Smem(_) | Class::Branch => "scalar",
        Class::Valu64 => "valu_int64",
        Class::Valu | Class::ValuTrans | Class::ValuF64 | Class::ValuPkF32 => "valu",
        Class::Mfma { .. } => "mfma",
        Class::Lds(_) => "lds",
        Class::Vmem(_) | Class::Flat(_) => "vmem",
        Class::Waitcnt | Class::Barrier | Class::Nop(_) | Class::Internal => "internal",
    }
}

/// The pairs as text.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(pub &'a [Pair]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = [
            "pair",
            "arch",
            "instrs",
            "VGPR",
            "AGPR",
            "SGPR",
            "spills",
            "LDS",
            "WGs/CU",
            "stores (bytes a lane x count)",
        ];
        let mut rows = vec![header.map(str::to_owned)];
        for Pair { even, ragged } in self.0 {
            rows.push(line(even, even.kernel.id.clone()));
            rows.push(line(ragged, format!("  {}", ragged.kernel.id)));
            rows.push(difference(even, ragged));
        }
        super::check::write_table(f, &rows)
    }
}

fn line(s: &Static, name: String) -> [String; 10] {
    let k = &s.kernel;
    let stores = s.stores.iter().rev().map(|(bytes, count)| format!("{bytes}x{count}"));
    [
        name,
        k.arch.clone(),
        k.instructions.to_string(),
        k.vgprs.to_string(),
        k.agprs.to_string(),
        k.sgprs.to_string(),
        (k.vgpr_spills + k.sgpr_spills).to_string(),
        k.lds.to_string(),
        k.workgroups_per_cu.to_string(),
        stores.collect::<Vec<_>>().join(" "),
    ]
}

/// What the ragged kernel has more of, by class.
fn difference(even: &Static, ragged: &Static) -> [String; 10] {
    let (a, b) = (even.kernel.instructions, ragged.kernel.instructions);
    let names: std::collections::BTreeSet<_> =
        even.classes.keys().chain(ragged.classes.keys()).collect();
    let change = |name: &str| {
        let count = |s: &Static| s.classes.get(name).copied().unwrap_or(0) as i64;
        count(ragged) - count(even)
    };
    let changes: Vec<String> = names
        .iter()
        .filter(|name| change(name) != 0)
        .map(|name| format!("{name} {:+}", change(name)))
        .collect();
    let mut cells: [String; 10] = Default::default();
    cells[0] = "  ragged over even".to_owned();
    cells[2] = format!("{:.2}x", b as f64 / a.max(1) as f64);
    cells[9] = changes.join(", ");
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::catalog;

    /// The bundled absorb kernels: the even one stores 16 bytes a lane, the one that wraps stores one
    /// 2-byte element a lane, and takes more instructions for its 64-bit remainders.
    #[test]
    fn bundled_pairs_show_narrow_stores_and_more_instructions() {
        for arch in ["gfx942", "gfx950"] {
            let pairs = pairs(&catalog(arch).unwrap()).unwrap();
            let absorb: Vec<_> = pairs
                .iter()
                .filter(|p| {
                    p.even.kernel.op == "absorb_bmm" && p.ragged.kernel.variant == "ragged_wrap"
                })
                .collect();
            assert!(!absorb.is_empty());
            for pair in absorb {
                assert!(pair.ragged.kernel.instructions > pair.even.kernel.instructions);
                assert!(pair.ragged.stores.contains_key(&2), "{:?}", pair.ragged.stores);
                assert!(!pair.even.stores.contains_key(&2), "{:?}", pair.even.stores);
                assert_eq!(pair.even.kernel.tile, pair.ragged.kernel.tile);
            }
        }
    }
}
