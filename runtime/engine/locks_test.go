package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Every lock of the engine has its place in the order.
func TestEveryLockHasAPlace(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	fset := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Mutex" || sel.Sel.Name == "RWMutex") {
				if from, ok := sel.X.(*ast.Ident); ok && from.Name == "sync" {
					t.Errorf("%s: use a lock of package lockrank, with a place among those of locks.go", fset.Position(sel.Pos()))
				}
			}
			return true
		})
	}
}

// Writes that are idempotent take their key before the resource that they change. A
// build with lockcheck tells where one does not.
func TestKeysComeBeforeResources(t *testing.T) {
	n := newNode(t, guests{})
	session := n.session(t)
	doc, err := n.CreateMemory(t.Context(), n.root, nil, abi.CreateMemoryRequest{Scope: abi.MemorySession, OwnerID: session,
		Content: jsontext.Value(`"a secret"`), Provenance: abi.EmptyObject()})
	if err != nil {
		t.Fatal(err)
	}
	retry := &Retry{Key: "k", Method: "DELETE", Target: "/v1/memories/" + doc.ID}
	for range 2 { // the second is answered as the first
		if err := n.RedactMemory(t.Context(), n.root, retry, doc.ID); err != nil {
			t.Error(err)
		}
	}
	receipt := n.wait(t, n.submit(t, session, "")).ReceiptID
	retry = &Retry{Key: "k", Method: "POST", Target: "/v1/receipts/" + receipt + "/verify"}
	for range 2 {
		if v, err := n.VerifyReceipt(t.Context(), n.root, retry, receipt, abi.VerifyReceiptRequest{}); err != nil || !v.Valid {
			t.Errorf("%+v, %v", v, err)
		}
	}
	told := 0
	for _, kind := range n.kinds(t, Filter{SessionID: session}) {
		if kind == string(abi.EventReceiptVerified) || kind == string(abi.EventMemoryRedacted) {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d events tell of it, want one each", told)
	}
}
