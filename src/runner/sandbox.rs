//! Confinement of runs by Landlock, which needs no privileges: everything may be read, only the run's own folders and
//! devices may be written. Called by the supervisor, which confines itself before it starts the program.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};

/// What is in force for the runs of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Landlock: writes only to the scratch folder, the session's cache and devices.
    Landlock,
    /// Nothing: not asked for.
    Off,
    /// Nothing: the kernel has no Landlock.
    Unavailable,
}

impl Confinement {
    /// In words for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Landlock => "writes only to scratch folders (Landlock)",
            Self::Off => "none (`--sandbox off`)",
            Self::Unavailable => "none (this kernel has no Landlock)",
        }
    }
}

/// Rights up to truncation (Linux 6.2); device ioctls stay free, graphics cards need them.
const RIGHTS: ABI = ABI::V3;

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
/// What keeps the kernel from doing so.
pub(super) fn confine(writable: &[PathBuf]) -> Result<(), String> {
    let all = AccessFs::from_all(RIGHTS);
    let devices = AccessFs::from_read(RIGHTS) | AccessFs::WriteFile | AccessFs::Truncate;
    let apply = || -> Result<RulesetStatus, Box<dyn std::error::Error>> {
        let mut rules = Ruleset::default()
            .handle_access(all)?
            .create()?
            .add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(RIGHTS)))?
            .add_rule(PathBeneath::new(PathFd::new("/dev")?, devices))?;
        if Path::new("/dev/shm").is_dir() {
            rules = rules.add_rule(PathBeneath::new(PathFd::new("/dev/shm")?, all))?;
        }
        for folder in writable {
            rules = rules.add_rule(PathBeneath::new(PathFd::new(folder)?, all))?;
        }
        Ok(rules.restrict_self()?.ruleset)
    };
    match apply() {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel did not enforce the rules".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
