package ownfacts

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// Keeper answers the calls. It is safe for concurrent use, if its Entropy is.
type Keeper struct {
	Now      func() time.Time
	Entropy  io.Reader
	IDs      *abi.IDs
	Version  string // of this build
	TenantID func(storage.Tenant) string
}

// Shared returns a source of randomness that many may read at a time.
func Shared(r io.Reader) io.Reader { return &shared{r: r} }

type shared struct {
	mu lockrank.Mutex[lockrank.Last]
	r  io.Reader
}

// Read implements io.Reader.
func (s *shared) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(p)
}

// HostCalls returns what answers each call.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{
		abi.CallClock: k.clock, abi.CallRandom: k.random, abi.CallID: k.id,
		abi.CallEventEmit: hostcall.Of(k.emit), abi.CallHostFact: hostcall.Of(k.fact), abi.CallNormalized: noDeliveries,
	}
}

func (k *Keeper) clock(context.Context, *hostcall.Call) (hostcall.Answer, error) {
	return hostcall.Answer{JSON: []byte(`{"unix_nano":"` + strconv.FormatInt(k.Now().UnixNano(), 10) + `"}`)}, nil
}

func (k *Keeper) random(_ context.Context, c *hostcall.Call) (hostcall.Answer, error) {
	if len(c.Request) != 4 {
		return hostcall.Answer{}, provider.Malformed(errors.New("the request of random is 4 bytes: how many, little-endian"))
	}
	n := binary.LittleEndian.Uint32(c.Request)
	if n > abi.MaxRandom {
		return hostcall.Answer{}, provider.Refuse(abi.CallTooLarge, string(abi.CodePayloadTooLarge), "at most 65,536 random bytes at once")
	}
	p := make([]byte, n)
	if _, err := io.ReadFull(k.Entropy, p); err != nil {
		return hostcall.Answer{}, fmt.Errorf("reading randomness: %w", err)
	}
	return hostcall.Answer{JSON: p}, nil
}

func (k *Keeper) id(context.Context, *hostcall.Call) (hostcall.Answer, error) {
	return hostcall.Answer{JSON: []byte(`{"id":"` + k.IDs.New("") + `"}`)}, nil
}

func (k *Keeper) emit(_ context.Context, c *hostcall.Call, req *abi.CallEventEmitRequest) (hostcall.Answer, error) {
	if len(req.Payload) == 0 {
		req.Payload = abi.EmptyObject()
	}
	if refused := abi.CheckPluginKind(req.Kind); refused != nil {
		return hostcall.Answer{}, provider.Malformed(refused)
	}
	if req.Payload.Kind() != '{' {
		return hostcall.Answer{}, provider.Malformed(abi.InvalidParam("payload", "payload must be a JSON object"))
	}
	return hostcall.Answer{Extra: []ledger.Record{{Kind: req.Kind, Object: abi.ObjectTask, ID: c.Task.ID, Payload: req.Payload.Clone()}}}, nil
}

func (k *Keeper) fact(_ context.Context, c *hostcall.Call, req *abi.CallHostFactRequest) (hostcall.Answer, error) {
	t := c.Task
	facts := map[string]string{
		"wharf.version": k.Version, "abi.version": abi.ABIVersion, "os": runtime.GOOS, "arch": runtime.GOARCH,
		"tenant": k.TenantID(c.Tenant), "workspace": t.WorkspaceID, "session": t.SessionID, "task": t.ID, "deadline": "",
	}
	facts["client.protocol"], facts["client.name"], facts["client.version"], facts["client.capabilities"] = client(t.Client)
	if !t.DeadlineAt.IsZero() {
		facts["deadline"] = t.DeadlineAt.Format(time.RFC3339Nano)
	}
	value, known := facts[req.Name]
	if !known {
		return hostcall.Answer{}, provider.Refuse(abi.CallNotFound, "unknown_fact", "there is no host fact "+strconv.Quote(req.Name))
	}
	return hostcall.Encoded(abi.CallHostFactAnswer{Value: value})
}

// client returns what the client that submitted a Task has said of itself; "" for what it has not.
func client(c *abi.TaskClient) (protocol, name, version, capabilities string) {
	if c == nil {
		return "", "", "", ""
	}
	return c.Protocol, c.Name, c.Version, strings.Join(c.Capabilities, ",")
}

// noDeliveries refuses: a Task has no deliveries.
func noDeliveries(context.Context, *hostcall.Call) (hostcall.Answer, error) {
	return hostcall.Answer{}, provider.Refuse(abi.CallDenied, "in_a_task", "deliveries are normalized outside of tasks")
}
