//! Landlock: a run may read everything and write only to its own folders and to harmless devices.
//! This is the second barrier within namespaces, and the only one without them. It does not cover
//! modes, owners and times: see `system_calls`.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};
use serde_json::{Map, Value, json};

use super::{
    Bounds,
    namespaces::{PROCESSES, devices},
};

/// All that is known; a kernel that knows less enforces less.
const RIGHTS: ABI = ABI::V9;
/// Rights to a device. Drivers of graphics cards are spoken to by ioctl.
const DEVICE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile | IoctlDev});
/// Rights to what is about a process within namespaces, where all else in `/proc` is read-only.
const PROCESS: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});

/// The kernel's numbers that forked runs are confined with. Their zygote finds out which version of
/// Landlock is there: the rights by version, and of all rights those to read and those to devices.
pub(super) fn numbers() -> Map<String, Value> {
    // The last version that is known is that of `RIGHTS`.
    let rights = (1..=RIGHTS as i32).map(|version| AccessFs::from_all(ABI::from(version)).bits());
    let named = json!({
        "SYS_landlock_create_ruleset": libc::SYS_landlock_create_ruleset,
        "SYS_landlock_add_rule": libc::SYS_landlock_add_rule,
        "SYS_landlock_restrict_self": libc::SYS_landlock_restrict_self,
        "rights": rights.collect::<Vec<_>>(),
        "reading": AccessFs::from_read(RIGHTS).bits(),
        "device": DEVICE.bits(),
        "process": PROCESS.bits(),
        "folder_of_devices": AccessFs::ReadDir as u64,
        "scopes": Scope::from_all(RIGHTS).bits(),
        "first_version_with_scopes": ABI::V6 as i32,
    });
    named.as_object().cloned().unwrap_or_default()
}

/// Whether this kernel can confine at all: asks for a rule set without applying it.
pub(super) fn is_available() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create)
        .is_ok()
}

/// Confines this process and all it starts.
///
/// # Errors
///
/// The step that the kernel refuses.
pub(super) fn confine(bounds: &Bounds) -> Result<(), String> {
    // Pseudo-terminals within namespaces are the run's own, elsewhere they are the user's.
    let terminals = bounds
        .confinement
        .is_whole()
        .then(|| PathBuf::from("/dev/pts"));
    let all = AccessFs::from_all(RIGHTS);
    let apply = move || -> Result<RulesetStatus, Box<dyn std::error::Error>> {
        let mut rules = Ruleset::default()
            .handle_access(all)?
            // Signals and abstract sockets reach no further than this process and those that it
            // starts.
            .scope(Scope::from_all(RIGHTS))?
            .create()?
            .add_rule(PathBeneath::new(
                PathFd::new("/")?,
                AccessFs::from_read(RIGHTS),
            ))?;
        for device in devices()
            .into_iter()
            .chain(terminals.filter(|folder| folder.is_dir()))
        {
            let mut rights = DEVICE;
            if device.is_dir() {
                rights |= AccessFs::ReadDir;
            }
            rules = rules.add_rule(PathBeneath::new(PathFd::new(device)?, rights))?;
        }
        if bounds.confinement.is_whole() {
            rules = rules.add_rule(PathBeneath::new(PathFd::new(PROCESSES)?, PROCESS))?;
        }
        for folder in bounds
            .writable
            .iter()
            .chain(&bounds.overlays)
            .map(PathBuf::as_path)
            .chain([Path::new("/dev/shm")])
        {
            if folder.is_dir() {
                rules = rules.add_rule(PathBeneath::new(PathFd::new(folder)?, all))?;
            }
        }
        Ok(rules.restrict_self()?.ruleset)
    };
    match apply() {
        Ok(RulesetStatus::NotEnforced) => {
            Err("Landlock: the kernel did not enforce the rules".to_owned())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(format!("Landlock: {error}")),
    }
}
