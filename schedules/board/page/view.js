// What a viewer chose, kept in the address so that it can be sent to somebody else.

const LONGEST = 1000;
const USUAL = { q: "", show: "", sort: "trouble", span: "24", zone: "" };

// An address may come from anybody: `allows` tells whether a choice can be what it says, and what cannot be is as if it were not there.
export function readView(allows) {
  const given = new URLSearchParams(location.hash.slice(1));
  const chosen = (name) => (given.get(name) ?? "").slice(0, LONGEST);
  return Object.fromEntries(Object.entries(USUAL).map(([name, usual]) => [name, allows(name, chosen(name)) ? chosen(name) : usual]));
}

export function writeView(view) {
  const changed = Object.entries(view).filter(([name, value]) => value !== USUAL[name]);
  const hash = new URLSearchParams(changed).toString();
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}
