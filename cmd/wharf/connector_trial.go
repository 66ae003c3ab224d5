package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
)

// samples are what "wharf connector test" sends when nothing else is given. {id} stands for the
// delivery id, which some providers say in the body alone, and which makes each trial another to those whose
// signature is of the body alone.
var samples = map[string]struct {
	header map[string]string
	body   string
}{
	"github": {map[string]string{"X-GitHub-Event": "issues"},
		`{"action":"opened","issue":{"number":1,"title":"A trial, {id}","body":"Sent by wharf connector test."},"repository":{"full_name":"wharf/trial"},"sender":{"login":"wharf"}}`},
	"slack": {nil, `{"type":"event_callback","event_id":"{id}","team_id":"T0","event":{"type":"message","channel":"C0","user":"U0","text":"Sent by wharf connector test.","ts":"1.0"}}`},
	"cloudevents": {map[string]string{"Content-Type": "application/cloudevents+json"},
		`{"specversion":"1.0","id":"{id}","source":"/wharf","type":"dev.wharf.trial","data":{"text":"Sent by wharf connector test."}}`},
	"stripe": {nil, `{"id":"{id}","object":"event","type":"charge.succeeded","data":{"object":{"description":"Sent by wharf connector test."}}}`},
	"":       {nil, `{"text":"Sent by wharf connector test."}`},
}

func (a *app) connectorTestCommand() *cobra.Command {
	var file, secretEnv, id string
	var headers []string
	return a.node(page{
		use:   "test ID",
		short: "Send a Connector a delivery, as its provider would",
		long: `Test sends a delivery: a sample of the Connector's provider, or a file ("-" for
standard input). With --secret-env it is signed with the value of that environment
variable and sent to the public path, which must be open; else the key that the
command uses stands for the signature. Sent again under the same --id, it is
recognized ("deduped"). Slack and Stripe have the id in the body: a file says its own.`,
		example: `  wharf connector test conn_01K0...
  wharf connector test conn_01K0... --secret-env HOOK --file push.json -H "X-GitHub-Event: push"`,
		args: oneArg(aConnector),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&file, "file", "", "the body to send")
			f.StringVar(&secretEnv, "secret-env", "", "sign with the value of this environment variable")
			f.StringVar(&id, "id", "", "the delivery id (default: a new one)")
			f.StringArrayVarP(&headers, "header", "H", nil, "a header to send, \"Name: value\"")
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		doc, err := client.Do[abi.Connector](ctx, c, client.Get("/v1/connectors/{}", args[0]))
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf connector list")
		}
		t, err := a.trial(&doc.Value, file, id, headers)
		if err == nil && secretEnv != "" {
			err = t.sign(&doc.Value, a.env(secretEnv), secretEnv)
		}
		if err != nil {
			return err
		}
		got, err := c.Deliver(ctx, t.path, t.header, t.body)
		if err != nil && secretEnv != "" {
			return hint(err, abi.CodeUnauthenticated, otherSecret(&doc.Value, secretEnv))
		}
		if err != nil {
			return err
		}
		return a.print(got.JSON, func() {
			a.out.Line(got.Value.Status, "  ", got.Value.DeliveryID, "  ", got.Value.ID)
			if got.Value.Status == "deduped" {
				a.out.Line("  a delivery with this id was taken before, and this one changes nothing: give another --id, or a --file whose id is another")
			}
		})
	}))
}

// otherSecret says what to do about a signature that did not hold: an API key has no part in that.
func otherSecret(c *abi.Connector, env string) string {
	if c.Auth == nil || len(c.Auth.Secrets) == 0 {
		return "a Connector that names a secret: " + c.ID + " names none that this key is shown, so no signature holds"
	}
	try := "in " + env + " the value of the secret " + strings.Join(c.Auth.Secrets, " or ")
	if c.Auth.VaultID != "" {
		try += " of the vault " + c.Auth.VaultID
	} else {
		try += " of the node's configuration"
	}
	return try + ", by which " + c.ID + " checks signatures"
}

// trial is a delivery to be sent.
type trial struct {
	path, id string
	header   map[string]string
	body     []byte
}

func (a *app) trial(c *abi.Connector, file, id string, headers []string) (*trial, error) {
	sample, known := samples[c.Provider]
	if !known {
		sample = samples[""]
	}
	t := &trial{path: client.DeliveriesPath(c.ID), id: id, header: map[string]string{"Content-Type": "application/json"}}
	if t.id == "" {
		t.id = "trial-" + strings.ReplaceAll(time.Now().UTC().Format("20060102T150405.000000000"), ".", "-")
	}
	t.body = []byte(strings.ReplaceAll(sample.body, "{id}", t.id))
	for name, value := range sample.header {
		t.header[name] = value
	}
	t.header[idHeader(c)] = t.id
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, usagef("the header %q is not of the form Name: value", h)
		}
		t.header[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if file == "" {
		return t, nil
	}
	var err error
	if file == "-" {
		t.body, err = io.ReadAll(a.stdin)
	} else {
		t.body, err = os.ReadFile(file)
	}
	return t, err
}

// idHeader is the header that a Connector takes delivery ids from.
func idHeader(c *abi.Connector) string {
	if c.DedupePolicy != nil && c.DedupePolicy.Header != "" {
		return c.DedupePolicy.Header
	}
	if p, known := connector.Lookup(c.Provider); known && len(p.IDHeaders) > 0 {
		return p.IDHeaders[0]
	}
	return "webhook-id"
}

// sign signs a delivery as the Connector's provider does, and sends it on the public
// path.
func (t *trial) sign(c *abi.Connector, secret, env string) error {
	if secret == "" {
		return usagef("the environment variable %s is empty", env)
	}
	if c.Webhook == nil || c.Webhook.Path == "" || !c.Webhook.Enabled {
		return usagef("the public path of %s is closed, or not shown to this key", c.ID)
	}
	auth := abi.WebhookAuth{}
	if c.Auth != nil {
		auth = *c.Auth
	}
	if p, known := connector.Lookup(c.Provider); auth.Scheme == "" && known {
		auth.Scheme = p.Scheme
	} else if auth.Scheme == "" {
		auth.Scheme = abi.SchemeStandard
	}
	signed, err := signature.Sign(auth, []byte(secret), t.id, t.body, time.Now())
	if err != nil {
		return err
	}
	for name, value := range signed {
		t.header[name] = value
	}
	t.path = c.Webhook.Path
	return nil
}
