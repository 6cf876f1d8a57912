// What a viewer chose, kept in the address so that it can be sent to somebody else.

const USUAL = { q: "", show: "", sort: "trouble", span: "24", zone: "" };

export function readView() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(Object.entries(USUAL).map(([name, value]) => [name, given.get(name) ?? value]));
}

export function writeView(view) {
  const changed = Object.entries(view).filter(([name, value]) => value !== USUAL[name]);
  const hash = new URLSearchParams(changed).toString();
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}
