package api

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// pluginsCore serves the plugins that are installed while the node runs.
type pluginsCore interface {
	InstallPlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, module io.Reader) (desk.Doc, error)
	InstallPackage(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, at io.ReaderAt, size int64) (desk.Doc, error)
	RollbackPlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, req abi.RollbackPluginRequest) (desk.Doc, error)
	EnablePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) (desk.Doc, error)
	DisablePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) (desk.Doc, error)
	RemovePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, force bool) error
	Plugin(ctx context.Context, c *desk.Caller, name string) (abi.Plugin, error)
	Plugins(ctx context.Context, c *desk.Caller) abi.Plugins
	PluginManifest(ctx context.Context, c *desk.Caller, name, version string) (abi.PluginManifest, error)
}

// InstallPlugin installs a version of a plugin, which new Tasks run from then on.
func (a *API) InstallPlugin(ctx context.Context, c *Caller, r *Write, req abi.InstallPluginRequest, module io.Reader) (View, error) {
	return a.to(ctx, c).view(a.core.InstallPlugin(ctx, c, r, req, module))
}

// InstallPackage installs the version of a plugin that a package of so many bytes is.
func (a *API) InstallPackage(ctx context.Context, c *Caller, r *Write, req abi.InstallPluginRequest, at io.ReaderAt, size int64) (View, error) {
	return a.to(ctx, c).view(a.core.InstallPackage(ctx, c, r, req, at, size))
}

// RollbackPlugin has new Tasks run a version again that a plugin had.
func (a *API) RollbackPlugin(ctx context.Context, c *Caller, r *Write, name string, req abi.RollbackPluginRequest) (View, error) {
	return a.to(ctx, c).view(a.core.RollbackPlugin(ctx, c, r, name, req))
}

// EnablePlugin has new Tasks run a plugin again.
func (a *API) EnablePlugin(ctx context.Context, c *Caller, r *Write, name string) (View, error) {
	return a.to(ctx, c).view(a.core.EnablePlugin(ctx, c, r, name))
}

// DisablePlugin has no new Task run a plugin.
func (a *API) DisablePlugin(ctx context.Context, c *Caller, r *Write, name string) (View, error) {
	return a.to(ctx, c).view(a.core.DisablePlugin(ctx, c, r, name))
}
