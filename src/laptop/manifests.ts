import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { loadAll, YAMLException } from "js-yaml";

/**
 * All objects of the YAML files below a folder, file by file in the order of their names. Throws a `Fault` that names the file, and the
 * line where one is to blame; what the operating system refuses is thrown as it comes. `isWanted`: by a file's path in the folder. Default: all.
 */
export async function readManifests(
  folder: string,
  isWanted: (file: string) => boolean = () => true,
): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const path of await manifestFiles(folder))
    if (isWanted(relative(folder, path))) objects.push(...parseManifests(await readFile(path, "utf8"), path));
  return objects;
}

/** The paths of the YAML files below a folder, in the order of their names. Throws a `Fault` where there are none. */
export async function manifestFiles(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => /\.ya?ml$/.test(name)).sort();
  if (files.length > 0) return files.map((file) => join(folder, file));
  throw new Fault("MissingInput", folder, "there are no manifests here", { remedy: "name a folder with *.yaml files" });
}

/** The objects of one file's text, `---` between them. */
export function parseManifests(text: string, path: string): KubeObject[] {
  let documents: unknown[];
  try {
    documents = loadAll(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark === undefined ? "" : `:${error.mark.line + 1}`;
    throw new Fault("Invalid", `${path}${line}`, `not YAML: ${error.reason}`, { remedy: "correct the file" });
  }
  return documents
    .filter((document) => document !== null && document !== undefined)
    .map((document, i) => {
      if (isObject(document)) return document;
      throw new Fault("Invalid", path, `document ${i + 1}: apiVersion, kind or metadata.name is missing`, {
        remedy: "write a Kubernetes object",
      });
    });
}

function isObject(document: unknown): document is KubeObject {
  const { apiVersion, kind, metadata } = document as Partial<KubeObject>;
  return typeof apiVersion === "string" && typeof kind === "string" && typeof metadata?.name === "string";
}
