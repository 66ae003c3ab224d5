package harn

import (
	"slices"
	"strconv"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// subprotocol is the WebSocket subprotocol of this protocol's frames. A client that
// cannot set headers, as a browser cannot, offers it, and by that asks for the
// current version of the protocol; it may offer the name of a version instead.
const subprotocol = "harn.v1"

func subprotocols() []string { return append([]string{subprotocol}, abi.SupportedVersions()...) }

// versionRule is that of docs/protocol.md, 1.
func versionRule() *gateway.VersionRule {
	return &gateway.VersionRule{
		Header: abi.VersionHeader, Doc: "The version of the protocol that the client speaks.",
		Supported: abi.SupportedVersions(), Check: checkVersion,
	}
}

// checkVersion answers an absent or unknown version with 426 and what there is.
func checkVersion(r *gateway.Request) error {
	if slices.Contains(abi.SupportedVersions(), versionOf(r)) {
		return nil
	}
	err := abi.Errorf(abi.CodeUnsupportedVersion, "the header %s is absent or names a version that is not supported", abi.VersionHeader)
	err.Param = abi.VersionHeader
	err.Details = supportedVersions()
	return err
}

// versionOf returns the version of the protocol that the client speaks: as the header
// says, else as a subprotocol does.
func versionOf(r *gateway.Request) string {
	if header := r.Header(abi.VersionHeader); header != "" || !r.IsUpgrade() {
		return header
	}
	if chosen := r.Subprotocol(); chosen != subprotocol {
		return chosen
	}
	return abi.ProtocolVersion
}

func supportedVersions() []byte {
	list := []byte(`{"supported_versions":[`)
	for i, v := range abi.SupportedVersions() {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendQuote(list, v)
	}
	return append(list, "]}"...)
}
