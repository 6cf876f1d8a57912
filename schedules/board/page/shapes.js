// A shape for each kind of mark, so that they differ without their colours; each around a centre.

const SHAPES = {
  failed: (x, y) => `M${x} ${y - 7}l7 7l-7 7l-7-7z`,
  missed: (x, y) => `M${x} ${y - 7}l7 12.5h-14z`,
  no_run: (x, y) => `M${x - 5} ${y - 5}h10v10h-10zM${x - 3} ${y - 3}v6h6v-6z`,
  waiting: (x, y) => `M${x - 5} ${y - 6}h10l-10 12h10z`,
  running: (x, y) => `M${x - 4} ${y - 6}l10 6l-10 6z`,
  due: (x, y) => `M${x - 1.5} ${y - 6}h3v12h-3z`,
  cancelled: (x, y) => `M${x - 5} ${y - 1.5}h10v3h-10z`,
  paused: (x, y) => `M${x - 4} ${y - 5}h3v10h-3zM${x + 1} ${y - 5}h3v10h-3z`,
  left_out: (x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0-8 0zM${x - 2.2} ${y}a2.2 2.2 0 1 1 4.4 0a2.2 2.2 0 1 1-4.4 0z`,
  succeeded: (x, y) => `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z`,
  next: (x, y) => `M${x - 0.75} ${y - 5}h1.5v10h-1.5z`,
};

export function shape(kind, x, y) {
  return SHAPES[kind](round(x), y);
}

// Many occurrences side by side.
export function bar(from, to, y, height) {
  return `M${round(from)} ${y - height / 2}h${round(Math.max(to - from, 1.5))}v${height}h${-round(Math.max(to - from, 1.5))}z`;
}

export function round(value) {
  return Math.round(value * 10) / 10;
}
