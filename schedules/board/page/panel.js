// What is known of one job and one of its marks; stories are asked for when the panel opens, and not before.

import { WORDS, about, local, plural, short, when } from "./format.js";
import { question } from "./source.js";
import { shape } from "./shapes.js";
import { drawing, element } from "./svg.js";

export class Panel {
  // `closed` is called with the name of the job when the panel has been closed.
  constructor(closed) {
    this.closed = closed;
    this.root = document.getElementById("panel");
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    this.asking = null;
  }

  get isOpen() {
    return !this.root.hidden;
  }

  open(job, point, now, zone) {
    this.asking?.abort();
    this.asking = new AbortController();
    Object.assign(this, { job, now, zone });
    const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
    close.addEventListener("click", () => this.close());
    this.title = element("h2", { id: "panel-title", tabindex: "-1", dir: "auto" }, job.name);
    this.body = element("div", { class: "story", "aria-live": "polite" });
    this.root.replaceChildren(element("div", { class: "bar" }, this.title, close), facts(job, now, zone), this.body);
    this.root.hidden = false;
    this.root.scrollTop = 0;
    document.body.classList.add("panelled");
    this.title.focus();
    this.tell(point);
  }

  close() {
    if (!this.isOpen) return;
    this.asking?.abort();
    this.root.hidden = true;
    document.body.classList.remove("panelled");
    this.closed(this.job.name);
  }

  tell(point) {
    if (point === null) this.body.replaceChildren(element("p", {}, "Nothing is due, and nothing ran, in this time."));
    else if (point.kind === "next") this.body.replaceChildren(element("h3", {}, icon("next"), coming(point, this.zone)), element("p", {}, `In ${about(point.at - this.now)}.`));
    else if (point.alone) this.story(point.at, point.kind, null);
    else this.list(point);
  }

  async story(at, kind, back) {
    const heading = element("h3", { tabindex: "-1" }, icon(kind), `${WORDS[kind]}, ${when(at, this.zone)}`);
    await this.ask("story", at, heading, back, (story) => [
      lines(story.lines),
      ...(story.link ? [element("p", {}, element("a", { href: story.link, target: "_blank", rel: "noreferrer" }, "Open in Temporal"))] : []),
    ]);
  }

  async list(point) {
    const counts = Object.entries(point.counts).map(([kind, count]) => `${count} ${WORDS[kind]}`);
    const clock = `${when(point.from, this.zone)} to ${local(point.to, this.zone).clock}`;
    const heading = element("h3", { tabindex: "-1" }, `${clock}: ${counts.join(", ")}`);
    await this.ask("occurrences", point.from, heading, null, (found) => [
      element("ul", { class: "occurrences" }, ...found.map((each) => this.item(each, point))),
    ]);
  }

  item(each, point) {
    const button = element("button", { type: "button" }, icon(each.kind), `${local(each.at, this.zone).clock} ${WORDS[each.kind]}`);
    if (each.reason) button.append(element("span", { class: "reason" }, each.reason));
    button.addEventListener("click", () => this.story(each.at, each.kind, point));
    return element("li", {}, button);
  }

  // Asks, says so meanwhile, and says what was the matter where there is no answer.
  async ask(path, at, heading, back, draw) {
    const { signal } = this.asking;
    const again = element("button", { type: "button", class: "link" }, back ? "Back to the list" : "Try again");
    const shown = back ? [again] : [];
    if (back) again.addEventListener("click", () => this.list(back));
    this.body.replaceChildren(...shown, heading, element("p", { class: "quiet" }, "Asking Temporal…"));
    if (back) heading.focus();
    try {
      const answer = await question(path, this.job.name, at, signal);
      if (!signal.aborted) this.body.replaceChildren(...shown, heading, ...draw(answer));
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof TypeError ? "The board does not answer." : `There is no answer: ${error.message}`;
      this.body.replaceChildren(...shown, heading, element("p", { class: "trouble" }, why));
    }
  }
}

function coming(point, zone) {
  if (point.alone) return `to come, ${when(point.at, zone)}`;
  return `${plural(point.count, "start")} to come, ${when(point.from, zone)} to ${local(point.to, zone).clock}`;
}

export function icon(kind) {
  return drawing("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, drawing("path", { class: kind, d: shape(kind, 8, 8) }));
}

function facts(job, now, zone) {
  const next = job.next === null ? "" : `${when(job.next, zone)}, in ${about(job.next - now)}`;
  const last = (values) => (values.length ? `${short(values.at(-1))} at the last run, up to ${short(Math.max(...values))} in the last ${values.length}` : "");
  const rows = [
    ["state", job.state.replace("_", " ") + (job.why ? `: ${job.why}` : "")],
    ["next", job.state === "paused" ? "" : next],
    ["zone", job.zone],
    ["owner", job.owner],
    ["labels", job.labels.join(", ")],
    ["lateness", last(job.late)],
    ["duration", last(job.took)],
  ];
  return lines(rows.filter(([, text]) => text));
}

// Lines with an empty label go on with the one before.
function lines(rows) {
  const list = element("dl");
  for (const [label, text] of rows) {
    if (label || !list.lastChild) list.append(element("dt", {}, label || "also"));
    list.append(element("dd", { dir: "auto" }, text));
  }
  return list;
}
