package normalize

import (
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// slack normalizes the Events API of Slack. Settings: session, which is channel (one
// Session for each channel, the default) or thread (one for each thread); bots, which
// lets the messages of bots in.
type slack struct {
	connector *wharf.Connector
	byThread  bool
	bots      bool
	doc       tape.Doc
}

// Slack prepares the normalizer of the events of Slack.
func Slack(c *wharf.Connector) (wharf.Normalizer, error) {
	s := &slack{connector: c}
	err := settings(c, func(name string, v tape.Value) (err error) {
		switch name {
		case "session":
			session, err := wantText(name, v)
			if err == nil && session != "channel" && session != "thread" {
				err = fmt.Errorf("the setting session is %q; it must be channel or thread", session)
			}
			s.byThread = session == "thread"
			return err
		case "bots":
			s.bots, err = wantFlag(name, v)
			return err
		}
		return unknown(name)
	})
	return s.normalize, err
}

func (s *slack) normalize(d *wharf.Delivery) (wharf.Normalized, error) {
	if strings.HasPrefix(d.Header("content-type"), "application/x-www-form-urlencoded") {
		return wharf.Normalized{}, fail(codeUnsupported, "commands and interactions are not taken, only events")
	}
	root, err := parse(&s.doc, d)
	if err != nil {
		return wharf.Normalized{}, err
	}
	event := root.Get("event")
	switch kind := root.Get("type").Text(); {
	case kind != "event_callback" && kind != "":
		return ignored(cut(kind, maxName))
	case event.Kind() != tape.Object || event.Get("type").Kind() != tape.String:
		return wharf.Normalized{}, fail(codeMalformed, "there is no event in it")
	}
	if why := s.unwanted(event); why != "" {
		return ignored(why)
	}
	return s.tell(root, event)
}

// unwanted says why an event is not told, "" when it is.
func (s *slack) unwanted(event tape.Value) string {
	kind, subtype := event.Get("type").Text(), event.Get("subtype").Text()
	bot := event.Get("bot_id").Kind() == tape.String || subtype == "bot_message"
	switch {
	case bot && !s.bots:
		return "it is a bot's"
	case subtype != "" && !bot && subtype != "thread_broadcast" && subtype != "file_share":
		if !s.connector.Wants(kind + "." + subtype) {
			return "a " + cut(kind+"."+subtype, maxName) + " is not wanted"
		}
	case !s.connector.Wants(kind):
		return "event " + cut(kind, maxName) + " is not wanted"
	}
	return ""
}

func (s *slack) tell(root, event tape.Value) (wharf.Normalized, error) {
	kind, user := event.Get("type").Text(), event.Get("user").Text()
	channel, at := event.Get("channel").Text(), event.Get("ts").Text()
	if item := event.Get("item"); channel == "" && item.Kind() == tape.Object {
		channel, at = item.Get("channel").Text(), item.Get("ts").Text()
	}
	if channel == "" {
		return wharf.Normalized{}, fail(codeMalformed, "the event has no channel")
	}
	text := event.Get("text").Text()
	if reaction := event.Get("reaction").Text(); reaction != "" {
		text = user + " reacted with :" + reaction + ":"
	}
	if text == "" {
		text = "Slack: " + kind + " by " + user
	}
	return task(wharf.ConnectorTask{
		Message:  message(text, s.facts(root, event, channel)),
		Thread:   s.thread(event, channel, at),
		Metadata: slackMetadata(root, kind, channel, user),
	})
}

func (s *slack) facts(root, event tape.Value, channel string) []byte {
	var o object
	o.value("event", event.Get("type"))
	o.value("subtype", event.Get("subtype"))
	o.value("team", root.Get("team_id"))
	o.text("channel", channel)
	o.value("channel_type", event.Get("channel_type"))
	o.value("user", event.Get("user"))
	o.value("ts", event.Get("ts"))
	o.value("thread_ts", event.Get("thread_ts"))
	o.value("item", event.Get("item"))
	return o.json()
}

func (s *slack) thread(event tape.Value, channel, at string) string {
	if !s.byThread {
		return channel
	}
	if parent := event.Get("thread_ts").Text(); parent != "" {
		at = parent
	}
	return channel + "/" + at
}

func slackMetadata(root tape.Value, kind, channel, user string) []byte {
	var o object
	o.text("provider", "slack")
	o.text("event", kind)
	o.value("team", root.Get("team_id"))
	o.text("channel", channel)
	o.text("user", user)
	return o.json()
}
