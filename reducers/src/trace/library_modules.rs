//! The modules of packages in which frames of a failure lie. Each is treated as if it were the
//! program: its text, and the evidence with its own frames as those of the failure. Proposes
//! nothing. Called by the driver of extraction.

use crate::{
    rewrite::absolute_imports::absolute_imports,
    syntax::Program,
    trace::evidence::{Evidence, Frame, SourceLine},
};

/// A module of a package, as if it were the program that failed.
pub(crate) struct LibraryModule {
    pub(crate) program: Program,
    pub(crate) evidence: Evidence,
}

impl LibraryModule {
    /// The modules that the failure went through, that of the innermost frame first.
    pub(crate) fn all(program: &Program, evidence: &Evidence) -> Vec<Self> {
        let mut files: Vec<u32> = Vec::new();
        for frame in evidence.library.iter().rev() {
            if !files.contains(&frame.line.file()) {
                files.push(frame.line.file());
            }
        }
        let modules = files.into_iter();
        modules
            .filter_map(|file| Self::of(program, evidence, file))
            .collect()
    }

    fn of(program: &Program, evidence: &Evidence, file: u32) -> Option<Self> {
        let frames: Vec<Frame> = evidence
            .library
            .iter()
            .filter(|frame| frame.line.file() == file)
            .map(as_of_program)
            .collect();
        let text = evidence.text_of(file)?;
        let module = program.sibling(text).ok()?;
        let package = frames.iter().find_map(|frame| frame.package.as_deref());
        let absolute = absolute_imports(&module, package.unwrap_or_default());
        let module = program.sibling(absolute.apply(&module).ok()?).ok()?;
        // Which of its lines ran was not noted: any may have.
        let lines = 1..=module.line_starts().len() as u32;
        let lines = lines.map(|number| (SourceLine::of_program(number), 1));
        let evidence = Evidence {
            hits: lines.clone().collect(),
            entered: lines.collect(),
            failure: frames,
            ..Evidence::default()
        };
        Some(Self {
            program: module,
            evidence,
        })
    }
}

/// A frame with the lines of its file as those of the program.
fn as_of_program(frame: &Frame) -> Frame {
    let own = |line: SourceLine| SourceLine::of_program(line.number());
    Frame {
        line: own(frame.line),
        first_line: own(frame.first_line),
        ..frame.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_the_frames_of_its_own_file() {
        let frame = |file, number| Frame {
            line: SourceLine::of_file(file, number),
            package: Some("shop".to_owned()),
            ..Frame::default()
        };
        let evidence = Evidence {
            files: ["run.py", "a.py", "b.py"].map(str::to_owned).into(),
            sources: [(1, "x = 1\n"), (2, "from .a import x\r\ny = x\r\n")]
                .map(|(file, text)| (file, text.to_owned()))
                .into(),
            library: vec![frame(1, 1), frame(2, 1), frame(1, 2)],
            ..Evidence::default()
        };
        let program = Program::parse("import a\n").unwrap();
        let [inner, outer] = &LibraryModule::all(&program, &evidence)[..] else {
            panic!("two modules")
        };
        let lines = |module: &LibraryModule| -> Vec<Option<u32>> {
            let frames = module.evidence.failure.iter();
            frames.map(|frame| frame.line.in_program()).collect()
        };
        assert_eq!(lines(inner), [Some(1), Some(2)]);
        assert_eq!(lines(outer), [Some(1)]);
        assert_eq!(outer.program.text(), "from shop.a import x\ny = x\n");
    }
}
