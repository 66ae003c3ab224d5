// What a program imports as "wharf". The functions of the host calls follow; see bundle.go.
import messageAppendCall from "wharf:call/message.append";

export { WharfError, Failure } from "wharf:runtime";

// reply appends a Message of the assistant: a text, or parts.
export async function reply(content) {
	const parts = typeof content === "string" ? [{ type: "text", text: content, visibility: "public" }] : content;
	return messageAppendCall({ role: "assistant", parts });
}

