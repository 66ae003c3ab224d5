//! reviewer asks a model what is wrong with a diff, and writes a report with file and line.

use serde::Deserialize;
use std::collections::BTreeSet;
use wharf::{ArtifactKind, ArtifactPutRequest, Failure, ModelMessage, ModelRequest, Outcome, Result, Task};

const SYSTEM: &str = "You review code. Answer with a JSON array and nothing else: for each mistake in the lines that the \
    diff adds, {\"file\", \"line\" (in the new file), \"severity\" (error, warning or note), \"text\"}.";

/// One thing that the model finds.
#[derive(Deserialize)]
struct Finding {
    file: String,
    line: usize,
    severity: String,
    text: String,
}

#[wharf::main]
fn review(task: &Task) -> Result<Outcome> {
    let diff = task.text();
    let added = added_lines(&diff);
    if added.is_empty() {
        return Err(Failure::new("no_diff", "this is no unified diff that adds a line"));
    }
    let (real, invented): (Vec<Finding>, Vec<Finding>) =
        ask(diff)?.into_iter().partition(|f| added.contains(&(f.file.clone(), f.line)));
    for f in &invented {
        wharf::log("warn", &format!("{}:{} is not in the diff: {}", f.file, f.line, f.text))?;
    }
    let report: String = real.iter().map(|f| format!("{}:{}: {}: {}\n", f.file, f.line, f.severity, f.text)).collect();
    wharf::artifact_put(
        &ArtifactPutRequest {
            kind: ArtifactKind::FILE,
            mime_type: "text/plain".into(),
            name: "review.txt".into(),
            ..Default::default()
        },
        report.as_bytes(),
    )?;
    wharf::reply(if real.is_empty() { "I find nothing." } else { &report })?;
    let mut outcome = Outcome::summary(format!("{} findings", real.len()));
    outcome.metrics.insert("invented".into(), invented.len() as f64);
    Ok(outcome)
}

/// Asks the model once. The call has an id, so that a replay can be told another answer to `llm:review`.
fn ask(diff: String) -> Result<Vec<Finding>> {
    let answer = wharf::llm_complete(&ModelRequest {
        call_id: "review".into(),
        system: SYSTEM.into(),
        messages: vec![ModelMessage { role: "user".into(), text: diff, ..Default::default() }],
        ..Default::default()
    })?;
    let text = answer.text.trim().trim_start_matches("```json").trim_matches('`'); // some models cannot leave it out
    serde_json::from_str(text).map_err(|e| Failure::new("no_findings", &format!("the model's answer is no list of findings: {}", e)))
}

/// The lines that a unified diff adds, by file and number: the model is believed only where it speaks of one of them.
fn added_lines(diff: &str) -> BTreeSet<(String, usize)> {
    let (mut added, mut file, mut line) = (BTreeSet::new(), String::new(), 0);
    for text in diff.lines() {
        if let Some(name) = text.strip_prefix("+++ ") {
            file = name.trim_start_matches("b/").to_string();
        } else if text.starts_with("@@ ") {
            line = first_line(text);
        } else if text.starts_with('+') {
            added.insert((file.clone(), line));
            line += 1;
        } else if text.starts_with(' ') {
            line += 1;
        }
    }
    added
}

/// Where a hunk begins in the new file: 12 of `@@ -10,6 +12,8 @@`.
fn first_line(hunk: &str) -> usize {
    let from = hunk.split(" +").nth(1).unwrap_or("");
    from.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
}
