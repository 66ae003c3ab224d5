package receipt

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
)

//go:embed schema.json
var schemaText []byte

// Schema returns the JSON Schema of receipts. The caller owns it.
func Schema() []byte { return bytes.Clone(schemaText) }

var compiledSchema = sync.OnceValues(compileSchema)

func compileSchema() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		return nil, fmt.Errorf("reading the schema of receipts: %w", err)
	}
	const name = "urn:wharf:schema:" + abi.ReceiptSchema
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("reading the schema of receipts: %w", err)
	}
	return c.Compile(name)
}

// CheckSchema reports how a receipt differs from the schema, nil when it does not.
func CheckSchema(wire []byte) error {
	schema, err := compiledSchema()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(wire))
	if err != nil {
		return fmt.Errorf("reading the receipt: %w", err)
	}
	return schema.Validate(doc)
}
