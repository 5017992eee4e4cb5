import { Fault } from "@slipway/base";
import { type Condition, Hole, type HoleKind, isList, type Source, type Tree } from "./tree.ts";

/** A tree as a template of Helm: YAML in block style, values as JSON, which YAML reads whatever their shape. */
export function chartTemplate(tree: Tree): string {
  if (tree instanceof Hole) {
    if (tree.is.hole !== "choice" || tree.is.no !== undefined)
      throw new Fault("Bug", "chart", "an object is there or not");
    return `${[`{{- if ${condition(tree.is.when)} }}`, ...block(tree.is.yes, ""), "{{- end }}"].join("\n")}\n`;
  }
  return `${block(tree, "").join("\n")}\n`;
}

/** The lines of a mapping or a list that is not empty. */
function block(tree: Tree, pad: string): string[] {
  if (isList(tree)) return tree.flatMap((item) => listItem(item, pad));
  return Object.entries(tree).flatMap(([key, entry]) => mapEntry(key, entry, pad));
}

function mapEntry(key: string, entry: Tree, pad: string): string[] {
  if (entry instanceof Hole && entry.is.hole === "choice")
    return branches(entry.is, (branch) => mapEntry(key, branch, pad));
  if (entry instanceof Hole && entry.is.hole === "all")
    return [
      `{{- range $key, $value := ${place(entry.is.from)} }}`,
      `${pad}{{ toJson $key }}: {{ toJson $value }}`,
      "{{- end }}",
    ];
  if (isBlock(entry)) return [`${pad}${scalar(key)}:`, ...block(entry, `${pad}  `)];
  return [`${pad}${scalar(key)}: ${inline(entry)}`];
}

function listItem(item: Tree, pad: string): string[] {
  if (item instanceof Hole && item.is.hole === "all")
    return [`{{- range ${place(item.is.from)} }}`, `${pad}- {{ toJson . }}`, "{{- end }}"];
  if (item instanceof Hole && item.is.hole === "choice") return branches(item.is, (branch) => listItem(branch, pad));
  if (!isBlock(item)) return [`${pad}- ${inline(item)}`];
  const [first, ...rest] = block(item, `${pad}  `);
  if (first!.startsWith("{{")) throw new Fault("Bug", "chart", "the first entry of an item is always there");
  return [`${pad}- ${first!.slice(pad.length + 2)}`, ...rest];
}

function branches(is: HoleKind & { hole: "choice" }, write: (branch: Tree) => string[]): string[] {
  return [
    `{{- if ${condition(is.when)} }}`,
    ...write(is.yes),
    ...(is.no === undefined ? [] : ["{{- else }}", ...write(is.no)]),
    "{{- end }}",
  ];
}

function isBlock(tree: Tree): tree is readonly Tree[] | { readonly [key: string]: Tree } {
  return typeof tree === "object" && !(tree instanceof Hole) && Object.keys(tree).length > 0;
}

function inline(tree: Tree): string {
  if (!(tree instanceof Hole)) return typeof tree === "string" ? scalar(tree) : JSON.stringify(tree);
  if (tree.is.hole === "value") return `{{ ${place(tree.is.from)} | toJson }}`;
  if (tree.is.hole !== "text") throw new Fault("Bug", "chart", `${tree.is.hole} has no place within a line`);
  const format = tree.is.parts.map((part) => (typeof part === "string" ? part.replaceAll("%", "%%") : "%v")).join("");
  const from = tree.is.parts.flatMap((part) => (typeof part === "string" ? [] : [place(part.from)]));
  return `{{ printf ${JSON.stringify(format)} ${from.join(" ")} | toJson }}`;
}

/** Bare where YAML can't take it for anything but a string. */
function scalar(word: string): string {
  return /^[A-Za-z/][\w./-]*$/.test(word) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(word)
    ? word
    : JSON.stringify(word);
}

function condition(of: Condition): string {
  if ("isNot" in of) return `ne ${place(of.of)} ${JSON.stringify(of.isNot)}`;
  if ("missing" in of) return `not ${place(of.missing)}`;
  return [...(of.given.length > 1 ? ["or"] : []), ...of.given.map(place)].join(" ");
}

function place(from: Source): string {
  return from === "namespace" ? ".Release.Namespace" : `.Values.${from}`;
}
