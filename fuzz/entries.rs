//! The parsers of foreign bytes, one public entry each: bytes in, nothing out, and no panic. The
//! fuzz targets and the stable tests (`tests/it/parsers.rs`) run the same functions.

use std::borrow::Cow;
use std::path::Path;

use cdna_sim::arch::ArchParams;
use cdna_sim::code_object::CodeObject;
use cdna_sim::isa::{self, Arch};
use chunktune::doctor::inputs::Server;
use chunktune::doctor::{Facts, examine};
use chunktune::emit::Sizer;
use chunktune::files::sha256_hex;
use chunktune::fit::Fit;
use chunktune::fit::observations::{LMeans, contradictions, read};
use chunktune::journal::{self, Journal, RunKey};
use chunktune::kernel_run::{Array, Spec};
use chunktune::model::{Layout, from_config_json};
use chunktune::ops::pack::MANIFEST;
use chunktune::ops::{Pack, embedded, manifest};
use chunktune::plan::admission::oracle::Recording;
use chunktune::plan::admission::trace::Trace;
use chunktune::profile::Profile;
use chunktune::sglang::Table;
use chunktune::units::{Bytes, Tokens};
use chunktune::validate::{self, Split};

/// A parser with well-formed inputs to start from, relative to the repository's root.
pub struct Entry {
    /// Name of the fuzz target and of the corpus folder.
    pub name: &'static str,
    /// Feeds the parser.
    pub run: fn(&[u8]),
    /// Well-formed inputs beside those of `fuzz/corpus/<name>/`.
    pub seeds: &'static [&'static str],
}

/// All parsers.
pub const ENTRIES: [Entry; 18] = [
    Entry { name: "code_object", run: code_object, seeds: &["sim/tests/data/probe.gfx950.hsaco"] },
    Entry { name: "instructions", run: instructions, seeds: &[] },
    Entry { name: "npy", run: npy, seeds: &[] },
    Entry { name: "spec", run: spec, seeds: &[] },
    Entry {
        name: "observations",
        run: observations,
        seeds: &[
            "profiles/field/boots.csv",
            "profiles/field/field_cases.csv",
            "profiles/gfx950/profile.parquet",
        ],
    },
    Entry { name: "profile", run: profile, seeds: &["profiles/gfx950/profile.parquet"] },
    Entry { name: "provenance", run: provenance, seeds: &["profiles/gfx950/provenance.json"] },
    Entry { name: "journal", run: journal, seeds: &[] },
    Entry { name: "sizer", run: sizer, seeds: &["tests/golden/sizer.json"] },
    Entry { name: "fit", run: fit, seeds: &["profiles/field/fit.json"] },
    Entry {
        name: "data_toml",
        run: data_toml,
        seeds: &["kernels/manifest.toml", "sim/data/gfx942.toml"],
    },
    Entry { name: "config", run: config, seeds: &[] },
    Entry { name: "quantities", run: quantities, seeds: &[] },
    Entry { name: "server", run: server, seeds: &[] },
    Entry { name: "trace", run: trace, seeds: &[] },
    Entry { name: "pack", run: pack, seeds: &[] },
    Entry { name: "timings", run: timings, seeds: &["tests/data/validate/timings.csv"] },
    Entry { name: "recording", run: recording, seeds: &[] },
];

/// Feeds `data` to the parser of that name.
pub fn run(name: &str, data: &[u8]) {
    let entry = ENTRIES.iter().find(|entry| entry.name == name);
    (entry.expect("a parser of that name").run)(data);
}

/// ELF, notes and msgpack metadata of a code object, and the disassembly of what it holds.
pub fn code_object(data: &[u8]) {
    if let Ok(object) = CodeObject::parse(data, None) {
        for line in isa::listing(object.code(), object.text.addr, object.arch) {
            line.render(|_| None);
        }
    }
}

/// The instruction decoder and disassembler of both targets.
pub fn instructions(data: &[u8]) {
    for arch in Arch::ALL {
        for line in isa::listing(data, 0x1000, arch) {
            line.render(|_| None);
        }
    }
}

/// An array file.
pub fn npy(data: &[u8]) {
    if let Ok(array) = Array::parse(data, Path::new("fuzz.npy")) {
        assert_eq!(
            array.shape.iter().product::<u64>() * array.dtype.bytes(),
            array.data.len() as u64
        );
    }
}

/// The argument list of `tune kernel run`.
pub fn spec(data: &[u8]) {
    let _ = Spec::parse(data, Path::new("fuzz.json"));
}

/// Field observations, of text or parquet, and what is made of their rows.
pub fn observations(data: &[u8]) {
    if let Ok(read) = read(data) {
        for l_means in [LMeans::Context, LMeans::Prefix] {
            contradictions(&read.rows, l_means);
        }
    }
}

const PROVENANCE: &str = include_str!("../profiles/gfx950/provenance.json");

