//! A pseudo-terminal of a size, and what a person sees on it.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    num::NonZero,
    os::fd::OwnedFd,
    process::{Command, ExitStatus, Stdio},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

/// All that a command wrote to its terminal.
pub(crate) struct OnTerminal {
    pub(crate) status: ExitStatus,
    pub(crate) bytes: Vec<u8>,
    /// From which byte on the terminal was how wide.
    widths: Vec<(usize, u16)>,
}

const ROWS: u16 = 60;

/// Runs a command with a terminal as wide as this for all its streams; a change of the width comes
/// once the text of `resized` was written.
pub(crate) fn on_terminal(
    command: Command,
    columns: u16,
    resized: Option<(&str, u16)>,
) -> OnTerminal {
    converse(command, columns, resized, &[])
}

/// Runs a command with a terminal for all its streams, where somebody types each answer once its
/// question was asked.
pub(crate) fn answering(command: Command, answers: &[(&str, &str)]) -> OnTerminal {
    converse(command, 100, None, answers)
}

fn converse(
    mut command: Command,
    columns: u16,
    resized: Option<(&str, u16)>,
    answers: &[(&str, &str)],
) -> OnTerminal {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let set_width = |columns| {
        let size = Winsize {
            ws_row: ROWS,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
    };
    set_width(columns);
    let stream = || Stdio::from(OwnedFd::from(slave.try_clone().unwrap()));
    command.stdin(stream()).stdout(stream()).stderr(stream());
    let mut child = command.spawn().unwrap();
    // With the copies that it holds, the terminal would not end with the child.
    drop(command);
    drop(slave);
    let mut reader = File::from(master.try_clone().unwrap());
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let mut widths = vec![(0, columns)];
    let mut resized = resized;
    let (mut answers, mut read) = (answers.iter(), 0);
    let mut next = answers.next();
    let mut typing = File::from(master.try_clone().unwrap());
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
        if let Some((text, width)) = resized
            && String::from_utf8_lossy(&bytes).contains(text)
        {
            set_width(width);
            widths.push((bytes.len(), width));
            resized = None;
        }
        while let Some((question, answer)) = next
            && let Some(at) = bytes[read..]
                .windows(question.len())
                .position(|part| part == question.as_bytes())
        {
            read += at + question.len();
            typing.write_all(format!("{answer}\n").as_bytes()).unwrap();
            next = answers.next();
        }
    }
    OnTerminal {
        status: child.wait().unwrap(),
        bytes,
        widths,
    }
}

impl OnTerminal {
    /// What is on the screen after each piece, of which each ends with a move to the line's begin.
    fn screens(&self, rows: u16, mut see: impl FnMut(&vt100::Screen)) {
        let size = |size| NonZero::new(size).unwrap();
        let mut parser = vt100::Parser::new(size(rows), size(self.widths[0].1), 0);
        let mut at = 0;
        for piece in self
            .bytes
            .split_inclusive(|byte| matches!(byte, b'\r' | b'\n'))
        {
            parser.process(piece);
            see(parser.screen());
            at += piece.len();
            let width = self.widths.iter().rfind(|(from, _)| *from <= at);
            let width = width.map_or(parser.screen().size().1, |(_, width)| size(*width));
            if parser.screen().size().1 != width {
                parser.set_size(size(rows), width);
            }
        }
    }

    /// The lines that are on the screen at last, and those above it.
    pub(crate) fn screen(&self) -> String {
        let mut last = String::new();
        self.screens(2000, |screen| last = screen.contents());
        let lines = last.lines().map(str::trim_end);
        lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Every line that was on the screen at any time.
    pub(crate) fn moments(&self) -> Vec<String> {
        let mut seen: Vec<String> = Vec::new();
        self.screens(ROWS, |screen| {
            // As they are seen: a line that fills its row leads to the next one without an end.
            for line in screen.rows(0, screen.size().1.get()) {
                let line = line.trim_end();
                if !line.is_empty() && !seen.iter().any(|known| known == line) {
                    seen.push(line.to_owned());
                }
            }
        });
        seen
    }
}
