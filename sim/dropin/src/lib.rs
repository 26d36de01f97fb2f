//! Drop-in `libamdhip64.so`.
