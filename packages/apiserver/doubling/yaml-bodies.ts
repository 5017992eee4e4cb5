import type { ApiRequest } from "@slipway/kube";
import { CONFIG_MAPS } from "../testing.ts";
import { type Doubling, repeated } from "./doubling.ts";

const post = (run: number, text: string): ApiRequest => ({
  method: "POST",
  path: CONFIG_MAPS,
  contentType: "application/yaml",
  body: `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m${run}\n${text}`,
});
const bare = (text: string): ApiRequest => ({ ...post(0, ""), body: text });

/** YAML of every form. */
export const yamlBodies: readonly Doubling[] = [
  {
    name: "YAML documents",
    n: 50_000,
    request: (n, run) => post(run, `---\n${repeated(n, () => "a: 1", "\n---\n")}`),
    status: 201,
  },
  { name: "empty YAML documents", n: 100_000, request: (n) => bare("---\n".repeat(n)), status: 400 },
  { name: "YAML document ends", n: 100_000, request: (n) => bare("...\n".repeat(n)), status: 400 },
  {
    name: "YAML keys",
    n: 20_000,
    request: (n, run) => post(run, `data:\n${repeated(n, (i) => `  k${i}: "v"`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML keys that stand twice",
    n: 10_000,
    request: (n, run) => post(run, `data:\n${repeated(n, (i) => `  k${i}: v\n  k${i}: v`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML list items",
    n: 30_000,
    request: (n, run) => post(run, `x:\n${repeated(n, (i) => `- ${i}`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML anchors of scalars",
    n: 10_000,
    request: (n, run) => post(run, `data:\n${repeated(n, (i) => `  k${i}: &a${i} v`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML anchors of list items",
    n: 10_000,
    request: (n, run) => post(run, `x:\n${repeated(n, (i) => `- &a${i} v`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML anchors of mappings",
    n: 5_000,
    request: (n, run) => post(run, `x:\n${repeated(n, (i) => `- &a${i}\n  b: v`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML anchors in flow lists",
    n: 10_000,
    request: (n, run) => post(run, `x: [${repeated(n, (i) => `&a${i} v`)}]\n`),
    status: 201,
  },
  {
    name: "YAML anchors of keys",
    n: 10_000,
    request: (n, run) => post(run, `x:\n${repeated(n, (i) => `  &a${i} k${i}: v`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML anchors, the first of a key",
    n: 10_000,
    request: (n, run) => post(run, `x: &a [\n${repeated(n, (i) => `  &a${i} k${i}`, ",\n")}]\n`),
    status: 201,
  },
  {
    name: "YAML anchors before a block mapping",
    n: 10_000,
    request: (n) => bare(`&a k: 1\n${repeated(n, (i) => `k${i}: &a${i} v`, "\n")}\n`),
    status: 422,
  },
  {
    name: "YAML aliases",
    n: 10_000,
    request: (n, run) => post(run, `x: &a v\ny: [${repeated(n, () => "*a")}]\n`),
    status: 201,
  },
  {
    name: "YAML aliases of a list",
    n: 300,
    request: (n, run) => post(run, `x: &a [${repeated(n, () => "1")}]\ny: [${repeated(n, () => "*a")}]\n`),
    status: 201,
  },
  {
    name: "YAML aliases of a long text",
    n: 20_000,
    request: (n, run) => post(run, `x: &a ${"v".repeat(4 * n)}\ny: [${repeated(n, () => "*a")}]\n`),
    status: 400,
  },
  {
    name: "YAML merge keys",
    n: 3_000,
    request: (n, run) => post(run, `x: &a {b: 1}\ny:\n${repeated(n, () => `- <<: *a`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML merges of large mappings",
    n: 3_000,
    request: (n, run) =>
      post(run, `x: &a {${repeated(n, (i) => `k${i}: 1`)}}\ny:\n${repeated(n, () => `- <<: *a`, "\n")}\n`),
    status: 400,
  },
  {
    name: "YAML comments",
    n: 100_000,
    request: (n, run) =>
      post(
        run,
        repeated(n, () => "# c", "\n"),
      ),
    status: 201,
  },
  {
    name: "YAML comments behind values",
    n: 20_000,
    request: (n, run) => post(run, `x:\n${repeated(n, (i) => `- ${i} # c`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML flow lists",
    n: 100_000,
    request: (n, run) => post(run, `x: [${repeated(n, () => "1")}]\n`),
    status: 201,
  },
  {
    name: "YAML flow mappings",
    n: 30_000,
    request: (n, run) => post(run, `x: {${repeated(n, (i) => `k${i}: 1`)}}\n`),
    status: 201,
  },
  {
    name: "YAML pairs in flow lists",
    n: 10_000,
    request: (n, run) => post(run, `x: [${repeated(n, (i) => `k${i}: 1`)}]\n`),
    status: 201,
  },
  {
    name: "YAML explicit keys",
    n: 10_000,
    request: (n, run) => post(run, `x:\n${repeated(n, (i) => `  ? k${i}\n  : 1`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML keys of great length",
    n: 300_000,
    request: (n, run) => post(run, `x: {? ${"k".repeat(n)} : 1}\n`),
    status: 201,
  },
  {
    name: "YAML key that is a list",
    n: 20_000,
    request: (n, run) => post(run, `x:\n  ? [${repeated(n, () => "1")}]\n  : 1\n`),
    status: 400,
  },
  {
    name: "YAML lines of a plain text",
    n: 50_000,
    request: (n, run) => post(run, `x:\n${repeated(n, () => "  v", "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML lines of a quoted text",
    n: 50_000,
    request: (n, run) => post(run, `x: "${repeated(n, () => "  v", "\n")}"\n`),
    status: 201,
  },
  {
    name: "YAML lines of a single-quoted text",
    n: 50_000,
    request: (n, run) => post(run, `x: '${repeated(n, () => "  v''", "\n")}'\n`),
    status: 201,
  },
  {
    name: "YAML lines of a literal block",
    n: 50_000,
    request: (n, run) => post(run, `x: |\n${repeated(n, () => "  v", "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML lines of a folded block",
    n: 50_000,
    request: (n, run) => post(run, `x: >\n${repeated(n, () => "  v", "\n")}\n`),
    status: 201,
  },
  {
    name: "empty YAML lines of a block",
    n: 200_000,
    request: (n, run) => post(run, `x: |\n${"\n".repeat(n)}  v\n${"\n".repeat(n)}`),
    status: 201,
  },
  { name: "YAML escapes", n: 50_000, request: (n, run) => post(run, `x: "${"\\x41\\n".repeat(n)}"\n`), status: 201 },
  {
    name: "YAML tags",
    n: 10_000,
    request: (n, run) => post(run, `x:\n${repeated(n, () => `- !!str v`, "\n")}\n`),
    status: 201,
  },
  {
    name: "YAML directives",
    n: 10_000,
    request: (n) => bare(`${repeated(n, (i) => `%TAG !t${i}! tag:x`, "\n")}\n---\na: 1\n`),
    status: 400,
  },
  {
    name: "YAML comments before the document",
    n: 100_000,
    request: (n) => bare(`${"# c\n".repeat(n)}---\na: 1\n`),
    status: 422,
  },
  {
    name: "YAML numbers of many digits",
    n: 200_000,
    request: (n, run) => post(run, `x: ${"1".repeat(n)}\ny: 0x${"1".repeat(n)}\nz: 1${"_1".repeat(n)}\n`),
    status: 201,
  },
  { name: "YAML brackets", n: 400_000, request: (n) => bare("[".repeat(n)), status: 400 },
  { name: "YAML indents", n: 1_500, request: (n) => bare(repeated(n, (i) => `${" ".repeat(i)}a:`, "\n")), status: 400 },
  { name: "YAML dashes", n: 200_000, request: (n) => bare("- ".repeat(n)), status: 400 },
  {
    name: "YAML before a mistake",
    n: 50_000,
    request: (n, run) => post(run, `x:\n${repeated(n, (i) => `- ${i}`, "\n")}\ny: [\n`),
    status: 400,
  },
  {
    name: "YAML lines that end in returns",
    n: 50_000,
    request: (n, run) => post(run, `x: "${repeated(n, () => "  v", "\r")}"\n`),
    status: 201,
  },
  { name: "byte order marks in YAML", n: 50_000, request: (n) => bare(`a: b\n${"\uFEFF\n".repeat(n)}`), status: 400 },
  { name: "tabs in YAML", n: 200_000, request: (n, run) => post(run, `x:${"\t".repeat(n)}1\n`), status: 201 },
  {
    name: "YAML keys of a configuration to apply",
    n: 10_000,
    request: (n, run) => ({
      method: "PATCH",
      path: `${CONFIG_MAPS}/m${run}`,
      query: { fieldManager: "me" },
      contentType: "application/apply-patch+yaml",
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m${run}}\ndata:\n${repeated(n, (i) => `  k${i}: v`, "\n")}\n`,
    }),
    status: 201,
  },
];
