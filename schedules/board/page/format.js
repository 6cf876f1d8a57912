// Words, spans and local times.

export const WORDS = {
  failed: "failed",
  missed: "missed",
  no_run: "without a run",
  waiting: "late",
  running: "running",
  due: "due",
  cancelled: "cancelled",
  paused: "paused",
  left_out: "left out",
  succeeded: "succeeded",
  next: "to come",
};

// Of what has happened; those are the kinds by which jobs can be chosen.
export const isKind = (kind) => kind !== "next" && Object.hasOwn(WORDS, kind);

export const STATES = { ok: "", never_ran: "never ran" };

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const formats = new Map();

// Two units at the most: 0.4 s, 12 s, 2 min 05 s, 3 h 10 min, 2 d 04 h.
export function span(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ${two(whole % MINUTE)} s`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)} h ${two(Math.floor((whole % HOUR) / MINUTE))} min`;
  return `${Math.floor(whole / DAY)} d ${two(Math.floor((whole % DAY) / HOUR))} h`;
}

// One unit, for what is read at a glance.
export function about(seconds) {
  const whole = Math.max(Math.round(seconds), 0);
  if (whole < 100) return `${whole} s`;
  if (whole < 100 * MINUTE) return `${Math.round(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.round(whole / HOUR)} h`;
  return `${Math.round(whole / DAY)} d`;
}

export function short(seconds) {
  return seconds < 100 ? `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s` : about(seconds);
}

function two(number) {
  return String(number).padStart(2, "0");
}

function format(zone, kind, options) {
  const key = `${zone} ${kind}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options }));
  return formats.get(key);
}

// The local time of an instant, as numbers and as text.
export function local(at, zone) {
  const options = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  const parts = Object.fromEntries(format(zone, "parts", options).formatToParts(at * 1000).map((part) => [part.type, part.value]));
  const seconds = parts.second === "00" ? "" : `:${parts.second}`;
  return {
    hour: Number(parts.hour),
    minute: Number(parts.minute),
    day: `${parts.weekday} ${parts.day} ${parts.month}`,
    clock: `${parts.hour}:${parts.minute}${seconds}`,
  };
}

export function when(at, zone) {
  const { day, clock } = local(at, zone);
  return `${day} ${clock}`;
}

export function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

// Zones that this browser does not know are shown as UTC.
export function known(zone) {
  try {
    format(zone, "parts", {});
  } catch {
    return false;
  } finally {
    formats.delete(`${zone} parts`);
  }
  return true;
}

export function ownZone() {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return known(own ?? "") ? own : "UTC";
}
