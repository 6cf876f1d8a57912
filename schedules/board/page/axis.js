// The axis of time, its gridlines, and the starts to come as a histogram.

import { local, plural, when } from "./format.js";
import { round } from "./shapes.js";
import { drawing, element } from "./svg.js";

const QUARTER = 900, HOUR = 3600, STARTS_HEIGHT = 30;
const LEAST_DISTANCE = 64, NARROW = 500;

// Instants at which a line is drawn: full local hours, so many of them as there is room for; on days of clock changes, too.
export function ticks(scale) {
  const hours = [1, 2, 3, 6, 12].find((each) => each * HOUR * scale.rate >= LEAST_DISTANCE) ?? 24;
  const found = [];
  for (let at = Math.ceil(scale.begin / QUARTER) * QUARTER; at < scale.end; at += QUARTER) {
    const time = local(at, scale.zone);
    if (time.minute === 0 && time.hour % hours === 0) found.push({ at, ...time, midnight: time.hour === 0 });
  }
  return found;
}

export function drawAxis(target, lines, scale, document) {
  const found = ticks(scale);
  const labels = found.map((tick) => put(element("span", { class: tick.midnight ? "day" : "hour" }, tick.midnight ? tick.day : tick.clock), scale.x(tick.at)));
  const now = put(element("span", { class: "now" }, "now"), scale.x(scale.now));
  target.replaceChildren(...labels, now);
  fit(labels, now, scale);
  const rules = found.map((tick) => put(element("i", { class: tick.midnight ? "rule day" : "rule" }), scale.x(tick.at)));
  lines.replaceChildren(...rules, ...unknown(scale, document), put(element("i", { class: "rule now" }), scale.x(scale.now)));
}

// Within the axis, and not where it says "now", nor over one another; all are measured before any is moved.
function fit(labels, now, scale) {
  const halves = labels.map((label) => label.offsetWidth / 2), beside = now.offsetWidth / 2;
  let end = -Infinity;
  labels.forEach((label, place) => {
    const half = halves[place], x = Math.min(Math.max(parseFloat(label.style.left), half), scale.width - half);
    if (Math.abs(x - scale.x(scale.now)) < half + beside || x - half < end) return label.remove();
    end = x + half;
    put(label, x);
  });
}

// Of this time nothing was read: before the first look, and since the last one.
function unknown(scale, document) {
  const seen = Math.min(document.looked_at ?? scale.now, scale.now);
  const spans = [[scale.begin, document.counted_from, "runs before this were not read"]];
  if (scale.now - seen > 3 * document.interval) spans.push([seen, scale.now, "not looked at yet"]);
  return spans.filter(([from, to]) => (to - from) * scale.rate > 3).map(([from, to, why]) => {
    const made = put(element("i", { class: "unknown", title: why }), scale.x(from));
    made.style.width = `${round((to - from) * scale.rate)}px`;
    return made;
  });
}

function put(made, x) {
  made.style.left = `${round(x)}px`;
  return made;
}

export function drawStarts(target, scale, { from, step, counts }) {
  const most = Math.max(...counts, 0);
  const peak = counts.indexOf(most);
  let data = "";
  counts.forEach((count, place) => {
    const height = round((count / Math.max(most, 1)) * STARTS_HEIGHT);
    const x = scale.x(Math.max(from + place * step, scale.now)), width = scale.x(from + (place + 1) * step) - x;
    if (count && width > 0 && x < scale.width) data += `M${round(x)} ${STARTS_HEIGHT}v${-Math.max(height, 1)}h${round(Math.max(width - 0.4, 1))}V${STARTS_HEIGHT}z`;
  });
  const all = counts.reduce((sum, count) => sum + count, 0);
  const short = scale.width < NARROW, peaked = when(from + peak * step, scale.zone);
  const busiest = short ? `at most ${most} in 5 min` : `at most ${most} in 5 min: ${peaked}`;
  const words = most ? `${plural(all, "start")} in ${short ? "" : "the next "}24 h, ${busiest}` : "no starts in the next 24 h";
  const picture = drawing("svg", { "aria-hidden": "true" }, drawing("path", { d: data }));
  target.replaceChildren(picture, element("span", { class: "starts" }, words));
  target.dataset.most = most;
}
