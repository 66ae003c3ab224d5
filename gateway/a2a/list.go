package a2a

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// The sizes of pages, and how many Tasks are looked at for one that a state or a time narrows.
const (
	defaultPage = 50
	mostPage    = 100
	mostLooked  = 10_000
)

// listing is a list of Tasks that is asked for.
type listing struct {
	filter  api.Filter
	since   time.Time // of the last change; zero for any
	size    int
	after   string // the Task that the page before ended with
	shows   shows
	nothing bool // no Task can be in it
	mark    string
}

// listing checks what is asked.
func (c *call) listing(p *listParams) (l *listing, err error) {
	l = &listing{size: defaultPage, filter: api.Filter{WorkspaceID: p.Tenant}, mark: markOf(p), shows: shows{artifacts: p.IncludeArtifacts}}
	if l.shows.history, err = historyOf(p.HistoryLength); err != nil {
		return nil, err
	}
	if p.PageSize != nil {
		if l.size = *p.PageSize; l.size < 1 || l.size > mostPage {
			return nil, invalid("pageSize", "pageSize is 1 to %d", mostPage)
		}
	}
	if s := p.Status; s != nil && *s != a2a.TaskStateUnspecified.String() && *s != string(a2a.TaskStateRejected) {
		status, known := statusNamed(*s)
		if !known {
			return nil, invalid("status", "%q is no state of a task", *s)
		}
		l.filter.Status = string(status)
	} else {
		l.nothing = s != nil && *s == string(a2a.TaskStateRejected) // what is not taken is no Task here
	}
	if p.StatusTimestampAfter != nil {
		if l.since, err = time.Parse(time.RFC3339, *p.StatusTimestampAfter); err != nil {
			return nil, invalid("statusTimestampAfter", "statusTimestampAfter is a time such as 2026-01-31T12:00:00Z")
		}
	}
	if p.PageToken != "" {
		if l.after, err = l.read(p.PageToken); err != nil {
			return nil, err
		}
	}
	if p.ContextID == "" {
		return l, nil
	}
	workspace := p.Tenant
	if workspace == "" {
		workspace = c.core.DefaultWorkspaceOf(c.r.Caller)
	}
	l.filter.SessionID, err = c.sessionOf(p.ContextID, workspace)
	l.nothing = l.nothing || l.filter.SessionID == ""
	return l, err
}

// markOf is what a list is told by: a token is of one list.
func markOf(p *listParams) string {
	text, err := json.Marshal([]any{p.Tenant, p.ContextID, p.Status, p.StatusTimestampAfter}, json.Deterministic(true))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// token is where the next page begins.
func (l *listing) token(after string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(l.mark + "." + after))
}

// read reads a token of this list.
func (l *listing) read(token string) (after string, err error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	mark, after, ok := strings.Cut(string(text), ".")
	if err != nil || !ok || mark != l.mark || !abi.ValidID(abi.ObjectTask, after) {
		return "", invalid("pageToken", "pageToken is none of this list: begin anew without one")
	}
	return after, nil
}

// listTasks lists Tasks, newest first.
func (c *call) listTasks() (any, error) {
	var p listParams
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	l, err := c.listing(&p)
	if err != nil {
		return nil, err
	}
	answer := &listAnswer{Tasks: []task{}}
	if l.nothing {
		return answer, nil
	}
	found, err := c.find(l, answer)
	if err != nil {
		return nil, err
	}
	v, contexts := c.viewer(), map[string]string{}
	for i := range found {
		t := &found[i]
		if contexts[t.SessionID] == "" {
			if contexts[t.SessionID], err = v.contextOf(c.r.Context(), t.SessionID); err != nil {
				return nil, err
			}
		}
		shown, err := v.task(c.r.Context(), t, contexts[t.SessionID], l.shows)
		if err != nil {
			return nil, err
		}
		answer.Tasks = append(answer.Tasks, *shown)
	}
	answer.PageSize = len(answer.Tasks)
	return answer, nil
}

// find returns the Tasks of a page, and says in the answer how many there are in all, and where the
// next page begins.
func (c *call) find(l *listing, answer *listAnswer) ([]abi.Task, error) {
	if l.filter.Status == "" && l.since.IsZero() {
		if found, counted, err := c.page(l, answer); counted || err != nil {
			return found, err
		}
	}
	return c.walk(l, answer)
}

// page reads a page of a list that the engine can count; false for one that it cannot, since the
// caller sees only some of it.
func (c *call) page(l *listing, answer *listAnswer) (found []abi.Task, counted bool, err error) {
	list, err := c.core.List(c.r.Context(), c.r.Caller, abi.ObjectTask, l.filter, api.Page{Limit: l.size, After: l.after, Total: true})
	if wrong, ok := err.(*abi.Error); ok && wrong.Param == "include_total" {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	answer.TotalSize = list.Total
	for _, view := range list.Views {
		t, err := as[abi.Task](view)
		if err != nil {
			return nil, false, err
		}
		found = append(found, t)
	}
	if list.More && len(found) > 0 {
		answer.NextPageToken = l.token(found[len(found)-1].ID)
	}
	return found, true, nil
}

// walk reads a list from its beginning, to count it.
func (c *call) walk(l *listing, answer *listAnswer) (found []abi.Task, err error) {
	last := l.after
	for p, looked := (api.Page{Limit: 200}), 0; looked < mostLooked; {
		list, err := c.core.List(c.r.Context(), c.r.Caller, abi.ObjectTask, l.filter, p)
		if err != nil {
			return nil, err
		}
		for _, view := range list.Views {
			t, err := as[abi.Task](view)
			if err != nil {
				return nil, err
			}
			if looked++; t.UpdatedAt.Before(l.since) {
				continue
			}
			answer.TotalSize++
			switch behind := last == "" || t.ID < last; {
			case behind && len(found) < l.size:
				found = append(found, t)
			case behind && answer.NextPageToken == "":
				answer.NextPageToken = l.token(found[len(found)-1].ID)
			}
		}
		c.r.Keep(0)
		if !list.More {
			return found, nil
		}
		if len(list.Views) == 0 {
			looked += 200 // so many at least were looked at
		}
		p.After = list.Next
	}
	return found, nil
}
