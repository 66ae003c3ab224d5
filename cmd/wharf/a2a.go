package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/provider/web"
)

const aPeer = "the URL of an agent, or its name in the configuration"

func (a *app) a2aCommand() *cobra.Command {
	return family(page{
		use:   "a2a",
		short: "Speak to agents by A2A, the node among them",
		long: `An agent is any that speaks A2A, 1.0 or 0.3, by JSON-RPC: another Wharf, or anything
else. It is named by its URL, that of its card, or by its name under "tools" in the
configuration. docs/a2a.md and docs/delegation.md have the rest.

The node that --server names is spoken to with WHARF_API_KEY. Others get the key in
WHARF_A2A_KEY, if there is one, and what --header says.`,
		example: `  wharf a2a card
  wharf a2a send https://agent.example.com "When is high water?"
  wharf a2a delegate coder "Fix the flaky test" --budget-usd 2`,
	}, a.a2aCardCommand(), a.a2aSendCommand(), a.a2aDelegateCommand())
}

// peerFlags say how to reach an agent.
type peerFlags struct {
	config  string
	headers []string
	hosts   []string
}

func (p *peerFlags) add(f *pflag.FlagSet) {
	f.StringVar(&p.config, "config", "", "configuration file that names agents (or WHARF_CONFIG; default wharf.yaml, if it exists)")
	f.StringArrayVar(&p.headers, "header", nil, "a header of each request, NAME: VALUE")
	f.StringSliceVar(&p.hosts, "host", nil, "patterns of further hosts that its card may name; they get the headers too")
}

// peerCommand makes a command that speaks to an agent.
func (a *app) peerCommand(p page, peer *peerFlags, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	own := p.flags
	p.flags = func(f *pflag.FlagSet) {
		if own != nil {
			own(f)
		}
		peer.add(f)
	}
	return a.remote(p.command(run))
}

// peer returns the agent that a URL or a name stands for, the node for "".
func (p *peerFlags) peer(a *app, at string) (*agent.Peer, error) {
	node := a.serverURL()
	c := agent.Config{URL: cmp.Or(at, node), Hosts: p.hosts, Private: true, Version: thisBuild().Version}
	if at != "" && !strings.Contains(at, "://") {
		if err := p.named(a, at, &c); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("%q is not the URL of an agent, such as %s", c.URL, client.DefaultServer)
	}
	c.Name = cmp.Or(c.Name, u.Host)
	if err := p.addHeaders(a, &c, sameNode(u, node)); err != nil {
		return nil, err
	}
	if sameNode(u, node) {
		if err := a.trustPeer(node, &c); err != nil {
			return nil, err
		}
	}
	return agent.NewPeer(c)
}

// trustPeer has the node spoken with by what the flags say of TLS.
func (a *app) trustPeer(node string, c *agent.Config) error {
	config, err := a.trusts(node)
	if err != nil || config == nil {
		return err
	}
	over := web.Transport(web.Reach{Private: c.Private, PerHost: 8})
	over.TLSClientConfig = config
	c.Transport = over
	return nil
}

// named takes from the configuration where an agent is.
func (p *peerFlags) named(a *app, name string, c *agent.Config) error {
	eff, err := loadConfig(config.Sources{File: cmp.Or(p.config, a.env("WHARF_CONFIG")), Environ: a.environ})
	if err != nil {
		return err
	}
	s, ok := eff.Config.Tools[name]
	if !ok || s.A2A == "" {
		return advise(usagef("the configuration has no agent %q", name),
			fmt.Sprintf("its URL, or \"tools: {%s: {a2a: URL}}\" in the file that --config names", name))
	}
	c.Name, c.URL, c.Timeout, c.Answer = name, s.A2A, s.Timeout, s.Answer
	c.Hosts = append(s.Hosts, p.hosts...)
	c.Headers = map[string]string{}
	for header, value := range s.Headers {
		if !strings.Contains(value, "{{secret:") { // those the node alone can read
			c.Headers[header] = value
		}
	}
	return nil
}

func (p *peerFlags) addHeaders(a *app, c *agent.Config, own bool) error {
	all := map[string]string{}
	key := a.env("WHARF_A2A_KEY")
	if own {
		key = a.key()
	}
	if key != "" {
		all["Authorization"] = "Bearer " + key
	}
	for name, value := range c.Headers {
		all[name] = value
	}
	for _, h := range p.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return usagef("--header is \"NAME: VALUE\", and not %q", h)
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	c.Headers = all
	return nil
}

// sameNode reports whether a URL leads to the node.
func sameNode(u *url.URL, node string) bool {
	n, err := url.Parse(node)
	return err == nil && u.Scheme == n.Scheme && strings.EqualFold(u.Host, n.Host)
}

// peerError is what went wrong with an agent.
type peerError struct {
	message string
	exit    int
}

func (e *peerError) Error() string { return e.message }

