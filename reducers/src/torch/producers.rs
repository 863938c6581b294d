//! The functions of PyTorch that store what an attribute returns, and those that give a tensor a
//! property. Called by the judge.

/// The method that stores the value of an attribute of an autograd context or an optimizer, if a
/// failure says that it is missing.
pub fn stored_by(class: &str, attribute: &str) -> Option<&'static str> {
    match (class, attribute) {
        (_, "saved_tensors" | "saved_variables") => Some("save_for_backward"),
        ("KeyError", "state") => Some("step"),
        _ => None,
    }
}

/// The method that makes the value of a tensor's attribute.
pub fn made_by(attribute: &str) -> Option<&'static str> {
    (attribute == "grad").then_some("backward")
}

/// The method whose results an object of a class changes the values by that it was given: an
/// optimizer changes parameters by their gradients.
pub fn moved_by(class: &str) -> Option<&'static str> {
    let is_optimizer = class.starts_with("torch.optim.") && !class.contains("lr_scheduler");
    is_optimizer.then_some("backward")
}

/// The functions that give a tensor the property that it lacks according to a message.
pub fn giving(message: &str) -> &'static [&'static str] {
    if message.contains("does not require grad") {
        return &["requires_grad", "requires_grad_", "Parameter", "nn"];
    }
    if message.contains("Cannot copy out of meta tensor") {
        return &["load_state_dict", "to_empty", "copy_"];
    }
    if message.contains("Could not run 'quantized::") {
        return &[
            "QuantStub",
            "QuantWrapper",
            "add_quant_dequant",
            "quantize_per_channel",
            "quantize_per_tensor",
            "quantize_per_tensor_dynamic",
        ];
    }
    &[]
}
