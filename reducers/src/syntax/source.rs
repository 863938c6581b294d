//! From bytes to text and back, as Python's tokenizer does it (PEP 263). Knows nothing of syntax.
//! Called by `syntax`.

use encoding_rs::Encoding;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Why bytes are no source text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes do not fit the encoding.
    #[error("the bytes on line {line} are not {encoding}")]
    Malformed {
        /// The encoding, as its cookie names it.
        encoding: String,
        /// The first line that does not fit, counted from 1.
        line: u32,
    },
    /// The cookie names an encoding that is not known here.
    #[error("unknown encoding `{0}` in the coding comment")]
    UnknownEncoding(String),
    /// Offsets are 32 bits wide.
    #[error("the file is larger than 1 GiB")]
    TooLarge,
}

/// The text of a source file and whether it began with a byte order mark.
pub fn decode(bytes: &[u8]) -> Result<(String, bool), DecodeError> {
    if bytes.len() > 1 << 30 {
        return Err(DecodeError::TooLarge);
    }
    let (body, bom) = bytes
        .strip_prefix(BOM)
        .map_or((bytes, false), |rest| (rest, true));
    let label = cookie(&String::from_utf8_lossy(&body[..first_two_lines(body)]));
    let malformed = |at: usize| DecodeError::Malformed {
        encoding: label.clone().unwrap_or_else(|| "UTF-8".to_owned()),
        line: body[..at].split(|&byte| byte == b'\n').count() as u32,
    };
    let text = match Charset::of(label.as_deref())? {
        Charset::Utf8 => std::str::from_utf8(body)
            .map_err(|error| malformed(error.valid_up_to()))?
            .to_owned(),
        Charset::Latin1 => body.iter().map(|&byte| char::from(byte)).collect(),
        Charset::Other(encoding) => encoding
            .decode_without_bom_handling_and_without_replacement(body)
            .ok_or_else(|| malformed(0))?
            .into_owned(),
    };
    Ok((text, bom))
}

/// The bytes of a source text, in the encoding that its own coding comment names; `None` if it
/// cannot hold the text.
pub fn encode(text: &str, bom: bool) -> Option<Vec<u8>> {
    let label = cookie(&text[..first_two_lines(text.as_bytes())]);
    let mut bytes = if bom { BOM.to_vec() } else { Vec::new() };
    match Charset::of(label.as_deref()).ok()? {
        Charset::Utf8 => bytes.extend_from_slice(text.as_bytes()),
        Charset::Latin1 => {
            for char in text.chars() {
                bytes.push(u8::try_from(u32::from(char)).ok()?);
            }
        }
        Charset::Other(encoding) => {
            let (encoded, _, unmappable) = encoding.encode(text);
            if unmappable {
                return None;
            }
            bytes.extend_from_slice(&encoded);
        }
    }
    Some(bytes)
}

/// Whether a text still names the encoding that another one names, or does not need to.
pub(crate) fn keeps_encoding(before: &str, after: &str) -> bool {
    let named = |text: &str| cookie(&text[..first_two_lines(text.as_bytes())]);
    let label = named(before);
    matches!(Charset::of(label.as_deref()), Ok(Charset::Utf8))
        || after.is_ascii()
        || named(after) == label
}

