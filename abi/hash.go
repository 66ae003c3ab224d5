package abi

// Hash is a SHA-256.
type Hash [32]byte
