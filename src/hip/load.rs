//! Finds and opens a HIP runtime.
//!
//! Goes in: an optional path from the user. Comes out: the function table and the path it was
//! filled from, or every place that was tried.

use std::path::{Path, PathBuf};

use libloading::Library;

use super::elf;
use super::error::LoadError;
use super::table::Table;

/// Library names, newest first.
const NAMES: [&str; 4] =
    ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];

/// Loads `path`, or else the first runtime found in `$ROCM_PATH/lib`, on the loader's own path and
/// in `/opt/rocm/lib`. The library stays loaded for the life of the process: HIP runtimes own
/// threads and exit handlers that do not survive being unloaded.
pub(super) fn load(path: Option<&Path>) -> Result<(Table, PathBuf), LoadError> {
    if let Some(path) = path {
        let library =
            open(path).map_err(|reason| LoadError::Unloadable { path: path.to_owned(), reason })?;
        return fill(library, path);
    }
    let mut tried = Vec::new();
    for candidate in candidates(std::env::var_os("ROCM_PATH").map(PathBuf::from)) {
        match open(&candidate) {
            Ok(library) => return fill(library, &candidate),
            Err(reason) => tried.push((candidate, reason)),
        }
    }
    Err(LoadError::NotFound { tried })
}

fn candidates(rocm: Option<PathBuf>) -> Vec<PathBuf> {
    let rocm = rocm.map(|root| root.join("lib"));
    let system = PathBuf::from("/opt/rocm/lib");
    let in_folder = |folder: &PathBuf| NAMES.map(|name| folder.join(name)).to_vec();
    let mut all: Vec<PathBuf> = rocm.iter().flat_map(in_folder).collect();
    all.extend(NAMES.map(PathBuf::from));
    all.extend(in_folder(&system));
    all
}

fn open(path: &Path) -> Result<Library, String> {
    // A name without a folder is looked up by the loader, which finds whole files.
    if path.components().count() > 1 && path.exists() {
        elf::check(path)?;
    }
    // SAFETY: loading a shared library runs its initialisers; the user (or the system's loader
    // path) names it as a HIP runtime. Its segments lie inside the file.
    unsafe { Library::new(path) }.map_err(|error| match std::error::Error::source(&error) {
        Some(reason) => reason.to_string(),
        None => error.to_string(),
    })
}

fn fill(library: Library, path: &Path) -> Result<(Table, PathBuf), LoadError> {
    let table = Table::from_library(&library)
        .map_err(|symbol| LoadError::MissingSymbol { path: path.to_owned(), symbol })?;
    std::mem::forget(library);
    Ok((table, path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rocm_path_comes_first_and_opt_rocm_last() {
        let all = candidates(Some("/r".into()));
        assert_eq!(all.first().map(|p| p.as_path()), Some(Path::new("/r/lib/libamdhip64.so")));
        assert_eq!(
            all.last().map(|p| p.as_path()),
            Some(Path::new("/opt/rocm/lib/libamdhip64.so.5"))
        );
        assert_eq!(all.len(), 12);
    }

    #[test]
    fn a_library_that_is_not_hip_is_named_with_the_missing_symbol() {
        let error = load(Some(Path::new("libc.so.6"))).err();
        assert_eq!(
            error,
            Some(LoadError::MissingSymbol { path: "libc.so.6".into(), symbol: "hipInit" })
        );
    }

    #[test]
    fn a_library_that_the_loader_refuses_comes_with_the_loaders_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libamdhip64.so");
        // A whole executable: the loader says that it cannot load one dynamically.
        std::fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        let text = load(Some(&path)).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(text.contains("libamdhip64.so: cannot dynamically load"), "{text}");
    }

    #[test]
    fn a_missing_library_is_an_error_that_names_it() {
        let error = load(Some(Path::new("/nonexistent/libamdhip64.so"))).err();
        let text = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(text.starts_with("cannot load the HIP runtime /nonexistent/libamdhip64.so"));
    }
}
