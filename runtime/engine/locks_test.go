package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// sourcesOf shows each the files of a package of runtime that are no tests.
func sourcesOf(t *testing.T, room string, each func(fset *token.FileSet, f *ast.File)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", room, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatal(room, names, err)
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
		each(fset, f)
	}
}

// madeOf are the engine and the rooms that it is made of.
var madeOf = []string{"engine", "ledger", "scheduler", "desk", "quotas", "secrets", "tenancy", "personas", "memories", "artifacts", "files", "sessions", "proofs", "aside", "replays", "waiting", "pinned"}

// Every lock of the engine and of the rooms that it is made of has its place in the order.
func TestEveryLockHasAPlace(t *testing.T) {
	for _, room := range madeOf {
		sourcesOf(t, room, func(fset *token.FileSet, f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Mutex" || sel.Sel.Name == "RWMutex") {
					if from, ok := sel.X.(*ast.Ident); ok && from.Name == "sync" {
						t.Errorf("%s: use a lock of package lockrank, with a place among those of its order.go", fset.Position(sel.Pos()))
					}
				}
				return true
			})
		})
	}
}

// What the engine writes goes through the ledger, which orders it.
func TestTheLedgerAloneWrites(t *testing.T) {
	for _, room := range madeOf {
		if room == "ledger" {
			continue
		}
		sourcesOf(t, room, func(fset *token.FileSet, f *ast.File) {
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != "Append" {
					return true
				}
				if of, ok := sel.X.(*ast.SelectorExpr); ok && strings.EqualFold(of.Sel.Name, "store") {
					t.Errorf("%s: hand it over with the ledger", fset.Position(sel.Pos()))
				}
				return true
			})
		})
	}
}

// Writes that are idempotent take their key before the resource that they change. A
// build with lockcheck tells where one does not.
func TestKeysComeBeforeResources(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	doc, err := n.CreateMemory(t.Context(), n.Root, nil, abi.CreateMemoryRequest{Scope: abi.MemorySession, OwnerID: session,
		Content: jsontext.Value(`"a secret"`), Provenance: abi.EmptyObject()})
	if err != nil {
		t.Fatal(err)
	}
	retry := &desk.Retry{Key: "k", Scope: "DELETE /v1/memories/" + doc.ID}
	for range 2 { // the second is answered as the first
		if err := n.RedactMemory(t.Context(), n.Root, retry, doc.ID); err != nil {
			t.Error(err)
		}
	}
	receipt := n.Wait(t, n.Submit(t, session, "")).ReceiptID
	retry = &desk.Retry{Key: "k", Scope: "POST /v1/receipts/" + receipt + "/verify"}
	for range 2 {
		if v, err := n.VerifyReceipt(t.Context(), n.Root, retry, receipt, abi.VerifyReceiptRequest{}); err != nil || !v.Valid {
			t.Errorf("%+v, %v", v, err)
		}
	}
	told := 0
	for _, kind := range n.Kinds(t, desk.Filter{SessionID: session}) {
		if kind == string(abi.EventReceiptVerified) || kind == string(abi.EventMemoryRedacted) {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d events tell of it, want one each", told)
	}
}
