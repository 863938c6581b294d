//! `minrepro skill`: prints the text that teaches coding agents when and how to use minrepro.

use crate::{agent::SKILL, cli::Printer};

pub(super) fn skill(printer: Printer) {
    printer.data(SKILL);
}
