// Package figures counts what Tasks, and the models that they ask, come to, by name, and logs each
// Task that has failed.
//
// Names come from plugins, which tenants may install, and codes from what plugins say: of each
// kind so many are told apart, and what comes later counts as [Other], so that nobody makes a node hold,
// or show, more than that.
package figures
