#include "../wharf.h"

static wharf_status greet(const wharf_task *task, wharf_result *result) {
	wharf_text hello = wharf_join(wharf_str("Hello, "), wharf_task_text(task));
	result->summary = wharf_str("greeted");
	return wharf_reply(wharf_join(hello, wharf_str("!")));
}

WHARF_MAIN(run, greet)
