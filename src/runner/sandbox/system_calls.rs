//! A filter of system calls (seccomp) for gaps that namespaces and Landlock leave. It sees numbers
//! alone, no paths.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::Confinement;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Applies the filters to this process and all it starts.
///
/// # Errors
///
/// The step that the kernel refuses.
pub(super) fn filter(confinement: Confinement) -> Result<(), String> {
    let apply = || -> Result<(), Box<dyn std::error::Error>> {
        if !confinement.is_whole() {
            // A success that changes nothing: a refusal would end every script that copies a file
            // with its mode.
            install(metadata(), 0)?;
        }
        install(refused(confinement)?, libc::EPERM)
    };
    apply().map_err(|error| format!("seccomp: {error}"))
}

fn install(rules: Rules, answer: i32) -> Result<(), Box<dyn std::error::Error>> {
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(answer.cast_unsigned()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}

/// Calls that are refused.
fn refused(confinement: Confinement) -> Result<Rules, seccompiler::BackendError> {
    // The keys of the user's session are inherited.
    let mut rules: Rules = [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key]
        .map(|call| (call, Vec::new()))
        .into();
    // Some families know no namespaces: AF_VSOCK reaches the host of a virtual machine.
    let known = [
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
    ];
    let unknown = known
        .map(|family| condition(0, SeccompCmpOp::Ne, family))
        .into_iter()
        .collect::<Result<_, _>>();
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(unknown?)?]);
    if !confinement.is_whole() {
        // A signal to everybody; before Linux 6.12 Landlock has no say in signals.
        rules.insert(
            libc::SYS_kill,
            vec![SeccompRule::new(vec![condition(0, SeccompCmpOp::Eq, -1)?])?],
        );
    }
    Ok(rules)
}

fn condition(
    argument: u8,
    is: SeccompCmpOp,
    value: i32,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        is,
        value.cast_unsigned().into(),
    )
}

/// Calls that change modes, owners, times and extended attributes, which Landlock lets pass on any
/// file.
fn metadata() -> Rules {
    /// `fchmodat2`, which the C library's table of numbers lacks; the number is the same on all
    /// architectures.
    const FCHMODAT2: i64 = 452;
    const SETXATTRAT: i64 = 463;
    const REMOVEXATTRAT: i64 = 466;
    const FILE_SETATTR: i64 = 469;
    let calls = [
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        FCHMODAT2,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        SETXATTRAT,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        REMOVEXATTRAT,
        FILE_SETATTR,
    ];
    #[cfg(target_arch = "x86_64")]
    let older = [
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let older: [i64; 0] = [];
    calls
        .into_iter()
        .chain(older)
        .map(|call| (call, Vec::new()))
        .collect()
}
