package harn_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

func TestReceiptForms(t *testing.T) {
	n := newNode(t)
	at := "/v1/receipts/" + receiptOf(n.finished(t, n.session(t)))
	const resource, bare, archive = "application/json", abi.MediaReceiptJSON, abi.MediaReceiptCBOR + "; schema=receipt-2026-04-25"
	for accept, want := range map[string]string{
		"":                                  resource,
		"*/*":                               resource,
		"application/*":                     resource,
		"text/html, application/json;q=0.5": resource,
		bare:                                bare,
		bare + "; q=0.2, text/html":         bare,
		bare + ", application/json;q=0.9":   bare,
		bare + ";q=0.1, */*;q=0.5":          resource,
		"application/json;q=0, */*":         bare,
		"application/json;q=2, " + bare:     bare,
		abi.MediaReceiptCBOR:                archive,
		archive + ", " + bare + ";q=0.3":    archive,
		abi.MediaReceiptCBOR + "; schema=receipt-2031-01-01": "",
		"text/html":                          "",
		bare + ";q=0":                        "",
		"application/json; schema=something": "",
		";;,":                                "",
	} {
		a := n.do(t, "GET", at, nil, header("Accept", accept))
		if want == "" {
			err := a.wantError(406, abi.CodeInvalidRequest)
			if err.Param != "Accept" || !strings.Contains(err.Message, bare) {
				t.Errorf("%q: %+v", accept, err)
			}
			continue
		}
		if a.want(200); a.header.Get("Content-Type") != want || a.header.Get("Vary") != "Accept" {
			t.Errorf("%q: %s, want %s; Vary %q", accept, a.header.Get("Content-Type"), want, a.header.Get("Vary"))
		}
		if got := string(a.body) == wire; got != (want == bare) {
			t.Errorf("%q: %s", accept, a.body)
		}
		if want == archive {
			if packed, err := receipt.ToCBOR([]byte(wire)); err != nil || !bytes.Equal(packed, a.body) {
				t.Errorf("%q: %x, want %x (%v)", accept, a.body, packed, err)
			}
		}
	}
	n.do(t, "GET", "/v1/receipts/rcpt_none", nil, header("Accept", bare)).wantError(404, abi.CodeResourceNotFound)
}

func TestReceiptsOfATask(t *testing.T) {
	n := newNode(t)
	task := n.finished(t, n.session(t))
	at := "/v1/tasks/" + task + "/receipts"
	want := []string{receiptOf(task), "rcpt_2", "rcpt_3"}
	if got := n.do(t, "GET", at, nil).ids(); !slices.Equal(got, want) {
		t.Errorf("receipts %v, want %v", got, want)
	}
	first := n.do(t, "GET", at+"?limit=2", nil)
	cursor, _ := first.get("page", "next_cursor").(string)
	rest := n.do(t, "GET", at+"?limit=2&cursor="+cursor, nil)
	if got := append(first.ids(), rest.ids()...); !slices.Equal(got, want) || rest.get("page", "has_more") != false {
		t.Errorf("in pages %v, want %v", got, want)
	}
}

func TestVerifyReceipt(t *testing.T) {
	n := newNode(t)
	at := "/v1/receipts/" + receiptOf(n.finished(t, n.session(t))) + "/verify"
	if a := n.do(t, "POST", at, nil).want(200); a.get("valid") != true || n.recorded.retry != nil {
		t.Errorf("%s", a.body)
	}
	n.do(t, "POST", at, object{"trust_anchor": "k1", "at_time": "2026-01-02T00:00:00Z"}, header("Idempotency-Key", "once")).want(200)
	if got := n.recorded.verify; got.TrustAnchor != "k1" || got.AtTime.Day() != 2 || n.recorded.retry.Key != "once" {
		t.Errorf("the engine is asked %+v with %+v", got, n.recorded.retry)
	}
	n.do(t, "POST", at, object{"at_time": "soon"}).wantError(400, abi.CodeInvalidRequest)
}

func TestSigningKeys(t *testing.T) {
	n := newNode(t)
	public := n.do(t, "GET", "/.well-known/wharf-keys.json", nil, header("Authorization", ""), header(abi.VersionHeader, "")).want(200)
	if !strings.HasPrefix(public.header.Get("Cache-Control"), "public") {
		t.Errorf("Cache-Control %q", public.header.Get("Cache-Control"))
	}
	if a := n.do(t, "GET", "/wharf/v1/signing-keys", nil, header(abi.VersionHeader, "")).want(200); string(a.body) != string(public.body) {
		t.Errorf("%s and %s", a.body, public.body)
	}
	n.do(t, "POST", "/wharf/v1/signing-keys", nil, key(n.newKey(t, "", "admin"))).wantError(403, abi.CodePermissionDenied)
	if n.do(t, "POST", "/wharf/v1/signing-keys", nil).want(201); n.recorded.rotated != 1 {
		t.Errorf("%d rotations", n.recorded.rotated)
	}
}

