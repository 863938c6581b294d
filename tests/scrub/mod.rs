//! The flow from an issue to a report, part by part and whole.

mod backlog;
mod corpus;
mod daily;
mod faults;
mod flow;
mod interrupts;
mod judging;
mod picking;
mod proof;
mod review;
mod server;
mod together;
mod triage;
mod unfixed;
mod versions;
