use super::*;
use crate::model::{Layout, preset};
use crate::ops::pack::{Dims, GridOrder, Picks};
use crate::options::GridSize;
use crate::units::Tokens;

fn kernel(op: Op, variant: &str, tile: [u32; 3]) -> TileKernel {
    let id = format!("{op:?}_{}x{}_{variant}", tile[0], tile[1]);
    let dtype = if op == Op::Gemm { "bf16" } else { "fp8" };
    TileKernel { id, op, variant: variant.into(), dtype: dtype.into(), tile, launch: None }
}

fn kernels() -> Vec<TileKernel> {
    let absorb = ["even", "ragged_wrap", "ragged_buffer"];
    let tiles = [[32, 128, 128], [64, 256, 128]];
    let mut all: Vec<TileKernel> = tiles
        .iter()
        .flat_map(|tile| absorb.map(|variant| kernel(Op::AbsorbBmm, variant, *tile)))
        .collect();
    all.extend(["even", "ragged_buffer"].map(|v| kernel(Op::Gemm, v, [256, 256, 64])));
    all
}

fn glm() -> RankShapes {
    preset("glm-5.2").unwrap().rank_shapes(Layout { tp: 4, dp: 1, cp: 1 }).unwrap()
}

fn rows(groups: &[Group], id: &str, shape_name: &str) -> Vec<u64> {
    let row = |case: &Case| match &case.work {
        Work::Matrix { kernel, shape, m } if kernel == id && shape.name == shape_name => Some(*m),
        _ => None,
    };
    groups.iter().flatten().filter_map(row).collect()
}

#[test]
fn every_grid_measures_the_published_pair_in_one_group() {
    for size in [GridSize::Quick, GridSize::Default, GridSize::Full] {
        let groups = build(&glm(), &kernels(), &Axes::named(size, 1 << 20)).unwrap();
        let pair = groups.iter().any(|group| {
            let has = |name: &str| group.iter().any(|case| case.name == name);
            has("AbsorbBmm_64x256_even/w_kc/M=16384")
                && has("AbsorbBmm_64x256_ragged_wrap/w_kc/M=16368")
        });
        assert!(pair, "{size:?}");
    }
}

#[test]
fn residues_are_those_of_each_block_size() {
    let groups = build(&glm(), &kernels(), &Axes::named(GridSize::Default, 1 << 20)).unwrap();
    let wide = rows(&groups, "AbsorbBmm_64x256_ragged_wrap", "w_kc");
    for m in [16_320, 16_321, 16_336, 16_368, 16_383, 16_384] {
        assert!(wide.contains(&m), "{m} is missing"); // 16384 - 64 + {0, 1, 16, 48, 63, 64}
    }
    let even = rows(&groups, "AbsorbBmm_64x256_even", "w_kc");
    assert!(even.iter().all(|m| m % 64 == 0), "{even:?}");
    let gemm = rows(&groups, "Gemm_256x256_ragged_buffer", "o_proj");
    assert!(gemm.contains(&16_368) && gemm.contains(&16_383) && gemm.contains(&16_129));
}

/// The quick grid takes the first shape of an operation only, w_kc; a pack's w_vc is measured too.
#[test]
fn every_shape_that_a_pack_has_kernels_for_is_measured() {
    let quick = Axes::named(GridSize::Quick, 1 << 20);
    let mut kernels = kernels();
    let absorb = |kernel: &TileKernel| kernel.op == Op::AbsorbBmm;
    let shapes = glm().absorb;
    assert_eq!(measured_shapes(&shapes, &kernels, &quick).count(), 1);
    for kernel in kernels.iter_mut().filter(|kernel| absorb(kernel)) {
        let dims = Dims { b: shapes[1].b, n: shapes[1].n, k: shapes[1].k };
        kernel.launch = Some(PackLaunch {
            shape: "w_vc".into(),
            dims,
            rows: vec![[1, 1 << 20]],
            picks: Picks::All,
            grid: GridOrder::HeadsThenTiles,
            lds: 0,
            sha256: None,
            head_major_out: false,
            settings: "{}".into(),
            specialised: String::new(),
        });
    }
    let groups = build(&glm(), &kernels, &quick).unwrap();
    assert!(rows(&groups, "AbsorbBmm_64x256_even", "w_vc").contains(&16_384));
    assert!(rows(&groups, "AbsorbBmm_64x256_even", "w_kc").is_empty());
}

#[test]
fn names_are_unique() {
    let groups = build(&glm(), &kernels(), &Axes::named(GridSize::Full, 1 << 20)).unwrap();
    let names: BTreeSet<&str> = groups.iter().flatten().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), groups.iter().flatten().count());
}

#[test]
fn the_models_own_indexer_runs_beside_the_low_ratio_pipelines() {
    let axes = Axes::named(GridSize::Quick, 1 << 20);
    let pipelines = |shapes: &RankShapes| {
        let groups = build(shapes, &kernels(), &axes).unwrap();
        let pipeline = |case: &Case| match case.work {
            Work::Indexer { pipeline, .. } => Some(pipeline),
            Work::Matrix { .. } => None,
        };
        groups.iter().flatten().filter_map(pipeline).collect::<BTreeSet<_>>()
    };
    assert_eq!(pipelines(&glm()).len(), 4);
    let v41 = preset("deepseek-v4.1").unwrap();
    let v41 = v41.rank_shapes(Layout { tp: 4, dp: 1, cp: 1 }).unwrap();
    assert!(!pipelines(&v41).contains(&Pipeline::Fp8));
}

#[test]
fn a_model_that_compresses_its_keys_is_compared_in_its_own_shape() {
    let shape = |name: &str| {
        let layout = Layout { tp: 4, dp: 1, cp: 1 };
        compared_indexer(preset(name).unwrap().rank_shapes(layout).unwrap().indexer)
    };
    let pro = shape("deepseek-v4-pro");
    assert_eq!((pro.kind, pro.heads, pro.ratio, pro.topk), (IndexerKind::Fp4LowRatio, 64, 4, 1024));
    assert_eq!(shape("deepseek-v4.1"), Indexer::FP4_LOW_RATIO);
    assert_eq!(shape("glm-5.2"), Indexer::FP4_LOW_RATIO);
}

#[test]
fn prefixes_past_the_models_context_are_left_out() {
    assert_eq!(Axes::named(GridSize::Default, 163_840).l.last(), Some(&131_072));
}

#[test]
fn absurd_lengths_and_too_many_cases_are_refused() {
    let long = [Tokens(1 << 26)];
    let axes = Axes::named(GridSize::Quick, 1 << 20).with_lengths(Some(&long), Some(&long));
    let error = build(&glm(), &kernels(), &axes).unwrap_err();
    assert_eq!(error, GridError::TooLarge { t: 1 << 26, l: 1 << 26 });
    let many: Vec<Tokens> = (1..200).map(Tokens).collect();
    let axes = Axes::named(GridSize::Quick, 1 << 20).with_lengths(Some(&many), Some(&many));
    let error = build(&glm(), &kernels(), &axes).unwrap_err();
    assert!(matches!(error, GridError::TooMany(n) if n > MAX_CASES), "{error}");
}
