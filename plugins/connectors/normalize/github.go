package normalize

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// gitHub normalizes the webhooks of GitHub. Settings: ignore_senders, a list of
// logins whose deeds are not told, such as the one that Wharf itself acts as.
type gitHub struct {
	connector *wharf.Connector
	ignore    []string
	doc       tape.Doc
}

// GitHub prepares the normalizer of the webhooks of GitHub.
func GitHub(c *wharf.Connector) (wharf.Normalizer, error) {
	g := &gitHub{connector: c}
	err := settings(c, func(name string, v tape.Value) (err error) {
		if name != "ignore_senders" {
			return unknown(name)
		}
		g.ignore, err = wantTexts(name, v)
		return err
	})
	return g.normalize, err
}

func (g *gitHub) normalize(d *wharf.Delivery) (wharf.Normalized, error) {
	event := d.Header("x-github-event")
	if event == "" {
		return wharf.Normalized{}, fail(codeMalformed, "the header X-GitHub-Event is missing")
	}
	root, err := g.parse(d)
	if err != nil {
		return wharf.Normalized{}, err
	}
	action := root.Get("action").Text()
	switch {
	case event == "ping":
		return ignored("ping")
	case !g.wants(event, action):
		return ignored("event " + cut(strings.TrimSuffix(event+"."+action, "."), maxName) + " is not wanted")
	case slices.Contains(g.ignore, root.At("sender", "login").Text()):
		return ignored("its sender is ignored")
	}
	repository := root.At("repository", "full_name").Text()
	story := tell(event, action, root, repository)
	switch {
	case story.broken != "":
		return wharf.Normalized{}, fail(codeMalformed, story.broken)
	case story.nothing != "":
		return ignored(story.nothing)
	}
	return task(wharf.ConnectorTask{
		Message:  message(story.text, story.facts.json()),
		Thread:   repository + story.thread,
		Metadata: gitHubMetadata(event, action, repository, root.At("sender", "login").Text()),
	})
}

func (g *gitHub) wants(event, action string) bool {
	return g.connector.Wants(event) || action != "" && g.connector.Wants(event+"."+action)
}

// parse reads the body, also of hooks that are set to send it as a form.
func (g *gitHub) parse(d *wharf.Delivery) (tape.Value, error) {
	if d.Body != nil {
		return tape.Value{}, fail(codeMalformed, "the body is not UTF-8")
	}
	text := d.Text
	if form, ok := strings.CutPrefix(text, "payload="); ok {
		form, _, _ = strings.Cut(form, "&")
		payload, err := url.QueryUnescape(form)
		if err != nil {
			return tape.Value{}, fail(codeMalformed, "the form: "+err.Error())
		}
		text = payload
	}
	return parseObject(&g.doc, text)
}

func gitHubMetadata(event, action, repository, sender string) json.RawMessage {
	var o object
	o.text("provider", "github")
	o.text("event", event)
	o.text("action", action)
	o.text("repository", repository)
	o.text("sender", sender)
	return o.json()
}

// story is what is told of an event.
type story struct {
	text    string
	facts   object
	thread  string // behind the repository
	nothing string // why nothing is told
	broken  string // why nothing can be told
}

// tell makes a sentence of an event, with the texts that people wrote below it.
func tell(event, action string, root tape.Value, repository string) (s story) {
	sender := root.At("sender", "login").Text()
	if repository == "" {
		s.broken = "repository.full_name is missing"
		return s
	}
	s.facts.text("event", event)
	s.facts.text("action", action)
	s.facts.text("repository", repository)
	s.facts.text("sender", sender)
	switch event {
	case "issues", "issue_comment":
		s.numbered("Issue", root.Get("issue"), root, action, sender, repository)
	case "pull_request", "pull_request_review", "pull_request_review_comment":
		s.numbered("Pull request", root.Get("pull_request"), root, action, sender, repository)
		s.branches(root.Get("pull_request"))
	case "discussion", "discussion_comment":
		s.numbered("Discussion", root.Get("discussion"), root, action, sender, repository)
	case "push":
		s.push(root, sender, repository)
	case "release":
		s.release(root.Get("release"), action, sender, repository)
	case "workflow_run":
		s.workflow(root.Get("workflow_run"), action, repository)
	default:
		s.other(root, event, action, sender, repository)
	}
	return s
}

