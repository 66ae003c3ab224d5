// Package shapes turns what the Agent Client Protocol says into what Wharf says, and back: content
// blocks and the Parts of Messages, a permission request and its answer, the record of who may change
// what.
//
// Its invariants:
//
//   - It is pure. Content that has to be kept is handed back for whoever can keep it.
//   - What is sent fits schema v0.12.2 of the protocol. Members that the schema does not have are sent
//     to Harn hosts alone; under _meta everybody may be told everything.
//   - What comes is read strictly. An answer to a permission request that is none of the documented
//     shapes approves nothing.
package shapes
