// The rows: only those in sight are in the page, however many jobs there are; the keyboard reaches all of them.

import { drawAxis, drawStarts } from "./axis.js";
import { Row, told } from "./row.js";
import { element, say } from "./svg.js";

const SPARE = 6, PAGE = 10;

export class Grid {
  // `open` is called with a job and its point when somebody wants to know of it.
  constructor(open) {
    this.open = open;
    this.root = document.getElementById("grid");
    this.area = document.getElementById("rows");
    this.tip = document.getElementById("tip");
    this.lines = element("div", { class: "lines", "aria-hidden": "true", role: "presentation" });
    this.area.before(this.lines);
    this.shown = [];
    this.rows = new Map();
    this.aims = new Map();
    this.current = null;
    addEventListener("scroll", () => this.soon(), { passive: true });
    addEventListener("resize", () => this.soon(true));
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.area.addEventListener("click", (event) => this.click(event));
    this.area.addEventListener("pointermove", (event) => this.point(event));
    this.area.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.area.addEventListener("focusin", (event) => this.entered(event));
    this.area.addEventListener("focusout", () => (this.tip.hidden = true));
  }

  // Jobs in the order in which they are shown.
  show(jobs, document, now, hours, zone) {
    Object.assign(this, { shown: jobs, document, now, hours, zone });
    this.places = new Map(jobs.map((job, place) => [job.name, place]));
    if (!this.places.has(this.current)) this.current = jobs[0]?.name ?? null;
    this.root.setAttribute("aria-rowcount", jobs.length + 1);
    this.draw(true);
  }

