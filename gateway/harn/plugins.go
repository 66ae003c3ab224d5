package harn

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// The media types of a module and of a package, which is a zip archive.
const (
	mediaWasm    = "application/wasm"
	mediaPackage = "application/zip"
)

// mediaForm is that of a form with files, and maxManifest how many bytes one of those beside a module has at most.
const (
	mediaForm   = "multipart/form-data"
	maxManifest = 256 << 10
)

func (a *Adapter) pluginRoutes() []gateway.Route {
	const tag, all = "Plugins", "/wharf/v1/plugins"
	const one = all + "/{plugin}"
	install := post(one+"/versions", "installPlugin", tag, abi.ScopeNode, "", "Plugin", "Install a version of a plugin", statusOK, a.installPlugin).
		with(gateway.Param{Name: "version", In: "query", Doc: "Its name; the next number unless said otherwise.", Schema: text()}).
		doc("The body is the module, `" + mediaWasm + "`, of at most 64 MiB; or a package as \"wharf plugin package\" makes it, `" + mediaPackage + "`, whose signatures are kept with the version; or a form with the file `module`, `manifest`, the plugin's wharf.toml, and as `files` the JSON Schemas that this names, by their paths in it. " +
			"The version is that of the manifest then, and each tenant gets the Persona that it describes, with its Skill; a Persona that a tenant has changed stays as it is. The module is kept and compiled before new Tasks run it, those of every tenant; a module that cannot be loaded is a 400 " +
			"whose `details` say why, and changes nothing. Tasks that have begun keep theirs. The same module again changes nothing either.")
	install.Body = gateway.BodyRaw
	manifest := read(one+"/manifest", "getPluginManifest", tag, "skills:read", "PluginManifest", "Get the manifest that a version of a plugin was installed with", a.pluginManifest).
		with(gateway.Param{Name: "version", In: "query", Doc: "The version; that which new Tasks run unless said otherwise.", Schema: text()})
	remove := write(fasthttp.MethodDelete, one, "removePlugin", tag, abi.ScopeNode, "", "", "Remove a plugin", statusNoContent, a.removePlugin).bodyless().
		with(gateway.Param{Name: "force", In: "query", Doc: "true: also while something names it, whose Tasks fail from then on.", Schema: enum("true", "false")}).
		doc("It is refused while Personas, Connectors, harnesses or hooks name the plugin. Tasks that have begun go on, and all can be replayed.")
	own := []row{
		read(all, "listPlugins", tag, "skills:read", "Plugins", "List the plugins that were installed, by name", a.listPlugins).
			doc("Those that come with the node and those of its folder of plugins are not among them."),
		read(one, "getPlugin", tag, "skills:read", "Plugin", "Get a plugin that was installed", a.getPlugin),
		manifest,
		install,
		post(one+"/rollback", "rollbackPlugin", tag, abi.ScopeNode, "RollbackPluginRequest", "Plugin", "Have new Tasks run a version of before", statusOK,
			func(r *gateway.Request) error {
				var req abi.RollbackPluginRequest
				retry, err := decode(r, &req)
				if err != nil {
					return err
				}
				doc, err := a.core.RollbackPlugin(r.Context(), r.Caller, retry, r.PathValue("plugin"), req)
				if err != nil {
					return err
				}
				return a.send(r, statusOK, doc)
			}).doc("It is the version that the plugin had before, unless the request names one."),
		post(one+"/enable", "enablePlugin", tag, abi.ScopeNode, "", "Plugin", "Have new Tasks run a plugin again", statusOK, a.turnPlugin(a.core.EnablePlugin)).bodyless(),
		post(one+"/disable", "disablePlugin", tag, abi.ScopeNode, "", "Plugin", "Have no new Task run a plugin", statusOK, a.turnPlugin(a.core.DisablePlugin)).bodyless().
			doc("Tasks that name it fail when they start. Those that have begun go on."),
		remove,
	}
	for i := range own {
		own[i].Unversioned = true
	}
	return routes(own...)
}

func pluginSchemas() map[string]schema {
	return map[string]schema{
		"Plugin":                resourceOf[abi.Plugin](abi.ObjectPlugin, "A plugin that was installed while the node ran.", but(schema{"status": enum(abi.PluginEnabled, abi.PluginDisabled)})),
		"PluginBuild":           of[abi.PluginBuild]("A version of a plugin: a name for one module."),
		"PluginManifest":        of[abi.PluginManifest]("The manifest of a version of a plugin, and the files that it names, by path."),
		"Plugins":               of[abi.Plugins]("The plugins that were installed."),
		"RollbackPluginRequest": of[abi.RollbackPluginRequest]("Which version new Tasks are to run."),
	}
}

