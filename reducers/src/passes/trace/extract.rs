//! The driver of extraction: a region of a traced program, or of a package's module in which the
//! failure lies, becomes a script. A strategy picks regions and says which of their reads are
//! replaced by recorded values. The driver prints the values, adds the slice of the program or
//! module that sets up the rest, tidies the script and keeps it if it is simpler. It has no opinion
//! on which regions are worth trying. Called by the strategies.

use std::fmt::Write;

use crate::{
    analysis::{
        recorded_calls::ModuleCall,
        slice::{Depth, Slicer},
        statement_tree::{Read, StatementTree},
    },
    modules::standard::is_standard,
    pass::{PassContext, Prior, Proposals, whole_text},
    passes::python::{
        drop_blank_lines::DROP_BLANK_LINES, drop_comments::DROP_COMMENTS,
        drop_docstrings::DROP_DOCSTRINGS, drop_unused_imports::DROP_UNUSED_IMPORTS,
    },
    rewrite::{
        edit::{Edit, EditSet, rewritten},
        merge_modules::{MergedModule, merge},
        parenthesize::one_logical_line,
    },
    syntax::{AnyNodeRef, Program, Ranged, TextRange, scope::ScopeKind},
    torch::packages::KEPT,
    trace::{
        evidence::{Evidence, Frame, MissingSymbols},
        library_modules::LibraryModule,
    },
};

/// A part of a traced program, and the frame whose values its names have there.
#[derive(Clone, Copy)]
pub(crate) struct Region<'e> {
    /// The statement that the frame was at.
    pub(crate) statement: usize,
    /// The part of it.
    pub(crate) range: TextRange,
    pub(crate) frame: &'e Frame,
}

/// A traced program, or a module of a package that it ran, from which regions are extracted.
pub(crate) struct Extraction<'a> {
    /// The text from which regions are extracted.
    pub(crate) program: &'a Program,
    pub(crate) evidence: &'a Evidence,
    pub(crate) missing: &'a MissingSymbols,
    pub(crate) tree: StatementTree<'a>,
    /// The program that the script replaces, with its evidence, if that is another program.
    replaced: Option<(&'a Program, &'a Evidence)>,
}

impl<'a> Extraction<'a> {
    /// The program of a context, if it was traced.
    pub(crate) fn of(cx: &PassContext<'a>) -> Option<Self> {
        let evidence = cx.evidence?;
        Some(Self {
            program: cx.program,
            evidence,
            missing: cx.missing,
            tree: StatementTree::of(cx.program, evidence),
            replaced: None,
        })
    }

    /// The modules of packages in which the program of a context failed, that of the innermost
    /// frame first.
    pub(crate) fn library(cx: &PassContext<'_>) -> Vec<LibraryModule> {
        let evidence = cx.evidence.into_iter();
        evidence
            .flat_map(|evidence| LibraryModule::all(cx.program, evidence))
            .collect()
    }

    /// A module of a package, from which a script for the program of a context is extracted.
    pub(crate) fn of_module<'c: 'a>(cx: &PassContext<'c>, module: &'a LibraryModule) -> Self {
        Self {
            program: &module.program,
            evidence: &module.evidence,
            missing: cx.missing,
            tree: StatementTree::of(&module.program, &module.evidence),
            replaced: cx.evidence.map(|evidence| (cx.program, evidence)),
        }
    }

    /// Whether regions are those of a package.
    pub(crate) fn is_of_library(&self) -> bool {
        self.replaced.is_some()
    }

