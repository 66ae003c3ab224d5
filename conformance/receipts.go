package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func receiptChecks() []Check {
	const wire, resource, verify = "Receipt wire format", "Receipt", "REST: Receipt"
	all := []Check{
		{ID: "receipts.discovery", Title: "discovery says that there are receipts", Section: "REST: Discovery", Strength: Should, run: discovers("receipts")},
		{ID: "receipts.none-yet", Title: "a Task that has not ended has no receipts", Section: resource, Strength: Should, run: noReceiptsYet},
		{ID: "receipts.listed", Title: "a Task that has ended lists its receipt, and refers to it", Section: resource, Strength: Must, run: receiptListed},
		{ID: "receipts.outcome", Title: "so does its Outcome", Section: "Outcome", Strength: Should, run: receiptOfOutcome},
		{ID: "receipts.event", Title: "issuing one is an event", Section: "Event taxonomy", Strength: Should, run: receiptIssued},
		{ID: "receipts.references", Title: "the event that issues it and the Artifacts that it names refer to it", Section: "Conformance levels: Receipts", Strength: Must, run: receiptReferences},
		{ID: "receipts.resource", Title: "a receipt has the fields of its resource", Section: verify, Strength: Must, run: receiptResource},
		{ID: "receipts.wire", Title: "the receipt has its required members, and tells of the Task", Section: wire, Strength: Must, run: receiptWire},
		{ID: "receipts.canonical", Title: "the bare receipt is canonical JSON, and that of the resource", Section: wire, Strength: Must, run: receiptCanonical},
		{ID: "receipts.hash", Title: "its hash is that of its canonical JSON", Section: wire, Strength: Must, run: receiptHash},
		{ID: "receipts.chain", Title: "receipts of one Workspace are chained", Section: wire, Strength: Must, run: receiptChain},
		{ID: "receipts.cbor", Title: "the archive form is CBOR", Section: wire, Strength: Should, run: receiptCBOR},
		{ID: "receipts.not-acceptable", Title: "a form that there is not gets 406", Section: verify, Strength: Should, run: receiptNotAcceptable},
		{ID: "receipts.verify", Title: "an issued receipt is valid, also with an empty body", Section: verify, Strength: Must, run: receiptVerifies},
		{ID: "receipts.verify-anchor", Title: "a receipt is not valid under somebody else's key", Section: verify, Strength: Should, run: foreignAnchor},
		{ID: "receipts.absent", Title: "an absent receipt gets 404", Section: "Error taxonomy", Strength: Must, run: absentReceipt},
		{ID: "receipts.canceled", Title: "a canceled Task gets a receipt that says so", Section: resource, Strength: Should, run: canceledReceipt},
	}
	for i := range all {
		all[i].Level = LevelReceipts
	}
	return all
}

// discovers wants a capability to be announced.
func discovers(capability string) func(*probe) {
	return func(p *probe) {
		found, _ := p.want(p.get("/v1"), 200).doc["capabilities"].(object)
		p.equal("capabilities."+capability, found[capability], true)
	}
}

func (p *probe) receiptsOf(task object) []object {
	return p.all("/v1/tasks/" + p.text(task, "id") + "/receipts?limit=200")
}

// receipt returns the receipt of a Task that has ended. It is issued with the end,
// or soon after.
func (p *probe) receipt(task object) object {
	for {
		if all := p.receiptsOf(task); len(all) > 0 {
			return p.want(p.get("/v1/receipts/"+p.text(all[0], "id")), 200).doc
		}
		p.pause()
	}
}

func (p *probe) wire(receipt object) object {
	wire, ok := receipt["wire"].(object)
	if !ok {
		p.fail("%s: wire is %s, want an object", describe(receipt), answers.Show(receipt["wire"]))
	}
	return wire
}

// member returns an object within an object.
func (p *probe) member(doc object, name string) object {
	inner, ok := doc[name].(object)
	if !ok {
		p.fail("%q is %s, want an object", name, answers.Show(doc[name]))
	}
	return inner
}

// busy submits a Task that takes a moment.
func (p *probe) busy() object {
	input := say(strings.Repeat(sampleText+"\n\n", 2000))
	return p.want(p.post("/v1/sessions/"+p.newSession()+"/tasks", p.order(input)), 202, 200, 201).doc
}