enum Charset {
    Utf8,
    /// ISO 8859-1 proper: the WHATWG table calls windows-1252 by that name, Python does not.
    Latin1,
    Other(&'static Encoding),
}

impl Charset {
    fn of(label: Option<&str>) -> Result<Self, DecodeError> {
        let Some(label) = label else {
            return Ok(Self::Utf8);
        };
        let name = label.to_ascii_lowercase().replace('_', "-");
        if name == "utf-8"
            || name == "utf8"
            || name.starts_with("utf-8-")
            || name.ends_with("ascii")
        {
            return Ok(Self::Utf8);
        }
        if ["latin-1", "latin1", "iso-8859-1", "iso8859-1", "l1", "8859"].contains(&name.as_str()) {
            return Ok(Self::Latin1);
        }
        Encoding::for_label(name.as_bytes())
            .map(Self::Other)
            .ok_or_else(|| DecodeError::UnknownEncoding(label.to_owned()))
    }
}

fn first_two_lines(bytes: &[u8]) -> usize {
    let mut ends = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
    ends.nth(1).map_or(bytes.len(), |(at, _)| at)
}

/// The encoding that a comment on one of the first two lines names; the second line counts only
/// below a line that is blank or a comment.
fn cookie(text: &str) -> Option<String> {
    for line in text.lines().take(2) {
        let line = line.trim_start_matches([' ', '\t', '\x0c']);
        if let Some(comment) = line.strip_prefix('#') {
            if let Some(found) = cookie_in(comment) {
                return Some(found);
            }
        } else if !line.trim_end().is_empty() {
            return None;
        }
    }
    None
}

fn cookie_in(comment: &str) -> Option<String> {
    for (at, found) in comment.match_indices("coding") {
        let rest = &comment[at + found.len()..];
        let Some(rest) = rest.strip_prefix([':', '=']) else {
            continue;
        };
        let name: String = rest
            .trim_start_matches([' ', '\t'])
            .chars()
            .take_while(|char| char.is_ascii_alphanumeric() || "-_.".contains(*char))
            .collect();
        if !name.is_empty() {
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> String {
        let (text, bom) = decode(bytes).unwrap();
        assert_eq!(encode(&text, bom).unwrap(), bytes);
        text
    }

    #[test]
    fn encodings_survive_the_way_there_and_back() {
        assert_eq!(round_trip("x = 'é'\r\n".as_bytes()), "x = 'é'\r\n");
        assert_eq!(round_trip(b"\xef\xbb\xbfx = 1"), "x = 1");
        assert_eq!(
            round_trip(b"# -*- coding: latin-1 -*-\nx = '\xe9\x80'\n")
                .chars()
                .last(),
            Some('\n')
        );
        assert_eq!(
            round_trip(b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'"),
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'€'"
        );
    }

    #[test]
    fn a_text_without_its_cookie_is_utf8() {
        let (text, bom) = decode(b"# coding: latin-1\nx = '\xe9'\n").unwrap();
        let rest = text.split_once('\n').unwrap().1;
        assert_eq!(encode(rest, bom).unwrap(), "x = 'é'\n".as_bytes());
    }

    #[test]
    fn a_text_that_needs_its_cookie_keeps_it() {
        let script = "# coding: euc-jp\nx = '漢'\ny = 1\n";
        assert!(keeps_encoding(script, "# coding: euc-jp\nx = '漢'\n"));
        assert!(keeps_encoding(script, "y = 1\n"));
        assert!(!keeps_encoding(script, "x = '漢'\n"));
        assert!(keeps_encoding("# coding: utf-8\nx = '漢'\n", "x = '漢'\n"));
    }

    #[test]
    fn texts_of_many_encodings_survive() {
        for (label, text) in [
            ("latin-1", "café"),
            ("iso-8859-2", "łódź"),
            ("iso-8859-15", "œ€"),
            ("cp1252", "œ€“"),
            ("cp1251", "привет"),
            ("koi8-r", "привет"),
            ("shift_jis", "漢字カナ"),
            ("euc-jp", "漢字カナ"),
            ("big5", "漢字"),
            ("gb2312", "汉字"),
            ("gb18030", "汉字"),
            ("euc-kr", "한글"),
        ] {
            for newline in ["\n", "\r\n"] {
                let text = format!("# -*- coding: {label} -*-{newline}x = '{text}'{newline}");
                let bytes = encode(&text, false).unwrap();
                assert!(std::str::from_utf8(&bytes).is_err(), "{label}");
                assert_eq!(decode(&bytes), Ok((text.clone(), false)), "{label}");
                assert_eq!(encode(&text, false).unwrap(), bytes, "{label}");
            }
        }
    }

    #[test]
    fn a_cookie_counts_only_in_the_first_two_lines() {
        assert_eq!(cookie("import os\n# coding: latin-1"), None);
        assert_eq!(cookie("\n# coding: latin-1"), Some("latin-1".to_owned()));
    }

    #[test]
    fn bad_bytes_are_placed() {
        assert_eq!(
            decode(b"x = 1\ny = '\xff'\n"),
            Err(DecodeError::Malformed {
                encoding: "UTF-8".to_owned(),
                line: 2
            })
        );
        assert_eq!(
            decode(b"# coding: klingon\n"),
            Err(DecodeError::UnknownEncoding("klingon".to_owned()))
        );
    }
}
