//! Reads exceptions off the text of a traceback.
use super::outcome::Exception;
/// The exception that a text shows last.
pub fn parse(_: &str) -> Option<Exception> {
    None
}
