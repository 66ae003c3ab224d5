package abi

// ProtocolVersion is the only protocol version that this build speaks. It is the
// value of the request header [VersionHeader] (docs/protocol.md, 1).
const ProtocolVersion = "agents-protocol-2026-04-25"

// ProtocolFamily is the discriminator that discovery answers with.
const ProtocolFamily = "harn_agents_protocol"

// VersionHeader names the header that every request except public discovery carries.
const VersionHeader = "Harn-Agents-Protocol-Version"

// SupportedVersions lists what the server accepts in [VersionHeader], newest first.
func SupportedVersions() []string { return []string{ProtocolVersion} }
