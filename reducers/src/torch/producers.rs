//! Which methods of PyTorch store what an attribute gives back. Called by the judge.

/// The method that stores what an attribute of an autograd context holds.
pub fn stored_by(attribute: &str) -> Option<&'static str> {
    match attribute {
        "saved_tensors" | "saved_variables" => Some("save_for_backward"),
        _ => None,
    }
}
