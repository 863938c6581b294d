//! Which name is bound where, and which uses it has.
use crate::syntax::Program;
/// Scopes
pub struct Scopes;
impl Scopes {
    pub(crate) fn of(_: &Program) -> Self { Self }
}