/// The table of a profile, with a provenance that vouches for it.
pub fn profile(data: &[u8]) {
    let mut provenance: serde_json::Value = serde_json::from_str(PROVENANCE).expect("valid");
    provenance["profile_sha256"] = sha256_hex(data).into();
    in_folder(|folder| {
        std::fs::write(folder.join("profile.parquet"), data)?;
        std::fs::write(folder.join("provenance.json"), provenance.to_string())?;
        let _ = Profile::read(folder);
        Ok(())
    });
}

/// The provenance beside a table.
pub fn provenance(data: &[u8]) {
    in_folder(|folder| {
        std::fs::write(folder.join("profile.parquet"), b"PAR1")?;
        std::fs::write(folder.join("provenance.json"), data)?;
        let _ = Profile::read(folder);
        Ok(())
    });
}

/// A journal to resume.
pub fn journal(data: &[u8]) {
    in_folder(|folder| {
        std::fs::write(folder.join(journal::FILE_NAME), data)?;
        let key = RunKey([("device".to_owned(), "fuzz".to_owned())].into());
        let _ = Journal::resume(folder, &key);
        Ok(())
    });
}

/// A sizer, and what it answers.
pub fn sizer(data: &[u8]) {
    in_folder(|folder| {
        let path = folder.join("sizer.json");
        std::fs::write(&path, data)?;
        if let Ok(sizer) = Sizer::read(&path) {
            for prefix in [0, 1, 1 << 20, u64::MAX] {
                sizer.predict(prefix);
            }
        }
        Ok(())
    });
}

/// A fit.
pub fn fit(data: &[u8]) {
    in_folder(|folder| {
        std::fs::write(folder.join("fit.json"), data)?;
        let _ = Fit::read(folder, "");
        Ok(())
    });
}

/// The kernel manifest and the parameters of a simulated chip.
pub fn data_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for arch in Arch::ALL {
        let object = |arch: &str, file: &str| embedded::object(arch, file).map(Cow::Borrowed);
        let _ = manifest::read(&text, arch.name(), object);
        let _ = ArchParams::parse(arch, &text);
    }
}

/// A Hugging Face `config.json`, and the shapes of one rank.
pub fn config(data: &[u8]) {
    if let Ok(model) = from_config_json(&String::from_utf8_lossy(data)) {
        for tp in [1, 4, u32::MAX] {
            let _ = model.rank_shapes(Layout { tp, dp: 1, cp: 1 });
        }
        model.absences();
    }
}

/// Sizes and token counts as a person writes them.
pub fn quantities(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(bytes) = text.parse::<Bytes>() {
        let _ = bytes.to_string();
    }
    let _ = text.parse::<Tokens>();
}

/// What a server is told, in each of its forms, and what the doctor makes of it.
pub fn server(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(table) = Table::load() else { return };
    let Some(version) = table.newest() else { return };
    let facts = Facts {
        sizer: None,
        model: None,
        arch: Some("gfx942"),
        profile_sha256: None,
        truncation: Some(4352),
        block_m: Some(64),
        decode_rows: Some(u64::MAX),
    };
    for read in [Server::read_env, Server::read_flags, Server::read_server_info] {
        let mut server = Server::default();
        if read(&mut server, &text, "fuzz").is_ok() {
            examine(&server, &table.release(version), &facts);
        }
    }
}

/// A request trace of any format.
pub fn trace(data: &[u8]) {
    in_folder(|folder| {
        let path = folder.join("trace");
        std::fs::write(&path, data)?;
        if let Ok(requests) = Trace::open(&path, Some(4096)) {
            requests.for_each(drop);
        }
        Ok(())
    });
}

/// The manifest of a kernel pack whose code object is of another kernel.
pub fn pack(data: &[u8]) {
    const OBJECT: &[u8] = include_bytes!("../sim/tests/data/probe.gfx950.hsaco");
    in_folder(|folder| {
        std::fs::write(folder.join(MANIFEST), data)?;
        std::fs::create_dir(folder.join("gfx950"))?;
        std::fs::write(folder.join("gfx950/probe.hsaco"), OBJECT)?;
        let _ = (Pack::target(folder), Pack::read(folder, "gfx950"));
        Ok(())
    });
}

/// A table of published kernel times.
pub fn timings(data: &[u8]) {
    in_folder(|folder| {
        let path = folder.join("timings.csv");
        std::fs::write(&path, data)?;
        if let Ok(rows) = validate::read(&path, Split::All) {
            validate::repeated(&rows);
            rows.iter().for_each(|row| drop((row.shape(), row.flops())));
        }
        Ok(())
    });
}

/// Recorded decisions, and the comparison of predictions; replays of scenarios may be long.
pub fn recording(data: &[u8]) {
    if let Ok(recording @ Recording::Sizer(_)) = Recording::parse(&String::from_utf8_lossy(data)) {
        recording.compare();
    }
}

/// Runs `work` in an empty folder; a machine that cannot write is not the parser's fault.
fn in_folder(work: impl FnOnce(&Path) -> std::io::Result<()>) {
    if let Ok(folder) = tempfile::tempdir() {
        let _ = work(folder.path());
    }
}
