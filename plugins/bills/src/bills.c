// bills pays a bill at a bank, notes that it has, waits for the bank's receipt and hands that on:
//
//	{"bank": "http://127.0.0.1:1234"}
//
// The reference of the payment is drawn at random: a run that is resumed or replayed has the same one.

#include "../../plugintest/src/guest.h"

CALL(host_http_fetch, "http.fetch");
CALL(host_message_append, "message.append");
CALL(host_random, "random");
CALL(host_state_set, "state.set");

static u64 reference(void) {
	u32 size = 8;
	u64 drawn = 0, result = host_random((const byte *)&size, sizeof size);
	struct span answer = take(result);
	if (status_of(result) || answer.end - answer.start != sizeof drawn) __builtin_trap();
	__builtin_memcpy(&drawn, answer.start, sizeof drawn);
	return drawn;
}

// inner is a string without its quotes.
static struct span inner(struct span s) { return s.start ? (struct span){s.start + 1, s.end - 1} : s; }

static u64 pay(struct span bank, u64 reference) {
	byte *start = out;
	PUT("{\"method\":\"POST\",\"url\":\"");
	put_span(inner(bank));
	PUT("/payments\",\"idempotency_header\":\"Idempotency-Key\",\"text\":\"120 EUR to the landlord, reference ");
	put_hex(reference);
	PUT("\"}");
	return host_http_fetch(start, out - start);
}

// note puts onto the disk that the bill is paid, and what was done before.
static u64 note(void) {
	struct span paid = LITERAL("{\"key\":\"paid\",\"value\":true}");
	return host_state_set(paid.start, paid.end - paid.start);
}

static u64 receipt(struct span bank) {
	byte *start = out;
	PUT("{\"url\":\"");
	put_span(inner(bank));
	PUT("/receipt\"}");
	return host_http_fetch(start, out - start);
}

static u64 say(struct span text) {
	byte *start = out;
	PUT("{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"visibility\":\"public\",\"text\":\"");
	put_span(text);
	PUT("\"}]}");
	return host_message_append(start, out - start);
}

EXPORT("run") int run(void) {
	struct span bank = MEMBER(input(), "bank");
	u64 result = pay(bank, reference());
	if (status_of(result)) return 1;
	take(result);
	if (status_of(say(LITERAL("Paid. Now I wait for the receipt."))) || status_of(note())) return 2;
	result = receipt(bank);
	struct span text = inner(MEMBER(take(result), "text"));
	if (status_of(result) || !text.start) return 3;
	if (status_of(say(text))) return 4;
	byte *start = out;
	PUT("{\"summary\":\"");
	put_span(text);
	PUT("\"}");
	return status_of(host_output(start, out - start));
}