    /// The frames of the failure that ran as they are written, innermost first.
    pub(crate) fn failing_frames(&self) -> impl Iterator<Item = &'a Frame> {
        let frames = self.evidence.failure.iter().rev();
        frames.filter(|frame| !frame.compiled)
    }

    /// The modules of the program that were called.
    pub(crate) fn modules(&self) -> Vec<ModuleCall<'a>> {
        ModuleCall::all(&self.tree, self.evidence)
    }

    /// The statement that a frame was at.
    pub(crate) fn region<'e>(&self, frame: &'e Frame) -> Option<Region<'e>> {
        let statement = self.tree.on_line(frame.line)?;
        let range = self.tree.statements[statement].range;
        Some(Region {
            statement,
            range,
            frame,
        })
    }

    /// Whether the statement of a region reports a failure itself. Alone, it would report it
    /// whatever came before.
    pub(crate) fn reports(&self, region: Region<'_>) -> bool {
        matches!(
            self.tree.statements[region.statement].node,
            AnyNodeRef::StmtRaise(_) | AnyNodeRef::StmtAssert(_)
        )
    }

    /// The expression of a region that failed, if that is known and not all of it.
    pub(crate) fn expression<'e>(&self, region: Region<'e>) -> Option<Region<'e>> {
        // Columns are those of the file as the interpreter read it. They are trusted only where an
        // expression stands: an edit or an odd encoding in between would cut names in half.
        let (first_line, first, last_line, last) = region.frame.place;
        let start = self.tree.offset(first_line?, first?)?;
        let end = self.tree.offset(last_line?, last?)?;
        let range = (start < end).then(|| TextRange::new(start, end))?;
        let mut nodes = self.program.tree().nodes.iter();
        let is_expression =
            nodes.any(|node| node.node.is_expression() && node.node.range() == range);
        let is_part = range != region.range && region.range.contains_range(range);
        (is_expression && is_part).then_some(Region { range, ..region })
    }

    /// The expression that a frame failed in, or else the value of its statement.
    pub(crate) fn failing<'e>(&self, frame: &'e Frame) -> Option<Region<'e>> {
        let whole = self.region(frame)?;
        self.expression(whole).or_else(|| {
            let range = self.tree.statements[whole.statement].value()?.range();
            Some(Region { range, ..whole })
        })
    }

    /// A part of a frame's statement with values instead of its reads, except for some names.
    /// `None` if a value is not known.
    pub(crate) fn given(&self, part: TextRange, frame: &Frame, staying: &[&str]) -> Option<String> {
        let reads = self.tree.values_in(part, frame, staying)?;
        self.printed(part, &reads, |read| read.value.text())
    }

    /// A part of the program with texts instead of its reads, as one logical line.
    pub(crate) fn printed<'t>(
        &self,
        part: TextRange,
        reads: &'t [Read<'a, 't>],
        text: impl Fn(&'t Read<'a, 't>) -> &'t str,
    ) -> Option<String> {
        let edits = reads
            .iter()
            .map(|read| Edit::replace(read.range, text(read)));
        let edits: Vec<Edit> = edits.collect();
        Some(one_logical_line(&rewritten(self.program, part, &edits)?))
    }

    /// Proposes each code alone, after the parts of the program that it needs, at each depth.
    pub(crate) fn propose_alone(
        &self,
        out: &mut Proposals,
        codes: impl IntoIterator<Item = String>,
        depths: &[Depth],
        note: &str,
    ) {
        for code in codes {
            for &depth in depths {
                if let Some(edits) = self.alone(&code, depth) {
                    out.propose(edits, Prior::Even, note);
                }
            }
        }
    }

    /// The program as some code alone, after the parts of the program that the code needs.
    fn alone(&self, code: &str, depth: Depth) -> Option<EditSet> {
        let parsed = Program::parse(code).ok()?;
        let nodes = parsed.tree().nodes.iter();
        // The code makes its objects itself, by name. So, of the program's changes to attributes,
        // only those count that the code itself reads. If all counted, every assignment to an
        // attribute of such a name would add its function, and nothing would be left out.
        let attributes = nodes.filter_map(|node| match node.node {
            AnyNodeRef::ExprAttribute(attribute) => Some(attribute.attr.id.clone()),
            _ => None,
        });
        let slicer = Slicer::new(&self.tree, self.evidence, self.missing, depth);
        let mut slicer = slicer.anew(attributes);
        slicer.keep_names_of(code);
        let set_up = slicer.text_set_up().unwrap_or_default();
        self.simpler(set_up + code)
    }

    /// The edit that makes the program a text, tidied, if that is simpler.
    pub(crate) fn simpler(&self, text: String) -> Option<EditSet> {
        let Some((program, evidence)) = self.replaced else {
            return whole_text(self.program, &tidied(self.program, text)?);
        };
        let text = with_names_of(program, evidence, &text)?;
        whole_text(program, &tidied(program, text)?)
    }
}

/// A text from a module, with the other things that it names: definitions of the program, and
/// modules by their own names. Nothing if it names anything else.
fn with_names_of(program: &Program, evidence: &Evidence, text: &str) -> Option<String> {
    let extracted = program.sibling(text).ok()?;
    let unbound = extracted.scopes().unbound_names();
    let tree = StatementTree::of(program, evidence);
    let missing = MissingSymbols::default();
    let mut slicer = Slicer::new(&tree, evidence, &missing, Depth::Thin);
    for name in &unbound {
        slicer.keep_names_of(name);
    }
    let own = program.sibling(slicer.text()?).ok()?;
    let bound = |name: &&&str| {
        let mut variables = own.scopes().variables.iter();
        variables.any(|variable| variable.scope == ScopeKind::Module && variable.name == ***name)
    };
    let mut imports = String::new();
    for name in unbound.iter().filter(|name| !bound(name)) {
        if !is_standard(name) && !KEPT.contains(name) {
            return None;
        }
        let _ = writeln!(imports, "import {name}");
    }
    let imports = program.sibling(imports).ok()?;
    let parts = [&imports, &own, &extracted].map(|program| MergedModule {
        program,
        package: "",
        file: None,
        edits: EditSet::default(),
    });
    Some(merge(&parts).ok()?.text)
}

/// A text without the parts that only help readers, and without imports that nothing uses.
fn tidied(program: &Program, mut text: String) -> Option<String> {
    // Each of these removals is nearly certain to succeed, and the runs to prove that would cost as
    // much as any, so the script is tried without all of them at once. Comments are removed first,
    // since docstrings and blank lines are left around them.
    for pass in [
        &DROP_COMMENTS,
        &DROP_DOCSTRINGS,
        &DROP_UNUSED_IMPORTS,
        &DROP_BLANK_LINES,
    ] {
        let program = program.sibling(text.as_str()).ok()?;
        let all = pass.proposals(&program);
        let sure = all
            .iter()
            .filter(|proposal| proposal.prior != Prior::Unlikely);
        let all = sure.fold(EditSet::default(), |all, proposal| {
            all.union(&proposal.edits)
        });
        text = all.apply(&program).unwrap_or(text);
    }
    Some(text)
}
