// Elements, made without ever reading markup: whatever a name holds, it is text.

const SVG = "http://www.w3.org/2000/svg";

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Text that need not be written again is left alone, so that nothing is laid out or announced anew.
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
