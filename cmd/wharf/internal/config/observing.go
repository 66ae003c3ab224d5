package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/wharf-dev/wharf/runtime/spelling"
)

// Metrics says where the node shows how it is, besides its own address.
type Metrics struct {
	Listen string // "" for nowhere
}

// The values of log.access that are no paths.
const (
	AccessOff      = "off"
	AccessStandard = "-"
)

func metricsSettings() []Setting {
	return []Setting{
		set("metrics.listen", "", text(optionalAddress), func(c *Config) *string { return &c.Metrics.Listen },
			"Another address and port (HOST:PORT) on which /metrics, /healthz and /readyz are answered, and nothing else, without a key and without TLS: it belongs on a private network. Empty: none. Those paths of the node's own address stay as they are."),
	}
}

func optionalAddress(s string) error {
	if s == "" {
		return nil
	}
	return spelling.CheckHostPort(s)
}

// crossCheckMetrics refuses the node's own address for metrics, however it is spelled.
func (e *Effective) crossCheckMetrics() Problems {
	c := &e.Config
	if c.Metrics.Listen == "" || !sameAddress(c.Metrics.Listen, c.Listen) {
		return nil
	}
	return Problems{{Origin: e.origin("metrics.listen"), Setting: "metrics.listen",
		Message: fmt.Sprintf("%s is where the node itself listens (listen: %s): take another port, or leave it empty and give the scraper a key with the scope metrics:read", c.Metrics.Listen, c.Listen)}}
}

// sameAddress reports whether two listeners would be in each other's way. Port 0 is another one each time.
func sameAddress(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || portA == "0" {
		return false
	}
	return hostA == hostB || everywhere(hostA) || everywhere(hostB) || here(hostA) && here(hostB)
}

func everywhere(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func here(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// maxStated bounds what is shown of a value in one line.
const maxStated = 200

// Stated lists what was set, and by what, for the log: each setting with its value, and of what the file
// names only where it stands, for there may be anything in it.
func (e *Effective) Stated() (all []string) {
	for _, v := range e.Values {
		switch {
		case v.Origin == "default":
		case lookup(v.Setting.Name) == nil:
			all = append(all, v.Setting.Name+" ("+v.Origin+")")
		default:
			all = append(all, v.Setting.Name+"="+shownValue(v.Text)+" ("+v.Origin+")")
		}
	}
	return all
}

// shownValue leaves out of a URL what signs somebody in.
func shownValue(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" && (u.User != nil || u.RawQuery != "") {
		u.User, u.RawQuery = nil, ""
		text = u.String()
	}
	if len(text) > maxStated {
		text = strings.ToValidUTF8(text[:maxStated], "") + "…"
	}
	return text
}
