//! How far the run is, on stderr, and only where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar over the points of a run.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of `total` points, `done` of which a journal holds already.
    pub fn new(total: usize, done: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
        let template = "{bar:30} {pos}/{len} points, {elapsed} gone, {eta} to go  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        bar.set_position(done as u64);
        bar.reset_eta();
        Self { bar }
    }

    /// Counts a finished point.
    pub fn finished(&self, name: &str) {
        self.bar.set_message(name.to_string());
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
