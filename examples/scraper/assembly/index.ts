// scraper collects the titles of pages. It fetches one page at a time, and at most one every so many milliseconds.
import { artifactPut, ArtifactKind, config, fail, main, Outcome, reply, sleep, Task, tryHttpFetch, Writer } from "../wharf";

// The export run is what a Task calls, with a page's address on each line.
export function run(): i32 { return main(scrape); }

function scrape(task: Task): Outcome {
  const urls = addresses(task.text), every = config("every_ms").integer;
  if (!urls.length) return fail("no_pages", "which pages? Write an address on each line");
  const found = new Writer();
  let titles = 0;
  found.array();
  for (let i = 0; i < urls.length; i++) {
    // Here the Task is parked, on disk, and has no instance. When the time has come, run begins from the start, and
    // what was fetched before comes from the record: no page is fetched twice, also if the node was killed meanwhile.
    if (i) sleep({ ms: every });
    const page = fetch(urls[i]);
    page.write(found);
    if (page.title.length) titles++;
  }
  found.endArray();
  artifactPut({ kind: ArtifactKind.DATASET, mime_type: "application/json", name: "titles.json" }, bytesOf(found.toString()));
  const summary = titles.toString() + " titles of " + urls.length.toString() + " pages";
  reply(summary);
  return { summary };
}

// addresses are the lines of a text that have something on them.
function addresses(text: string): string[] {
  const lines = text.split("\n"), all: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i].trim();
    if (line.length) all.push(line);
  }
  return all;
}

// Page is what is known of a page: its title, or why there is none.
class Page {
  url: string = "";
  title: string = "";
  problem: string = "";

  write(w: Writer): void {
    w.object();
    w.name("url"); w.text(this.url);
    if (this.title.length) { w.name("title"); w.text(this.title); }
    if (this.problem.length) { w.name("problem"); w.text(this.problem); }
    w.endObject();
  }
}

// fetch asks for one page. One that cannot be had does not end the Task: the others are wanted all the same.
function fetch(url: string): Page {
  const tried = tryHttpFetch({ url, purpose: "reading its title" }), error = tried.error;
  if (error) return { url, problem: error.code };
  const answer = tried.value;
  if (answer.status != 200) return { url, problem: "HTTP " + answer.status.toString() };
  const title = titleOf(answer.text);
  return title.length ? { url, title } : { url, problem: "no title" };
}

// titleOf is what stands between the first <title> and its end.
function titleOf(html: string): string {
  const tag = html.indexOf("<title"), from = tag < 0 ? -1 : html.indexOf(">", tag);
  const to = html.indexOf("</title", from);
  return from < 0 || to < 0 ? "" : html.substring(from + 1, to).trim();
}

function bytesOf(text: string): Uint8Array { return Uint8Array.wrap(String.UTF8.encode(text)); }
