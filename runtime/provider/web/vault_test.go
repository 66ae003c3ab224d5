package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

const vaulted = "vault_01ARZ3NDEKTSV4RRFFQ69G5FAV/token"

// withVault makes a request of a plugin that may use the secret vaulted, at hosts. told
// is what the Vault was told.
func withVault(t *testing.T, w *Web, req abi.CallHTTPFetchRequest, hosts ...string) (raw []byte, told []string, err error) {
	t.Helper()
	text, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	c := &provider.Call{Name: abi.CallHTTPFetch, Request: text, Plugin: "p"}
	c.Vault = func(_ context.Context, name string) (*provider.VaultSecret, error) {
		if name != vaulted {
			return nil, provider.Refuse(abi.CallDenied, "secret_denied", "not yours")
		}
		return &provider.VaultSecret{Name: name, Hosts: hosts,
			Value: func(_ context.Context, host string) (string, error) {
				told = append(told, "used at "+host)
				return canary, nil
			},
			Refused: func(_ context.Context, host string, why *provider.Refusal) error {
				told = append(told, "refused at "+host+": "+why.Code)
				return nil
			}}, nil
	}
	plan, err := w.Prepare(t.Context(), c)
	if err != nil {
		return nil, told, err
	}
	if len(told) > 0 {
		t.Errorf("before anything is sent the vault is told %q", told)
	}
	raw, err = plan.Do(t.Context(), func(string) {})
	return raw, told, err
}

func TestSecretsOfVaultsReachTheHostAndNothingElse(t *testing.T) {
	var header, query string
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header, query = r.Header.Get("Authorization"), r.URL.Query().Get("k")
		echo(w, r)
	})
	handle := "{{secret:" + vaulted + "}}"
	escaped := url.QueryEscape(handle)
	for _, form := range []string{handle, escaped, strings.ReplaceAll(escaped, "%2F", "/")} {
		raw, told, err := withVault(t, newWeb(t, Config{}, here(host)), abi.CallHTTPFetchRequest{
			URL: "http://" + host + "/?k=" + form, Header: map[string]string{"Authorization": "Bearer " + handle}}, host)
		if err != nil || header != "Bearer "+canary || query != canary {
			t.Fatalf("%s: the server got %q and %q (%v)", form, header, query, err)
		}
		if leaks(string(raw)) || !strings.Contains(string(raw), handle) {
			t.Errorf("the plugin gets %s", raw)
		}
		if fmt.Sprint(told) != "[used at "+host+"]" {
			t.Errorf("the vault is told %q", told)
		}
	}
}

func TestSecretsOfVaultsThatMustNotBeSent(t *testing.T) {
	host := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	w := newWeb(t, Config{}, here(host), Grant{Hosts: []string{"plain.test"}})
	use := func(target, name string) abi.CallHTTPFetchRequest {
		return abi.CallHTTPFetchRequest{URL: target, Header: map[string]string{"Authorization": "{{secret:" + name + "}}"}}
	}
	_, told, err := withVault(t, w, use("http://"+host, vaulted), "elsewhere.test")
	if refused(t, err, abi.CallDenied, "hosts"); fmt.Sprint(told) != "[refused at "+host+": http_denied]" {
		t.Errorf("the vault is told %q", told)
	}
	_, told, err = withVault(t, w, use("http://plain.test", vaulted))
	if refused(t, err, abi.CallDenied, "https"); len(told) != 1 {
		t.Errorf("the vault is told %q", told)
	}
	_, told, err = withVault(t, w, use("http://"+host, vaulted[:len(vaulted)-1]))
	if refused(t, err, abi.CallDenied, "not yours"); told != nil {
		t.Errorf("the vault is told %q", told)
	}
	_, err = prepare(t, w, use("http://"+host, vaulted)) // there are no vaults
	refused(t, err, abi.CallNotFound, "there is no secret")
}

// fixed is the node's one secret, which belongs to hosts.
type fixed struct{ hosts []string }

func (fixed) Granted(string, string) error { return nil }
func (f fixed) Hosts(string) []string      { return f.hosts }
func (fixed) Value(_ context.Context, _, name string) (secret.Value, error) {
	return secret.NewValue(name, canary), nil
}

func TestUsesOfTheNodesSecretsAreTold(t *testing.T) {
	sent := 0
	host := serve(t, func(http.ResponseWriter, *http.Request) { sent++ })
	for _, test := range []struct {
		hosts []string
		told  string
		fails bool // it cannot be told
		sent  int
	}{
		{hosts: nil, told: "crm at " + host + ": <nil>", sent: 1},
		{hosts: []string{"elsewhere.test"}, told: "crm at " + host + ": http_denied"},
		{hosts: nil, told: "crm at " + host + ": <nil>", fails: true},
	} {
		var told string
		failure := errors.New("the disk is full")
		request := fmt.Sprintf(`{"url":"http://%s/","header":{"Authorization":"{{secret:crm}}"}}`, host)
		c := &provider.Call{Name: abi.CallHTTPFetch, Plugin: "p", Request: []byte(request)}
		c.NodeSecret = func(_ context.Context, name, host string, refused *provider.Refusal) error {
			told = fmt.Sprint(name, " at ", host, ": ", "<nil>")
			if refused != nil {
				told = fmt.Sprint(name, " at ", host, ": ", refused.Code)
			}
			if test.fails {
				return failure
			}
			return nil
		}
		sent = 0
		w := New(Config{Secrets: fixed{test.hosts}, Grants: map[string][]Grant{"p": {here(host)}}})
		defer w.Close()
		plan, err := w.Prepare(t.Context(), c)
		if err == nil {
			_, err = plan.Do(t.Context(), func(string) {})
		}
		if told != test.told || sent != test.sent || (err == nil) != (test.sent == 1) {
			t.Errorf("%v: told %q, sent %d times, %v", test, told, sent, err)
		}
	}
}
