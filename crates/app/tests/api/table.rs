//! Tables of inputs and answers: checked line by line, all mistakes reported at once.

use crate::client::Answer;

/// What a table's line promises: status, code, and the refused fields with their codes.
pub(crate) type Expected<'a> = (u16, &'a str, &'a [(&'a str, &'a str)]);

/// Lines of one table.
///
/// With `SIGNPOST_TEST_TABLE=1` a table prints itself as Markdown, for the documentation and to
/// compare what the two databases answer.
pub(crate) struct Table {
    title: &'static str,
    lines: Vec<String>,
    wrong: Vec<String>,
}

impl Table {
    pub(crate) fn new(title: &'static str) -> Self {
        Self { title, lines: Vec::new(), wrong: Vec::new() }
    }

    /// Notes an answer; one that was not expected is reported when the table ends.
    pub(crate) fn check(&mut self, input: &str, answer: &Answer, expected: Expected<'_>) {
        let (code, refused) = match answer.status {
            400.. => (answer.problem(), answer.refused()),
            _ => (String::new(), Vec::new()),
        };
        let (status, wanted, fields) = expected;
        let fields: Vec<(String, String)> =
            fields.iter().map(|(f, c)| ((*f).to_owned(), (*c).to_owned())).collect();
        let shown = shorten(input);
        if (answer.status, code.as_str(), &refused) != (status, wanted, &fields) {
            self.wrong.push(format!(
                "{shown}\n  expected {status} {wanted} {fields:?}\n  answered {} {}",
                answer.status,
                shorten(&answer.text)
            ));
        }
        let refused: Vec<String> = refused.iter().map(|(f, c)| format!("`{f}` {c}")).collect();
        let shown = shown.replace('|', "\\|");
        self.lines.push(format!(
            "| `{shown}` | {} | {code} | {} |",
            answer.status,
            refused.join(", ")
        ));
    }

    #[expect(clippy::print_stdout, reason = "a table is printed when somebody asks for it")]
    pub(crate) fn finish(self) {
        if std::env::var("SIGNPOST_TEST_TABLE").is_ok_and(|value| value == "1") {
            let head = "| Input | Status | Code | Fields |\n|---|---|---|---|";
            println!("\n### {}\n\n{head}\n{}\n", self.title, self.lines.join("\n"));
        }
        assert!(!self.lines.is_empty(), "a table without lines proves nothing");
        assert!(self.wrong.is_empty(), "{} wrong:\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

/// A text that fits into a table.
fn shorten(text: &str) -> String {
    let clean = |c: char| if c.is_control() { '·' } else { c };
    let count = text.chars().count();
    if count <= 160 {
        return text.chars().map(clean).collect();
    }
    let start: String = text.chars().take(60).map(clean).collect();
    format!("{start}… ({count} characters)")
}
