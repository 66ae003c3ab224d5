package harn

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// mediaCBOR is the media type of a receipt's archive form.
const mediaCBOR = abi.MediaReceiptCBOR + "; schema=" + abi.ReceiptSchema

// taskReceipts lists what a Task has; it has few.
func (a *Adapter) taskReceipts(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		docs, err := a.core.TaskReceipts(r.Context(), r.Caller, r.PathValue("task_id"))
		return pageOf(docs, p), err
	})
}

// pageOf returns the part of a whole list that a page is.
func pageOf(docs []api.View, p api.Page) api.List {
	if p.After != "" {
		docs = docs[1+slices.IndexFunc(docs, func(d api.View) bool { return d.ID == p.After }):]
	}
	if len(docs) <= p.Limit {
		return api.List{Views: docs}
	}
	return api.List{Views: docs[:p.Limit], More: true, Next: docs[p.Limit-1].ID}
}

// getReceipt answers with the resource, or with the receipt alone (docs/protocol.md, 8.3).
func (a *Adapter) getReceipt(r *gateway.Request) error {
	r.HTTP.Response.Header.Add("Vary", "Accept") // beside that of the gateway
	media, err := negotiate(r.Header("Accept"), gateway.MediaJSON, abi.MediaReceiptJSON, mediaCBOR)
	if err != nil {
		return err
	}
	if media == gateway.MediaJSON {
		return a.get(abi.ObjectReceipt, "receipt_id")(r)
	}
	wire, err := a.core.ReceiptWire(r.Context(), r.Caller, r.PathValue("receipt_id"))
	if err != nil {
		return err
	}
	if media == mediaCBOR {
		if wire, err = api.ReceiptCBOR(wire); err != nil {
			return err
		}
	}
	r.Send(statusOK, wire)
	r.HTTP.SetContentType(media)
	return nil
}

func (a *Adapter) verifyReceipt(r *gateway.Request) error {
	var req abi.VerifyReceiptRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	verdict, err := a.core.VerifyReceipt(r.Context(), r.Caller, retry, r.PathValue("receipt_id"), req)
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, verdict)
}

// publishedKeys is public: whoever holds a receipt may check its signature. A
// rotation makes a key that signs from then on, so a copy may be kept for a while.
func (a *Adapter) publishedKeys(r *gateway.Request) error {
	r.SetHeader("Cache-Control", "public, max-age=60")
	return sendKeys(r, statusOK, a.core.SigningKeys())
}

// sendKeys answers with keys in the form in which they are published.
func sendKeys(r *gateway.Request, status int, keys abi.SigningKeys) error {
	published := publishedSet{Issuer: keys.Issuer, Keys: make([]publishedKey, len(keys.Keys))}
	for i, k := range keys.Keys {
		raw, err := base64.StdEncoding.DecodeString(k.PublicKey)
		if err != nil {
			return fmt.Errorf("reading the key %s: %w", k.KeyID, err)
		}
		published.Keys[i] = publishedKey{SigningKey: k, Type: "OKP", Curve: "Ed25519", X: base64.RawURLEncoding.EncodeToString(raw), ID: k.KeyID, Use: "sig"}
	}
	return sendValue(r, status, published)
}

// publishedSet is abi.SigningKeys and a JWK set in one (RFC 7517, RFC 8037).
type publishedSet struct {
	Issuer string         `json:"issuer"`
	Keys   []publishedKey `json:"keys"`
}

type publishedKey struct {
	abi.SigningKey `json:",inline"`
	Type           string `json:"kty"`
	Curve          string `json:"crv"`
	X              string `json:"x"`
	ID             string `json:"kid"`
	Use            string `json:"use"`
}

func (a *Adapter) signingKeys(r *gateway.Request) error {
	return sendKeys(r, statusOK, a.core.SigningKeys())
}

func (a *Adapter) rotateSigningKey(r *gateway.Request) error {
	keys, err := a.core.RotateSigningKey(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	return sendKeys(r, statusCreated, keys)
}

// sendValue answers with a value as JSON.
func sendValue(r *gateway.Request, status int, v any) error {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	r.Send(status, body)
	return nil
}
