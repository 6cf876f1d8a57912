// From the document of the server to jobs, and which of them are shown in what order.

const AMISS = new Set(["failed", "missed", "no_run", "waiting"]);

// Instants are Unix seconds. A point is one mark: of a cell that is more than one occurrence, `count` is how many there are, and
// `alone` is false also where it is not known at which moment of the cell the only one was.
export function decode(document) {
  const plans = document.plans.map((plan) => plan.map((each) => future(each, document.begin, document.cell)));
  return document.jobs.map((job) => new Job(job, document, plans));
}

class Job {
  constructor(job, document, plans) {
    Object.assign(this, job);
    this.document = document;
    this.next = job.next === null ? null : document.begin + job.next;
    this.plan = job.plan === null ? [] : plans[job.plan];
    this.search = `${job.name} ${job.owner} ${job.state} ${job.labels.join(" ")}`.toLowerCase();
    this.counts = {};
    this.amiss = 0;
    for (const mark of job.marks) this.count(mark, document);
  }

  count([offset, worst, count, mixed], { begin, kinds }) {
    if (AMISS.has(kinds[worst])) this.amiss = begin + offset;
    if (!mixed) this.counts[kinds[worst]] = (this.counts[kinds[worst]] ?? 0) + (count ?? 1);
    else for (const [kind, number] of Object.entries(mixed)) this.counts[kinds[kind]] = (this.counts[kinds[kind]] ?? 0) + number;
  }

  // Made when the job comes into sight: of most jobs, never.
  get past() {
    const { begin, cell, kinds } = this.document;
    this.points ??= this.marks.map((mark) => happened(mark, begin, cell, kinds));
    return this.points;
  }
}

function happened([offset, worst, count, mixed], begin, cell, kinds) {
  const at = begin + offset, kind = kinds[worst];
  const counts = mixed ? Object.fromEntries(Object.entries(mixed).map(([each, number]) => [kinds[each], number])) : { [kind]: count ?? 1 };
  return { at, kind, count: count ?? 1, alone: count === undefined, counts, ...around(at, cell) };
}

function future(each, begin, cell) {
  const [offset, count] = Array.isArray(each) ? each : [each, 1];
  const at = begin + offset;
  return { at, kind: "next", count, alone: count === 1, counts: { next: count }, ...around(at, cell) };
}

function around(at, cell) {
  const from = Math.floor(at / cell) * cell;
  return { from, to: from + cell };
}

export function total(jobs) {
  const counts = {};
  for (const job of jobs) {
    for (const [kind, count] of Object.entries(job.counts)) counts[kind] = (counts[kind] ?? 0) + count;
  }
  return counts;
}

// Words of the filter all have to match: a glob of the name, a label, or a part of name, owner, state or labels.
export function matching(rows, text) {
  const tests = text.trim().split(/\s+/).filter(Boolean).map(test);
  return rows.filter((row) => tests.every((each) => each(row)));
}

function test(word) {
  const part = word.toLowerCase(), pattern = [...part];
  if (word.includes("=")) return (row) => row.labels.some((label) => fits(pattern, label));
  if (/[*?]/.test(word)) return (row) => fits(pattern, row.name);
  return (row) => row.search.includes(part);
}

// Only the last star is ever tried again: however many there are, it takes no longer than the lengths multiplied.
function fits(pattern, name) {
  const text = [...name.toLowerCase()];
  let at = 0, place = 0, star = -1, tried = 0;
  while (at < text.length) {
    if (pattern[place] === "*") {
      star = place++;
      tried = at;
    } else if (pattern[place] === "?" || pattern[place] === text[at]) {
      place++;
      at++;
    } else if (star >= 0) {
      place = star + 1;
      at = ++tried;
    } else return false;
  }
  return pattern.slice(place).every((each) => each === "*");
}

export function withKinds(rows, kinds) {
  return kinds.size ? rows.filter((row) => [...kinds].some((kind) => row.counts[kind])) : rows;
}

const NEVER = Number.MAX_SAFE_INTEGER;
const byName = (one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
const ORDERS = {
  name: byName,
  next: (one, other) => (one.next ?? NEVER) - (other.next ?? NEVER) || byName(one, other),
  trouble: (one, other) => one.rank - other.rank || other.amiss - one.amiss || byName(one, other),
};
export function sorted(rows, order) {
  return [...rows].sort(ORDERS[order]);
}

// What can be pointed at: marks of the past, and times to come that have not come yet.
export function points(job, now) {
  const first = job.plan.findIndex((point) => isAhead(point, now));
  return first < 0 ? job.past : job.past.concat(job.plan.slice(first));
}

function isAhead(point, now) {
  return point.at > now || (!point.alone && point.to > now);
}

// When the job starts next, also long after the look; null where that is not known, or it is paused. Of a block only the first
// time is known: once that is past, the next is said to be as near as its times are to each other, and not `exact`.
export function soonest(job, now) {
  if (job.state === "paused") return null;
  if (job.next !== null && job.next > now) return { at: job.next, exact: true };
  const point = job.plan.find((each) => isAhead(each, now));
  if (!point) return null;
  if (point.at > now) return { at: point.at, exact: true };
  return { at: Math.min(now + (point.to - point.at) / point.count, point.to), exact: false };
}