// numbered tells of an issue, a pull request or a discussion, and of a comment or
// review of it.
func (s *story) numbered(what string, thing, root tape.Value, action, sender, repository string) {
	if thing.Get("number").Kind() != tape.Number {
		s.broken = "what it is about has no number"
		return
	}
	number := thing.Get("number").Raw()
	said := root.Get("comment")
	if said.Kind() == tape.Missing {
		said = root.Get("review")
	}
	written, page := thing, thing.Get("html_url")
	verb := action
	if said.Kind() == tape.Object {
		written, page, verb = said, said.Get("html_url"), "comment "+action
		if root.Get("review").Kind() == tape.Object && root.Get("comment").Kind() != tape.Object {
			verb = "review " + action
		}
	}
	s.thread = "#" + number
	s.text = paragraphs(what+" #"+number+" in "+repository+": "+verb+" by "+sender, thing.Get("title").Text(), written.Get("body").Text(), page.Text())
	s.facts.value("number", thing.Get("number"))
	s.facts.value("title", thing.Get("title"))
	s.facts.value("state", thing.Get("state"))
	s.facts.value("author", thing.At("user", "login"))
	s.facts.value("url", page)
	s.facts.value("comment_id", root.At("comment", "id"))
	s.facts.value("review_state", root.At("review", "state"))
	s.facts.value("path", root.At("comment", "path"))
	s.facts.value("label", root.At("label", "name"))
	s.facts.value("assignee", root.At("assignee", "login"))
	s.labels(thing.Get("labels"))
}

// labels adds the names of labels.
func (s *story) labels(labels tape.Value) {
	names := []byte{'['}
	labels.Elements(func(l tape.Value) bool {
		if name := l.Get("name"); name.Kind() == tape.String {
			if len(names) > 1 {
				names = append(names, ',')
			}
			names = append(names, name.Raw()...)
		}
		return len(names) < maxMessage
	})
	if len(names) > 1 {
		s.facts.raw("labels", string(append(names, ']')))
	}
}

func (s *story) branches(pull tape.Value) {
	s.facts.value("head", pull.At("head", "ref"))
	s.facts.value("head_sha", pull.At("head", "sha"))
	s.facts.value("base", pull.At("base", "ref"))
	s.facts.value("draft", pull.Get("draft"))
	s.facts.value("merged", pull.Get("merged"))
}

// maxCommits is how many commits of a push are told.
const maxCommits = 20

func (s *story) push(root tape.Value, sender, repository string) {
	ref := root.Get("ref").Text()
	s.thread = "@" + ref
	if sender == "" {
		sender = root.At("pusher", "name").Text()
	}
	commits := root.Get("commits")
	if root.Get("deleted").Kind() == tape.True {
		s.text = ref + " in " + repository + " was deleted by " + sender
	} else {
		lines, n := []byte(nil), 0
		commits.Elements(func(c tape.Value) bool {
			first, _, _ := strings.Cut(c.Get("message").Text(), "\n")
			lines = append(append(append(lines, "- "...), cut(first, maxName)...), '\n')
			n++
			return n < maxCommits
		})
		s.text = paragraphs("Push to "+ref+" in "+repository+" by "+sender, strings.TrimSuffix(string(lines), "\n"), root.Get("compare").Text())
	}
	s.facts.value("ref", root.Get("ref"))
	s.facts.value("before", root.Get("before"))
	s.facts.value("after", root.Get("after"))
	s.facts.value("forced", root.Get("forced"))
	s.facts.value("url", root.Get("compare"))
}

func (s *story) release(release tape.Value, action, sender, repository string) {
	tag := release.Get("tag_name")
	s.thread = "@" + tag.Text()
	s.text = paragraphs("Release "+tag.Text()+" of "+repository+": "+action+" by "+sender, release.Get("name").Text(), release.Get("body").Text(), release.Get("html_url").Text())
	s.facts.value("tag", tag)
	s.facts.value("url", release.Get("html_url"))
	s.facts.value("prerelease", release.Get("prerelease"))
}

func (s *story) workflow(run tape.Value, action, repository string) {
	if action != "completed" {
		s.nothing = "a workflow run that has not ended"
		return
	}
	branch := run.Get("head_branch").Text()
	s.thread = "@" + branch
	s.text = paragraphs("Workflow "+run.Get("name").Text()+" of "+repository+" on "+branch+": "+run.Get("conclusion").Text(), run.Get("html_url").Text())
	s.facts.value("conclusion", run.Get("conclusion"))
	s.facts.value("head_branch", run.Get("head_branch"))
	s.facts.value("head_sha", run.Get("head_sha"))
	s.facts.value("url", run.Get("html_url"))
}

// other tells of an event that the Connector asks for by name, and that has no
// sentence of its own.
func (s *story) other(root tape.Value, event, action, sender, repository string) {
	s.thread = " " + event
	s.text = paragraphs("Event "+strings.TrimSpace(event+" "+action)+" in "+repository+" by "+sender, root.At("comment", "body").Text())
	s.facts.value("url", root.At("comment", "html_url"))
}
