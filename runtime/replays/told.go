package replays

import (
	"context"
	"fmt"
	"strconv"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/storage"
)

// readTold finds out what an earlier life of the replay told, which is not told again.
func (p *underWay) readTold(ctx context.Context) error {
	k, about := p.keeper, p.about
	if p.task.First() {
		return nil
	}
	for after, more := storage.Position(0), true; more; {
		var page []storage.Event
		var err error
		if page, more, err = k.parts.Store.Events(ctx, p.tenant, desk.Scope{Object: abi.ObjectTask, ID: about.ID}, after, pageOfEvents); err != nil {
			return k.parts.Ledger.Failed("reading what the replay has told", err)
		}
		for _, ev := range page {
			after = ev.Position()
			if err := p.wasTold(ev.Record()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *underWay) wasTold(rec *storage.Record) error {
	switch rec.Kind {
	case abi.EventReplayStarted:
		p.started = true
	case abi.EventReplayEventReplayed:
		var told struct {
			Index int `json:"replayed_index"`
		}
		if err := json.Unmarshal(rec.Payload, &told); err != nil {
			return fmt.Errorf("reading what the replay has told: %w", err)
		}
		p.told = max(p.told, told.Index+1)
	}
	return nil
}

// pageOfEvents is how many events are read at once.
const pageOfEvents = 500

// maxReplayBatch is how many replayed events are written at once.
const maxReplayBatch = 1000

// replayed tells that a call was replayed. Calls before the checkpoint were
// restored, and are not told; nor are those that an earlier life of the replay told.
func (p *underWay) replayed(entry *journal.Entry, by *replay.Replacement) error {
	about := p.about
	if entry.Index < max(about.Replay.Checkpoint, p.told) {
		return nil
	}
	text := p.marks(make([]byte, 0, 384), entry, by)
	text = fmt.Appendf(text, `,"replayed_call":%q,"replayed_index":%d,"answer_sha256":"`, entry.Call, entry.Index)
	text = append(append(text, journal.HashOf(entry.Answer)...), '"', '}')
	p.pending = append(p.pending, ledger.Record{Kind: abi.EventReplayEventReplayed, Object: abi.ObjectTask, ID: about.ID, Text: text})
	if len(p.pending) < maxReplayBatch {
		return nil
	}
	return p.flush()
}

// marks begins a payload with what the contract wants every replayed event to say:
// the members of [abi.ReplayMarks], which are ids and numbers, but for the key.
func (p *underWay) marks(b []byte, entry *journal.Entry, by *replay.Replacement) []byte {
	b = append(append(b, `{"replay":{"source_task_id":"`...), p.source.ID...)
	b = append(append(b, `","replay_task_id":"`...), p.about.ID...)
	b = append(append(b, `","original_event_id":"`...), entry.EventID...)
	b = strconv.AppendInt(append(b, `","replay_cursor":"call:`...), int64(entry.Index)+1, 10)
	b = append(append(b, `","mode":"`...), p.about.Replay.Mode...)
	b = append(b, '"')
	if by != nil {
		b = jsonw.String(append(b, `,"override_key":`...), by.Key)
		b = jsonw.String(append(b, `,"receipt_delta_id":`...), by.Delta.DeltaID)
	}
	return append(b, '}')
}

func (p *underWay) tell(kind abi.EventKind, payload any) {
	p.pending = append(p.pending, ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: p.about.ID, Payload: payload})
}

// flush writes what is pending.
func (p *underWay) flush() error {
	records := p.pending
	p.pending = nil
	return p.task.Tell(records)
}
