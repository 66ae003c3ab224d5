// Package signature checks the signatures of deliveries: those of Standard Webhooks,
// GitHub, Stripe, Slack, and HMACs in a header of one's own. It looks at lengths
// before it computes anything, compares in constant time, and refuses what is too far
// from now where the scheme signs a time.
package signature
