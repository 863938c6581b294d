//! Which methods of PyTorch store what an attribute gives back, or make it. Called by the judge.

/// The method that stores what an attribute of an autograd context holds.
pub fn stored_by(attribute: &str) -> Option<&'static str> {
    match attribute {
        "saved_tensors" | "saved_variables" => Some("save_for_backward"),
        _ => None,
    }
}

/// The method that makes what an attribute of a tensor holds.
pub fn made_by(attribute: &str) -> Option<&'static str> {
    (attribute == "grad").then_some("backward")
}
