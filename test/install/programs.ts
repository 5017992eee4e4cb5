import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { assetsFolder } from "../../src/kubernetes/assets.ts";

/** Path of a program: in the folder of `make kube-assets` (or KUBEBUILDER_ASSETS), else on the PATH; undefined when it is nowhere. */
export function findProgram(name: string): string | undefined {
  const folders = [assetsFolder(process.env), ...(process.env.PATH ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
