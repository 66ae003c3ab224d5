package openharness

import (
	"bytes"
	"net/http"
	"path"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func fileChecks() []Check {
	return []Check{
		{ID: "write.created", Title: "A file is made, and written over", Operation: "files.write", run: func(p *probe) {
			at := p.folder() + "/a.txt"
			p.equal("created", p.write(at, "first").get("created"), true)
			a := p.write(at, "second")
			p.equal("created", a.get("created"), false)
			p.equal("file.size_bytes", a.get("file.size_bytes"), 6)
			p.equal("the file", string(p.want(p.get("files/"+at), 200).body), "second")
		}},
		{ID: "write.parents", Title: "The folders above a file are made with it", Operation: "files.write", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/deep/er/a.txt", "text")
			p.lists("files?path="+at+"/deep", "files", "er", true)
		}},
		{ID: "write.outside", Title: "A path that leads outside is refused", Operation: "files.write", run: func(p *probe) {
			p.want(p.do(http.MethodPut, "files/%2e%2e%2f"+p.name, content{"text/plain", []byte("out")}), 400, 403, 404, 422)
		}},
		{ID: "read.bytes", Title: "A file is read as it was written, byte by byte", Operation: "files.read", run: func(p *probe) {
			at, text := p.folder()+"/a.bin", []byte{0, 1, 2, 255, '\r', '\n', 0}
			p.ok(p.do(http.MethodPut, "files/"+at, content{"application/octet-stream", text}))
			if a := p.want(p.get("files/"+at), 200); !bytes.Equal(a.body, text) {
				p.fail("%s answered %d bytes that are others", a.to, len(a.body))
			}
		}},
		{ID: "read.unknown", Title: "A file that is not there is 404", Operation: "files.read", run: func(p *probe) { p.missing(p.get("files/" + p.name + ".txt")) }},
		{ID: "list.folder", Title: "A folder is listed, and with all below it when that is asked for", Operation: "files.list", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/a.txt", "text")
			p.write(at+"/sub/b.txt", "text")
			p.lists("files?path="+at, "files", "a.txt", true)
			p.lists("files?path="+at, "files", "b.txt", false)
			p.lists("files?recursive=true&path="+at, "files", "b.txt", true)
		}},
		{ID: "list.type", Title: "A list tells folders from files", Operation: "files.list", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/sub/b.txt", "text")
			if one, ok := p.find("files?path="+at, "files", "sub"); !ok || one["type"] != "directory" {
				p.fail("the folder is listed as %s", answers.Show(one))
			}
			if one, ok := p.find("files?path="+at+"/sub", "files", "b.txt"); !ok || one["type"] != "file" {
				p.fail("the file is listed as %s", answers.Show(one))
			}
		}},
		{ID: "delete.gone", Title: "A file that was removed is there no more", Operation: "files.delete", run: func(p *probe) {
			at := p.folder() + "/a.txt"
			p.write(at, "text")
			p.gone("files/" + at)
		}},
		{ID: "delete.unknown", Title: "A file that is not there cannot be removed", Operation: "files.delete", run: func(p *probe) { p.missing(p.remove("files/" + p.name + ".txt")) }},
		{ID: "delete.folder", Title: "A folder with something in it is removed only when that is asked for", Operation: "files.delete", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/a.txt", "text")
			p.want(p.remove("files/"+at), 400, 409, 422)
			p.want(p.get("files/"+at+"/a.txt"), 200)
			p.want(p.remove("files/"+at+"?recursive=true"), 204)
			p.missing(p.get("files/" + at + "/a.txt"))
		}},
		{ID: "mkdir.created", Title: "A folder is made", Operation: "files.mkdir", run: func(p *probe) {
			at := p.folder()
			a := p.ok(p.post("files/mkdir", object{"path": at + "/new"}))
			p.equal("created", a.get("created"), true)
			p.equal("file.type", a.get("file.type"), "directory")
			if again := p.want(p.post("files/mkdir", object{"path": at + "/new"}), 200, 201, 409); again.status < 400 {
				p.equal("created", again.get("created"), false)
			}
		}},
		{ID: "search.glob", Title: "Files are found by how they are named", Operation: "files.search", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/a.txt", "text")
			p.write(at+"/b.md", "text")
			a := p.ok(p.post("files/search", object{"glob": "**/*.md", "path": at}))
			p.equal("matches", len(p.list(a, "matches")), 1)
			p.equal("matches.0.file.name", a.get("matches.0.file.name"), "b.md")
		}},
		{ID: "search.grep", Title: "Lines are found by what they say, with their numbers", Operation: "files.search", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/a.txt", "one\ntwo\nneedle 7\n")
			a := p.ok(p.post("files/search", object{"grep": "needle [0-9]", "path": at}))
			p.equal("matches", len(p.list(a, "matches")), 1)
			p.equal("line_number", a.get("matches.0.line_matches.0.line_number"), 3)
		}},
		{ID: "search.most", Title: "No more is found than was asked for", Operation: "files.search", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/a.txt", "text")
			p.write(at+"/b.txt", "text")
			p.equal("matches", len(p.list(p.ok(p.post("files/search", object{"glob": "**/*.txt", "path": at, "max_results": 1})), "matches")), 1)
			p.invalid(p.post("files/search", object{"glob": "*", "max_results": 1001}))
		}},
		{ID: "upload.file", Title: "A file is uploaded by a form", Operation: "files.upload", run: func(p *probe) {
			at := p.folder() + "/a.txt"
			p.equal("created", p.ok(p.upload(at, "first")).get("created"), true)
			p.equal("the file", string(p.want(p.get("files/"+at), 200).body), "first")
		}},
		{ID: "upload.overwrite", Title: "A file that is there is uploaded over only when that is asked for", Operation: "files.upload", run: func(p *probe) {
			at := p.folder() + "/a.txt"
			p.ok(p.upload(at, "first"))
			p.want(p.upload(at, "second"), 409)
			p.ok(p.upload(at, "third", field("overwrite", "true")))
			p.equal("the file", string(p.want(p.get("files/"+at), 200).body), "third")
		}},
		{ID: "upload_batch.files", Title: "Files are uploaded together, and those that are there skipped", Operation: "files.uploadBatch", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/a.txt", "mine")
			parts := append([]part{field("base_path", at)}, files{"a.txt": "theirs", "sub/b.txt": "text"}.parts("files")...)
			a := p.ok(p.post("files/upload-batch", form(parts...)))
			p.equal("uploaded", len(p.list(a, "uploaded")), 1)
			p.equal("skipped", len(p.list(a, "skipped")), 1)
			p.equal("the file", string(p.want(p.get("files/"+at+"/a.txt"), 200).body), "mine")
			p.equal("the file", string(p.want(p.get("files/"+at+"/sub/b.txt"), 200).body), "text")
		}},
		{ID: "download.attachment", Title: "A file is downloaded under its name", Operation: "files.download", run: func(p *probe) {
			at := p.folder() + "/a.txt"
			p.write(at, "text")
			a := p.want(p.get("files/"+at+"/download"), 200)
			p.equal("the file", string(a.body), "text")
			if said := a.header.Get("Content-Disposition"); !strings.HasPrefix(said, "attachment") || !strings.Contains(said, path.Base(at)) {
				p.fail("%s: Content-Disposition is %q", a.to, said)
			}
		}},
		{ID: "download_batch.archive", Title: "Files are downloaded together, and stay in their folders", Operation: "files.downloadBatch", run: func(p *probe) {
			at := p.folder()
			p.write(at+"/a.txt", "first")
			p.write(at+"/sub/b.txt", "second")
			found := p.archive(p.want(p.post("files/download-batch", object{"paths": []string{at + "/a.txt", at + "/sub/b.txt"}}), 200))
			p.equal("files of the archive", len(found), 2)
			if text, _ := found.named("sub/b.txt"); text != "second" {
				p.fail("sub/b.txt is not in the archive")
			}
		}},
	}
}

// folder returns a folder of the check's own, which is removed with it.
func (p *probe) folder() string {
	p.later("files/" + p.name + "?recursive=true")
	return p.name
}

func (p *probe) write(at, text string) answer {
	return p.ok(p.do(http.MethodPut, "files/"+at, content{"text/plain", []byte(text)}))
}

func (p *probe) upload(at, text string, fields ...part) answer {
	parts := append([]part{field("path", at)}, fields...)
	return p.post("files/upload", form(append(parts, part{name: "file", file: path.Base(at), media: "text/plain", content: []byte(text)})...))
}