func noReceiptsYet(p *probe) {
	for range 10 {
		task := p.busy()
		found := p.receiptsOf(task)
		if now := p.want(p.get("/v1/tasks/"+p.text(task, "id")), 200).doc; terminal(p.text(now, "status")) {
			continue
		}
		if len(found) > 0 {
			p.fail("a Task that has not ended has the receipt %s", answers.Show(found[0]["id"]))
		}
		p.post("/v1/tasks/"+p.text(task, "id")+"/cancel", object{})
		return
	}
	p.skip("the Task had ended in 10 of 10 tries")
}

func receiptListed(p *probe) {
	task := p.finished()
	receipt := p.receipt(task)
	now := p.want(p.get("/v1/tasks/"+p.text(task, "id")), 200).doc
	p.equal("receipt_id of the Task", now["receipt_id"], p.text(receipt, "id"))
	if found := p.ids(p.receiptsOf(task)); !slices.Contains(found, p.text(receipt, "id")) {
		p.fail("the Task lists %v", found)
	}
}

func receiptOfOutcome(p *probe) {
	task := p.finished()
	receipt := p.receipt(task)
	outcome := p.want(p.get("/v1/outcomes/"+p.text(task, "outcome_id")), 200).doc
	p.equal("receipt_id of the Outcome", outcome["receipt_id"], p.text(receipt, "id"))
}

func receiptIssued(p *probe) {
	task := p.finished()
	receipt := p.receipt(task)
	for _, e := range p.taskEvents(p.text(task, "id")) {
		if e["event"] == "receipt.issued" {
			p.equal("the resource of receipt.issued", p.member(e, "resource")["id"], p.text(receipt, "id"))
			return
		}
	}
	p.fail("the Task has no event receipt.issued")
}

// receiptReferences wants the references that the level asks for: those of the Task and
// its Outcome have checks of their own.
func receiptReferences(p *probe) {
	task := p.finished()
	receipt := p.receipt(task)
	id, told := p.text(receipt, "id"), false
	for _, e := range p.taskEvents(p.text(task, "id")) {
		if e["receipt_id"] != nil {
			p.equal("receipt_id of "+p.text(e, "event"), e["receipt_id"], id)
			told = true
		}
	}
	if !told {
		p.fail("no event of the Task has a receipt_id")
	}
	final, _ := p.wire(receipt)["final_artifacts"].([]any)
	for _, named := range final {
		ref, _ := named.(object)
		artifact := p.want(p.get("/v1/artifacts/"+p.text(ref, "artifact_id")), 200).doc
		p.equal("receipt_id of the Artifact", artifact["receipt_id"], id)
	}
	p.note("%d Artifacts", len(final))
}

func receiptResource(p *probe) {
	task := p.finished()
	receipt := p.receipt(task)
	p.oneOf(receipt, "object", "receipt")
	p.oneOf(receipt, "format", "receipt-2026-04-25")
	for _, name := range []string{"summary", "issued_at", "issuer"} {
		p.text(receipt, name)
	}
	subject := p.member(receipt, "subject")
	p.text(subject, "object")
	p.text(subject, "id")
}

// receiptMembers are the required members of the closed schema.
var receiptMembers = []string{"schema", "receipt_id", "subject", "issuer", "issued_at", "identifiers", "lifecycle", "trust",
	"autonomy_budget", "replay_input", "model_route", "cost", "side_effects", "final_artifacts", "chain"}

// receiptExtras are its optional ones.
var receiptExtras = []string{"approvals", "deltas", "redactions", "signatures", "metadata"}

func receiptWire(p *probe) {
	task := p.finished()
	receipt := p.receipt(task)
	wire := p.wire(receipt)
	for _, name := range receiptMembers {
		if wire[name] == nil {
			p.fail("the receipt has no %s", name)
		}
	}
	for name := range wire {
		if !slices.Contains(receiptMembers, name) && !slices.Contains(receiptExtras, name) {
			p.fail("the receipt has a member %s, which its schema does not allow", name)
		}
	}
	p.oneOf(wire, "schema", "receipt-2026-04-25")
	p.equal("receipt_id", wire["receipt_id"], receipt["id"])
	ids := p.member(wire, "identifiers")
	p.equal("identifiers.task_id", ids["task_id"], task["id"])
	p.equal("identifiers.session_id", ids["session_id"], task["session_id"])
	p.text(ids, "workspace_ref")
	p.equal("lifecycle.final_state", p.member(wire, "lifecycle")["final_state"], verdicts[p.text(task, "status")])
}

const mediaReceiptJSON, mediaReceiptCBOR = "application/vnd.harn.receipt+json", "application/vnd.harn.receipt+cbor"

