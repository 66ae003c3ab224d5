// Package identity says who a bearer token speaks for. A token is a JWT, signed by an
// issuer elsewhere that the operator trusts, or by the node's own.
//
// What an issuer's token must be is pinned by configuration, never by the token: its
// algorithms, its issuer, its audience. Keys come from the issuer's JWK set alone; what
// a token's header says of keys, beside their id, is not looked at.
//
//	Verify: form → algorithm and type → issuer → key by id → signature → claims → mapping
//
// Nothing of a token is believed before its signature was verified, and no reason is
// given for a refusal that a forger could learn from.
package identity
