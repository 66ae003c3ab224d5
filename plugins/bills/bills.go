package bills

import _ "embed"

//go:embed wasm/bills.wasm
var module []byte

// Name is what the plugin is called, and the file that it lies in on a node begins with.
const Name = "bills"

// Wasm returns a plugin that pays a bill at a bank, waits for the receipt and hands it on. Its input is an [Input]. The
// caller must not change the bytes.
func Wasm() []byte { return module }

// Input is the input of [Wasm].
type Input struct {
	// Bank is a URL without a path: POST /payments pays, and GET /receipt answers with the receipt, as text.
	Bank string `json:"bank"`
}
