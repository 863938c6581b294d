//! The reasons that keep a script from reaching its bug, in words, with the remedy. Pure except
//! that it looks which folders exist. Called by `session`.

use std::path::Path;

use crate::{
    cli::Exit,
    oracle::{Forbidden, Obstacle},
    text::quoted,
};

/// An obstacle for people.
pub(super) struct Obstruction {
    pub(super) exit: Exit,
    pub(super) what: String,
    pub(super) hint: String,
}

/// An obstacle for people: what it is, and how to go on.
pub(super) fn of(obstacle: &Obstacle) -> Obstruction {
    let named = |what: String, hint: &str| Obstruction {
        exit: Exit::NotReproduced,
        what,
        hint: format!("{hint}; if this failure is the bug, name it by `--signature`"),
    };
    let usage = |obstruction| Obstruction {
        exit: Exit::Usage,
        ..obstruction
    };
    match obstacle {
        Obstacle::Forbidden(access, path) => {
            let mut hint = remedy(*access, path.as_deref());
            if !access.is_certain() {
                hint.push_str("; if this failure is the bug, name it by `--signature`");
            }
            Obstruction {
                exit: Exit::NotReproduced,
                what: format!(
                    "the script does not reach its bug: confinement {} {}",
                    if access.is_certain() {
                        "keeps it from"
                    } else {
                        "may keep it from"
                    },
                    wanted(*access)
                ),
                hint,
            }
        }
        Obstacle::Package(name) => Obstruction {
            exit: Exit::Environment,
            ..named(
                format!("the script needs the package `{name}`, which is not installed"),
                "install it, or name the interpreter that has it by `--python PATH`",
            )
        },
        Obstacle::File(path) => named(
            format!("the script needs `{path}`, which is not there"),
            "put the file beside the script: runs have a copy of its folder",
        ),
        Obstacle::Arguments => usage(named(
            "the script wants arguments".to_owned(),
            "give them after `--`: `minrepro SCRIPT -- ARGS`",
        )),
        Obstacle::Input => named(
            "the script reads its standard input, which is empty in runs".to_owned(),
            "give each run a file to read by `--stdin FILE`",
        ),
        Obstacle::Variable(name) => named(
            format!("the script needs the environment variable `{name}`, which is not set in runs"),
            &format!("set it by `--env {name}=VALUE`"),
        ),
    }
}

/// How to allow an access.
pub(super) fn remedy(access: Forbidden, path: Option<&Path>) -> String {
    match access {
        Forbidden::Network | Forbidden::Service => {
            "`--allow-network` lets runs use the network; `--sandbox off` confines nothing"
                .to_owned()
        }
        Forbidden::Writing => {
            let folder = path
                .filter(|path| path.is_absolute())
                .and_then(|path| path.ancestors().skip(1).find(|folder| folder.is_dir()))
                .filter(|folder| *folder != Path::new("/"))
                .map_or_else(
                    || "DIR".to_owned(),
                    |folder| quoted(&folder.to_string_lossy()),
                );
            format!(
                "`--allow-write {folder}` lets runs write to copies of that folder, which are \
                 thrown away; `--sandbox off` confines nothing"
            )
        }
        Forbidden::Rights => "`--allow-write DIR` lets runs write to copies of a folder; \
             `--sandbox off` confines nothing"
            .to_owned(),
        Forbidden::Accelerator => "`--sandbox off` lets it start, and confines nothing".to_owned(),
    }
}

fn wanted(access: Forbidden) -> &'static str {
    match access {
        Forbidden::Network => "using the network",
        Forbidden::Service => "reaching a service outside",
        Forbidden::Writing => "writing outside its scratch folder",
        Forbidden::Rights => "doing something that needs rights",
        Forbidden::Accelerator => "starting the accelerator",
    }
}
