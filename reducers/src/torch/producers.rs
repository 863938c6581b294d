//! What of PyTorch stores what an attribute gives back, and what gives a tensor a property. Called
//! by the judge.

/// The method that stores what an attribute holds, where a failure with this message reads it.
pub fn stored_by(attribute: &str, message: &str) -> Option<&'static str> {
    match attribute {
        "saved_tensors" | "saved_variables" => Some("save_for_backward"),
        "grad" if message.starts_with("'NoneType'") => Some("backward"),
        _ => None,
    }
}

/// What gives a tensor the property that a message says that it lacks.
pub fn giving(message: &str) -> &'static [&'static str] {
    if message.contains("does not require grad") {
        return &["requires_grad", "requires_grad_", "Parameter", "nn"];
    }
    &[]
}
