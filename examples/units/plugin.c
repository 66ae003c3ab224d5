/* units converts a value from one unit to another, without a model. */
#include "../../sdk/c/wharf.h"

/* A unit is a factor and an offset away from the first of its kind: metres, kilograms, kelvins. */
static const struct unit { const char *name; char kind; double factor, offset; } units[] = {
	{"m", 'l', 1, 0}, {"km", 'l', 1000, 0}, {"ft", 'l', 0.3048, 0}, {"mi", 'l', 1609.344, 0},
	{"kg", 'w', 1, 0}, {"lb", 'w', 0.45359237, 0},
	{"K", 't', 1, 0}, {"C", 't', 1, 273.15}, {"F", 't', 5.0 / 9, 459.67 * 5 / 9},
};

static const struct unit *unit_of(wharf_text name) {
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (wharf_is(name, units[i].name)) return &units[i];
	}
	return 0;
}

/* What no instrument shows is rounded away: 20.000000000000004 is 20. */
static double rounded(double v) {
	double scaled = v * 1e6;
	if (scaled > 9e15 || scaled < -9e15) return v;
	return (double)(int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5) / 1e6;
}

static wharf_status say(double value, wharf_text unit) {
	wharf_writer w = WHARF_NONE;
	wharf_part_t part = WHARF_NONE;
	wharf_message_input_t message = WHARF_NONE;
	wharf_message_append_answer_t answer;

	wharf_put_object(&w);
	wharf_put_name(&w, wharf_str("value"));
	wharf_put_number(&w, value);
	wharf_put_name(&w, wharf_str("unit"));
	wharf_put_text(&w, unit);
	wharf_end_object(&w);
	part.type = wharf_str(WHARF_PART_TYPE_JSON);
	part.value = wharf_written(&w);
	part.visibility = wharf_str(WHARF_VISIBILITY_PUBLIC);
	message.role = wharf_str(WHARF_ROLE_ASSISTANT);
	message.parts.items = &part;
	message.parts.count = 1;
	return wharf_message_append(&message, &answer);
}

/* What a tool is called with fits schemas.input; what somebody submits by hand may be anything. That both units are of
 * one kind no schema says. */
static wharf_status convert(const wharf_task *task, wharf_result *result) {
	wharf_json input = wharf_task_value(task);
	wharf_text to_name = wharf_text_of(wharf_member(input, "to"));
	const struct unit *from = unit_of(wharf_text_of(wharf_member(input, "from"))), *to = unit_of(to_name);
	wharf_reader read = wharf_read(wharf_member(input, "value"));
	double value = wharf_get_number(&read);

	if (!from || !to || wharf_bad(&read)) return wharf_fail("bad_input", wharf_str("a value, from and to are needed"));
	if (from->kind != to->kind) return wharf_fail("other_kind", wharf_str("these units do not measure the same"));
	value = rounded((value * from->factor + from->offset - to->offset) / to->factor);
	result->summary = wharf_join(wharf_join(wharf_number_text(value), wharf_str(" ")), to_name);
	return say(value, to_name);
}

WHARF_MAIN(run, convert)
