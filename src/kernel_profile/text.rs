//! A kernel profile, or two side by side, as text.

use std::fmt;

use super::KernelProfile;
use crate::validate::off_by;

/// One profile, or two to compare.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a [KernelProfile]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, profile) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            one(f, profile)?;
        }
        if let [a, b] = self.0 {
            writeln!(f)?;
            difference(f, a, b)?;
        }
        Ok(())
    }
}

fn one(f: &mut fmt::Formatter<'_>, p: &KernelProfile) -> fmt::Result {
    writeln!(f, "{} on simulated {}, {}", p.kernel, p.arch, p.shape)?;
    writeln!(
        f,
        "{:.1} us ({}), {} cycles at {:.0} MHz; {} workgroups, {} resident on a CU, {} timed",
        p.time_us,
        off_by(p.time_off_by),
        p.cycles,
        p.clock_mhz,
        p.workgroups,
        p.workgroups_per_cu,
        p.workgroups_timed
    )?;
    writeln!(
        f,
        "\nwave clocks of the timed workgroups: issue of instructions by kind, waits by cause"
    )?;
    for part in p.wave_clocks.iter().filter(|part| part.fraction >= 0.005) {
        let bar = "#".repeat((part.fraction * 40.0).round() as usize);
        let percent = 100.0 * part.fraction;
        let line = format!("  {:<18}{percent:>6.1}%  {bar:<21}{}", part.name, meaning(&part.name));
        writeln!(f, "{}", line.trim_end())?;
    }
    writeln!(f, "\nrates")?;
    for rate in &p.rates {
        let part = 100.0 * rate.reached / rate.peak;
        writeln!(
            f,
            "  {:<24}{:>9.2} of {:>8.2} {} ({part:.0}%)",
            rate.name, rate.reached, rate.peak, rate.unit
        )?;
    }
    if let Some(intensity) = p.flop_per_byte {
        writeln!(f, "  {:<24}{intensity:>9.1} flop per byte of HBM traffic", "intensity")?;
    }
    writeln!(f, "\nblocks with most wave clocks; before an instruction those lost waiting at it")?;
    for block in &p.blocks {
        writeln!(
            f,
            "  +{:#x}: {:.1}% of the clocks, run {} times",
            block.offset,
            100.0 * block.fraction,
            block.executions
        )?;
        for line in &block.lines {
            match line.waited {
                0 => writeln!(f, "    {:>9}  {}", "", line.text)?,
                waited => writeln!(f, "    {waited:>9}  {}", line.text)?,
            }
        }
        if block.hidden > 0 {
            writeln!(f, "    {:>9}  ... {} more, waited for less", "", block.hidden)?;
        }
    }
    Ok(())
}

/// What a part of the wave clocks is, for those whose name does not say it.
fn meaning(part: &str) -> &'static str {
    match part {
        "issue valu" => "vector arithmetic at full rate",
        "issue valu_slow" => "conversions, 64-bit multiplies, transcendentals",
        "issue salu" => "scalar arithmetic",
        "issue mfma" => "matrix operations",
        "issue vmem" => "loads and stores of memory",
        "issue smem" => "scalar loads",
        "issue internal" => "s_waitcnt, s_barrier, s_nop",
        "wait vmem" => "the queue of loads and stores is full",
        "wait vmcnt" => "data of loads has not arrived",
        "wait lgkmcnt" => "data of LDS or scalar loads has not arrived",
        "wait barrier" => "other waves have not come yet",
        "wait arbitration" => "another wave took the issue slot",
        "wait valu" => "the vector ALU is busy",
        "wait matrix" => "the matrix unit is busy",
        "wait nop" => "spacing that results of matrix operations need",
        "wait branch" => "a branch resolves",
        "wait lds" => "the LDS queue is full",
        "wait fetch" => "instructions are fetched",
        _ => "",
    }
}

/// What the second kernel does more of, per workgroup.
fn difference(f: &mut fmt::Formatter<'_>, a: &KernelProfile, b: &KernelProfile) -> fmt::Result {
    let ratio = b.time_us / a.time_us;
    let (x, y) = (&a.shape, &b.shape);
    writeln!(f, "{} ({y}) against {} ({x}): {ratio:.2}x the time", b.kernel, a.kernel)?;
    let per = |p: &KernelProfile, n: u64| n as f64 / p.workgroups_timed.max(1) as f64;
    writeln!(f, "wave instructions of a workgroup")?;
    for (name, &count) in &b.mix {
        let (x, y) = (per(a, a.mix.get(name).copied().unwrap_or(0)), per(b, count));
        if (x - y).abs() >= 0.5 {
            writeln!(f, "  {name:<18}{x:>10.0} -> {y:>10.0}  ({:+.0})", y - x)?;
        }
    }
    writeln!(f, "wave clocks of a workgroup")?;
    let clocks = |p: &KernelProfile, name: &str| {
        let part = p.wave_clocks.iter().find(|part| part.name == name);
        per(p, part.map_or(0, |part| part.clocks))
    };
    let mut names: Vec<&str> =
        a.wave_clocks.iter().chain(&b.wave_clocks).map(|part| part.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.sort_by(|p, q| {
        let change = |name: &str| (clocks(b, name) - clocks(a, name)).abs();
        change(q).total_cmp(&change(p))
    });
    for name in names.into_iter().take(8) {
        let (x, y) = (clocks(a, name), clocks(b, name));
        writeln!(f, "  {name:<18}{x:>10.0} -> {y:>10.0}  ({:+.0})", y - x)?;
    }
    Ok(())
}
