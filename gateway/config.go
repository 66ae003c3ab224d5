package gateway

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wharf-dev/wharf/gateway/accesslog"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/figures"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// Config is what a [Server] needs to know. Zero members take the value that
// [Config.WithDefaults] gives them.
type Config struct {
	// Node names this node in discovery and in /version.
	Node string
	// Version is the version of the build.
	Version string
	// PublicURL is how clients reach the node, without a slash at the end. Empty:
	// the address that a request came in on. A request's Host header decides nothing.
	PublicURL string
	// TLS is how the node speaks HTTPS; nil for plain HTTP. It is not closed.
	TLS *TLS

	// BodyLimit is the largest JSON body, in bytes.
	BodyLimit int64
	// DeliveryLimit is the largest body of a delivery to a Connector, in bytes.
	DeliveryLimit int64
	// UploadLimit is the largest Artifact content that may be uploaded, in bytes.
	UploadLimit int64
	// SpoolDir is where files of forms lie while their request runs, made when it is needed;
	// empty: where the system keeps such files.
	SpoolDir string
	// HeaderLimit is the largest request line plus headers, in bytes.
	HeaderLimit int
	// InFlightBytes bounds the memory that bodies of running requests take together,
	// decoded and on their way into the log.
	InFlightBytes int64
	// InHand bounds what large documents take while they are read for requests and held until
	// clients have taken them. It is shared with the engine. nil bounds nothing.
	InHand *inhand.Budget

	// AccessLog is told of each request once it was answered; nil for none. It is not closed.
	AccessLog *accesslog.Log

	// Figures is what the engine counts by name; nil for nothing.
	Figures *figures.Book
	// Collectors are metrics of what the gateway does not know.
	Collectors []prometheus.Collector

	// ReadTimeout is the time a client has to send a request. An upload has that
	// long for each piece, and UploadTimeout for the whole.
	ReadTimeout   time.Duration
	UploadTimeout time.Duration
	// WriteTimeout is the time a client has to take an answer; for streams and
	// downloads, to take the next piece.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection may stay open between requests.
	IdleTimeout time.Duration

	// Connections bounds open connections, Streams those among them that stream.
	Connections int
	Streams     int

	// CORSOrigins lists the origins whose pages may read what is answered over HTTP; "*" is any.
	CORSOrigins []string

	// MessageLimit is the largest message of a WebSocket client, in bytes, when it is
	// no longer compressed.
	MessageLimit int64
	// Origins lists the origins whose pages may connect WebSockets, besides the
	// node's own; "*" is any.
	Origins []string
	// SocketInsecure serves WebSockets without TLS to other machines.
	SocketInsecure bool

	// Disk watches the disk of the data folder, and Usage what that takes; nil for neither.
	Disk  *disk.Watch
	Usage *disk.Usage
	// Turns are the places of long work, such as decoding a large body; nil bounds nothing.
	Turns *turns.Turns

	// Heartbeat is how often an idle stream says that it lives.
	Heartbeat time.Duration
	// WaitLimit is the longest that "Prefer: wait" may ask for.
	WaitLimit time.Duration
}

// WithDefaults returns c with every zero member replaced by its default.
func (c Config) WithDefaults() Config {
	c.Node = cmp.Or(c.Node, "wharf")
	c.Version = cmp.Or(c.Version, "devel")
	c.BodyLimit = cmp.Or(c.BodyLimit, 32<<20)
	c.DeliveryLimit = cmp.Or(c.DeliveryLimit, 1<<20)
	c.UploadLimit = cmp.Or(c.UploadLimit, 1<<30)
	c.HeaderLimit = cmp.Or(c.HeaderLimit, 8<<10)
	c.InFlightBytes = cmp.Or(c.InFlightBytes, 256<<20)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.UploadTimeout = cmp.Or(c.UploadTimeout, time.Hour)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.Connections = cmp.Or(c.Connections, 8192)
	c.Streams = cmp.Or(c.Streams, 4096)
	c.MessageLimit = cmp.Or(c.MessageLimit, 1<<20)
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.WaitLimit = cmp.Or(c.WaitLimit, time.Minute)
	return c
}
