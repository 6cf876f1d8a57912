// What is known of one job and one of its marks; stories are asked for when the panel opens, and not before.

import { WORDS, about, local, plural, short, when } from "./format.js";
import { askOccurrences, askStory } from "./source.js";
import { soonest } from "./model.js";
import { shape } from "./shapes.js";
import { drawing, element, say } from "./svg.js";

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
    Object.assign(this, { job, now, zone, toldAt: null });
    const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
    close.addEventListener("click", () => this.close());
    this.title = element("h2", { id: "panel-title", tabindex: "-1", dir: "auto" }, job.name);
    this.facts = facts(job, now, zone);
    this.gone = element("p", { class: "trouble", "aria-live": "polite" });
    this.body = element("div", { class: "story", "aria-live": "polite" });
    this.age = element("span");
    this.again = element("button", { type: "button", class: "link" }, "Ask again");
    this.again.addEventListener("click", () => this.repeat());
    this.told = element("p", { class: "told", hidden: "" }, this.age, this.again);
    this.root.replaceChildren(element("div", { class: "bar" }, this.title, close), this.facts, this.gone, this.body, this.told);
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

  // After a look, with all jobs there are.
  renew(jobs) {
    if (!this.isOpen) return;
    const job = jobs.find((each) => each.name === this.job.name);
    say(this.gone, job ? "" : "At the last look this job was gone. What is told here was so before.");
    this.facts.hidden = !job;
    this.job = job ?? this.job;
  }

  // Every second: what depends on the time, and how old the rest is.
  tick(now) {
    if (!this.isOpen) return;
    this.now = now;
    const fresh = [...facts(this.job, now, this.zone).children], shown = [...this.facts.children];
    if (fresh.length === shown.length) fresh.forEach((each, place) => say(shown[place], each.textContent));
    else this.facts.replaceChildren(...fresh);
    if (this.ahead) say(this.ahead, until(this.point, now));
    if (this.toldAt) say(this.age, `Told ${about(now - this.toldAt)} ago.`);
  }

  tell(point) {
    Object.assign(this, { point, ahead: null });
    if (point?.kind === "next") this.ahead = element("p", {}, until(point, this.now));
    if (point === null) this.body.replaceChildren(element("p", {}, "Nothing is due, and nothing ran, in this time."));
    else if (point.kind === "next") this.body.replaceChildren(element("h3", {}, icon("next"), coming(point, this.zone)), this.ahead);
    else if (point.alone) this.story(point.at, point.kind, null);
    else this.list(point);
  }

  // A mark as the last look has it.
  seen(holds) {
    return this.job.past.find(holds);
  }

  async story(at, kind, back) {
    const heading = element("h3", { tabindex: "-1" }, icon(kind), `${WORDS[kind]}, ${when(at, this.zone)}`);
    this.repeat = () => this.story(at, this.seen((point) => point.alone && point.at === at)?.kind ?? kind, back);
    await this.ask(askStory, at, heading, back, (story) => [
      lines(story.lines),
      ...(story.link ? [element("p", {}, element("a", { href: story.link, target: "_blank", rel: "noreferrer" }, "Open in Temporal"))] : []),
    ]);
  }

  async list(point) {
    const counts = Object.entries(point.counts).map(([kind, count]) => `${count} ${WORDS[kind]}`);
    const clock = `${when(point.from, this.zone)} to ${local(point.to, this.zone).clock}`;
    const heading = element("h3", { tabindex: "-1" }, `${clock}: ${counts.join(", ")}`);
    this.repeat = () => this.list(this.seen((each) => !each.alone && each.from === point.from) ?? point);
    await this.ask(askOccurrences, point.from, heading, null, (occurrences) => [
      element("ul", { class: "occurrences" }, ...occurrences.map((each) => this.item(each, point))),
    ]);
  }

  item(each, point) {
    const button = element("button", { type: "button" }, icon(each.kind), `${local(each.at, this.zone).clock} ${WORDS[each.kind]}`);
    if (each.reason) button.append(element("span", { class: "reason" }, each.reason));
    button.addEventListener("click", () => this.story(each.at, each.kind, point));
    return element("li", {}, button);
  }

  // Asks, says so meanwhile, and says what was the matter where there is no answer.
  async ask(question, at, heading, back, draw) {
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const shown = back ? [element("button", { type: "button", class: "link" }, "Back to the list")] : [];
    shown[0]?.addEventListener("click", () => this.list(back));
    const asksAgain = document.activeElement === this.again;
    this.toldAt = null;
    this.told.hidden = true;
    const answered = element("div", {}, element("p", { class: "quiet" }, "Asking Temporal…"));
    this.body.replaceChildren(...shown, heading, answered);
    if (back || asksAgain) heading.focus();
    try {
      const answer = await question(this.job.name, at, signal);
      if (signal.aborted) return;
      answered.replaceChildren(...draw(answer));
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof TypeError ? "The board does not answer." : `There is no answer: ${error.message}`;
      answered.replaceChildren(element("p", { class: "trouble" }, why));
    }
    this.toldAt = this.now;
    say(this.age, "Told just now.");
    this.told.hidden = false;
  }
}

function until(point, now) {
  return point.at > now ? `In ${about(point.at - now)}.` : point.alone ? "This time has come." : "It has begun.";
}

function coming(point, zone) {
  if (point.alone) return `to come, ${when(point.at, zone)}`;
  return `${plural(point.count, "start")} to come, ${when(point.from, zone)} to ${local(point.to, zone).clock}`;
}

export function icon(kind) {
  return drawing("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, drawing("path", { class: kind, d: shape(kind, 8, 8) }));
}

function facts(job, now, zone) {
  const coming = soonest(job, now);
  const next = !coming ? "" : coming.exact ? `${when(coming.at, zone)}, in ${about(coming.at - now)}` : `within ${about(coming.at - now)}`;
  const late = next && job.jitter ? ` (up to +${job.jitter})` : "";
  const last = (values) => (values.length ? `${short(values.at(-1))} at the last run, up to ${short(Math.max(...values))} in the last ${values.length}` : "");
  const rows = [
    ["state", job.state.replace("_", " ") + (job.why ? `: ${job.why}` : "")],
    ["next", next + late],
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
