package node

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/gateway/accesslog"
)

// openObserving opens what the node is watched by: the listener of its own for metrics, and the access log.
func (n *Node) openObserving(ctx context.Context) (err error) {
	c := &n.options.Config
	if c.Metrics.Listen != "" {
		if n.probes, err = listen(ctx, c.Metrics.Listen); err != nil {
			return metricsError(err)
		}
		n.shownAt = n.probes.Addr()
	}
	switch c.Log.Access {
	case "", config.AccessOff:
		return nil
	case config.AccessStandard:
		n.access = accesslog.To(os.Stdout, n.log)
		return nil
	}
	if n.access, err = accesslog.Open(c.Log.Access, n.log); err != nil {
		return accessLogError(c.Log.Access, err)
	}
	return nil
}

// metricsError says which listener an error is of.
func metricsError(err error) error {
	if start, ok := errors.AsType[*StartError](err); ok {
		start.What, start.Try = start.What+" (metrics.listen)", "metrics.listen with another address, or without one"
	}
	return err
}

func accessLogError(path string, err error) error {
	what := "the access log " + path + " cannot be written"
	if errors.Is(err, fs.ErrNotExist) {
		what = "the access log " + path + " is in a folder that does not exist"
	}
	return &StartError{What: what, Try: "log.access with a file that this user may write, or off", Err: err}
}

// MetricsAddr returns where metrics are shown by a listener of their own, nil for nowhere.
func (n *Node) MetricsAddr() net.Addr { return n.shownAt }

// serveProbes answers on the listener for metrics until the node has shut down.
func (n *Node) serveProbes() {
	ln := n.probes
	if n.probes = nil; ln == nil {
		return
	}
	n.watching.Go(func() {
		if err := n.gateway.ServeProbes(ln); err != nil {
			n.log.Error("metrics are not shown any more", "error", err)
		}
	})
}
