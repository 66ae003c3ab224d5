package mcp_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// skillAnswer is what the methods of the skills extension answer with.
type skillAnswer struct {
	Result struct {
		Skills     []skillEntry `json:"skills"`
		Skill      *skillEntry  `json:"skill"`
		NextCursor string       `json:"nextCursor"`
		CacheScope string       `json:"cacheScope"`
		Resources  []struct {
			URI      string `json:"uri"`
			Name     string `json:"name"`
			MimeType string `json:"mimeType"`
		} `json:"resources"`
	} `json:"result"`
	Error struct {
		Code int `json:"code"`
		Data struct {
			URI string `json:"uri"`
		} `json:"data"`
	} `json:"error"`
}

type skillEntry struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   []struct {
		URI    string `json:"uri"`
		Digest string `json:"digest"`
		Size   int    `json:"size"`
	} `json:"resources"`
}

func (n *node) askSkills(t testing.TB, key, method string, params map[string]any) (answer skillAnswer) {
	t.Helper()
	text := n.ask(t, key, stateless, method, params)
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return answer
}

// A client finds the skills that are installed, and what it reads is what the list says.
func TestSkillsThatAreInstalled(t *testing.T) {
	n := newStored(t)
	root := "skill://" + n.workspace + "/pdf-forms"
	s := n.connect(t, enginetest.RootKey, stateless, nil)
	list := n.askSkills(t, enginetest.RootKey, "skills/list", map[string]any{}).Result
	if len(list.Skills) != 1 || list.NextCursor != "" || list.CacheScope != "private" {
		t.Fatalf("the list is %+v", list)
	}
	entry := list.Skills[0]
	want := map[string]any{"name": "pdf-forms", "description": "Fills in PDF forms.", "version": "1.0.0", "metadata": map[string]any{"author": "somebody"}}
	if entry.URI != root+"/SKILL.md" || !bytes.Equal(mustJSON(entry.Frontmatter), mustJSON(want)) {
		t.Errorf("the skill is %+v, want the front matter %v", entry, want)
	}
	files := map[string]string{}
	for _, f := range entry.Resources {
		c, err := read(t, s, f.URI)
		if err != nil {
			t.Fatal(f.URI, err)
		}
		content := c.Text + string(c.Blob)
		sum := sha256.Sum256([]byte(content))
		if f.Digest != "sha256:"+hex.EncodeToString(sum[:]) || f.Size != len(content) {
			t.Errorf("%s is %d bytes of %x, and %+v in the list", f.URI, len(content), sum, f)
		}
		files[strings.TrimPrefix(f.URI, root+"/")] = content
	}
	if !maps.Equal(files, skillFiles) {
		t.Errorf("the skill has %q, want %q", files, skillFiles)
	}
	if got := n.askSkills(t, enginetest.RootKey, "skills/get", map[string]any{"uri": entry.URI}).Result.Skill; got == nil || !bytes.Equal(mustJSON(got), mustJSON(entry)) {
		t.Errorf("the skill alone is %+v, want %+v", got, entry)
	}
}

func TestFoldersOfSkills(t *testing.T) {
	n := newStored(t)
	root := "skill://" + n.workspace + "/pdf-forms"
	for folder, want := range map[string][]string{
		root:                 {"SKILL.md text/markdown", "assets inode/directory", "lib inode/directory", "references inode/directory"},
		root + "/":           {"SKILL.md text/markdown", "assets inode/directory", "lib inode/directory", "references inode/directory"},
		root + "/references": {"FORMS.md text/markdown"},
		root + "/assets":     {"logo.png image/png"},
	} {
		var got []string
		for _, r := range n.askSkills(t, enginetest.RootKey, "resources/directory/read", map[string]any{"uri": folder}).Result.Resources {
			got = append(got, r.Name+" "+r.MimeType)
			if r.MimeType != "inode/directory" {
				if _, err := read(t, n.connect(t, enginetest.RootKey, stateless, nil), r.URI); err != nil {
					t.Error(err)
				}
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", folder, got, want)
		}
	}
	for _, uri := range []string{root + "/SKILL.md", root + "/refer", root + "/references/", root + "/..", "skill://" + n.workspace + "/other", "skill://" + n.workspace, "wharf://artifacts/" + n.artifact, ""} {
		if e := n.askSkills(t, enginetest.RootKey, "resources/directory/read", map[string]any{"uri": uri}).Error; e.Code != -32602 || e.Data.URI != uri {
			t.Errorf("%q: %+v, want error -32602 with the uri", uri, e)
		}
	}
}

func TestSkillsOfOthers(t *testing.T) {
	n := newStored(t)
	elsewhere := n.node.workspace(t)
	uri := "skill://" + n.workspace + "/pdf-forms/SKILL.md"
	unknown := "skill://" + n.workspace + "/nothing/SKILL.md"
	for name, key := range map[string]string{
		"another tenant": n.stranger(t), "another workspace": n.key(t, []string{abi.ScopeAll}, elsewhere), "no scope": n.key(t, []string{"artifacts:read"}),
	} {
		if list := n.askSkills(t, key, "skills/list", map[string]any{}).Result.Skills; len(list) > 0 {
			t.Errorf("%s: the list has %v", name, list)
		}
		for _, method := range []string{"skills/get", "resources/directory/read"} {
			for _, uri := range []string{uri, unknown} {
				if e := n.askSkills(t, key, method, map[string]any{"uri": uri}).Error; e.Code != -32602 || e.Data.URI != uri {
					t.Errorf("%s: %s: %+v, want error -32602 with the uri", name, method, e)
				}
			}
		}
	}
	for _, uri := range []string{unknown, "skill://" + n.workspace + "/pdf-forms", "skill://" + n.workspace + "/pdf-forms/lib/fill.py", "wharf://artifacts/" + n.artifact} {
		if e := n.askSkills(t, enginetest.RootKey, "skills/get", map[string]any{"uri": uri}).Error; e.Code != -32602 || e.Data.URI != uri {
			t.Errorf("%q: %+v, want error -32602 with the uri", uri, e)
		}
	}
}

// Many skills are listed in pages, each once and whole; one of two Workspaces under one name twice.
func TestSkillsInPages(t *testing.T) {
	n := newStored(t)
	want := []string{"skill://" + n.workspace + "/pdf-forms/SKILL.md"}
	other := n.node.workspace(t)
	for i := range 60 {
		name := "s" + strings.Repeat("x", i)
		n.installSkill(t, other, map[string]string{"SKILL.md": "---\nname: " + name + "\ndescription: One.\n---\nText.\n"})
		want = append(want, "skill://"+other+"/"+name+"/SKILL.md")
	}
	n.installSkill(t, other, skillFiles)
	want = append(want, "skill://"+other+"/pdf-forms/SKILL.md")
	var got []string
	pages := 0
	for cursor := ""; ; pages++ {
		answer := n.askSkills(t, enginetest.RootKey, "skills/list", map[string]any{"cursor": cursor}).Result
		for _, s := range answer.Skills {
			got = append(got, s.URI)
		}
		if cursor = answer.NextCursor; cursor == "" {
			break
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if pages != 1 || !slices.Equal(got, want) {
		t.Errorf("%d pages have\n%q, want\n%q", pages+1, got, want)
	}
	if e := n.askSkills(t, enginetest.RootKey, "skills/list", map[string]any{"cursor": "x"}).Error; e.Code != -32602 {
		t.Errorf("a cursor of nobody: %+v, want error -32602", e)
	}
}
