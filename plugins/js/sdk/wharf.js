// What a program imports as "wharf". The functions of the host calls follow; see bundle.go.
import deliveriesCall from "wharf:call/connector.deliveries";
import normalizedCall from "wharf:call/connector.normalized";
import messageAppendCall from "wharf:call/message.append";

export { WharfError, Failure } from "wharf:runtime";

// reply appends a Message of the assistant: a text, or parts.
export async function reply(content) {
	const parts = typeof content === "string" ? [{ type: "text", text: content, visibility: "public" }] : content;
	return messageAppendCall({ role: "assistant", parts });
}


// connector makes an export that says what deliveries to a Connector mean. normalize is called for each, with the
// Connector. One for which it throws is put aside with what was thrown, and the others are not.
export function connector(normalize) {
	const meaning = async (delivery, of) => {
		try {
			return { id: delivery.id, ...(await normalize(delivery, of)) };
		} catch (thrown) {
			return { id: delivery.id, failure: __wharf.failureOf(thrown) };
		}
	};
	return __wharf.alone(async () => {
		const given = await deliveriesCall();
		const results = [];
		for (const delivery of given.deliveries) results.push(await meaning(delivery, given.connector));
		await normalizedCall({ results });
		return 0;
	});
}
