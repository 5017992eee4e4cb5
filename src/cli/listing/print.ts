import type { KubeObject } from "@slipway/kube";
import { dump } from "js-yaml";
import { say, secrets } from "../outgoing.ts";
import type { Output } from "./options.ts";

/** Plain data as JSON or YAML, without secrets that this process knows of. */
export function documentOf(value: unknown, format: "json" | "yaml"): string {
  const clean = secrets.clean(value);
  return format === "json"
    ? JSON.stringify(clean, undefined, 2)
    : dump(clean, { lineWidth: -1, noRefs: true }).trimEnd();
}

/** Objects as kubectl prints several: one list, without managed fields. */
export function listOf(objects: readonly KubeObject[]): object {
  return { apiVersion: "v1", kind: "List", items: objects.map(shown) };
}

/** An object without managed fields. */
export function shown<T extends KubeObject>({ metadata, ...rest }: T): object {
  const { managedFields: _, ...own } = metadata;
  const { apiVersion, kind, ...more } = rest;
  return { apiVersion, kind, metadata: own, ...more };
}

/** `machine.cluster.x-k8s.io/NAME`, as kubectl's `-o name` has it. */
export function nameLine({ apiVersion, kind, metadata: { name } }: KubeObject): string {
  const group = apiVersion.split("/").slice(0, -1).join();
  return `${kind.toLowerCase()}${group && `.${group}`}/${name}`;
}

/** Prints objects in a format for programs. False: the output is a table, and the caller's. */
export function printObjects(objects: readonly KubeObject[], output: Output | undefined): boolean {
  if (output === "json" || output === "yaml") console.log(documentOf(listOf(objects), output));
  else if (output === "name") for (const object of objects) say(nameLine(object));
  else return false;
  return true;
}

/** Prints one object of a watch: a line of JSON, a document of YAML, or its name. False as `printObjects`. */
export function printChange(object: KubeObject, output: Output | undefined): boolean {
  if (output === "json") console.log(JSON.stringify(secrets.clean(shown(object))));
  else if (output === "yaml") console.log(`---\n${documentOf(shown(object), "yaml")}`);
  else if (output === "name") say(nameLine(object));
  else return false;
  return true;
}

/** Says on standard error what could not be read. */
export function printProblems(problems: readonly string[]): void {
  for (const problem of problems) console.error(secrets.text(`slipway: not read: ${problem}`));
}
