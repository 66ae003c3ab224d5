package spelling

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// CheckHostPort refuses what is not HOST:PORT.
func CheckHostPort(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q is not HOST:PORT, such as 127.0.0.1:8080", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && port != "0" {
		return fmt.Errorf("%q has no port from 0 to 65535", s)
	}
	return nil
}

// CheckHost refuses what names no hosts in a grant: an exact name or address, or *.example.com for
// any name below it, with :PORT or without.
func CheckHost(pattern string) error {
	host := pattern
	if i := strings.LastIndexByte(pattern, ':'); i >= 0 && !strings.HasSuffix(pattern, "]") {
		host = pattern[:i]
	}
	if name := strings.TrimPrefix(host, "*."); name == "" || strings.Contains(name, "*") || strings.ContainsAny(pattern, "/@? ") {
		return fmt.Errorf("%q is not a host, such as api.example.com, *.example.com or 127.0.0.1:8080", pattern)
	}
	if host != pattern {
		return CheckHostPort(pattern)
	}
	return nil
}
