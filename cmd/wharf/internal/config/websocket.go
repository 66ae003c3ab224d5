package config

import (
	"fmt"
	"net/url"
	"strings"
)

// WebSocket configures WebSockets.
type WebSocket struct {
	Message  int64  // the largest message of a client, in bytes
	Origins  string // as the file has them: see [WebSocket.List]
	Insecure string // "true" or "false"
}

// List returns the origins whose pages may connect.
func (w WebSocket) List() []string { return listed(w.Origins) }

// listed returns what a list has that is separated by commas or blanks.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func socketSettings() []Setting {
	return []Setting{
		set("websocket.message", "1MiB", size(kib, gib), func(c *Config) *int64 { return &c.WebSocket.Message },
			"The largest message of a client, after decompression."),
		set("websocket.origins", "", text(origins), func(c *Config) *string { return &c.WebSocket.Origins },
			"The origins whose pages may connect, such as https://app.example.com, separated by commas. Pages of the node's own address may always connect; * allows all."),
		set("websocket.insecure", "false", choice("false", "true"), func(c *Config) *string { return &c.WebSocket.Insecure },
			"Whether clients on other machines may connect without TLS. For a node behind a proxy on another machine that ends TLS, and for trusted networks."),
	}
}

// origins checks a list of origins.
func origins(list string) error {
	for _, origin := range listed(list) {
		if origin == "*" || origin == "null" {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("%q is no origin: write it as https://app.example.com", origin)
		}
	}
	return nil
}
