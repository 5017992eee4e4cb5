import { createHash } from "node:crypto";
import { Fault } from "../../base/fault.ts";
import type { OpenFile } from "./source.ts";

/**
 * The same file with every `placeholder` replaced, wherever a reader's reads begin and end: for a value of one machine in an image
 * that all share. Both are as long as each other, so everything stays in its place. Throws a `Fault` (`Invalid`) when they are not,
 * or when the placeholder's end is also its beginning: what is an occurrence would depend on where one starts to look.
 */
export function patched(file: OpenFile, placeholder: string, value: string): OpenFile {
  const [find, put] = [Buffer.from(placeholder), Buffer.from(value)];
  if (find.length === 0 || find.length !== put.length)
    throw new Fault("Invalid", "placeholder", `${find.length} bytes can't be replaced by ${put.length}`);
  for (let at = 1; at < find.length; at++)
    if (find.subarray(at).equals(find.subarray(0, -at)))
      throw new Fault("Invalid", "placeholder", `${JSON.stringify(placeholder)} ends as it begins`);
  return {
    size: file.size,
    version: createHash("sha256").update(`${file.version}\0${placeholder}\0${value}`).digest("hex").slice(0, 32),
    async read(offset, length) {
      const margin = find.length - 1;
      const before = Math.min(offset, margin);
      const bytes = Buffer.from(await file.read(offset - before, before + length + margin));
      for (let at = bytes.indexOf(find); at !== -1; at = bytes.indexOf(find, at + find.length)) bytes.set(put, at);
      return bytes.subarray(before, before + length);
    },
    close: () => file.close(),
  };
}
