package replays

import (
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// ReplaySession accepts an exact replay of every Task of a Session that has ended, oldest
// first, and returns the replay Tasks. It ends early when they are a full page: the next
// request goes on after the Task that the list's Next names.
func (k *Keeper) ReplaySession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplaySessionRequest, after string) (desk.DocList, error) {
	s, release, err := k.parts.Desk.OpenSession(ctx, c, id)
	if err != nil {
		return desk.DocList{}, err
	}
	defer release()
	sources, err := k.replayable(ctx, c, id)
	if err != nil {
		return desk.DocList{}, err
	}
	sources = slices.DeleteFunc(sources, func(source string) bool { return source <= after })
	var list desk.DocList
	for i, source := range sources {
		doc, err := k.ReplayTask(ctx, c, r.Part(source), source, abi.ReplayTaskRequest{Reason: req.Reason})
		if err != nil {
			return desk.DocList{}, err
		}
		if list.Add(doc, maxSessionReplay) {
			list = list.End(source, i < len(sources)-1)
			break
		}
	}
	return list, k.tellSessionReplayed(ctx, c, s, list)
}

// tellSessionReplayed tells a Session's watchers of its replay.
func (k *Keeper) tellSessionReplayed(ctx context.Context, c *desk.Caller, s *ledger.Session, list desk.DocList) error {
	ids := make([]string, len(list.Docs))
	for i, doc := range list.Docs {
		ids[i] = doc.ID
	}
	return s.Change(ctx, func(same *abi.Session, sequence uint64) error {
		_, err := k.parts.Desk.Commit(c, same.ID, same.WorkspaceID, nil, 0, ledger.Record{
			Kind: abi.EventSessionReplayed, Object: abi.ObjectSession, ID: same.ID, Sequence: sequence, State: same,
			Payload: abi.SessionReplayed{TaskIDs: ids},
		})
		return err
	})
}

// replayable lists a Session's Tasks that can be replayed, oldest first.
func (k *Keeper) replayable(ctx context.Context, c *desk.Caller, session string) ([]string, error) {
	var ids []string
	page := storage.Page{Limit: 200}
	for {
		list, more, err := k.parts.Store.List(ctx, c.Tenant, abi.ObjectTask, desk.Scope{Object: abi.ObjectSession, ID: session}, page)
		if err != nil {
			return nil, k.parts.Ledger.Failed("listing the session's tasks", err)
		}
		for _, res := range list {
			page.After = res.ID
			var t abi.Task
			if err := ledger.Decode(res.State, &t); err != nil {
				return nil, err
			}
			if checkReplayable(&t) == nil && !t.StartedAt.IsZero() {
				ids = append([]string{t.ID}, ids...)
			}
		}
		if len(ids) > maxSessionReplay {
			return nil, abi.Errorf(abi.CodePayloadTooLarge, "the session has more than %d tasks: replay them one by one", maxSessionReplay)
		}
		if !more {
			return ids, nil
		}
	}
}

// maxSessionReplay is how many Tasks one request replays.
const maxSessionReplay = 1000
