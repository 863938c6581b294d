//! Keeps the head and the tail of a stream while draining all of it. Called by `cold` and `zygote`.

use std::{collections::VecDeque, future::Future, time::Duration};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::outcome::Captured;

/// How long output may stay open after its run has ended.
const LEAK: Duration = Duration::from_secs(1);

/// Drains both streams of a run until its end is reported, then the rest of them. Returns the
/// report and of each stream `limit` bytes at its head and as many at its tail.
pub(super) async fn until_end<R>(
    limit: usize,
    stdout: Option<impl AsyncRead + Unpin>,
    stderr: Option<impl AsyncRead + Unpin>,
    report: impl Future<Output = Option<R>>,
) -> (Option<R>, Captured, Captured) {
    let (mut kept_stdout, mut kept_stderr) = (Capture::new(limit), Capture::new(limit));
    let ended = {
        let drain = async {
            tokio::join!(kept_stdout.drain(stdout), kept_stderr.drain(stderr));
        };
        tokio::pin!(drain, report);
        let mut drained = false;
        let ended = loop {
            tokio::select! {
                ended = &mut report => break ended,
                () = &mut drain, if !drained => drained = true,
            }
        };
        if !drained && ended.is_some() {
            // A process that holds the output open now has outlived its supervisor.
            let _ = tokio::time::timeout(LEAK, drain).await;
        }
        ended
    };
    (ended, kept_stdout.finish(), kept_stderr.finish())
}

/// The part of a stream that is kept so far.
#[derive(Debug)]
struct Capture {
    limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// Keeps `limit` bytes at the head and as many at the tail.
    fn new(limit: usize) -> Self {
        Self {
            limit,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
        }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.limit - self.head.len();
        if room > 0 {
            let (head, rest) = bytes.split_at(room.min(bytes.len()));
            self.head.extend_from_slice(head);
            bytes = rest;
        }
        let bytes = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (self.tail.len() + bytes.len()).saturating_sub(self.limit);
        self.tail.drain(..excess);
        self.tail.extend(bytes);
    }

    /// Reads a stream to its end.
    async fn drain(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.push(&buffer[..count]);
        }
    }

    /// The kept part. Bytes that are no UTF-8 are replaced; a character cut at the seam is left
    /// out.
    fn finish(self) -> Captured {
        let Self {
            mut head,
            tail,
            total,
            ..
        } = self;
        let mut tail: Vec<u8> = tail.into();
        if total == (head.len() + tail.len()) as u64 {
            head.append(&mut tail);
        } else {
            while head.last().is_some_and(|byte| byte & 0xC0 == 0x80) {
                head.pop();
            }
            if head.last().is_some_and(|byte| byte & 0xC0 == 0xC0) {
                head.pop();
            }
            // Bytes 10xxxxxx continue a character that began before the tail.
            let start = tail
                .iter()
                .position(|byte| byte & 0xC0 != 0x80)
                .unwrap_or(0);
            tail.drain(..start);
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Captured {
            head: text(head),
            tail: text(tail),
            total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(limit: usize, pieces: &[&str]) -> Captured {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece.as_bytes());
        }
        capture.finish()
    }

    #[test]
    fn short_streams_are_kept_whole() {
        assert_eq!(
            capture(4, &["ab", "cd", "efgh"]),
            Captured::whole("abcdefgh")
        );
        assert_eq!(capture(4, &[]), Captured::whole(""));
    }

    #[test]
    fn long_streams_keep_their_ends() {
        let captured = capture(4, &["abcdef", "g", "hijklmnop"]);
        assert_eq!(
            (
                captured.head.as_str(),
                captured.tail.as_str(),
                captured.total
            ),
            ("abcd", "mnop", 16)
        );
        assert_eq!(captured.text(), "abcd\n[... 8 bytes cut ...]\nmnop");
    }

    #[test]
    fn a_character_cut_at_the_seam_does_no_harm() {
        let captured = capture(4, &["abcé", "xxxxxxx", "éyé"]);
        assert_eq!(
            (captured.head.as_str(), captured.tail.as_str()),
            ("abc", "yé")
        );
    }
}
