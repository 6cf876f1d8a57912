// Puts the parts together: what the server knows, what the viewer chose, and what is drawn of it.

import { WORDS, about, isKind, known, ownZone, plural } from "./format.js";
import { Grid } from "./grid.js";
import { decode, matching, soonest, sorted, total, withKinds } from "./model.js";
import { Panel, icon } from "./panel.js";
import { poll } from "./source.js";
import { element, say } from "./svg.js";
import { readView, writeView } from "./view.js";

const REDRAW = 15, STALE = 3, MOST_ZONES = 12;
const byId = (id) => document.getElementById(id);
const controls = { q: byId("filter"), sort: byId("sort"), span: byId("span"), zone: byId("zone") };

let view = readView(allows);
let latest = null, jobs = [], trouble = "", drawnAt = 0;

const panel = new Panel((name) => grid.focus(name));
const grid = new Grid((job, point) => panel.open(job, point, source.now(), zone()));
const source = poll(take, (said) => {
  trouble = said;
  tick();
});

function zone() {
  return view.zone || ownZone();
}

// Whether a choice in an address is one that the page has.
function allows(name, value) {
  if (name === "zone") return value === "" || known(value);
  if (name === "show") return value.split(",").every((kind) => kind === "" || isKind(kind));
  return name === "q" || [...controls[name].options].some((option) => option.value === value);
}

// A board that has just been started knows nothing yet: what is known stays, and grows old.
function take(document) {
  if (document.jobs || !latest?.jobs) latest = document;
  else latest = { ...latest, interval: document.interval, trouble: document.trouble || "the board was started again, and has not looked yet" };
  if (document.jobs) {
    jobs = decode(document);
    offerZones();
    panel.renew(jobs);
  }
  draw();
}

function draw() {
  if (!latest?.jobs) return tick();
  const kinds = new Set(view.show.split(",").filter(isKind));
  const found = matching(jobs, view.q);
  const shown = sorted(withKinds(found, kinds), view.sort);
  drawnAt = source.now();
  drawKinds(total(found), kinds);
  say(byId("shown"), shown.length === jobs.length ? plural(jobs.length, "job") : `${shown.length} of ${plural(jobs.length, "job")}`);
  say(byId("namespace"), latest.namespace ?? "");
  byId("empty").hidden = shown.length > 0;
  say(byId("empty"), jobs.length ? noMatch() : "There are no jobs yet: a sync makes them.");
  grid.show(shown, latest, drawnAt, Number(view.span), zone());
  tick();
  document.documentElement.dataset.drawn = String(latest.looked_at);
}

function noMatch() {
  const asksLabel = view.q.includes("="), hasLabels = jobs.some((job) => job.labels.length);
  return `No job matches.${asksLabel && !hasLabels ? " No labels are known: the board reads them from spec files, started with their PATHs." : ""}`;
}

// One button for each kind there is; pressed ones narrow the list.
function drawKinds(counts, pressed) {
  const target = byId("kinds");
  const kinds = latest.kinds.filter((kind) => counts[kind] || pressed.has(kind));
  byId("counted").hidden = !kinds.length;
  for (const old of [...target.children]) if (!kinds.includes(old.dataset.kind)) old.remove();
  kinds.forEach((kind, place) => {
    let button = [...target.children].find((each) => each.dataset.kind === kind);
    if (!button) {
      button = element("button", { type: "button", "data-kind": kind }, icon(kind), element("b"), ` ${WORDS[kind]}`);
      button.addEventListener("click", () => toggle(kind));
    }
    if (target.children[place] !== button) target.insertBefore(button, target.children[place] ?? null);
    say(button.querySelector("b"), (counts[kind] ?? 0).toLocaleString("en"));
    button.setAttribute("aria-pressed", String(pressed.has(kind)));
  });
  const bad = ["failed", "missed"].filter((kind) => counts[kind]).map((kind) => `${counts[kind]} ${WORDS[kind]}`);
  document.title = [bad.join(", "), "Board"].filter(Boolean).join(" · ");
}

function toggle(kind) {
  const kinds = new Set(view.show.split(",").filter(Boolean));
  if (!kinds.delete(kind)) kinds.add(kind);
  change({ show: [...kinds].join(",") });
}

function change(changes) {
  view = { ...view, ...changes };
  writeView(view);
  draw();
}

function offerZones() {
  const wanted = [...new Set([ownZone(), "UTC", zone(), ...jobs.map((job) => job.zone)])].filter(known).slice(0, MOST_ZONES);
  if ([...controls.zone.options].map((option) => option.value).join() === wanted.join()) return;
  controls.zone.replaceChildren(...wanted.map((each) => element("option", { value: each }, each.replaceAll("_", " "))));
  controls.zone.value = zone();
}

// Every second: how old all of this is, and what comes next.
function tick() {
  const now = source?.now() ?? Date.now() / 1000;
  const age = latest?.looked_at ? now - latest.looked_at : null;
  say(byId("age"), age === null ? "" : `looked ${about(age)} ago`);
  const said = trouble || latest?.trouble || "";
  const old = age !== null && age > Math.max(STALE * latest.interval, 10);
  warn(age === null ? said && `Nothing is known yet: ${said}` : said || old ? `Last looked ${about(age)} ago${said && `: ${said}`}. What has happened since is not shown.` : "");
  say(byId("next"), comingNext(now));
  grid.tell(now);
  panel.tick(now);
  if (latest?.jobs && now - drawnAt > REDRAW) draw();
}

function comingNext(now) {
  let first = null, name = "";
  for (const job of grid.shown) {
    const next = soonest(job, now);
    if (next && (!first || next.at < first.at)) [first, name] = [next, job.name];
  }
  return first ? `next ${first.exact ? "in" : "within"} ${about(first.at - now)}: ${name}` : "";
}

function warn(text) {
  const target = byId("stale");
  document.body.classList.toggle("old", Boolean(text));
  target.hidden = !text;
  // Announced when it begins, and not each time that a minute has passed.
  target.setAttribute("role", target.textContent ? "note" : "alert");
  say(target, text);
}

function offer() {
  for (const [name, control] of Object.entries(controls)) {
    if (name !== "zone") control.value = view[name];
    control.addEventListener(name === "q" ? "input" : "change", () => change({ [name]: control.value }));
  }
  addEventListener("hashchange", () => {
    view = readView(allows);
    offerZones();
    for (const [name, control] of Object.entries(controls)) control.value = name === "zone" ? zone() : view[name];
    draw();
  });
  addEventListener("keydown", (event) => event.key === "Escape" && panel.close());
}

offer();
setInterval(tick, 1000);
