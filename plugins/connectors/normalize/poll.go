package normalize

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/jsonpath"
	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// poller fetches what a URL lists. Its settings stand in the Connector's settings, in
// poll: url, where {cursor} stands for how far it got; header, whose values may have
// {secret:NAME}; items, a JSONPath of what is found; id, one of each thing's own id;
// cursor, one of how far this answer gets; max_pages.
type poller struct {
	url    template
	header []headerTemplate
	items  *jsonpath.Path
	id     template
	cursor *jsonpath.Path
	pages  int
}

// headerTemplate is a header of the request: text, secret, text.
type headerTemplate struct{ name, before, secret, after string }

// codePoll is the code with which a poll fails that got no good answer.
const codePoll = "poll_failed"

// What a poll does at most.
const (
	maxPages  = 100
	maxFound  = 1000 // things on one page
	maxCursor = 2048 // bytes of what is kept of how far it got
)

// Poll fetches a URL and delivers what is new there. It is the export of a Task: the
// input has the Connector with its settings.
func Poll(t *wharf.Task) (wharf.Result, error) {
	root, err := new(tape.Doc).Parse(string(t.Input))
	if err != nil {
		return wharf.Result{}, fail(wharf.CodeSettings, err.Error())
	}
	p := &poller{pages: 10}
	if err := p.configure(root.At("connector", "settings", "poll")); err != nil {
		return wharf.Result{}, fail(wharf.CodeSettings, err.Error())
	}
	n, pages, err := p.run()
	return wharf.Result{Summary: fmt.Sprintf("%d new", n),
		Metrics: map[string]float64{"received": float64(n), "pages": float64(pages)}}, err
}

func (p *poller) configure(v tape.Value) error {
	if err := members(v, "the setting poll", p.set); err != nil {
		return err
	}
	if p.url == nil || p.items == nil || p.id == nil {
		return errors.New("the setting poll needs url, items and id")
	}
	return nil
}

func (p *poller) set(name string, v tape.Value) (err error) {
	switch name {
	case "url":
		p.url, err = wantTemplate(name, v)
	case "items":
		p.items, err = wantPath(name, v)
	case "id":
		p.id, err = wantTemplate(name, v)
	case "cursor":
		p.cursor, err = wantPath(name, v)
	case "header":
		return members(v, "the setting poll.header", p.addHeader)
	case "max_pages":
		pages, ok := v.Float()
		if p.pages = int(pages); !ok || p.pages < 1 || p.pages > maxPages {
			return fmt.Errorf("the setting poll.max_pages must be 1 to %d", maxPages)
		}
	default:
		return unknown("poll." + name)
	}
	return err
}

func (p *poller) addHeader(name string, v tape.Value) error {
	text, err := wantText(name, v)
	h := headerTemplate{name: name, before: text}
	if before, rest, ok := strings.Cut(text, "{secret:"); ok {
		secret, after, closed := strings.Cut(rest, "}")
		if !closed {
			return fmt.Errorf("the setting poll.header has an open brace in %q", name)
		}
		h = headerTemplate{name, before, secret, after}
	}
	p.header = append(p.header, h)
	return err
}

// run fetches page after page, as long as the cursor goes on.
func (p *poller) run() (received, pages int, err error) {
	var cursor string
	if _, err := wharf.State("cursor").Get(&cursor); err != nil {
		return 0, 0, err
	}
	header, err := p.headers()
	if err != nil {
		return 0, 0, err
	}
	for pages = 1; ; pages++ {
		found, next, err := p.page(cursor, header)
		if err != nil {
			return received, pages, err
		}
		n, err := wharf.Deliver(found...)
		if err != nil {
			return received, pages, err
		}
		received += n
		if next == "" || next == cursor {
			return received, pages, nil
		}
		// Only when what was found is on disk.
		if err := wharf.State("cursor").Set(next); err != nil {
			return received, pages, err
		}
		if cursor = next; len(found) == 0 || pages == p.pages {
			return received, pages, nil
		}
	}
}

func (p *poller) headers() (map[string]string, error) {
	header := map[string]string{"accept": "application/json"}
	for _, h := range p.header {
		value := h.before
		if h.secret != "" {
			handle, err := wharf.UseSecret(h.secret)
			if err != nil {
				return nil, err
			}
			value += handle + h.after
		}
		header[strings.ToLower(h.name)] = value
	}
	return header, nil
}

func (p *poller) page(cursor string, header map[string]string) (found []wharf.Found, next string, err error) {
	at, err := p.url.fill(&source{words: map[string]string{"cursor": url.QueryEscape(cursor)}})
	if err != nil {
		return nil, "", fail(wharf.CodeSettings, err.Error())
	}
	answer, err := wharf.Fetch(wharf.FetchRequest{URL: at, Header: header, Purpose: "poll"})
	if err != nil {
		return nil, "", err
	}
	if answer.Status >= 300 {
		return nil, "", fail(codePoll, fmt.Sprintf("the answer has the status %d", answer.Status))
	}
	root, err := new(tape.Doc).Parse(string(answer.Bytes()))
	if err != nil {
		return nil, "", fail(codePoll, "the answer: "+err.Error())
	}
	if found, err = p.found(root); err != nil {
		return nil, "", fail(codePoll, err.Error())
	}
	if p.cursor != nil {
		v, err := p.cursor.First(root, root)
		if err != nil {
			return nil, "", fail(codePoll, err.Error())
		}
		if next, _ = v.Word(); len(next) > maxCursor {
			return nil, "", fail(codePoll, "the cursor is too long")
		}
	}
	return found, next, nil
}

func (p *poller) found(root tape.Value) (all []wharf.Found, err error) {
	selectErr := p.items.Select(root, root, func(v tape.Value) bool {
		if len(all) == maxFound {
			err = fmt.Errorf("there are more than %d things on a page", maxFound)
			return false
		}
		var id string
		id, err = p.id.fill(&source{root: root, current: v})
		if err == nil && id == "" {
			err = errors.New("a thing has no id")
		}
		all = append(all, wharf.Found{ID: id, Text: v.Raw(), Header: map[string]string{"content-type": "application/json"}})
		return err == nil
	})
	return all, errors.Join(err, selectErr)
}