// bare returns the bytes of a receipt in the form of a media type.
func (p *probe) bare(receipt object, media string) []byte {
	r := p.want(p.do(request{method: "GET", path: "/v1/receipts/" + p.text(receipt, "id"), header: map[string]string{"Accept": media}}), 200)
	if got := r.header.Get("Content-Type"); !strings.HasPrefix(got, media) {
		p.fail("%s: asked for %s, got %s", r.to, media, got)
	}
	return r.body
}

func canonical(p *probe, text []byte) []byte {
	v := jsontext.Value(bytes.Clone(text))
	if err := v.Canonicalize(); err != nil {
		p.fail("no canonical form of %s: %v", answers.Excerpt(text), err)
	}
	return v
}

func receiptCanonical(p *probe) {
	receipt := p.receipt(p.finished())
	text := p.bare(receipt, mediaReceiptJSON)
	if !bytes.Equal(text, canonical(p, text)) {
		p.fail("the bytes are not in the form of RFC 8785: %s", answers.Excerpt(text))
	}
	p.equal("the receipt in the resource", p.wire(receipt), jsontext.Value(text))
}

// hashOf is the hash that a receipt must state: over its canonical form without
// the hash itself and the signatures.
func hashOf(p *probe, wire object) string {
	hashed, chain := object{}, object{}
	for name, value := range wire {
		hashed[name] = value
	}
	for name, value := range p.member(wire, "chain") {
		chain[name] = value
	}
	delete(hashed, "signatures")
	delete(chain, "receipt_hash")
	hashed["chain"] = chain
	sum := sha256.Sum256(canonical(p, []byte(answers.Show(hashed))))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func receiptHash(p *probe) {
	wire := p.wire(p.receipt(p.finished()))
	p.equal("chain.receipt_hash", p.member(wire, "chain")["receipt_hash"], hashOf(p, wire))
}

var sha256Text = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// receiptChain wants each receipt to name one before it: other clients may be at
// work in the Workspace, so which one it is cannot be told.
func receiptChain(p *probe) {
	first := p.member(p.wire(p.receipt(p.finished())), "chain")
	second := p.member(p.wire(p.receipt(p.finished())), "chain")
	previous, ok := second["previous_receipt_hash"].(string)
	if !ok || !sha256Text.MatchString(previous) {
		p.fail("the second receipt's previous_receipt_hash is %s", answers.Show(second["previous_receipt_hash"]))
	}
	if previous == second["receipt_hash"] || previous == first["previous_receipt_hash"] {
		p.fail("two receipts follow %s", previous)
	}
}

func receiptCBOR(p *probe) {
	archive := p.bare(p.receipt(p.finished()), mediaReceiptCBOR)
	const mapType = 5
	if len(archive) == 0 || archive[0]>>5 != mapType {
		p.fail("the bytes do not begin like a CBOR map")
	}
}

func receiptNotAcceptable(p *probe) {
	receipt := p.receipt(p.finished())
	p.want(p.do(request{method: "GET", path: "/v1/receipts/" + p.text(receipt, "id"), header: map[string]string{"Accept": "text/html"}}), 406)
}

func receiptVerifies(p *probe) {
	path := "/v1/receipts/" + p.text(p.receipt(p.finished()), "id") + "/verify"
	for _, body := range []any{nil, object{}} {
		verdict := p.want(p.post(path, body), 200).doc
		if verdict["valid"] != true {
			p.fail("not valid: %s", answers.Show(verdict))
		}
		p.text(verdict, "checked_at")
	}
}

func foreignAnchor(p *probe) {
	path := "/v1/receipts/" + p.text(p.receipt(p.finished()), "id") + "/verify"
	r := p.want(p.post(path, object{"trust_anchor": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}), 200, 400, 422)
	if r.status != 200 {
		return
	}
	if p.equal("valid", r.doc["valid"], false); r.doc["reason"] == nil {
		p.fail("no reason is given: %s", answers.Excerpt(r.body))
	}
}

func absentReceipt(p *probe) {
	p.wantError(p.get("/v1/receipts/rcpt_00000000000000000000000000"), 404, "resource_not_found")
	p.wantError(p.post("/v1/receipts/rcpt_00000000000000000000000000/verify", nil), 404, "resource_not_found")
	p.wantError(p.get("/v1/tasks/task_00000000000000000000000000/receipts"), 404, "resource_not_found")
}

func canceledReceipt(p *probe) {
	wire := p.wire(p.receipt(p.cancelEarly()))
	p.equal("lifecycle.final_state", p.member(wire, "lifecycle")["final_state"], "CANCELED")
}