// peerFailed says what to do about an error of an agent; nil stays.
func peerFailed(err error) error {
	said, refused := errors.AsType[*provider.Refusal](err)
	noTask, isNo := errors.AsType[*agent.RefusedError](err)
	switch {
	case isNo:
		return &peerError{"the agent refuses: " + noTask.Message, exitFailed}
	case !refused:
		return err
	case agent.Denied(err):
		return advise(&peerError{said.Message, exitDenied},
			"WHARF_A2A_KEY or --header \"Authorization: Bearer KEY\", with a key of that agent; for the node of --server, WHARF_API_KEY")
	case agent.Unreached(err):
		return advise(&peerError{said.Message, exitUnreachable}, "another URL, or again when it runs")
	}
	return &peerError{said.Message, exitFailed}
}

func (a *app) a2aCardCommand() *cobra.Command {
	var at peerFlags
	return a.peerCommand(page{
		use: "card [URL | NAME]", short: "Show what an agent says of itself, and check its signature",
		long: `Card reads an agent's card, the node's own without an argument, and shows where it is
spoken to, what it can do, and whether it takes paid work. Signatures are checked with
the keys that they name, where these are on the card's own host or on one of --host. A
signature that is valid says that the card is as whoever has these keys wrote it.

The exit code is 1 when a signature is wrong.`,
		example: "  wharf a2a card\n  wharf a2a card https://agent.example.com --json",
		args:    optionalArg,
	}, &at, func(cmd *cobra.Command, args []string) error {
		p, err := at.peer(a, strings.Join(args, ""))
		if err != nil {
			return err
		}
		defer p.Close()
		card, err := p.Show(cmd.Context())
		if err != nil {
			return peerFailed(err)
		}
		if err := a.print(cardShown(card), func() { a.showCard(card) }); err != nil {
			return err
		}
		for _, s := range card.Signatures {
			if s.Verify == agent.SignatureInvalid {
				return &silentError{exitFailed}
			}
		}
		return nil
	})
}

// cardJSON is a card as --json has it.
type cardJSON struct {
	SHA256     string            `json:"sha256"`
	Endpoint   string            `json:"endpoint,omitzero"`
	Unusable   string            `json:"unusable,omitzero"`
	Signatures []agent.Signature `json:"signatures"`
	Delegation delegationJSON    `json:"delegation"`
	Card       jsontext.Value    `json:"card"`
}

type delegationJSON struct {
	Supported bool     `json:"supported"`
	Plans     bool     `json:"plans"`
	Lacks     []string `json:"lacks"`
}

func cardShown(c *agent.Shown) cardJSON {
	lacks := c.External.Lacks()
	j := cardJSON{SHA256: c.SHA256, Endpoint: c.Endpoint, Signatures: c.Signatures, Card: c.Text,
		Delegation: delegationJSON{len(lacks) == 0, c.External.Plans(), lacks}}
	if c.Unusable != nil {
		j.Unusable = c.Unusable.Error()
	}
	return j
}

func (a *app) showCard(c *agent.Shown) {
	a.out.Line(a.out.Paint(show.Bold, show.OneLine(c.Name)), " ", show.OneLine(c.Version))
	if c.Description != "" {
		a.out.Block("  ", show.OneLine(c.Description))
	}
	spoken := c.Endpoint
	if c.Unusable != nil {
		spoken = "nowhere: " + c.Unusable.Error()
	}
	a.out.Pairs([2]string{"spoken to", spoken}, [2]string{"paid work", paidWork(&c.External)}, [2]string{"card", c.SHA256})
	if len(c.Signatures) == 0 {
		a.out.Pairs([2]string{"signature", "none: anybody who answers there can have written it"})
	}
	for i := range c.Signatures {
		a.out.Pairs([2]string{"signature", a.verdict(&c.Signatures[i])})
	}
	a.out.Gap()
	var rows [][]show.Cell
	for _, i := range c.Interfaces {
		rows = append(rows, show.Cells(show.OneLine(i.URL), show.OneLine(i.Binding), show.OneLine(i.Version)))
	}
	a.out.Table([]string{"INTERFACE", "BINDING", "A2A"}, rows)
	if len(c.Skills) == 0 {
		return
	}
	a.out.Gap()
	rows = nil
	for i := range c.Skills {
		rows = append(rows, show.Cells(show.OneLine(c.Skills[i].ID), show.OneLine(c.Skills[i].Name), show.OneLine(c.Skills[i].Description)))
	}
	a.out.Table([]string{"SKILL", "NAME", "DESCRIPTION"}, rows)
}

func (a *app) verdict(s *agent.Signature) string {
	style := show.Yellow
	switch s.Verify {
	case agent.SignatureValid:
		style = show.Green
	case agent.SignatureInvalid:
		style = show.Red
	}
	text := a.out.Paint(style, string(s.Verify))
	if s.KeyID != "" {
		text += ", by " + show.OneLine(s.KeyID)
	}
	if s.Keys != "" {
		text += " of " + show.OneLine(s.Keys)
	}
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return text
}

// paidWork says whether an agent takes paid work.
func paidWork(x *agent.External) string {
	lacks := x.Lacks()
	switch {
	case len(lacks) == 4:
		return "no"
	case len(lacks) > 0:
		return "no: its card does not promise " + strings.Join(lacks, ", ")
	case !x.Plans():
		return "yes, but it makes no plans"
	}
	return "yes (wharf a2a delegate)"
}
