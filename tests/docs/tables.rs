//! Tables that are written from the code. A page holds `<!-- generated: NAME -->`, the table, and
//! `<!-- end of generated -->`; `MINREPRO_BLESS=1 cargo test --test all docs::tables` rewrites
//! them.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use clap::{Command, CommandFactory};
use minrepro::{cli::Cli, oracle::FORMS, report::write_atomically};
use minrepro_reducers::registry::PASSES;
use quote::ToTokens;

use super::{markdown::Page, pages, root};

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end of generated -->";

/// The table of a name; none if there is no such table.
fn table(name: &str) -> Option<String> {
    match name.split(' ').collect::<Vec<_>>()[..] {
        ["passes"] => Some(passes()),
        ["code", path] => Some(excerpt(path, false)),
        ["tests", path] => Some(excerpt(path, true)),
        ["signatures"] => Some(signatures()),
        ["exit-status"] => Some(exit_status(&Cli::command())),
        ["exit-status", verb] => Cli::command().find_subcommand(verb).map(exit_status),
        ["options", ref verbs @ ..] => options(verbs),
        ["fields", room, name] => {
            let parts = parts(room, name).into_iter();
            Some(described(&["field", "what it holds"], parts))
        }
        ["events"] => Some(events()),
        ["variants", room, name] => {
            let parts = parts(room, name).into_iter();
            Some(described(&["name", "when"], parts))
        }
        _ => None,
    }
}

fn passes() -> String {
    let mut text = header(&["pass", "stage", "what it does"]);
    for pass in PASSES {
        row(
            &mut text,
            &[
                &format!("`{}`", pass.id),
                pass.stage.name(),
                &pass.summary(),
            ],
        );
    }
    text
}

fn signatures() -> String {
    let mut text = header(&["form", "what it matches", "example"]);
    for form in FORMS {
        let syntax: Vec<String> = form
            .syntax
            .iter()
            .map(|spelling| format!("`{spelling}`"))
            .collect();
        let example = format!("`{}`", escaped(form.example));
        row(
            &mut text,
            &[&syntax.join(", "), &escaped(form.summary), &example],
        );
    }
    text
}

/// The exit statuses that the help of a command lists: a number, spaces and a meaning.
fn exit_status(command: &Command) -> String {
    let help = command.clone().render_long_help().to_string();
    let (_, section) = help
        .split_once("\nExit status:\n")
        .unwrap_or_else(|| panic!("the help of `{}` lists no status", command.get_name()));
    let lines = section.lines().map_while(|line| line.strip_prefix("  "));
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in lines {
        match (line.split_once(' '), rows.last_mut()) {
            (Some((status, meaning)), _) if status.parse::<u8>().is_ok() => {
                rows.push((status.to_owned(), meaning.trim().to_owned()));
            }
            // A meaning that goes on in the next line.
            (_, Some((_, meaning))) => {
                let _ = write!(meaning, " {}", line.trim());
            }
            _ => panic!("no exit status: {line}"),
        }
    }
    described(&["status", "meaning"], rows.into_iter())
}

fn described(columns: &[&str], rows: impl Iterator<Item = (String, String)>) -> String {
    let mut text = header(columns);
    for (term, meaning) in rows {
        row(&mut text, &[&format!("`{term}`"), &escaped(&meaning)]);
    }
    text
}

/// The fields of a struct, or the variants of an enum, as they are written in JSON, with the first
/// paragraphs of their documentation. The type is looked for in a room of `src/`.
fn parts(room: &str, name: &str) -> Vec<(String, String)> {
    let folder = root().join("src").join(room);
    for path in files(&folder) {
        let tree = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
        for item in tree.items {
            match item {
                syn::Item::Struct(item) if item.ident == name => {
                    return item
                        .fields
                        .iter()
                        .flat_map(|field| of_field(room, field))
                        .collect();
                }
                syn::Item::Enum(item) if item.ident == name => {
                    let is_snake = is_marked(&item.attrs, "snake_case");
                    return item
                        .variants
                        .iter()
                        .map(|variant| {
                            let name = variant.ident.to_string();
                            let name = if is_snake { snake(&name) } else { name };
                            (name, summary(&variant.attrs))
                        })
                        .collect();
                }
                _ => {}
            }
        }
    }
    panic!("src/{room} defines no type `{name}`");
}

