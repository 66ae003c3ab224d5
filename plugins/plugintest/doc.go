// Package plugintest holds plugins for tests and measurements: they do nothing
// useful, and do it in small native modules. Their sources in C are in the folder src;
// go generate ./plugins builds them. Package workers has the plugin in five languages.
package plugintest
