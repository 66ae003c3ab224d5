package node

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// offersSuffix is what the file ends with that says what a plugin offers: NAME.json, beside its
// NAME.wasm.
const offersSuffix = ".json"

// The bounds of such a file.
const (
	maxOffers     = 4 << 20 // bytes
	maxOffered    = 500
	maxOfferName  = 64
	maxOfferWords = 4096
)

// offering is such a file. Its members are those of docs/plugins.md.
type offering struct {
	Version      string         `json:"version"`
	Capabilities []string       `json:"capabilities"` // the host calls that all of the Skills need
	Skills       []offeredSkill `json:"skills"`
}

// offeredSkill is a Skill that a plugin has, and by which export.
type offeredSkill struct {
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	Export           string         `json:"export"` // its name if it is absent
	InputSchema      jsontext.Value `json:"input_schema,omitzero"`
	OutputSchema     jsontext.Value `json:"output_schema,omitzero"`
	RequiresApproval bool           `json:"requires_approval,omitzero"`
	Metadata         jsontext.Value `json:"metadata,omitzero"`
}

// readOffering reads what a plugin of a folder offers; nil for one that says nothing of itself.
func readOffering(dir, plugin string) (*offering, error) {
	path := filepath.Join(dir, plugin+offersSuffix)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, pluginsError("what the plugin "+plugin+" offers cannot be read", err)
	}
	if info.Size() > maxOffers {
		return nil, offersError(path, fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxOffers))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, pluginsError("what the plugin "+plugin+" offers cannot be read", err)
	}
	o := &offering{}
	if err := json.Unmarshal(text, o, json.RejectUnknownMembers(true)); err != nil {
		return nil, offersError(path, err)
	}
	if err := o.check(plugin); err != nil {
		return nil, offersError(path, err)
	}
	return o, nil
}

func offersError(path string, err error) error {
	return &StartError{What: path + " does not say what the plugin offers: " + plainly.Say(err),
		Try: `{"version": "1.0.0", "skills": [{"name": "summarize", "description": "…", "input_schema": {"type": "object"}}]}`, Err: err}
}

func (o *offering) check(plugin string) error {
	if len(o.Skills) == 0 || len(o.Skills) > maxOffered {
		return fmt.Errorf("it has %d skills; 1 to %d can be", len(o.Skills), maxOffered)
	}
	taken := map[string]bool{}
	for i := range o.Skills {
		s := &o.Skills[i]
		if err := s.check(plugin); err != nil {
			return fmt.Errorf("skills[%d]: %w", i, err)
		}
		if taken[s.Name] {
			return fmt.Errorf("skills[%d]: there are two with the name %s", i, s.Name)
		}
		taken[s.Name] = true
	}
	return nil
}

func (s *offeredSkill) check(plugin string) error {
	if s.Name == "" || len(s.Name) > maxOfferName || !abi.ValidName(s.Name) {
		return fmt.Errorf("%q is no name: 1 to %d of A-Z a-z 0-9 _ - and the dot", s.Name, maxOfferName)
	}
	if s.Description == "" || len(s.Description) > maxOfferWords {
		return fmt.Errorf("%s needs a description of at most %d bytes", s.Name, maxOfferWords)
	}
	if _, _, err := plugins.ParseEntry(s.entry(plugin)); err != nil {
		return err
	}
	for member, schema := range map[string]jsontext.Value{"input_schema": s.InputSchema, "output_schema": s.OutputSchema} {
		if len(schema) == 0 || schema.Kind() == 'n' {
			continue
		}
		if err := skill.Accept(schema); err != nil {
			return fmt.Errorf("%s: %s: %w", s.Name, member, err)
		}
	}
	if len(s.Metadata) > 0 && s.Metadata.Kind() != '{' {
		return fmt.Errorf("%s: metadata is no object", s.Name)
	}
	return nil
}

func (s *offeredSkill) entry(plugin string) string {
	if s.Export == "" {
		return plugin + "#" + s.Name
	}
	return plugin + "#" + s.Export
}

// personas returns the Personas by which Tasks reach a plugin that says what it offers, one for each
// Skill. What they may do bounds all of them alike.
func (o *offering) personas(plugin string) ([]abi.Persona, error) {
	all := make([]abi.Persona, 0, len(o.Skills))
	for i := range o.Skills {
		s := &o.Skills[i]
		metadata, err := s.metadata()
		if err != nil {
			return nil, fmt.Errorf("writing the skill %s of the plugin %s: %w", s.Name, plugin, err)
		}
		p := ownPersona(plugin+"_"+s.Name, s.entry(plugin), s.Description)
		p.Name, p.Version, p.Metadata = s.Name, cmp.Or(o.Version, p.Version), metadata
		p.Capabilities = append(p.Capabilities, o.Capabilities...)
		all = append(all, p)
	}
	return all, nil
}

// metadata is the Persona's, from which its Skill is made.
func (s *offeredSkill) metadata() (jsontext.Value, error) {
	var own struct {
		Skill struct {
			InputSchema      jsontext.Value `json:"input_schema,omitzero"`
			OutputSchema     jsontext.Value `json:"output_schema,omitzero"`
			RequiresApproval bool           `json:"requires_approval,omitzero"`
			Metadata         jsontext.Value `json:"metadata,omitzero"`
		} `json:"skill"`
	}
	own.Skill.InputSchema, own.Skill.OutputSchema = s.InputSchema, s.OutputSchema
	own.Skill.RequiresApproval, own.Skill.Metadata = s.RequiresApproval, s.Metadata
	return json.Marshal(own)
}
