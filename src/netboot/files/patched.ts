import { createHash } from "node:crypto";
import { Fault } from "@slipway/base";
import type { OpenFile } from "./source.ts";

/**
 * Shows a file with every `placeholder` replaced, wherever a reader's reads begin and end. A shorter value is filled up with blanks, so
 * everything stays in its place. Throws a `Fault` (`Invalid`) when the value is longer, or when the placeholder's end is also its
 * beginning: what is an occurrence would depend on where one starts to look.
 */
export function patching(placeholder: string, value: string): (file: OpenFile) => OpenFile {
  const find = Buffer.from(placeholder);
  const missing = find.length - Buffer.byteLength(value);
  if (find.length === 0 || missing < 0)
    throw new Fault("Invalid", "replace", `${JSON.stringify(value)} is longer than ${JSON.stringify(placeholder)}`, {
      remedy: "take a longer placeholder, in the image too: everything else must stay in its place",
    });
  for (let at = 1; at < find.length; at++)
    if (find.subarray(at).equals(find.subarray(0, -at)))
      throw new Fault("Invalid", "replace", `${JSON.stringify(placeholder)} ends as it begins`, {
        remedy: "take a placeholder that can't overlap with itself",
      });
  const put = Buffer.from(value + " ".repeat(missing));
  return (file) => ({
    size: file.size,
    version: createHash("sha256").update(`${file.version}\0${placeholder}\0${value}`).digest("hex"),
    async read(offset, length) {
      const margin = find.length - 1;
      const before = Math.min(offset, margin);
      const bytes = Buffer.from(await file.read(offset - before, before + length + margin));
      for (let at = bytes.indexOf(find); at !== -1; at = bytes.indexOf(find, at + find.length)) bytes.set(put, at);
      return bytes.subarray(before, before + length);
    },
    close: () => file.close(),
  });
}
