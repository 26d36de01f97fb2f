//! Where the figures of a run come from: what its journal must agree on, and its provenance.

use cdna_sim::arch::ArchParams;
use cdna_sim::isa::Arch;
use serde::Serialize;

use super::directory::Directory;
use super::{Job, kernels};
use crate::cli::output;
use crate::error::{Error, Result};
use crate::files::sha256_hex;
use crate::grid::{self, Group, Work};
use crate::hip;
use crate::journal::RunKey;
use crate::model::{Indexer, MatrixShape};
use crate::ops::KernelOp;
use crate::profile::{self, Engine, Point, Profile, Provenance, Simulator};
use crate::units::Tokens;

impl Job {
    /// What must be the same for a journal to be continued. Server limits are not in it: they do
    /// not change what is measured.
    pub(super) fn key(&self) -> Result<RunKey> {
        let Self { options, engine, .. } = self;
        let runtime = engine.hip.runtime();
        let fields = [
            ("tool", env!("CARGO_PKG_VERSION").to_string()),
            ("device", format!("{} {}", engine.info.arch, engine.info.name)),
            ("runtime", runtime.identity.clone()),
            ("simulator", self.simulator().map_or(String::new(), |s| s.parameters_sha256)),
            ("kernels", kernels::fingerprint(&self.catalog)),
            ("pack", self.pack.as_ref().map_or(String::new(), |pack| pack.sha256.clone())),
            ("model", options.model.clone()),
            ("shapes", text(&self.shapes)?),
            ("grid", text(&options.grid)?),
            ("precision", options.precision.to_string()),
            ("t", text(&options.t)?),
            ("l", text(&options.l)?),
        ];
        Ok(RunKey(fields.map(|(field, value)| (field.to_string(), value)).into()))
    }

    /// Says what is measured on what.
    pub(super) fn announce(&self, directory: &Directory) -> Result<()> {
        output::note(self.engine.banner(), self.options.json)?;
        let place = directory.path.display();
        let how = if directory.resume { "continuing in" } else { "writing to" };
        output::note(format_args!("{how} {place}"), self.options.json)
    }

    /// Refuses a pack none of whose kernels the grid runs.
    ///
    /// # Errors
    /// Status 2 with the shapes of the model.
    pub(super) fn check_pack(&self, groups: &[Group]) -> Result<()> {
        let Some(pack) = &self.pack else { return Ok(()) };
        let of_pack = |id: &str| pack.entries.iter().any(|entry| entry.id == id);
        let runs = |name: &str| {
            groups.iter().flatten().any(|case| match &case.work {
                Work::Matrix { kernel, shape, .. } => shape.name == name && of_pack(kernel),
                Work::Indexer { .. } => false,
            })
        };
        let has = |op: KernelOp| pack.entries.iter().any(|entry| entry.op == op);
        let absorb = self.shapes.absorb.iter().filter(|_| has(KernelOp::AbsorbBmm));
        let gemm = self.shapes.gemm.iter().filter(|_| has(KernelOp::Gemm));
        let wanted: Vec<&MatrixShape> = absorb.chain(gemm).collect();
        let without: Vec<String> = wanted
            .iter()
            .filter(|shape| !runs(&shape.name))
            .map(|shape| format!("{}:{}:{}:{}", shape.name, shape.b, shape.n, shape.k))
            .collect();
        if wanted.is_empty() || without.len() < wanted.len() {
            return Ok(());
        }
        Err(Error::usage(format_args!("the kernel pack has nothing for {}", without.join(", ")))
            .advice("export them with --shape and --gemm, as they stand here"))
    }

    /// The profile of the points, with its provenance.
    pub(super) fn seal(&self, points: Vec<Point>, notes: Vec<String>) -> Result<Profile> {
        let mut provenance = self.provenance()?;
        provenance.notes.extend(notes);
        Ok(Profile::new(points, provenance)?)
    }

    /// The built-in simulator's parameters; none on a loaded runtime, whose own are not known.
    fn simulator(&self) -> Option<Simulator> {
        let runtime = self.engine.hip.runtime();
        let built_in = self.engine.hip.is_simulated() && runtime.path.is_none();
        let is_target = |arch: &&Arch| arch.name() == self.options.arch;
        let arch = Arch::ALL.iter().find(is_target).filter(|_| built_in)?;
        Some(Simulator {
            version: env!("CARGO_PKG_VERSION").to_string(),
            parameters: format!("{}.toml", arch.name()),
            parameters_sha256: sha256_hex(ArchParams::text(*arch).as_bytes()),
        })
    }

    /// Which shape the comparison pipelines ran in, where it is not the model's own.
    fn comparison(&self) -> Option<String> {
        let compared = grid::compared_indexer(self.shapes.indexer);
        let Indexer { heads, ratio, topk, .. } = compared;
        let name = &self.model.name;
        match self.shapes.indexer {
            Some(own) if own == compared => None,
            Some(own) if own.ratio == compared.ratio && own.heads == heads && own.topk == topk => {
                Some(format!(
                    "dense, row_pooled and key_blocked are {name}'s own indexer in fp4, as an \
                     option of the server runs it"
                ))
            }
            _ => Some(format!(
                "dense, row_pooled and key_blocked are there for comparison, in the shape of \
                 DeepSeek V4.1's fp4 indexer ({heads} heads, ratio {ratio}, top-{topk}); {name} \
                 does not run them"
            )),
        }
    }

    fn provenance(&self) -> Result<Provenance> {
        let Self { options, engine, .. } = self;
        let runtime = engine.hip.runtime();
        let kind = match (runtime.kind, &runtime.path) {
            (hip::RuntimeKind::Hardware, _) => profile::RuntimeKind::Hip,
            (hip::RuntimeKind::Simulated, None) => profile::RuntimeKind::BuiltInSimulator,
            (hip::RuntimeKind::Simulated, Some(_)) => profile::RuntimeKind::DropInSimulator,
        };
        let provider = if engine.hip.is_simulated() { Engine::Simulated } else { Engine::Hardware };
        let mut provenance = Provenance::new(provider, &engine.info.arch, &engine.info.name);
        provenance.runtime = Some(profile::Runtime {
            kind,
            version: runtime.version.clone(),
            path: runtime.path.as_ref().map(|path| path.display().to_string()),
            identity: runtime.identity.clone(),
        });
        provenance.simulator = self.simulator();
        provenance.free_bytes = self.free.map(|free| free.0);
        provenance.model = options.model.clone();
        provenance.tp = options.layout.tp;
        provenance.dp = options.layout.dp;
        provenance.cp = options.layout.cp;
        provenance.grid = text(&options.grid)?;
        for (flag, list) in [("--t", &options.t), ("--l", &options.l)] {
            if let Some(list) = list {
                provenance.options.insert(flag.to_string(), lengths(list));
            }
        }
        provenance.notes.extend(self.model.absences());
        provenance.notes.extend(self.comparison());
        if let (Some(pack), Some(dir)) = (&self.pack, &options.kernels) {
            provenance.options.insert("--kernels".to_owned(), dir.display().to_string());
            provenance.notes.push(format!("{} (pack {})", pack.info, &pack.sha256[..12]));
        }
        provenance.kernels =
            self.catalog.iter().map(|entry| (entry.id.clone(), entry.sha256.clone())).collect();
        Ok(provenance)
    }
}

fn lengths(list: &[Tokens]) -> String {
    list.iter().map(Tokens::to_string).collect::<Vec<_>>().join(",")
}

/// A value as compact JSON, a string without its quotes.
fn text(value: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string(value).map_err(Error::failed)?;
    Ok(json.trim_matches('"').to_string())
}
