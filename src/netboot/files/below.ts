import type { FileSource } from "./source.ts";

/** The source's files below a folder: `below("iso/debian", source)` has `iso/debian/vmlinuz` where the source has `vmlinuz`. */
export function below(folder: string, source: FileSource): FileSource {
  const prefix = `${folder}/`.toLowerCase();
  return {
    async open(name, asker) {
      return name.toLowerCase().startsWith(prefix) ? source.open(name.slice(prefix.length), asker) : undefined;
    },
  };
}
