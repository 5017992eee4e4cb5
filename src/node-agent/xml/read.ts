/** Reads XML as libvirt writes it: elements, attributes, text. No document type, no processing instructions; time and memory are linear. */
import { Fault } from "@slipway/base";
import type { Element } from "./element.ts";

const DEEPEST = 64;
const NAME = /[A-Za-z_][\w:.-]*/y;
const ATTRIBUTE = /\s+([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const SPACE = /\s*/y;
const ENTITY = /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/g;
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

interface Open {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

/** The root element of a document. Throws a `Fault` (`Invalid`). */
export function readXml(document: string): Element {
  const around: Open = { name: "", attributes: {}, children: [], text: "" };
  const open: Open[] = [around];
  let at = 0;
  while (at < document.length) {
    const bracket = document.indexOf("<", at);
    const end = bracket === -1 ? document.length : bracket;
    if (end > at) open.at(-1)!.text += unescaped(document.slice(at, end));
    if (bracket === -1) break;
    at = document.startsWith("<!--", bracket) ? afterComment(document, bracket) : tag(document, bracket, open);
  }
  if (open.length > 1) throw bad(`<${open.at(-1)!.name}> has no end`);
  const [root, ...others] = around.children;
  if (root === undefined || others.length > 0 || around.text.trim() !== "") throw bad("it is not one element");
  return root;
}

/** The descendant along these names, the first of each. */
export function find(element: Element | undefined, ...path: readonly string[]): Element | undefined {
  return path.reduce<Element | undefined>((at, name) => at?.children.find((child) => child.name === name), element);
}

/** The children of this name of the descendant along the names before it. */
export function all(element: Element | undefined, ...path: readonly string[]): readonly Element[] {
  const parent = find(element, ...path.slice(0, -1));
  return parent?.children.filter(({ name }) => name === path.at(-1)) ?? [];
}

/** The text of the descendant along these names. */
export function textOf(element: Element | undefined, ...path: readonly string[]): string | undefined {
  return find(element, ...path)?.text.trim();
}

function afterComment(document: string, at: number): number {
  const end = document.indexOf("-->", at + 4);
  if (end === -1) throw bad("a comment has no end");
  return end + 3;
}

function tag(document: string, at: number, open: Open[]): number {
  if (document[at + 1] === "/") return close(document, at + 2, open);
  const name = match(NAME, document, at + 1)?.[0];
  if (name === undefined) throw bad(`a tag without a name at ${at}`);
  if (open.length > DEEPEST) throw bad("elements are too deep in each other");
  const made: Open = { name, attributes: {}, children: [], text: "" };
  let next = at + 1 + name.length;
  for (let found = match(ATTRIBUTE, document, next); found; found = match(ATTRIBUTE, document, next)) {
    made.attributes[found[1]!] = unescaped(found[2] ?? found[3] ?? "");
    next += found[0].length;
  }
  next += match(SPACE, document, next)![0].length;
  const isEmpty = document[next] === "/";
  if (isEmpty) next++;
  if (document[next] !== ">") throw bad(`<${name}> has no end`);
  open.at(-1)!.children.push(made);
  if (!isEmpty) open.push(made);
  return next + 1;
}

function close(document: string, at: number, open: Open[]): number {
  const name = match(NAME, document, at)?.[0] ?? "";
  const next = at + name.length + match(SPACE, document, at + name.length)![0].length;
  if (open.length === 1 || open.at(-1)!.name !== name || document[next] !== ">") throw bad(`</${name}> ends nothing`);
  open.pop();
  return next + 1;
}

function match(pattern: RegExp, document: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(document);
}

function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(ENTITY, (_, hex?: string, decimal?: string, named?: string) => {
    if (named !== undefined) return NAMED[named]!;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (point > 0x10ffff) throw bad(`the character ${point}`);
    return String.fromCodePoint(point);
  });
}

function bad(what: string): Fault {
  return new Fault("Invalid", "XML", what);
}
