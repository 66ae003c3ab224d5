// Package programs fixes what a Task will run, before its first start is told: the plugin's module
// and its export, the Persona, the Skill and the SkillBundles, the limits, and the seed of its
// randomness.
//
// Its invariants:
//
//   - What is fixed is kept: the module and the Persona are blobs before a program names them. A new
//     version of either changes nothing for the Task from then on.
//   - A module that runs as it is, without being rewritten, depends on the processor, and says so;
//     nothing counts its gas.
//
// It writes blobs, and no events. It may import abi, storage, the journal, personas, what keeps pinned
// things, and the limits of the sandbox.
package programs
