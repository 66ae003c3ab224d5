// Reads how many calls it is to make, makes them, and says what came back.
import { stateGet, type Task } from "wharf";

export async function run(task: Task) {
	const key = "k".repeat(90);
	let last = "";
	for (let left = Number(task.text); left > 0; left--) {
		last = String((await stateGet({ key })).value);
	}
	return { summary: last };
}
