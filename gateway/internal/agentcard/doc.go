// Package agentcard describes the node to clients of A2A: where it is reached and how, in a card that
// clients of 0.3 and of 1.0 read alike. Adapters of more than one protocol show it.
package agentcard
