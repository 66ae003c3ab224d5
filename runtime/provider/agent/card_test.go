package agent

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzParseCard wants a card to lead nowhere but where it may, and no skill to have a name that people
// could take for another.
func FuzzParseCard(f *testing.F) {
	for _, card := range []string{
		`{"name":"a","supportedInterfaces":[{"url":"https://a.example/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"skills":[{"id":"x"}]}`,
		`{"name":"a","url":"https://a.example/","protocolVersion":"0.3.0","capabilities":{"_meta":{"harn":{"externalAgent":{"schema":"harn.external_agent.v1","dispatch":true}}}}}`,
		`{"url":"https://b.example/","additionalInterfaces":[{"url":"https://a.example","transport":"JSONRPC"}],"_meta":{"harn":{"externalAgent":1}}}`,
		`{"url":"https://user@a.example/","skills":[{"id":"\u202e"},{"id":"*"},{"id":"a"},{"id":"a"}]}`, `[]`, `{`, `{"name":1}`,
	} {
		f.Add([]byte(card))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		card, err := ParseCard(text, func(u *url.URL) bool { return u.Hostname() == "a.example" })
		if err != nil {
			return
		}
		if u, err := url.Parse(card.Endpoint); err != nil || u.Hostname() != "a.example" || u.User != nil {
			t.Errorf("it leads to %q", card.Endpoint)
		}
		for _, s := range card.Skills {
			if s.ID == "" || strings.ContainsAny(s.ID, "*\n\u202e") {
				t.Errorf("a skill is called %q", s.ID)
			}
		}
	})
}
