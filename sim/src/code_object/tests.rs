use proptest::prelude::*;

use super::*;

const GFX942: &[u8] = include_bytes!("../../tests/data/probe.gfx942.hsaco");
const GFX950: &[u8] = include_bytes!("../../tests/data/probe.gfx950.hsaco");

/// Expected values are those of `llvm-readelf-22 -h -l -r -n`.
#[test]
fn a_real_object_parses_to_what_readelf_shows() {
    for (file, arch) in [(GFX942, Arch::Gfx942), (GFX950, Arch::Gfx950)] {
        let object = CodeObject::parse(file, Some(arch)).unwrap();
        assert_eq!((object.arch, object.version), (arch, 5));
        let names: Vec<_> = object.kernels.iter().map(|k| k.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "ids",
                "sizes",
                "reverse",
                "scratch",
                "relocated",
                "stray",
                "spin",
                "handshake",
                "tickets"
            ]
        );
        let reverse = object.kernel("reverse.kd").unwrap();
        assert_eq!((reverse.lds_size, reverse.kernarg_align), (4096, 8));
        let explicit: Vec<_> =
            reverse.explicit_args().map(|a| (a.offset, a.size, a.kind.clone())).collect();
        assert_eq!(
            explicit,
            [
                (0, 8, ArgKind::GlobalBuffer),
                (8, 8, ArgKind::GlobalBuffer),
                (16, 4, ArgKind::ByValue)
            ]
        );
        // hidden block: explicit size 8, then 256 bytes.
        let sizes = object.kernel("sizes").unwrap();
        let at = |kind| sizes.args.iter().find(|a| a.kind == ArgKind::Hidden(kind)).unwrap().offset;
        assert_eq!(sizes.kernarg_size, 8 + 256);
        assert_eq!(at(Hidden::BlockCount(1)), 8 + 4);
        assert_eq!(at(Hidden::GroupSize(0)), 8 + 12);
        assert_eq!(at(Hidden::GridDims), 8 + 64);
        assert_eq!(at(Hidden::DynamicLdsSize), 8 + 120);
        assert!(sizes.descriptor.dispatch_ptr() && sizes.descriptor.kernarg_ptr());
        let scratch = object.kernel("scratch").unwrap();
        assert!(scratch.private_size >= 128 && scratch.descriptor.private_enabled());
        assert_eq!(object.relocations.len(), 2);
        assert_eq!(object.relocations[1].place - object.relocations[0].place, 8);
        assert_eq!(object.relocations[1].value - object.relocations[0].value, 4);
        assert!(
            object
                .functions
                .iter()
                .any(|(name, addr)| name == "ids" && *addr == object.kernel("ids").unwrap().entry)
        );
        // Float mode 0xf0: round to nearest, denormals kept; DX10 clamp and IEEE on.
        assert_eq!(reverse.descriptor.mode(), 0x3f0);
        assert_eq!(image_len(file[..64].try_into().unwrap()), Some(file.len() as u64));
    }
}

#[test]
fn an_object_of_another_arch_is_refused_naming_both() {
    let error = CodeObject::parse(GFX942, Some(Arch::Gfx950)).unwrap_err();
    assert_eq!(error.to_string(), "code object for gfx942, but the device is gfx950");
    let mut other = GFX942.to_vec();
    // EF_AMDGPU_MACH_AMDGCN_GFX90A; the metadata still names gfx942.
    other[48] = 0x3f;
    let error = CodeObject::parse(&other, None).unwrap_err();
    assert!(matches!(error, CodeObjectError::WrongArch { .. }), "{error}");
    assert!(error.to_string().ends_with("the device is gfx942 or gfx950"));
}

#[test]
fn sramecc_and_xnack_settings_do_not_matter() {
    let mut file = GFX950.to_vec();
    for features in 0..16 {
        file[49] = features;
        assert_eq!(CodeObject::parse(&file, None).unwrap().arch, Arch::Gfx950);
    }
}

#[test]
fn other_files_are_told_apart_from_damaged_objects() {
    let not = |file: &[u8]| {
        matches!(CodeObject::parse(file, None), Err(CodeObjectError::NotACodeObject { .. }))
    };
    assert!(not(b""));
    assert!(not(b"#!/bin/sh\n"));
    assert!(not(&std::fs::read(std::env::current_exe().unwrap()).unwrap()[..4096]));
    let damaged = CodeObject::parse(&GFX950[..GFX950.len() / 2], None);
    assert!(matches!(damaged, Err(CodeObjectError::Damaged { .. })), "{damaged:?}");
}

/// A bundle laid out as clang's offload bundler does: magic, count, then offset, size and id of
/// each entry.
fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut header = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    header.extend((entries.len() as u64).to_le_bytes());
    let mut at = header.len() + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    for (id, data) in entries {
        for word in [at, data.len(), id.len()] {
            header.extend((word as u64).to_le_bytes());
        }
        header.extend(id.as_bytes());
        at += data.len();
    }
    entries.iter().for_each(|(_, data)| header.extend(*data));
    header
}

#[test]
fn a_bundle_gives_the_object_of_the_wanted_arch() {
    let file = bundle(&[
        ("host-x86_64-unknown-linux-gnu-", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", GFX942),
        ("hipv4-amdgcn-amd-amdhsa--gfx950", GFX950),
    ]);
    for arch in Arch::ALL {
        assert_eq!(CodeObject::parse(&file, Some(arch)).unwrap().arch, arch);
    }
    let only = bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx90a", GFX942)]);
    let error = CodeObject::parse(&only, Some(Arch::Gfx950)).unwrap_err();
    assert_eq!(error.to_string(), "code object for gfx90a, but the device is gfx950");
    for len in 0..200 {
        assert!(CodeObject::parse(&file[..len], None).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damage_never_panics(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        len in any::<proptest::sample::Index>(),
        truncate in any::<bool>(),
    ) {
        let mut file = GFX950.to_vec();
        // Headers and notes are where the structure is: aim half of the changes there.
        for (i, (at, byte)) in changes.into_iter().enumerate() {
            let span = if i % 2 == 0 { 0x1a00 } else { file.len() };
            let at = at.index(span);
            file[at] = byte;
        }
        if truncate {
            file.truncate(len.index(GFX950.len()));
        }
        if let Ok(object) = CodeObject::parse(&file, None) {
            prop_assert!(object.code().len() <= file.len());
            prop_assert!(object.memory_size() <= 1 << 32);
        }
    }
}
