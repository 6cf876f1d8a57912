// One job: its name, its line of marks, and two sparklines. Elements are made once and filled again.

import { STATES, WORDS, about, local, plural, short, when } from "./format.js";
import { points, soonest } from "./model.js";
import { bar, round, shape } from "./shapes.js";
import { drawing, element, say } from "./svg.js";

const KINDS = Object.keys(WORDS);
const SPARK_WIDTH = 56, SPARK_HEIGHT = 20;

export class Row {
  constructor() {
    this.name = element("span", { class: "name", dir: "auto" });
    this.state = element("span", { class: "state" });
    this.about = element("span", { class: "about" });
    this.paths = Object.fromEntries([...KINDS, "many"].map((kind) => [kind, drawing("path", { class: kind })]));
    const order = ["many", ...KINDS.toReversed()];
    this.svg = drawing("svg", { "aria-hidden": "true" }, ...order.map((kind) => this.paths[kind]));
    this.button = element("button", { class: "mark", type: "button", tabindex: "-1" });
    this.line = element("div", { role: "gridcell", class: "line" }, this.svg, this.button);
    this.late = new Spark("Lateness");
    this.took = new Spark("Duration");
    this.root = element(
      "div",
      { role: "row", class: "row cells" },
      element("div", { role: "rowheader", class: "job" }, this.name, this.state, this.about),
      this.line,
      this.late.root,
      this.took.root,
    );
  }

  // `scale` turns instants into pixels of the line.
  draw(job, scale, index) {
    this.job = job;
    this.root.dataset.state = job.state;
    this.root.setAttribute("aria-rowindex", index + 2);
    say(this.name, job.name);
    this.name.title = job.name;
    say(this.state, STATES[job.state] ?? job.state);
    this.tell(scale.now, scale.zone);
    this.about.title = job.why;
    this.late.draw(job.late);
    this.took.draw(job.took);
    this.drawMarks(scale);
  }

  // What comes next changes from second to second.
  tell(now, zone) {
    say(this.about, aboutJob(this.job, now, zone));
  }

  // Without a viewBox the units of the picture are the pixels of the line, as those of everything else that is put at an instant.
  drawMarks(scale) {
    this.points = points(this.job, scale.now).filter((point) => point.to > scale.begin && point.at < scale.end);
    const data = {}, y = scale.middle;
    const add = (kind, drawn) => (data[kind] = (data[kind] ?? "") + drawn);
    for (const point of this.points) {
      const [from, to] = reach(point, scale);
      point.x = point.alone ? scale.x(point.at) : (from + to) / 2;
      const held = this.job.state === "paused" && point.kind === "next";
      const kind = held ? "paused" : point.kind, plain = kind === "succeeded" || kind === "next";
      if (!point.alone && !held) add(plain ? kind : "many", bar(from + 0.5, to - 0.5, y, 9));
      if (point.alone || !plain) add(kind, shape(kind, point.x, y));
    }
    for (const [kind, path] of Object.entries(this.paths)) path.setAttribute("d", data[kind] ?? "");
  }

  // The point of that moment, else what a viewer most likely wants to know of: trouble, or what was last.
  place(at) {
    if (!this.points.length) return -1;
    const same = this.points.findIndex((point) => point.from <= at && at < point.to);
    if (same >= 0) return same;
    const past = this.points.filter((point) => point.kind !== "next");
    const amiss = past.findLast((point) => ["failed", "missed", "no_run", "waiting"].includes(point.kind));
    return Math.max(this.points.indexOf(amiss ?? past.at(-1)), 0);
  }

  nearest(x) {
    let best = -1;
    this.points.forEach((point, place) => {
      if (best < 0 || Math.abs(point.x - x) < Math.abs(this.points[best].x - x)) best = place;
    });
    return best;
  }

  // Puts the button over a point and names it.
  aim(place, scale) {
    const point = this.points[place];
    this.aimed = place;
    this.button.style.left = `${round(point ? point.x : scale.x(scale.now))}px`;
    this.button.setAttribute("aria-label", point ? `${this.job.name}: ${told(point, scale.zone)}; mark ${place + 1} of ${this.points.length}` : `${this.job.name}: nothing in this time`);
    return point;
  }
}

// Where a block begins and ends: of the running quarter, what was looked at is left of now, and what is to come right of it.
function reach(point, scale) {
  if (point.kind === "next") return [scale.x(Math.max(point.from, scale.now)), scale.x(point.to)];
  return [scale.x(point.from), scale.x(Math.min(point.to, Math.max(scale.seen, point.at)))];
}

class Spark {
  constructor(word) {
    this.word = word;
    this.path = drawing("path");
    this.value = element("span");
    this.svg = drawing("svg", { viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, "aria-hidden": "true" }, this.path);
    this.root = element("div", { role: "gridcell", class: "spark" }, this.svg, this.value);
  }

  draw(values) {
    const most = Math.max(...values, 1);
    const step = SPARK_WIDTH / Math.max(values.length - 1, 1);
    const y = (value) => round(SPARK_HEIGHT - 2 - ((SPARK_HEIGHT - 4) * value) / most);
    this.path.setAttribute("d", values.length > 1 ? values.map((value, place) => `${place ? "L" : "M"}${round(place * step)} ${y(value)}`).join("") : "");
    say(this.value, values.length ? short(values.at(-1)) : "");
    this.root.title = values.length ? `${this.word} of the last ${plural(values.length, "run")}: up to ${short(Math.max(...values))}` : "";
  }
}

// What stands behind the state.
function aboutJob(job, now, zone) {
  const times = job.failures > 1 ? `${job.failures} in a row` : "";
  const why = job.state === "paused" ? job.note : job.why.replace(/^\d\S+Z: /, "");
  return [times, why || (times ? "" : nextText(job, now, zone))].filter(Boolean).join(" · ");
}

function nextText(job, now, zone) {
  const next = soonest(job, now);
  if (!next) return "";
  if (!next.exact) return `next within ${about(next.at - now)}`;
  const { day, clock } = local(next.at, zone);
  return `next ${next.at - now < 86400 ? clock : `${day} ${clock}`}`;
}

// A mark in words.
export function told(point, zone) {
  if (point.alone) return `${WORDS[point.kind]}, ${when(point.at, zone)}`;
  const counts = Object.entries(point.counts).map(([kind, count]) => `${count} ${WORDS[kind]}`);
  return `${counts.join(", ")}, ${when(point.from, zone)} to ${local(point.to, zone).clock}`;
}