/// The events with their fields.
fn events() -> String {
    let path = root().join("src/report/events.rs");
    let tree = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
    let mut text = header(&["event", "when", "fields"]);
    let items = tree.items.into_iter();
    let found = items.filter_map(|item| match item {
        syn::Item::Enum(item) if item.ident == "EventRecord" => Some(item.variants),
        _ => None,
    });
    for variant in found.flatten() {
        let name = snake(&variant.ident.to_string()).replace('_', "-");
        let fields = variant.fields.iter().flat_map(|field| match &field.ident {
            Some(_) => of_field("report", field),
            None => vec![("those of the report".to_owned(), String::new())],
        });
        let fields: Vec<String> = fields.map(|(name, _)| format!("`{name}`")).collect();
        let fields = fields
            .join(", ")
            .replace("`those of the report`", "those of the report");
        row(
            &mut text,
            &[
                &format!("`{name}`"),
                &escaped(&summary(&variant.attrs)),
                &fields,
            ],
        );
    }
    text
}

/// A field with its documentation; for one that is flattened, the fields of its type.
fn of_field(room: &str, field: &syn::Field) -> Vec<(String, String)> {
    if is_marked(&field.attrs, "flatten") {
        return parts(room, &field.ty.to_token_stream().to_string());
    }
    let name = field.ident.as_ref().map(ToString::to_string);
    vec![(name.unwrap_or_default(), summary(&field.attrs))]
}

/// Whether an attribute of serde holds a word.
fn is_marked(attributes: &[syn::Attribute], word: &str) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        attribute.path().is_ident("serde") && text.contains(word)
    })
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The first paragraph of a doc comment.
fn summary(attributes: &[syn::Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let syn::Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let syn::Expr::Lit(literal) = &pair.value
            && let syn::Lit::Str(line) = &literal.lit
        {
            lines.push(line.value().trim().to_owned());
        }
    }
    let paragraph: Vec<String> = lines
        .into_iter()
        .take_while(|line| !line.is_empty())
        .collect();
    paragraph.join(" ")
}

fn snake(name: &str) -> String {
    let mut found = String::new();
    for char in name.chars() {
        if char.is_uppercase() && !found.is_empty() {
            found.push('_');
        }
        found.push(char.to_ascii_lowercase());
    }
    found
}

/// The options of a verb, or of a verb of a verb; `reduce` stands for the default one.
fn options(verbs: &[&str]) -> Option<String> {
    let mut command = Cli::command();
    command.build();
    let mut chosen = &command;
    for verb in verbs.iter().filter(|verb| **verb != "reduce") {
        chosen = chosen.find_subcommand(verb)?;
    }
    let mut text = header(&["option", "what it does"]);
    for argument in chosen.get_arguments() {
        let is_common = verbs != ["reduce"] && argument.is_global_set();
        if argument.is_hide_set()
            || is_common
            || ["help", "version"].contains(&argument.get_id().as_str())
        {
            continue;
        }
        let values: String = match argument.get_value_names() {
            Some(names) if argument.get_action().takes_values() => {
                names.iter().map(|name| format!(" {name}")).collect()
            }
            _ => String::new(),
        };
        let term = match (argument.get_short(), argument.get_long()) {
            (Some(short), Some(long)) => format!("`-{short}`, `--{long}{values}`"),
            (None, Some(long)) => format!("`--{long}{values}`"),
            _ => format!("`{}`", values.trim()),
        };
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        row(&mut text, &[&term, &escaped(&help)]);
    }
    Some(text)
}

/// A Rust file up to its unit tests, or these tests.
fn excerpt(path: &str, of_tests: bool) -> String {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let (code, tests) = text.split_once("#[cfg(test)]\n").unwrap_or((&text, ""));
    let chosen = if of_tests { tests } else { code };
    format!("```rust,ignore\n{}\n```\n", chosen.trim())
}

fn header(columns: &[&str]) -> String {
    let mut text = String::new();
    row(&mut text, columns);
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len()));
    text
}

