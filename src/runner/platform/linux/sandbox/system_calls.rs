//! A filter of system calls (seccomp) for gaps that namespaces and Landlock leave. It sees only
//! numbers, no paths.

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
            // with its mode, or pins itself to a processor by its own number.
            let mut pretended = metadata();
            pretended.extend(of_others()?);
            install(pretended, 0)?;
        }
        install(refused(confinement)?, libc::EPERM)
    };
    apply().map_err(|error| format!("seccomp: {error}"))
}

#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_mut, reason = "other processors have one set of numbers")
)]
fn install(mut rules: Rules, answer: i32) -> Result<(), Box<dyn std::error::Error>> {
    // The same calls by the numbers of the ABI with short pointers, where the kernel has it.
    #[cfg(target_arch = "x86_64")]
    for (call, conditions) in rules.clone() {
        const SHORT_POINTERS: i64 = 0x4000_0000;
        const IOCTL_OF_SHORT_POINTERS: i64 = 514;
        let call = if call == libc::SYS_ioctl {
            IOCTL_OF_SHORT_POINTERS
        } else {
            call
        };
        rules.insert(SHORT_POINTERS | call, conditions);
    }
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
    let mut rules: Rules = [
        // The keys of the user's session are inherited.
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        // Calls that are made by way of a ring pass this filter by.
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ]
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

/// Calls on other processes, and on the flags of files, that Landlock allows: priorities, limits,
/// processors. A process that names itself by its number instead of by 0 cannot be told from
/// another.
fn of_others() -> Result<Rules, seccompiler::BackendError> {
    /// All processes of a user, in `setpriority`, and in `ioprio_set`, whose numbers differ.
    const OF_USER: i32 = 2;
    const IO_OF_USER: i32 = 3;
    /// `FS_IOC_SETFLAGS`, the same for 32 bits, `FS_IOC_FSSETXATTR` and `FS_IOC_SETVERSION`.
    const FLAGS: [u32; 4] = [0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4008_7602];
    let is_other = |argument| condition(argument, SeccompCmpOp::Ne, 0);
    let by_group = |user| -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
        let of_user = condition(0, SeccompCmpOp::Eq, user)?;
        Ok(vec![
            SeccompRule::new(vec![is_other(1)?])?,
            SeccompRule::new(vec![of_user])?,
        ])
    };
    let on_other = || Ok(vec![SeccompRule::new(vec![is_other(0)?])?]);
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let flags = FLAGS.map(|flags| {
        let is_it = condition(1, SeccompCmpOp::Eq, flags.cast_signed())?;
        SeccompRule::new(vec![is_it])
    });
    Ok(Rules::from([
        (libc::SYS_setpriority, by_group(OF_USER)?),
        (libc::SYS_ioprio_set, by_group(IO_OF_USER)?),
        (libc::SYS_sched_setaffinity, on_other()?),
        (libc::SYS_sched_setscheduler, on_other()?),
        (libc::SYS_sched_setparam, on_other()?),
        (libc::SYS_sched_setattr, on_other()?),
        (
            libc::SYS_prlimit64,
            vec![SeccompRule::new(vec![is_other(0)?, sets])?],
        ),
        (
            libc::SYS_ioctl,
            flags.into_iter().collect::<Result<_, _>>()?,
        ),
    ]))
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
