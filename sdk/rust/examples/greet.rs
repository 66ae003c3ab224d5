use wharf::{Outcome, Result, Task};

wharf::main!(greet);

fn greet(task: &Task) -> Result<Outcome> {
    wharf::reply(&format!("Hello, {}!", task.text()))?;
    Ok(Outcome::summary("greeted"))
}
