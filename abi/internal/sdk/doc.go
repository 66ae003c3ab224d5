// Package sdk writes the parts of the guest SDKs that follow from package abi: the types of
// requests and answers with what the sources say of them, and a function for each host call.
//
// [Read] turns the definitions into a model that knows no language; one file for each language
// writes it down. What is written by hand (how a Task is read, errors, JSON in C) stays beside
// what is generated, in the folders of package sdk.
package sdk
