# Makes, in an empty folder and on a node that runs, what the examples of help and documents speak of.
. ./env.sh
printf '# A report\n\nHigh water is at nine.\n' | tee report.md notes.txt README.md >long.txt
cat >scribe.yaml <<'Y'
name: scribe
version: "1"
entry_workflow: echo
description: Keeps the minutes.
autonomy_tier: act_auto
receipt_policy: required
Y
echo '{"name":"clerk","version":"1","entry_workflow":"echo","description":"Keeps files.","autonomy_tier":"act_auto","receipt_policy":"required"}' >scribe.json
echo 'budget: {usd: 1}' >budget.yaml
printf 'provider: generic\nname: orders\nsettings: {task: {text: "{$.a}"}}\n' >orders.yaml
mkdir -p skills my-skill/lib
printf -- '---\nname: my-skill\ndescription: Fills in forms. Use it when somebody sends a form.\nversion: "1.0.0"\n---\nRead it.\n' >my-skill/SKILL.md
(cd my-skill && python3 -m zipfile -c ../my-skill.zip SKILL.md)
cp -r my-skill skills/my-skill
cp -r my-skill pdf-forms && sed -i 's/^name: .*/name: pdf-forms/' pdf-forms/SKILL.md
mkdir my-agent
printf -- '---\nname: My agent\nvendorKey: acme\nagentKey: my-agent\nversion: 1.0.0\nslug: acme/my-agent\ndescription: Answers.\nauthor: "@acme"\nlicense: MIT\ntags: [a]\n---\nAnswer in short.\n' >my-agent/AGENTS.md
(cd my-agent && python3 -m zipfile -c ../my-agent.zip AGENTS.md)
wharf plugin new hello --lang typescript
wharf plugin build hello
cp -r hello my-plugin && sed -i 's/^name = "hello"/name = "my-plugin"/;s/^version.*/version = "1.0.0"/' my-plugin/wharf.toml
rm -rf my-plugin/build && wharf plugin build my-plugin
cp -r hello triage && sed -i 's/^name = "hello"/name = "triage"/;s/^version.*/version = "1.2.0"/' triage/wharf.toml
rm -rf triage/build && wharf plugin build triage
cp -r triage triage11 && sed -i 's/^version.*/version = "1.1.0"/' triage11/wharf.toml
wharf plugin key new release.key && cp -p release.key my.key && wharf plugin key show release.key --json >triage-keys.json
wharf plugin package triage --sign release.key
cp triage-keys.json keys.json
wharf plugin package hello --sign release.key
cp hello/build/hello.wasm hello.wasm
cp triage/build/triage.wasm triage.wasm
mkdir build plugins src && cp hello.wasm build/out.wasm && cp calls.wasm plugins/calls.wasm && cp hello.wasm build/plugin.wasm
cp hello.wasm plugin.wasm
cp hello/src/plugin.ts hello.ts && cp hello.ts src/bot.ts
printf 'from wharf import reply\n\n\ndef run(task):\n    reply(f"Hello, {task.text}!")\n    return "greeted"\n' >hello.py
echo '{}' >answers.yaml
echo '{"value": "t"}' >token.json
echo 'a-secret-of-a-hook' >hook.secret
echo '{"ref": "refs/heads/main"}' >push.json
mkdir -p backups testdata/runs
wharf plugin install hello
wharf plugin install my-plugin
given=$(new task task submit --persona persona_calls --json-input '{"program":[{"call":"llm.complete","request":{"messages":[{"role":"user","text":"Hello"}]}}]}' --wait=5m)
wharf task submit --file README.md --persona persona_digest --wait=5m
cat >>env.sh <<V
ID_TASK=$given
ID_TASK2=$(new task task replay "$given" --wait=5m)
ID_SESS=$(new_session)
ID_ART=$(wharf artifact list --json | id art)
ID_CONN=$(new conn connector create -f orders.yaml)
ID_PERSONA=$(new_persona)
ID_QUOTA=$(new quota quota create --scope tenant --limit usd=1000 --window 24h)
ID_TSRV=$(new tsrv tool-server create here --url "$WHARF_SERVER/mcp" --header "Authorization: Bearer $WHARF_API_KEY")
ID_VAULT=$(new vault vault create --persona persona_agent)
ID_HOOK=$(new hook webhook create "$WHARF_SERVER/nowhere" --event task.failed)
ID_WS=ws_default
ID_RCPT=$(wharf task receipts "$given" --json | id rcpt)
EVENT=$(wharf task tail "$given" --json | jq -r .id | head -n 2 | tail -n 1)
SIGNING=$(wharf key published --json | id sig)
V
for name in TASK TASK2 SESS ART CONN PERSONA QUOTA TSRV VAULT HOOK RCPT; do grep -q "^ID_$name=." env.sh || { echo "there is no $name"; exit 1; }; done
hello=$(new task task submit Ada --persona persona_hello --wait=5m)
wharf export "$hello" -o run.zip
cp run.zip testdata/runs/
wharf key published --json >wharf-keys.json
wharf backup "$PWD/backups/wharf-2026-04-25"
wharf restore --from backups/wharf-2026-04-25 --data stopped
