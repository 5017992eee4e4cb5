/** XML as libvirt takes it, written from plain data: nothing that a name or a text holds becomes markup. */
import { Fault } from "@slipway/base";

export interface Element {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly Element[];
  /** In place of children. */
  text: string;
}

type Attributes = Readonly<Record<string, string | number | undefined>>;
type Child = Element | undefined | false;

/** An element with children; attributes and children that are undefined are left out. */
export function element(name: string, attributes: Attributes = {}, ...children: readonly Child[]): Element {
  const given = Object.entries(attributes).filter(
    (entry): entry is [string, string | number] => entry[1] !== undefined,
  );
  return {
    name,
    attributes: Object.fromEntries(given.map(([key, value]) => [key, String(value)])),
    children: children.filter((child) => child !== undefined && child !== false),
    text: "",
  };
}

/** An element with a text. */
export function textElement(name: string, text: string | number, attributes: Attributes = {}): Element {
  return { ...element(name, attributes), text: String(text) };
}

/** The element as a document, indented. Throws a `Fault` (`Invalid`) for a character that XML can't hold. */
export function write(root: Element, indent = ""): string {
  const attributes = Object.entries(root.attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const open = `${indent}<${root.name}${attributes.join("")}`;
  if (root.children.length > 0) {
    const inside = root.children.map((child) => write(child, `${indent}  `)).join("");
    return `${open}>\n${inside}${indent}</${root.name}>\n`;
  }
  return root.text === "" ? `${open}/>\n` : `${open}>${escaped(root.text)}</${root.name}>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

function escaped(text: string): string {
  // XML 1.0 §2.2: control characters but tab and line ends, lone surrogates and two non-characters can't be written in any way.
  const bad = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(text);
  if (bad !== null)
    throw new Fault("Invalid", "XML", `can't hold the character U+${bad[0].codePointAt(0)!.toString(16)}`);
  return text.replaceAll(/[&<>"'\t\n\r]/g, (one) => `&${ENTITIES[one] ?? `#${one.codePointAt(0)}`};`);
}
