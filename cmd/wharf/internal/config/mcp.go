package config

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// MCP configures the MCP server.
type MCP struct {
	Server  string // "on" or "off"
	Hosts   string // as the file has them: see [MCP.HostList]
	Origins string
	Idle    time.Duration // how long a session is kept that nobody uses
}

// HostList returns the names that the server is reached by, besides those that it knows of.
func (m MCP) HostList() []string { return listed(m.Hosts) }

// OriginList returns the origins whose pages may ask.
func (m MCP) OriginList() []string { return listed(m.Origins) }

func mcpSettings() []Setting {
	return []Setting{
		set("mcp.server", "on", choice("on", "off"), func(c *Config) *string { return &c.MCP.Server },
			"Whether the node is an MCP server, whose tools are its Skills."),
		set("mcp.hosts", "", text(hosts), func(c *Config) *string { return &c.MCP.Hosts },
			"Names that clients reach the server by, such as wharf.lan or wharf.lan:8080, separated by commas. The name in public_url, the node's own addresses and, on loopback, localhost need not be there. A request for another name is refused before its key is looked at."),
		set("mcp.origins", "", text(origins), func(c *Config) *string { return &c.MCP.Origins },
			"The origins whose pages may ask the server, such as https://app.example.com, separated by commas. Pages of the node's own address may always; * allows all."),
		set("mcp.idle", "30m", period(time.Second, 7*24*time.Hour), func(c *Config) *time.Duration { return &c.MCP.Idle },
			"How long a session that nobody uses stays in memory. It is found again when it is used, as after a restart."),
	}
}

// hosts checks a list of hosts, which may have ports.
func hosts(list string) error {
	for _, host := range listed(list) {
		u, err := url.Parse("http://" + host)
		if err != nil || u.Host != host || strings.ContainsAny(host, "/@") {
			return fmt.Errorf("%q is no host: write it as wharf.example.com or wharf.example.com:8080", host)
		}
	}
	return nil
}