fn row(text: &mut String, cells: &[&str]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// A page with all its tables as the code has them.
fn rendered(page: &Page) -> String {
    let mut text = String::new();
    let mut rest = page.text.as_str();
    while let Some((before, behind)) = rest.split_once(BEGIN) {
        let (name, behind) = behind.split_once(" -->").unwrap();
        let (_, behind) = behind
            .split_once(END)
            .unwrap_or_else(|| panic!("{}: table `{name}` has no end", page.path.display()));
        let table = table(name)
            .unwrap_or_else(|| panic!("{}: there is no table `{name}`", page.path.display()));
        let _ = write!(text, "{before}{BEGIN}{name} -->\n\n{table}\n{END}");
        rest = behind;
    }
    text + rest
}

#[test]
fn tables_are_those_of_the_code() {
    let bless = std::env::var_os("MINREPRO_BLESS").is_some();
    let mut stale = Vec::new();
    let mut tables = 0;
    for page in pages() {
        tables += page.text.matches(BEGIN).count();
        let text = rendered(&page);
        if text != page.text {
            stale.push(page.path.display().to_string());
            if bless {
                write_atomically(&root().join(&page.path), text.as_bytes()).unwrap();
            }
        }
    }
    assert!(tables >= 10, "only {tables} tables were found");
    assert!(
        bless || stale.is_empty(),
        "tables differ from the code; MINREPRO_BLESS=1 rewrites them in {}",
        stale.join(", ")
    );
}

#[test]
fn a_table_that_differs_is_rewritten() {
    let text = format!("a\n{BEGIN}passes -->\nold\n{END}\nb\n");
    let page = Page::parse("here.md", text);
    let text = rendered(&page);
    assert!(text.starts_with("a\n") && text.ends_with(&format!("{END}\nb\n")));
    assert!(text.contains("| `drop-elements` | detail |") && !text.contains("old"));
    let statuses = table("exit-status").unwrap();
    assert!(
        statuses.contains("| `70` |") && statuses.contains("| `0` |"),
        "{statuses}"
    );
    let forms = table("signatures").unwrap();
    assert!(
        forms.contains("| `exit:N`") && forms.contains("| `timeout` |"),
        "{forms}"
    );
    let fields = table("fields report Report").unwrap();
    assert!(fields.contains("| `version` | The version"), "{fields}");
    assert!(
        fields.contains("| `journal_hits` |") && !fields.contains("| `counts` |"),
        "{fields}"
    );
    let verdicts = table("variants oracle Verdict").unwrap();
    assert!(verdicts.contains("| `timed_out` |"), "{verdicts}");
    let options = table("options check").unwrap();
    assert!(options.contains("`-n`, `--runs N`"), "{options}");
    assert_eq!(table("options nonsense"), None);
}

#[test]
fn the_page_of_the_truth_cases_lists_them_and_their_holes() {
    let corpus = root().join("corpus/truth");
    let page = fs::read_to_string(corpus.join("README.md")).unwrap();
    let (cases, holes) = page.split_once("## Known holes").unwrap();
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for folder in fs::read_dir(&corpus).unwrap() {
        let folder = folder.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("case.toml")) else {
            continue;
        };
        let case = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let toml: toml::Table = text.parse().unwrap();
        let programs = toml.get("holes").and_then(toml::Value::as_table);
        let programs = programs.into_iter().flat_map(toml::Table::keys);
        found[1].extend(programs.map(|program| (case.clone(), program.clone())));
        let needs = toml.get("packages").and_then(toml::Value::as_table);
        let needs: Vec<_> = needs.into_iter().flat_map(toml::Table::keys).collect();
        found[0].insert((case, needs.into_iter().cloned().collect()));
    }
    let rows = |text: &str, columns: usize| -> BTreeSet<(String, String)> {
        let lines = text.lines().filter(|line| line.starts_with("| `"));
        let cells = |line: &str| -> Vec<String> {
            let cells = line.split('|').skip(1).take(2);
            cells.map(|cell| cell.trim().replace('`', "")).collect()
        };
        let all = lines.map(cells).flat_map(|row| {
            let programs = row[1].split(", ").map(str::to_owned);
            let programs: Vec<_> = programs.take(columns).collect();
            programs.into_iter().map(move |each| (row[0].clone(), each))
        });
        all.collect()
    };
    assert_eq!(rows(cases, 1), found[0]);
    assert_eq!(rows(holes, usize::MAX), found[1]);
}
