// triage finds the label of an issue, and proposes to put it there.
import { configGet, Failure, llmComplete, reply, stateGet, stateSet, type Task } from "wharf";

export async function run(task: Task) {
	const { repository, number } = task.value ?? {}; // the facts, as the github connector tells them
	if (!repository || !number) throw new Failure("no_issue", "this Task is about no issue");
	const labels: string[] = (await configGet({ name: "labels" })).value;
	const said = await ask(task.text, labels);

	// Who writes an issue talks to the model, too. All that it can choose is one of our labels.
	if (!labels.includes(said.label)) {
		await reply(`Somebody should look at #${number}: the model says nothing that is a label.`);
		return { summary: "left to people" };
	}

	// The Session is that of the issue: each one has its own state.
	const before = (await stateGet({ key: "label" })).value;
	if (before === said.label) return { summary: `#${number} is still: ${before}` };
	const answer = await fetch(`https://api.github.com/repos/${repository}/issues/${number}/labels`, {
		method: "POST",
		headers: { authorization: "Bearer {{secret:github}}", accept: "application/vnd.github+json" },
		body: JSON.stringify({ labels: [said.label] }),
	});
	if (answer.status !== 0 && !answer.ok) throw new Failure("github_refused", `GitHub answers ${answer.status}`); // 0: it is proposed
	await stateSet({ key: "label", value: said.label });
	await reply(`#${number} is: ${said.label}. ${said.why}`);
	return { summary: `#${number} is: ${said.label}` };
}

async function ask(issue: string, labels: string[]): Promise<{ label?: any; why?: any }> {
	const { text } = await llmComplete({
		system: `Say which label an issue gets, of: ${labels.join(", ")}. Answer with JSON alone: {"label": "…", "why": "one sentence"}`,
		messages: [{ role: "user", text: issue }],
	});
	try {
		return JSON.parse(text) ?? {};
	} catch {
		return {};
	}
}
