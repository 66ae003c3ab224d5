//! Reads how many calls it is to make, makes them, and says what came back.

use wharf::{Outcome, Result, Task};

wharf::main!(ask);

fn ask(task: &Task) -> Result<Outcome> {
    let key = "k".repeat(90);
    let mut last = String::new();
    for _ in 0..task.text().parse::<u32>().unwrap_or(0) {
        last = wharf::state::<String>(&key)?.unwrap_or_default();
    }
    Ok(Outcome::summary(&last))
}
