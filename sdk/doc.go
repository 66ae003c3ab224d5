// Package sdk holds the SDKs for plugins as files, so that the program can put one into the folder of
// a plugin: an author needs nothing that is not published yet.
//
// go.zip holds the sources of sdk/go, which is a module of its own and so cannot be embedded as it
// is. python and typescript are packages with which authors run their plugins natively: their modules
// wharf are made of the sources in plugins/py and plugins/js. After a change there:
//
//	go test ./sdk -update
package sdk
