package agents

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/oaf"
)

// maxVersions is how many versions of an agent a bundle holds: the newest.
const maxVersions = 100

// Export is an agent that is given out.
type Export struct {
	Key   string // what it is called: its agent_key
	files []filetree.File
}

// Write writes it as a zip.
func (e *Export) Write(w io.Writer) error { return oaf.Pack(w, e.files) }

// ExportAgent gives out an agent and its subagents as a bundle.
func (k *Keeper) ExportAgent(ctx context.Context, c *desk.Caller, workspace, id string, how abi.AgentExport) (*Export, error) {
	p, err := k.find(ctx, c, workspace, id)
	if err != nil {
		return nil, err
	}
	if how.Memory && k.parts.Memory == nil {
		return nil, abi.Errorf(abi.CodeNotImplemented, "this node keeps no memory of agents")
	}
	family, err := k.parts.Personas.AgentsBelow(ctx, c, workspace, id)
	if err != nil {
		return nil, err
	}
	var packed []oaf.Packed
	for _, one := range append([]abi.Persona{p}, family...) {
		next, err := k.pack(ctx, c, workspace, &one, how)
		if err != nil {
			return nil, err
		}
		packed = append(packed, next)
	}
	mode := "bundled"
	if how.Referenced {
		mode = "referenced"
	}
	return &Export{Key: packed[0].Fields.AgentKey, files: oaf.Bundle(packed, mode)}, nil
}

// pack returns one agent as it is given out.
func (k *Keeper) pack(ctx context.Context, c *desk.Caller, workspace string, p *abi.Persona, how abi.AgentExport) (packed oaf.Packed, err error) {
	f := whole(p)
	if packed.Text, err = k.written(ctx, p, f); err != nil {
		return packed, err
	}
	packed.Fields = f
	if how.Referenced {
		return packed, nil
	}
	files, err := k.files(ctx, p.Agent)
	if err != nil {
		return packed, err
	}
	packed.Files = oaf.Lasting(files, how.Versions)
	if how.Versions {
		err = k.addVersions(ctx, c, workspace, p, &packed)
	}
	if err != nil || !how.Memory {
		return packed, err
	}
	memory, err := k.parts.Memory.PackBlocks(ctx, c, p.ID)
	packed.Files = append(packed.Files, oaf.InSnapshot(memory)...)
	return packed, err
}

// whole returns the fields of an agent, where none is missing that every bundle has.
func whole(p *abi.Persona) *oaf.Fields {
	f := fieldsOf(p)
	f.VendorKey, f.AgentKey = cmp.Or(f.VendorKey, ownVendor), cmp.Or(f.AgentKey, plain(f.Name))
	f.Slug, f.Version = cmp.Or(f.Slug, f.VendorKey+"/"+f.AgentKey), cmp.Or(f.Version, firstVer)
	f.Author, f.License = cmp.Or(f.Author, "@"+f.VendorKey), cmp.Or(f.License, noLicense)
	f.Description = cmp.Or(f.Description, f.Name)
	f.Instructions = strings.TrimRight(f.Instructions, " \t\r\n")
	return f
}

// written returns the AGENTS.md of an agent: the one that it came with, as it is now.
func (k *Keeper) written(ctx context.Context, p *abi.Persona, f *oaf.Fields) ([]byte, error) {
	text, err := k.text(ctx, p.Agent)
	if err != nil {
		return nil, err
	}
	if text != nil {
		text, err = oaf.Rewrite(text, f)
		if err != nil {
			return nil, fmt.Errorf("writing the %s of agent %s: %w", oaf.ManifestFile, p.ID, err)
		}
		return text, nil
	}
	var skills []oaf.Skill
	for _, s := range p.Agent.Skills {
		skills = append(skills, oaf.Skill{Name: s.Name, Version: s.Version, Required: s.Required})
	}
	var servers []oaf.Server
	for _, s := range p.Agent.MCPServers {
		servers = append(servers, oaf.Server{Name: s.Name, Required: s.Required})
	}
	return oaf.Compose(f, skills, servers), nil
}

// addVersions adds the AGENTS.md of the versions that an agent had before, each as it was last.
func (k *Keeper) addVersions(ctx context.Context, c *desk.Caller, workspace string, p *abi.Persona, packed *oaf.Packed) error {
	held := map[string]bool{}
	for _, f := range packed.Files {
		held[f.Path] = true
	}
	seen, failed := map[string]bool{p.Agent.Version: true}, error(nil)
	err := k.parts.Personas.AgentVersions(ctx, c, workspace, p.ID, func(older *abi.Persona) bool {
		if older.Agent == nil || seen[older.Agent.Version] {
			return true
		}
		seen[older.Agent.Version] = true
		text, err := k.written(ctx, older, whole(older))
		if err != nil {
			failed = err
			return false
		}
		if path := oaf.VersionFile(older.Agent.Version); !held[path] {
			packed.Files = append(packed.Files, filetree.File{Path: path, Content: text})
		}
		return len(seen) < maxVersions
	})
	return cmp.Or(err, failed)
}
