package main

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

// runMetrics are the members of an Outcome's metrics that say where time went.
type runMetrics struct {
	QueueMS       float64 `json:"queue_ms"`
	InstantiateMS float64 `json:"instantiate_ms"`
	RunMS         float64 `json:"run_ms"`
	HostCalls     int     `json:"host_calls"`
	MemoryBytes   int64   `json:"memory_bytes"`
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// showTimes says where the time between sending the Task and seeing its end went.
func (d *demo) showTimes(o *abi.Outcome) {
	var m runMetrics
	if err := json.Unmarshal(o.Metrics, &m); err != nil {
		return // a node of another make
	}
	// With --server the two clocks may differ, and nothing is known of the way there.
	door := d.task.CreatedAt.Sub(d.sent)
	if door < 0 || door > d.accept {
		door = 0
	}
	queue, start, run := milliseconds(m.QueueMS), milliseconds(m.InstantiateMS), milliseconds(m.RunMS)
	total := d.seen.Sub(d.sent)
	accept := max(queue, d.accept-door) // it is answered, and runs, once it is on disk
	var phases []show.Phase
	if d.size > maxInline {
		phases = append(phases, show.Phase{Name: "upload", Time: d.upload, Note: "the document, before the task"})
	}
	phases = append(phases,
		show.Phase{Name: "check", Time: door, Note: "until the node had read and checked the task"},
		show.Phase{Name: "accept", Time: accept, Note: "until it was on disk, and its turn"},
		show.Phase{Name: "instantiate", Time: start, Note: "a fresh sandbox"},
		show.Phase{Name: "run", Time: run, Note: fmt.Sprintf("the plugin: %d host calls, %s of memory", m.HostCalls, show.Bytes(m.MemoryBytes))},
		show.Phase{Name: "commit", Time: max(0, total-door-accept-start-run), Note: "until its end was on disk, and seen here"},
	)
	d.out.Title("where the time went  " + show.Duration(total))
	d.out.Phases(phases)
	d.out.Line("  the node had said yes after ", show.Duration(d.accept), ", when the task was safe")
}

// showNext says how to do the same by hand.
func (d *demo) showNext() {
	file := cmp.Or(d.file, exampleFile())
	server := "http://127.0.0.1:8080"
	d.out.Title("try next")
	if d.node != nil {
		d.out.Line("  ", self(), " serve               # a node that stays; it prints an API key, once")
		d.out.Line("  export WHARF_API_KEY=...")
	} else {
		server = d.client.Server()
	}
	d.out.Line("  ", self(), " task submit --follow --file ", file)
	d.out.Title("the same by hand")
	d.out.Line(`  api() { curl -sS -H "Authorization: Bearer $WHARF_API_KEY" -H "`, abi.VersionHeader, ": ", abi.ProtocolVersion, `" "$@"; }`)
	d.out.Line("  N=", server)
	d.out.Line(`  S=$(api $N/v1/sessions --json '{"workspace_id":"`, d.task.WorkspaceID, `"}' | grep -o 'sess_[0-9A-Z]*' | head -n 1)`)
	d.out.Line(`  A=$(api "$N/v1/artifacts?kind=file&visibility=public&session_id=$S" -H "Content-Type: `, mimeType(file), `" \`)
	d.out.Line(`      --data-binary @`, file, ` | grep -o 'art_[0-9A-Z]*' | head -n 1)`)
	d.out.Line(`  api $N/v1/tasks -H "Prefer: wait=10" --json '{"session_id":"'$S'","persona_id":"`, d.persona, `","input":`)
	d.out.Line(`      {"role":"user","parts":[{"type":"artifact_ref","artifact_id":"'$A'","visibility":"public"}]}}'`)
	d.out.Line(`  api -N $N/v1/sessions/$S/events/stream       # all of it as it happened; Ctrl-C ends it`)
}

// exampleFile names a document that is at hand, or else stands for one.
func exampleFile() string {
	if _, err := os.Stat("README.md"); err == nil {
		return "README.md"
	}
	return "DOCUMENT.md"
}