func (a *Adapter) listPlugins(r *gateway.Request) error {
	return sendValue(r, statusOK, a.core.Plugins(r.Context(), r.Caller))
}

func (a *Adapter) getPlugin(r *gateway.Request) error {
	p, err := a.core.Plugin(r.Context(), r.Caller, r.PathValue("plugin"))
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, p)
}

func (a *Adapter) pluginManifest(r *gateway.Request) error {
	m, err := a.core.PluginManifest(r.Context(), r.Caller, r.PathValue("plugin"), r.Query("version"))
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, m)
}

func (a *Adapter) installPlugin(r *gateway.Request) error {
	retry, err := r.Retry(nil) // the engine judges by what is asked for and the digests
	if err != nil {
		return err
	}
	req := abi.InstallPluginRequest{Name: r.PathValue("plugin"), Version: r.Query("version")}
	if mediaOf(r) == mediaPackage {
		return a.installPackage(r, retry, req)
	}
	module, err := sentModule(r, &req)
	if err != nil {
		return err
	}
	doc, err := a.core.InstallPlugin(r.Context(), r.Caller, retry, req, module)
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

// installPackage installs a package. It is spooled first, as it is read from its end.
func (a *Adapter) installPackage(r *gateway.Request, retry *api.Write, req abi.InstallPluginRequest) error {
	f, err := r.Spooled()
	if err != nil {
		return err
	}
	doc, err := a.core.InstallPackage(r.Context(), r.Caller, retry, req, f, f.Size)
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

// mediaOf returns the media type of a request's body, without parameters.
func mediaOf(r *gateway.Request) string {
	media, _, _ := strings.Cut(r.Header("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// sentModule returns the module of a request, and puts into req what comes with it.
func sentModule(r *gateway.Request, req *abi.InstallPluginRequest) (io.Reader, error) {
	switch mediaOf(r) {
	case mediaWasm:
		return r.Upload()
	case mediaForm:
		return sentPlugin(r, req)
	}
	return nil, abi.InvalidParam("Content-Type", "the body is a module, %s, a package, %s, or a form with a module and its manifest, %s", mediaWasm, mediaPackage, mediaForm)
}

// sentPlugin reads a form with a module, its manifest and files.
func sentPlugin(r *gateway.Request, req *abi.InstallPluginRequest) (module io.Reader, err error) {
	form, err := r.Multipart()
	if err != nil {
		return nil, err
	}
	said := &abi.PluginManifest{Files: map[string]string{}}
	if texts := form.Fields["manifest"]; len(texts) > 0 {
		said.Text, req.Manifest = texts[0], said
	}
	for i := range form.Files {
		f := &form.Files[i]
		switch f.Field {
		case "module":
			module = f
		case "manifest":
			req.Manifest = said
			said.Text, err = textOf(f)
		case "files":
			said.Files[f.Path], err = textOf(f)
		default:
			err = abi.InvalidParam(f.Field, "the form has the files module, manifest and files")
		}
		if err != nil {
			return nil, err
		}
	}
	if module == nil {
		return nil, abi.InvalidParam("module", "the form has no file module")
	}
	return module, nil
}

// textOf reads a small file of a form.
func textOf(f *gateway.UploadedFile) (string, error) {
	if f.Size > maxManifest {
		return "", abi.Errorf(abi.CodePayloadTooLarge, "the file %.100q has more than %d KiB", f.Name, maxManifest>>10)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return "", fmt.Errorf("reading an upload: %w", err)
	}
	return string(text), nil
}

// turnPlugin serves a change that needs no words.
func (a *Adapter) turnPlugin(call func(context.Context, *api.Caller, *api.Write, string) (api.View, error)) gateway.Handler {
	return func(r *gateway.Request) error {
		retry, err := r.Retry(nil)
		if err != nil {
			return err
		}
		doc, err := call(r.Context(), r.Caller, retry, r.PathValue("plugin"))
		if err != nil {
			return err
		}
		return a.send(r, statusOK, doc)
	}
}

func (a *Adapter) removePlugin(r *gateway.Request) error {
	force := r.Query("force")
	if force != "" && force != "true" && force != "false" {
		return abi.InvalidParam("force", "force is true or false")
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.RemovePlugin(r.Context(), r.Caller, retry, r.PathValue("plugin"), force == "true"); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}
