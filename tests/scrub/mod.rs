//! The flow from an issue to a report, part by part and whole.

mod judging;
mod picking;
mod review;
