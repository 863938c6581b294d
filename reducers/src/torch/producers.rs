//! The functions of PyTorch that store what an attribute returns, and those that give a tensor a
//! property. Called by the judge.

/// The method that stores what an attribute of an autograd context or an optimizer holds, where a
/// failure says that it is not there.
pub fn stored_by(class: &str, attribute: &str) -> Option<&'static str> {
    match (class, attribute) {
        (_, "saved_tensors" | "saved_variables") => Some("save_for_backward"),
        ("KeyError", "state") => Some("step"),
        _ => None,
    }
}

/// What makes what an attribute of a tensor holds.
pub fn made_by(attribute: &str) -> Option<&'static str> {
    (attribute == "grad").then_some("backward")
}

/// What gives a tensor what a message says that it lacks.
pub fn giving(message: &str) -> &'static [&'static str] {
    if message.contains("does not require grad") {
        return &["requires_grad", "requires_grad_", "Parameter", "nn"];
    }
    &[]
}