func TestReplay(t *testing.T) {
	n := newNode(t)
	task := n.finished(t, n.session(t))
	at := "/v1/tasks/" + task + "/replay"
	n.do(t, "POST", at, nil).want(202)
	n.do(t, "POST", at, object{
		"mode": "with_overrides", "checkpoint_id": nil, "reason": "why", "metadata": object{"a": 1},
		"override": object{"llm:1": object{"kind": "llm_provider_response", "value": object{"text": "Done."}, "visibility": "receipt_only"}},
	}, header("Idempotency-Key", "once")).want(202)
	got := n.recorded.replay
	if got.Mode != abi.ReplayWithOverrides || string(got.Override["llm:1"].Value) != `{"text":"Done."}` || got.Reason != "why" || n.recorded.retry.Key != "once" {
		t.Errorf("the engine is asked %+v with %+v", got, n.recorded.retry)
	}
	for param, body := range map[string]any{
		"overrides":             object{"overrides": object{}},
		"override.llm:1.vaule":  object{"override": object{"llm:1": object{"kind": "time", "vaule": 1}}},
		"override.llm:1.sha256": object{"override": object{"llm:1": object{"kind": "time", "sha256": 1}}},
	} {
		if err := n.do(t, "POST", at, body).wantError(400, abi.CodeInvalidRequest); err.Param != param {
			t.Errorf("param %q, want %q", err.Param, param)
		}
	}
}

func TestForkAndSessionReplay(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.finished(t, session)
	n.do(t, "POST", "/wharf/v1/tasks/"+task+"/fork", nil).want(202)
	n.do(t, "POST", "/wharf/v1/tasks/"+task+"/fork", object{"at_event_id": "7", "same_session": true}).want(202)
	if got := n.recorded.fork; got.AtEventID != "7" || !got.SameSession {
		t.Errorf("the engine is asked %+v", got)
	}
	n.do(t, "POST", "/wharf/v1/tasks/"+task+"/fork", object{"at": "7"}).wantError(400, abi.CodeInvalidRequest)
	a := n.do(t, "POST", "/wharf/v1/sessions/"+session+"/replay", object{"reason": "r"}, header("Idempotency-Key", "once")).want(202)
	if list := a.get("data").([]any); len(list) != 1 || n.recorded.retry.Key != "once" {
		t.Errorf("%s", a.body)
	}
}

// Records and bundles hold what is internal: the key must be allowed to see it.
func TestRecordAndBundle(t *testing.T) {
	n := newNode(t)
	task := n.finished(t, n.session(t))
	record, bundle := "/wharf/v1/tasks/"+task+"/record", "/wharf/v1/tasks/"+task+"/bundle"
	if a := n.do(t, "GET", record, nil).want(200); a.get("task_id") != task || a.get("input", "base64") != "aW7/" {
		t.Errorf("%s", a.body)
	}
	a := n.do(t, "GET", bundle, nil).want(200)
	if len(a.body) != bundleSize || a.header.Get("Content-Type") != "application/zip" || a.header.Get("Content-Disposition") != "attachment; filename="+task+".zip" {
		t.Errorf("%d bytes, %v", len(a.body), a.header)
	}
	n.do(t, "GET", "/wharf/v1/tasks/task_none/bundle", nil).wantError(404, abi.CodeResourceNotFound)
	outsider := key(n.newKey(t, "", "tasks:read", "events:read"))
	n.do(t, "GET", record, nil, outsider).wantError(403, abi.CodePermissionDenied)
	n.do(t, "GET", bundle, nil, outsider).wantError(403, abi.CodePermissionDenied)
	n.do(t, "HEAD", bundle, nil).want(200)
}

// Half a bundle cannot be taken for a whole one.
func TestTornBundle(t *testing.T) {
	n := newNode(t)
	n.recorded.tears = true
	task := n.finished(t, n.session(t))
	resp, err := http.DefaultClient.Do(n.request(t, "GET", "/wharf/v1/tasks/"+task+"/bundle", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if size, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("%d bytes of a torn bundle read like a whole one", size)
	}
}
