package tool

import (
	"bytes"
	"context"
	"reflect"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

const (
	// maxAnswers bounds the answers that are being read at one time, in bytes of what they
	// are decoded from and into. A node may have 1 GiB.
	maxAnswers = 64 << 20
	// objectSize is about what an object with one member takes when it is decoded, and
	// valueSize any other value.
	objectSize = 300
	valueSize  = 32
)

// The codes of errors by which an answer is replaced that is not decoded.
const (
	codeCrowded = -32099
	codeBusy    = -32098
)

var (
	errBusy    = &jsonrpc.Error{Code: codeBusy, Message: "this node is reading as many answers as it has memory for: come back later"}
	errCrowded = &jsonrpc.Error{Code: codeCrowded, Message: "it has more in it than is decoded: at most " + strconv.Itoa(maxBlocks) +
		" blocks of content, " + strconv.Itoa(abi.MaxMembers) + " members of another list and " + strconv.Itoa(abi.MaxValues) + " values"}
)

// maxBlocks is how many blocks of content an answer may have, and entries a page of a list.
const maxBlocks = 10_000

// result has what the SDK makes more of than was sent, whatever the request was: a block
// of content takes seven hundred bytes, however small it is written.
type result struct {
	Content   []block       `json:"content" maxItems:"10000"`
	Tools     []block       `json:"tools" maxItems:"10000"`
	Resources []block       `json:"resources" maxItems:"10000"`
	Templates []block       `json:"resourceTemplates" maxItems:"10000"`
	Contents  []block       `json:"contents" maxItems:"10000"`
	Prompts   []promptBlock `json:"prompts" maxItems:"10000"`
	Messages  []saidBlock   `json:"messages" maxItems:"10000"`
}

type block struct {
	Annotations struct {
		Audience []string `json:"audience"`
	} `json:"annotations"`
	Icons []struct {
		Sizes []string `json:"sizes"`
		_     [64]byte
	} `json:"icons"`
	Content []innerBlock `json:"content"`
	_       [600]byte
}

// promptBlock is a prompt of a list.
type promptBlock struct {
	block
	Arguments []struct {
		_ [128]byte
	} `json:"arguments"`
}

// saidBlock is a message of a prompt: a block, beside what says whose it is.
type saidBlock struct {
	Content block `json:"content"`
	_       [64]byte
}

// innerBlock is one within the result of another tool.
type innerBlock struct {
	_ [700]byte
}

// The shapes of an answer, and of the message that has it.
var (
	ofAnswer    = reflect.TypeFor[result]()
	wholeAnswer = reflect.TypeFor[struct {
		Result result `json:"result"`
	}]()
)

// screen says of an answer why it is not to be decoded; nil when it is. What decoding
// takes, a copy of the text included, is taken from the budget of the call.
func screen(text []byte, of reflect.Type, a *answering) *jsonrpc.Error {
	weight, err := abi.Weigh(text, of)
	if err != nil {
		return errCrowded
	}
	weight += int64(len(text)) + objectSize*int64(bytes.Count(text, []byte("{"))) + valueSize*int64(bytes.Count(text, []byte(",")))
	if !a.take(weight) {
		return errBusy
	}
	return nil
}

// NewBudget returns the budget that the answers of all servers of a node share. largest
// is the most bytes that an answer may have; two tenants are always told one each.
func NewBudget(largest int64) *provider.Budget {
	return provider.NewBudget(max(maxAnswers, 8*largest))
}

// answering is what a call's answer takes of the budget. It is safe for concurrent use. A
// nil one takes nothing.
type answering struct {
	budget *provider.Budget
	tenant string

	mu    sync.Mutex
	taken int64
	over  bool
	ends  []func()
}

type answeringKey struct{}

func answeringOf(ctx context.Context) *answering {
	a, _ := ctx.Value(answeringKey{}).(*answering)
	return a
}

func (a *answering) take(n int64) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over || !a.budget.Take(a.tenant, n) {
		return false
	}
	a.taken += n
	return true
}

// held returns what is taken so far.
func (a *answering) held() int64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.taken
}

// backTo gives back what was taken since held returned n: nothing of it is left.
func (a *answering) backTo(n int64) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over && a.taken > n {
		a.budget.Return(a.tenant, a.taken-n)
		a.taken = n
	}
}

// atEnd has f called when the call ends.
func (a *answering) atEnd(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ends = append(a.ends, f)
}

// end gives everything back.
func (a *answering) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.budget.Return(a.tenant, a.taken)
	a.taken, a.over = 0, true
	for _, f := range a.ends {
		f()
	}
}
