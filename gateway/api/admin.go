package api

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/files"
	"github.com/wharf-dev/wharf/runtime/proofs"
)

// administrationCore serves keys, backups, receipts, files and tokens.
type administrationCore interface {
	CreateKey(ctx context.Context, c *desk.Caller, req abi.CreateKeyRequest) (desk.Doc, error)
	ListKeys(ctx context.Context, c *desk.Caller, p desk.Page) (desk.DocList, error)
	RevokeKey(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	Backup(ctx context.Context, c *desk.Caller, dir string) error
	TaskReceipts(ctx context.Context, c *desk.Caller, id string) ([]desk.Doc, error)
	ReceiptWire(ctx context.Context, c *desk.Caller, id string) ([]byte, error)
	VerifyReceipt(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error)
	SigningKeys() abi.SigningKeys
	RotateSigningKey(ctx context.Context, c *desk.Caller) (abi.SigningKeys, error)
	SignDocument(document []byte, keySet string) (*proofs.Signature, error)
	OpenFile(ctx context.Context, c *desk.Caller, workspace, path string) (abi.File, files.Content, error)
	WriteFile(ctx context.Context, c *desk.Caller, workspace, path string, content io.Reader, when files.Condition) (abi.File, bool, error)
	RemoveFile(ctx context.Context, c *desk.Caller, workspace, path string, when files.Condition) error
	FindEntry(ctx context.Context, c *desk.Caller, workspace, path string) (abi.File, error)
	WalkFiles(ctx context.Context, c *desk.Caller, workspace string, w files.Walk) (all []abi.File, more bool, err error)
	FindFiles(ctx context.Context, c *desk.Caller, workspace string, q files.Query) (found []files.Found, whole bool, err error)
	WriteFiles(ctx context.Context, c *desk.Caller, workspace string, all []files.Upload, overwrite bool) (*files.Written, error)
	PackFiles(ctx context.Context, c *desk.Caller, workspace string, paths []string) (*files.Archive, error)
	MakeFolder(ctx context.Context, c *desk.Caller, workspace, dir string) (abi.File, bool, error)
	RemoveFolder(ctx context.Context, c *desk.Caller, workspace, dir string, recursive bool) (files.Removed, error)
	ListFiles(ctx context.Context, c *desk.Caller, workspace, dir string, p desk.Page) (desk.DocList, error)
	IssueToken(ctx context.Context, client, secret string, scopes []string) (*abi.AccessToken, error)
	TokenKeys() ([]byte, error)
	TokenIssuer(base string) (abi.AuthorizationServer, error)
	DefaultWorkspaceOf(c *desk.Caller) string
}

// CreateKey makes an API key and answers with a [abi.CreatedKey], the only time
// that the key is shown. Nobody gives away more than they have.
func (a *API) CreateKey(ctx context.Context, c *Caller, req abi.CreateKeyRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateKey(ctx, c, req))
}

// ListKeys returns the keys of the caller's tenant, or, for a caller that may administer
// the node, all of them.
func (a *API) ListKeys(ctx context.Context, c *Caller, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.ListKeys(ctx, c, p))
}

// RevokeKey ends an API key: no request that begins after it returns is let in.
// Revoking a revoked key changes nothing.
func (a *API) RevokeKey(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.RevokeKey(ctx, c, id))
}

// ListFiles returns what is in a folder of a Workspace, "" for the whole, by name.
func (a *API) ListFiles(ctx context.Context, c *Caller, workspace, dir string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.ListFiles(ctx, c, workspace, dir, p))
}