  soon(all = false) {
    this.all ||= all;
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      if (this.document) this.draw(this.all);
      this.all = false;
    });
  }

  draw(all) {
    const style = getComputedStyle(this.root);
    this.height = parseFloat(style.getPropertyValue("--row"));
    if (all) this.measure(parseFloat(style.getPropertyValue("--middle")));
    this.area.style.height = this.lines.style.height = `${this.height * this.shown.length}px`;
    const top = -this.area.getBoundingClientRect().top;
    const first = Math.max(Math.floor(top / this.height) - SPARE, 0);
    const last = Math.min(Math.ceil((top + innerHeight) / this.height) + SPARE, this.shown.length);
    const wanted = new Set(this.shown.slice(first, last).map((job) => job.name));
    const focused = this.rowOf(document.activeElement);
    for (const keep of [focused?.job.name, this.current]) if (this.places.has(keep)) wanted.add(keep);
    for (const [name, row] of this.rows) {
      if (wanted.has(name)) continue;
      row.root.remove();
      this.rows.delete(name);
    }
    const fresh = new Set(all ? wanted : [...wanted].filter((name) => !this.rows.has(name)));
    for (const name of wanted) this.update(name, fresh.has(name));
    this.sortDom();
  }

  measure(middle) {
    const axis = document.getElementById("axis");
    const width = axis.getBoundingClientRect().width, span = this.hours * 3600;
    const begin = this.now - span, rate = width / (2 * span);
    const x = (at) => (at - begin) * rate;
    this.scale = { width, begin, end: this.now + span, now: this.now, rate, x, middle, zone: this.zone, seen: Math.min(this.document.looked_at, this.now) };
    say(document.getElementById("covered"), `Last and next ${this.hours} hours`);
    drawAxis(axis, this.lines, this.scale, this.document);
    drawStarts(document.getElementById("starts"), this.scale, this.document.starts);
  }

  // What changes with the time alone, of the rows in the page.
  tell(now) {
    for (const row of this.rows.values()) row.tell(now, this.zone);
  }

  update(name, fresh) {
    const place = this.places.get(name);
    let row = this.rows.get(name);
    if (!row) {
      row = new Row();
      this.rows.set(name, row);
      this.area.append(row.root);
    }
    row.root.style.transform = `translateY(${place * this.height}px)`;
    if (!fresh) return;
    row.draw(this.shown[place], this.scale, place);
    row.aim(row.place(this.aims.get(name) ?? 0), this.scale);
    row.button.tabIndex = name === this.current ? 0 : -1;
  }

  // In the page as in the list, for those who read it in that order; what has the focus is not moved, or it would lose it.
  sortDom() {
    const rows = [...this.rows.values()].sort((one, other) => this.places.get(one.job.name) - this.places.get(other.job.name));
    const ordered = rows.map((row) => row.root);
    if (ordered.every((root, place) => this.area.children[place] === root)) return;
    const at = rows.indexOf(this.rowOf(document.activeElement));
    ordered.forEach((root, place) => {
      if (place < at) ordered[at].before(root);
      else if (place > at) this.area.append(root);
    });
  }

  rowOf(target) {
    const root = target?.closest?.(".row");
    return root ? [...this.rows.values()].find((row) => row.root === root) : undefined;
  }

  entered(event) {
    const row = this.rowOf(event.target);
    if (row) this.choose(row.job.name);
  }

  choose(name) {
    const before = this.rows.get(this.current);
    if (before) before.button.tabIndex = -1;
    this.current = name;
    this.rows.get(name).button.tabIndex = 0;
  }

  // Moves the keyboard to a job, and into sight.
  goTo(place) {
    const job = this.shown[Math.min(Math.max(place, 0), this.shown.length - 1)];
    if (!job) return;
    const before = this.rows.get(this.current);
    const near = before?.points[before.aimed]?.at;
    const top = this.area.getBoundingClientRect().top + this.places.get(job.name) * this.height;
    const head = this.root.querySelector(".head").getBoundingClientRect().height;
    if (top < head + this.height) scrollBy(0, top - head - this.height);
    else if (top > innerHeight - 3 * this.height) scrollBy(0, top - innerHeight + 3 * this.height);
    const previous = this.current;
    this.current = job.name;
    this.draw(false);
    this.current = previous;
    this.choose(job.name);
    const row = this.rows.get(job.name);
    if (near !== undefined && !this.aims.has(job.name)) this.aim(row, row.place(near));
    row.button.focus({ preventScroll: true });
  }

  aim(row, place) {
    const point = row.aim(place, this.scale);
    if (point) this.aims.set(row.job.name, point.at);
    return point;
  }

  key(event) {
    const row = this.rowOf(event.target);
    if (!row || event.altKey || event.metaKey) return;
    const place = this.places.get(row.job.name);
    const rows = { ArrowUp: place - 1, ArrowDown: place + 1, PageUp: place - PAGE, PageDown: place + PAGE };
    const marks = { ArrowLeft: row.aimed - 1, ArrowRight: row.aimed + 1, Home: 0, End: row.points.length - 1 };
    if (event.ctrlKey && event.key === "Home") this.goTo(0);
    else if (event.ctrlKey && event.key === "End") this.goTo(this.shown.length - 1);
    else if (event.ctrlKey) return;
    else if (event.key in rows) this.goTo(rows[event.key]);
    else if (event.key in marks) this.step(row, marks[event.key]);
    else return;
    event.preventDefault();
  }

  step(row, place) {
    if (!row.points.length) return;
    const point = this.aim(row, Math.min(Math.max(place, 0), row.points.length - 1));
    say(document.getElementById("said"), told(point, this.zone));
  }

  click(event) {
    const row = this.rowOf(event.target);
    if (!row) return;
    const onLine = event.target.closest(".line") && event.detail > 0;
    if (onLine && row.points.length) this.aim(row, row.nearest(this.xOf(event, row)));
    this.choose(row.job.name);
    row.button.focus({ preventScroll: true });
    this.tip.hidden = true;
    this.open(row.job, row.points[row.aimed] ?? null);
  }

  xOf(event, row) {
    return event.clientX - row.line.getBoundingClientRect().left;
  }

  point(event) {
    const row = event.target.closest(".line") ? this.rowOf(event.target) : undefined;
    const x = row ? this.xOf(event, row) : 0;
    const point = row?.points[row.nearest(x)];
    this.tip.hidden = !point || Math.abs(point.x - x) > 10 || event.pointerType === "touch";
    if (this.tip.hidden) return;
    say(this.tip, told(point, this.zone));
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${Math.min(Math.max(event.clientX - width / 2, 4), innerWidth - width - 4)}px`;
    this.tip.style.top = `${row.line.getBoundingClientRect().top - this.tip.offsetHeight - 2}px`;
  }

  // To the job, to the one that the keyboard is at where that is gone, and to the filter where nothing is shown.
  focus(name) {
    const place = this.places.get(name) ?? this.places.get(this.current);
    if (place === undefined) document.getElementById("filter").focus();
    else this.goTo(place);
  }
}
