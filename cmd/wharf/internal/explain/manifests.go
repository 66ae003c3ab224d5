package explain

import "github.com/wharf-dev/wharf/runtime/manifest"

// manifests are what the lint of a manifest finds.
func manifests() []Page {
	page := func(code manifest.Code, short, means, do string) Page {
		return Page{Code: string(code), Kind: Manifest, Short: short, Means: means, Do: do, Example: "wharf plugin lint"}
	}
	return []Page{
		page(manifest.TooLarge, "wharf.toml is too large", "A manifest says what a plugin is on one page; this one passes the limit.", "Put schemas into files of their own."),
		page(manifest.InvalidTOML, "wharf.toml is no TOML", "The parser could not read on at the line and column that are told.", "Look for a quote or a bracket that is missing there or just before."),
		page(manifest.DuplicateKey, "a key is there twice", "TOML takes each key of a table once.", "Take one of the two out."),
		page(manifest.UnknownKey, "there is no such key", "A key that nothing reads is mostly a misspelled one.", "Use the key that the message proposes; docs/manifest.md has all of them."),
		page(manifest.MisplacedKey, "the key is of another kind of plugin", "Some tables are of personas, skills, connectors or hooks alone.", "Change kind, or take the key out."),
		page(manifest.MissingKey, "a key is missing that has to be there", "Nothing can be assumed in its place.", "Add it; docs/manifest.md says what it means."),
		page(manifest.WrongType, "a value is of another type", "For example a number where a text is wanted.", "Write it as the message says."),
		page(manifest.InvalidValue, "a value is none that the key takes", "It has the right type, and is out of range or of another form.", "Write one of the values that the message names."),
		page(manifest.RepeatedValue, "a value is in the list twice", "The second one says nothing.", "Take it out."),
		page(manifest.InvalidSchema, "a schema is no JSON Schema", "What input and output are held against could not be used.", "Mend the schema at the place that the message names."),
		page(manifest.MissingFile, "a file is not there", "The manifest names a file that the folder does not have.", "Correct the path, which is relative to wharf.toml, or build the module first."),
		page(manifest.InvalidFile, "a file cannot be what it is named for", "It is a folder, a link to the outside, or too large.", "Name a file below the folder of wharf.toml."),
		page(manifest.ModuleRefused, "the module is none that can run here", "It is not valid WebAssembly, or imports what nobody gives.", "Let wharf plugin vet say where in the file the trouble is."),
		page(manifest.MissingExport, "the module does not export that", "exports names a function that the module does not have, or not as () -> i32.", "Export it, or correct the name."),
		page(manifest.NotGranted, "the module asks for a host call that is not granted", "The module imports it, and capabilities does not list it: the call would be denied.", "Add it to capabilities, if the plugin is to do that."),
		page(manifest.NotAsked, "a host call is granted that the module does not ask for", "What is granted and not used is a right too many.", "Take it out of capabilities."),
		page(manifest.NoReach, "a capability reaches nothing", "http.fetch without hosts, or secret.use without secrets, is denied each time.", "Name what it may reach."),
	}
}
