//! Step 4: finds out whether somebody confirmed the bug recently.

use std::time::SystemTime;

use super::{Maybe, ScrubContext, ScrubEnd, Step};
use crate::{cli::Failure, scrub::issue::recent::confirmation};

/// Continues unless the bug was confirmed recently and need not be verified again.
pub(in crate::scrub) fn recent(
    cx: &mut ScrubContext<'_>,
    issue: Maybe<'_>,
) -> Result<Step<()>, Failure> {
    let Some(issue) = issue else {
        return Ok(Step::Next(()));
    };
    cx.step("4", "was it confirmed recently?");
    let Some(found) = confirmation(issue, cx.found.reported.as_ref(), SystemTime::now()) else {
        cx.decided("no");
        return Ok(Step::Next(()));
    };
    cx.decided(&format!(
        "{} days ago {} wrote \"{}\"",
        found.days, found.author, found.quote
    ));
    let why = format!("{} confirmed it {} days ago", found.author, found.days);
    cx.found.confirmation = Some(found);
    let options = [
        ("v", "verify it again, then minimize it"),
        ("s", "stop here"),
    ];
    if cx.settings.reverify || cx.prompt.choose("continue?", &options, 1, "--reverify")? == 0 {
        return Ok(Step::Next(()));
    }
    cx.found.next = Some("run again with `--reverify` to minimize it".to_owned());
    Ok(Step::End(ScrubEnd::RecentlyVerified, why))
}
