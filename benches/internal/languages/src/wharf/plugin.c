/* Reads how many calls it is to make, makes them, and says what came back. */
#include "wharf.h"

#define TEN "kkkkkkkkkk"

static wharf_status ask(const wharf_task *task, wharf_result *result) {
	wharf_state_get_request_t get = WHARF_NONE;
	wharf_state_get_answer_t kept;
	wharf_text count = wharf_task_text(task);
	int left = 0;

	for (size_t i = 0; i < count.len; i++) left = 10 * left + (count.data[i] - '0');
	get.key = wharf_str(TEN TEN TEN TEN TEN TEN TEN TEN TEN);
	for (; left > 0; left--) {
		wharf_status failed = wharf_state_get(&get, &kept);
		if (failed) return failed;
		wharf_reader read = wharf_read(kept.value);
		result->summary = wharf_get_text(&read);
		if (wharf_bad(&read)) return wharf_fail("bad_state", wharf_str("what came back is no text"));
	}
	return WHARF_OK;
}

WHARF_MAIN(run, ask)
