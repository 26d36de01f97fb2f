//! How other engines size prefill chunks, so that a plan can be set beside them.
//!
//! In goes a peer by name, the time of a chunk and the server's limits; out come the chunks that
//! the peer would cut a prompt into. Peers know nothing of the memory frontier.

pub mod atom;
pub mod sglang;
pub mod trtllm;

use std::fmt;
use std::str::FromStr;

use crate::fit::latency::TimeModel;
use crate::options::MAX_TOKENS;
use crate::text::quoted;
use crate::units::Tokens;
use atom::AtomModel;
use sglang::{DynamicChunkSizer, Quadratic, SMOOTH, SglangError};

/// Samples of SGLang's profiling run at start.
const PROFILED: u64 = 128;
/// `--max-prefill-tokens` of SGLang where it is not set.
const MAX_PREFILL_TOKENS: u64 = 16_384;
/// Most chunks of one prompt.
const MOST_CHUNKS: usize = 1 << 20;

/// A way to size chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// One chunk for every prefix.
    Static(u64),
    /// SGLang's dynamic sizer around a static size.
    Sglang(Option<u64>),
    /// ROCm/ATOM's dynamic chunk around a static size.
    Atom(Option<u64>),
    /// TensorRT-LLM's table under a configured size.
    Trtllm(Option<u64>),
}

/// Why a peer's name was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not a sizer: use static:TOKENS, sglang, atom or trtllm, the last three with :TOKENS \
     for another static size than --chunk-max; TOKENS from 1 to {}", .0, MAX_TOKENS
)]
pub struct UnknownPeer(pub String);

impl FromStr for Peer {
    type Err = UnknownPeer;

    fn from_str(text: &str) -> Result<Self, UnknownPeer> {
        let unknown = || UnknownPeer(quoted(text));
        let (name, size) = match text.split_once(':') {
            Some((name, size)) => {
                let tokens: Tokens = size.parse().map_err(|_| unknown())?;
                (
                    name,
                    Some(tokens.0)
                        .filter(|t| (1..=MAX_TOKENS).contains(t))
                        .map_or_else(|| Err(unknown()), |t| Ok(Some(t)))?,
                )
            }
            None => (text, None),
        };
        match (name.trim(), size) {
            ("static", Some(size)) => Ok(Self::Static(size)),
            ("sglang", size) => Ok(Self::Sglang(size)),
            ("atom", size) => Ok(Self::Atom(size)),
            ("trtllm", size) => Ok(Self::Trtllm(size)),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, size) = match self {
            Self::Static(size) => ("static", Some(*size)),
            Self::Sglang(size) => ("sglang", *size),
            Self::Atom(size) => ("atom", *size),
            Self::Trtllm(size) => ("trtllm", *size),
        };
        match size {
            Some(size) => f.pad(&format!("{name}:{size}")),
            None => f.pad(name),
        }
    }
}

/// What peers are told about the server.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    /// Time of a chunk; none where nothing was timed.
    pub time: Option<&'a TimeModel>,
    /// Static chunk where the peer names none, tokens.
    pub chunk_max: u64,
    /// KV page, tokens.
    pub page_size: u64,
    /// Tokens per indexer key.
    pub ratio: u32,
    /// Longest prompt, tokens.
    pub furthest: u64,
}

/// A peer ready to size chunks.
#[derive(Clone, Copy, Debug)]
pub enum Ready {
    /// The same chunk always.
    Static(u64),
    /// SGLang's predictor, with the static size that it falls back to.
    Sglang(DynamicChunkSizer),
    /// ATOM's model with its static size and page.
    Atom(AtomModel, u64, u64),
    /// TensorRT-LLM's configured rows and tokens per key.
    Trtllm(u64, u32),
}

/// Why a peer cannot be set beside a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} sizes chunks by time, and nothing was timed; give the directory of a run, or observations with times"
)]
pub struct NeedsTimes(pub Peer);

impl Peer {
    /// The peer on a server. SGLang runs its own profile first; where it would refuse to fit that,
    /// it keeps its static size, and the reason comes back beside it.
    ///
    /// # Errors
    /// A peer that sizes by time where nothing was timed.
    pub fn on(self, server: &Server<'_>) -> Result<(Ready, Option<SglangError>), NeedsTimes> {
        let base = |size: Option<u64>| size.unwrap_or(server.chunk_max).max(1);
        let time = || server.time.ok_or(NeedsTimes(self));
        Ok(match self {
            Self::Static(size) => (Ready::Static(size.max(1)), None),
            Self::Sglang(size) => match profiled(time()?, base(size), server) {
                Ok(sizer) => (Ready::Sglang(sizer), None),
                Err(error) => (Ready::Static(base(size)), Some(error)),
            },
            Self::Atom(size) => {
                let model = AtomModel::fit(time()?, base(size), server.furthest);
                (Ready::Atom(model, base(size), server.page_size), None)
            }
            Self::Trtllm(size) => (Ready::Trtllm(base(size), server.ratio.max(1)), None),
        })
    }
}

