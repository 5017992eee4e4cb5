/** The YAML documents of a file of manifests, each with its own text and the lines of its fields. */
import { Fault } from "@slipway/base";
import { type DocumentPlaces, placesOf } from "@slipway/base/yaml-places";
import { constructFromEvents, type Event, parseEvents, YAMLException } from "js-yaml";

/** Far more than the manifests of a fleet take. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
const MOST_ALIASES = 64;
const MOST_DEPTH = 64;

export interface ManifestDocument {
  /** As it stands in the file, without the mark between documents. */
  text: string;
  events: readonly Event[];
  value: unknown;
  places: DocumentPlaces | undefined;
  /** The line in the file of a field, or of the nearest one around it. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** All documents, empty ones too. Throws a `Fault` (`Invalid`, `TooLarge`) on `source` with the line, and without a word of the text. */
export function manifestDocuments(text: string, source: string): ManifestDocument[] {
  if (text.length > MOST_CHARACTERS)
    throw new Fault("TooLarge", source, `more than ${MOST_CHARACTERS / 2 ** 20} MiB of text`, {
      remedy: "split the file",
    });
  return textsOf(text).map(({ text: own, linesBefore }) => documentOf(own, linesBefore, source));
}

function documentOf(text: string, linesBefore: number, source: string): ManifestDocument {
  try {
    const events = parseEvents(text, { maxDepth: MOST_DEPTH });
    const [value] = constructFromEvents(events, { source: text, maxAliases: MOST_ALIASES });
    const [places] = placesOf(text, events);
    const lineOf = (path: readonly PropertyKey[]) => linesBefore + (places?.lineOf(path) ?? 1);
    return { text, events, value: value ?? undefined, places, lineOf };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = linesBefore + (error.mark?.line ?? 0) + 1;
    throw new Fault("Invalid", `${source}:${line}`, "neither YAML nor JSON", { remedy: "correct the file" });
  }
}

/** A line that begins with three dashes divides documents, wherever it stands. */
function textsOf(text: string): { text: string; linesBefore: number }[] {
  const found: { text: string; linesBefore: number }[] = [];
  let own: string[] = [];
  let linesBefore = 0;
  const end = (): void => {
    const joined = own.join("\n");
    if (joined.trim() !== "") found.push({ text: `${joined.trimEnd()}\n`, linesBefore });
  };
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const rest = /^---(?:\s+(.*))?$/.exec(line);
    if (rest === null) {
      own.push(line);
      continue;
    }
    end();
    own = rest[1] === undefined ? [] : [rest[1]];
    linesBefore = at + (rest[1] === undefined ? 1 : 0);
  }
  end();
  return found;
}
