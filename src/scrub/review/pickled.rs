//! Pickles that are written out in a script: whether they only hold data. Pure. Called by the
//! rules.

/// Modules and names that PyTorch's minifier and plain containers put into pickles.
const HARMLESS: &[(&str, &str)] = &[
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("__builtin__", "set"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("torch", "device"),
    ("torch", "dtype"),
    ("torch", "Size"),
];

/// Whether a pickle calls nothing but the constructors of plain containers. Anything that is not
/// understood counts as a call.
pub(super) fn is_data(bytes: &[u8]) -> bool {
    walk(bytes).is_some()
}

/// Goes over the opcodes up to the end.
fn walk(bytes: &[u8]) -> Option<()> {
    let mut at = 0;
    // The texts in their order; `STACK_GLOBAL` names the last two, if nothing changed the order.
    let mut texts: Vec<&[u8]> = Vec::new();
    let mut in_order = true;
    while let Some(&code) = bytes.get(at) {
        at += 1;
        let mut take = |length: usize| {
            let part = bytes.get(at..at.checked_add(length)?)?;
            at += length;
            Some(part)
        };
        in_order &= !matches!(code, b'0' | b'1' | b'2' | b'h' | b'j' | b'g');
        match code {
            b'.' => return Some(()),
            // Opcodes without an argument that build plain data.
            b'(' | b')' | b']' | b'}' | b'N' | b'\x88' | b'\x89' | b'0' | b'1' | b'2' | b'a'
            | b'e' | b's' | b'u' | b't' | b'\x85' | b'\x86' | b'\x87' | b'l' | b'd' | b'\x8f'
            | b'\x90' | b'\x91' | b'\x94' | b'R' => {}
            b'\x80' | b'K' | b'q' | b'h' => {
                take(1)?;
            }
            b'M' => {
                take(2)?;
            }
            b'J' | b'r' | b'j' => {
                take(4)?;
            }
            b'G' | b'\x95' => {
                take(8)?;
            }
            b'X' | b'B' | b'T' => {
                let length = take(4)?.try_into().map(u32::from_le_bytes).ok()?;
                texts.push(take(length as usize)?);
            }
            b'\x8c' | b'C' | b'U' | b'\x8a' => {
                let length = *take(1)?.first()?;
                texts.push(take(usize::from(length))?);
            }
            b'I' | b'F' | b'L' | b'V' | b'S' | b'p' | b'g' => {
                let end = bytes.get(at..)?.iter().position(|byte| *byte == b'\n')?;
                texts.push(&bytes[at..at + end]);
                at += end + 1;
            }
            b'c' => {
                let rest = bytes.get(at..)?;
                let mut lines = rest.splitn(3, |byte| *byte == b'\n');
                let (module, name) = (lines.next()?, lines.next()?);
                lines.next()?;
                is_harmless(module, name).then_some(())?;
                at += module.len() + name.len() + 2;
            }
            b'\x93' => {
                let [.., module, name] = texts.as_slice() else {
                    return None;
                };
                (in_order && is_harmless(module, name)).then_some(())?;
            }
            _ => return None,
        }
    }
    None
}

fn is_harmless(module: &[u8], name: &[u8]) -> bool {
    HARMLESS
        .iter()
        .any(|known| known.0.as_bytes() == module && known.1.as_bytes() == name)
}

/// Whether bytes look like a pickle that calls something.
pub(super) fn calls(bytes: &[u8]) -> bool {
    let starts = matches!(bytes, [0x80, 2..=5, ..]) || is_old_call(bytes);
    starts && bytes.ends_with(b".") && !is_data(bytes)
}

/// `cos\nsystem\n(...`, the oldest form.
fn is_old_call(bytes: &[u8]) -> bool {
    let ([b'c' | b'i', rest @ ..] | [b'(', b'c' | b'i', rest @ ..]) = bytes else {
        return false;
    };
    let end = rest.iter().position(|byte| *byte == b'\n');
    end.is_some_and(|end| {
        end > 0
            && rest[..end]
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_from_calls() {
        for data in [
            &b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01\x89X\x01\x00\x00\x00bq\x02NK\x01u."[..],
            b"\x80\x04]\x94(K\x01K\x02e.",
            b"\x80\x02cbuiltins\nset\nq\x00]q\x01\x85q\x02Rq\x03.",
            b"(lp0\nI1\naI2\na.",
        ] {
            assert!(is_data(data) && !calls(data), "{data:?}");
        }
        for code in [
            &b"cos\nsystem\n(S'id'\ntR."[..],
            b"\x80\x02cos\nsystem\nq\x00X\x02\x00\x00\x00idq\x01\x85q\x02Rq\x03.",
            b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x02id\x94\x85\x94R\x94.",
            b"\x80\x04b.",
        ] {
            assert!(!is_data(code) && calls(code), "{code:?}");
        }
        assert!(!is_data(b"\x80\x02X\xff\xff\xff\xff."));
        assert!(!calls(b"class A: pass."));
    }
}
