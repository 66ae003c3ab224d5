# What the examples of help and documents find: ids of what is there, and ways to make what an example uses up.
set -euo pipefail
id() { grep -o "\"$1_[0-9A-Za-z]*\"" | head -n 1 | tr -d '"'; }
new() { local kind=$1; shift; wharf "$@" --json | id "$kind"; }
new_task() { new task task submit Hello --persona persona_echo --wait=5m; }
new_session() { new sess session create --persona persona_echo; }
new_persona() { new persona persona create -f scribe.yaml; }
# waiting PROGRAM: a Task that waits for an answer to what it asks.
waiting() {
	local task
	task=$(new task task submit --persona persona_calls --json-input "{\"program\":[$1]}")
	while [ -z "$(wharf inbox list --json --limit 100 | grep "\"$task\"")" ]; do sleep 0.1; done
	echo "$task"
}
asks_input() { waiting '{"call":"input.request","request":{"prompt":"Which one?"}}'; }
asks_approval() { waiting '{"call":"approval.request","request":{"action":"pay","prompt":"May it pay?","arguments":{"eur":10}}}'; }
asks_roots() { waiting '{"call":"input.request","request":{"requests":[{"key":"r","kind":"roots"}]}}'; }
question() { wharf inbox list --json --limit 100 | grep "\"$1\"" | id perm; }
# queued SESSION: an injection that waits.
queued() { wharf session inject "$1" "Then write a changelog" --queue --json | id inj; }