/// SGLang's profiling run: prefills of up to a quarter more than the static size, longest first.
fn profiled(
    model: &TimeModel,
    base: u64,
    server: &Server<'_>,
) -> Result<DynamicChunkSizer, SglangError> {
    let most = base.saturating_add(base / 4);
    let step = (most / PROFILED).max(1);
    let lengths = (0..PROFILED).map_while(|i| most.checked_sub(i * step).filter(|l| *l > 0));
    let samples: Vec<(u64, f64)> = lengths.map(|l| (l, model.time_us(l, 0) / 1e3)).collect();
    let model = Quadratic::fit(&samples)?;
    Ok(DynamicChunkSizer {
        model,
        target_ms: model.target(base)?,
        chunked_prefill_size: base,
        max_prefill_tokens: Some(MAX_PREFILL_TOKENS.max(base)),
        page_size: server.page_size,
        // The context is not what is compared here: it ends behind the longest prompt.
        context_len: server.furthest.saturating_add(2 * base).saturating_add(1024),
        smooth: SMOOTH,
    })
}

impl Ready {
    /// The next chunk after `prefix` tokens.
    pub fn next(&self, prefix: u64) -> u64 {
        match self {
            Self::Static(size) => *size,
            // The first chunk of a request is static.
            Self::Sglang(sizer) if prefix == 0 => sizer.chunked_prefill_size,
            Self::Sglang(sizer) => sizer.predict(prefix).unwrap_or(sizer.chunked_prefill_size),
            Self::Atom(model, base, page) => model.chunk(prefix, *base, *page),
            Self::Trtllm(configured, ratio) => {
                let keys = prefix.saturating_add(*configured).div_ceil(u64::from(*ratio));
                trtllm::rows(*configured, keys)
            }
        }
    }

    /// The chunks of a prompt of `length` tokens; none where there would be more than a million.
    pub fn chunks(&self, length: u64) -> Option<Vec<u64>> {
        let (mut done, mut chunks) = (0, Vec::new());
        while done < length {
            if chunks.len() == MOST_CHUNKS {
                return None;
            }
            let chunk = self.next(done).clamp(1, length - done);
            chunks.push(chunk);
            done += chunk;
        }
        Some(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(time: Option<&TimeModel>) -> Server<'_> {
        Server { time, chunk_max: 8192, page_size: 64, ratio: 1, furthest: 1_000_000 }
    }

    #[test]
    fn peers_go_by_name_with_an_optional_size() {
        assert_eq!("static:1024".parse(), Ok(Peer::Static(1024)));
        assert_eq!("sglang".parse(), Ok(Peer::Sglang(None)));
        assert_eq!("trtllm:32k".parse(), Ok(Peer::Trtllm(Some(32_000))));
        assert_eq!(Peer::Atom(Some(8192)).to_string(), "atom:8192");
        for wrong in ["static", "static:0", "static:-1", "static:x", "vllm", "", ":"] {
            assert!(wrong.parse::<Peer>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_peer_that_sizes_by_time_needs_times() {
        let error = Peer::Sglang(None).on(&server(None)).unwrap_err();
        assert!(error.to_string().contains("nothing was timed"), "{error}");
        assert!(Peer::Trtllm(None).on(&server(None)).is_ok());
    }

    #[test]
    fn sglang_starts_static_and_shrinks_and_keeps_its_size_where_time_does_not_bend() {
        let bends = TimeModel::of([5000.0, 20.0, 0.0, 1e-3, 5e-4]);
        let (ready, refused) = Peer::Sglang(None).on(&server(Some(&bends))).unwrap();
        assert_eq!(refused, None);
        let chunks = ready.chunks(200_000).unwrap();
        assert_eq!(chunks.iter().sum::<u64>(), 200_000);
        assert_eq!(chunks[0], 8192);
        assert!(chunks[1] < 8192 && chunks[10] < chunks[1]);
        let straight = TimeModel::of([5000.0, 20.0, 0.0, 1e-3, 0.0]);
        let (ready, refused) = Peer::Sglang(None).on(&server(Some(&straight))).unwrap();
        assert!(refused.is_some(), "{ready:?}");
        assert_eq!(ready.next(500_000), 8192);
    }

    #[test]
    fn trtllm_takes_fewer_rows_over_more_keys() {
        let (ready, _) = Peer::Trtllm(Some(32_768)).on(&server(None)).unwrap();
        // Keys at the end of the chunk: 0 + 32768, 300000 + 32768 and 600000 + 32768.
        assert_eq!([0, 300_000, 600_000].map(|l| ready.next(l)), [32_768, 16_384, 8192]);
        assert_eq!(ready.chunks(1).unwrap(), [1]);
        assert_eq!(ready.chunks(0).unwrap(), [] as [u64; 0]);
        let (one, _) = Peer::Static(1).on(&server(None)).unwrap();
        assert!(one.chunks(u64::MAX).is_none());
    }
}
