use wharf::{Outcome, Result, Task};

#[wharf::main]
fn greet(task: &Task) -> Result<Outcome> {
    wharf::reply(&format!("Hello, {}!", task.text()))?;
    Ok(Outcome::summary("greeted"))
}
