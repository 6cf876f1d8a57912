// Puts the parts together: what the server knows, what the viewer chose, and what is drawn of it.

import { WORDS, about, known, ownZone, plural } from "./format.js";
import { Grid } from "./grid.js";
import { decode, matching, sorted, total, withKinds } from "./model.js";
import { Panel, icon } from "./panel.js";
import { poll } from "./source.js";
import { element, say } from "./svg.js";
import { readView, writeView } from "./view.js";

const REDRAW = 15, STALE = 3, MOST_ZONES = 12;
const byId = (id) => document.getElementById(id);
const controls = { q: byId("filter"), sort: byId("sort"), span: byId("span"), zone: byId("zone") };

let view = readView();
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

function take(document) {
  latest = document;
  if (document.jobs) {
    jobs = decode(document);
    offerZones();
  }
  draw();
}

function draw() {
  if (!latest?.jobs) return tick();
  const kinds = new Set(view.show.split(",").filter((kind) => kind in WORDS));
  const found = matching(jobs, view.q);
  const shown = sorted(withKinds(found, kinds), view.sort);
  drawnAt = source.now();
  drawKinds(total(found), kinds);
  say(byId("shown"), shown.length === jobs.length ? plural(jobs.length, "job") : `${shown.length} of ${plural(jobs.length, "job")}`);
  say(byId("namespace"), latest.namespace ?? "");
  byId("empty").hidden = shown.length > 0;
  say(byId("empty"), jobs.length ? "No job matches." : "There are no jobs yet: a sync makes them.");
  grid.show(shown, latest, drawnAt, Number(view.span), zone());
  tick();
  document.documentElement.dataset.drawn = String(latest.looked_at);
}

// One button for each kind there is; pressed ones narrow the list.
function drawKinds(counts, pressed) {
  const target = byId("kinds");
  const kinds = latest.kinds.filter((kind) => counts[kind] || pressed.has(kind));
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
  const wanted = [...new Set([ownZone(), "UTC", ...jobs.map((job) => job.zone), zone()])].filter(known).slice(0, MOST_ZONES);
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
  const coming = grid.shown.filter((job) => job.next > now && job.state !== "paused").sort((one, other) => one.next - other.next)[0];
  say(byId("next"), coming ? `next in ${about(coming.next - now)}: ${coming.name}` : "");
  if (latest?.jobs && now - drawnAt > REDRAW) draw();
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
  if (!known(zone())) view.zone = "UTC";
  addEventListener("hashchange", () => {
    view = readView();
    if (!known(zone())) view.zone = "UTC";
    for (const [name, control] of Object.entries(controls)) control.value = name === "zone" ? zone() : view[name];
    draw();
  });
  addEventListener("keydown", (event) => event.key === "Escape" && panel.close());
}

offer();
setInterval(tick, 1000);
