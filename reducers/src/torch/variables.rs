//! The environment variables that control what PyTorch's compiler caches between runs. Called by
//! the verbs that start runs and by the judge.

/// The variables that keep the compiler from its caches, each for the versions that know it; `1`
/// switches the caches off.
pub const NO_CACHES: [&str; 2] = [
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES",
    "TORCH_COMPILE_FORCE_DISABLE_CACHES",
];

/// The variables that keep the compiler from reusing graphs that it compiled before; `0` switches a
/// cache off. A graph is identified by the operators that it calls, not by what they do. If the
/// script makes operators itself, the compiler would mistake a changed operator for the earlier
/// one.
pub const NO_GRAPHS: [&str; 3] = [
    "TORCHINDUCTOR_FX_GRAPH_CACHE",
    "TORCHINDUCTOR_AUTOGRAD_CACHE",
    "ENABLE_AOT_AUTOGRAD_CACHE",
];
