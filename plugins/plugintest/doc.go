// Package plugintest holds plugins for tests and measurements: they do nothing
// useful, and do it in small native modules. Their sources, most of them in C, are in
// the folder src; go generate ./plugins builds them.
package plugintest
