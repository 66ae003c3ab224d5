package building

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// ascConfig is the file in which a project of AssemblyScript has the options of its compiler.
const ascConfig = "asconfig.json"

// assemblyScript builds with the compiler that npm has put into the folder, or with that on the path. What
// the folder's asconfig.json says is left to it: its options would be added to ours, and the last of two counts.
func assemblyScript(ctx context.Context, p Project) (*Plan, error) {
	program, version, err := findAsc(ctx, p)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Toolchain: version, program: program, resident: partOfAsc(program), stamp: stamp(program), output: outputAfter("--outFile"), finish: linesOf,
		Command: []string{"asc", p.Manifest.Entry, "--outFile", p.module, "--sourceMap"}}
	configured := isFile(p.Folder, ascConfig)
	switch {
	case p.quick:
		plan.Command = append(plan.Command, "--optimizeLevel", "0", "--shrinkLevel", "0")
	case !configured:
		plan.Command = append(plan.Command, "-O")
	}
	if !configured {
		plan.Command = append(plan.Command, "--debug", "--use", "abort=")
	}
	return plan, nil
}

// partOfAsc is the module of the compiler that its program asc.js loads, "" where that lies elsewhere.
func partOfAsc(program string) string {
	program, err := filepath.EvalSymlinks(program)
	if err != nil || filepath.Base(program) != "asc.js" {
		return ""
	}
	part := filepath.Join(filepath.Dir(filepath.Dir(program)), "dist", "asc.js")
	if !isFile(filepath.Dir(part), filepath.Base(part)) {
		return ""
	}
	return part
}

// findAsc finds the compiler, and its version.
func findAsc(ctx context.Context, p Project) (program, version string, err error) {
	program = inNodeModules(p.Folder, "asc")
	if program == "" {
		program = lookFor("asc")
	}
	node := lookFor("node") != ""
	switch {
	case program == "":
		return "", "", &Missing{What: "AssemblyScript is not installed: there is no program asc, in node_modules or elsewhere", Get: append(waysToNode(node), npmInstall(p.Folder))}
	case !node:
		return "", "", &Missing{What: "Node is not installed, which AssemblyScript's compiler asc runs on: there is no program node", Get: waysToNode(node)}
	case p.before.Stamp != "" && p.before.Stamp == stamp(program):
		return program, p.before.Toolchain, nil
	}
	said, err := ask(ctx, p.Folder, program, "--version")
	return program, "asc " + strings.TrimPrefix(line(said), "Version "), err
}

// npmInstall is the command that puts the compiler into a folder: of the version that the folder asks for.
func npmInstall(folder string) string {
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err == nil && strings.Contains(string(text), `"assemblyscript"`) {
		return "npm install"
	}
	return "npm install --save-dev assemblyscript"
}

// waysToNode says how Node and npm are had, and nothing where they are.
func waysToNode(node bool) []string {
	if node && lookFor("npm") != "" {
		return nil
	}
	return onPlatform(ways{
		debian: "apt install nodejs npm (20 or newer; where apt's is older, Node from nodejs.org)", fedora: "dnf install nodejs npm", arch: "pacman -S nodejs npm", alpine: "apk add nodejs npm",
		mac: "brew install node", windows: "winget install OpenJS.NodeJS", other: "Node from nodejs.org, 20 or newer",
	})
}

func isFile(folder, name string) bool {
	info, err := os.Stat(filepath.Join(folder, name))
	return err == nil && info.Mode().IsRegular()
}
