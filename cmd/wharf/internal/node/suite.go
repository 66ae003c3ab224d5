package node

import (
	"context"
	"crypto/tls"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	suite "github.com/wharf-dev/wharf/conformance/openharness"
	"github.com/wharf-dev/wharf/gateway/openharness"
)

// suite is what checks the node's harnesses, as any client could.
func (n *Node) suite() openharness.Suite {
	return openharness.Suite{Domains: suite.Domains(), Run: n.check}
}

// check asks this node about a harness, on its own address.
func (n *Node) check(ctx context.Context, run openharness.SuiteRun, tell func(jsontext.Value)) (openharness.SuiteResult, error) {
	transport := &http.Transport{TLSClientConfig: n.loopbackTLS()}
	defer transport.CloseIdleConnections()
	config := suite.Config{BaseURL: n.URL(), APIKey: run.APIKey, Harness: run.Harness, Quick: run.Quick, Client: &http.Client{Transport: transport}}
	for _, domain := range run.Domains {
		config.Only = append(config.Only, domain+".")
	}
	report, err := suite.Run(ctx, config, func(event suite.Event) {
		if event.Type == suite.EventDone {
			return // the adapter makes its own
		}
		if text, err := json.Marshal(&event, json.Deterministic(true)); err == nil {
			tell(text)
		}
	})
	return openharness.SuiteResult{Verdict: report.Verdict(), Passed: report.Passed, Failed: report.Failed, Skipped: report.Skipped,
		Violations: report.Violations}, err
}

// loopbackTLS is how the node speaks to itself: whose certificate it has does not matter, because
// it is this process that listens there.
func (n *Node) loopbackTLS() *tls.Config {
	c := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	if names := n.options.Config.ACME.Names(); len(names) > 0 {
		c.ServerName = names[0]
	}
	return c
}
