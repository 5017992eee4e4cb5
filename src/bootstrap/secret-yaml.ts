import { Fault } from "@slipway/base";
import { loadAll, YAMLException } from "js-yaml";

/** Aliases of aliases grow without bound when they are written out. */
const MOST_ALIASES = 8;

/**
 * The one YAML document (or JSON) in a text that may be secret; undefined for a text that says nothing. Throws `Fault` (`Invalid`) on
 * `source`, with the line and without a word of the text.
 */
export function secretYaml(text: string, source: string): unknown {
  const documents = loaded(text, source);
  if (documents.length > 1)
    throw new Fault("Invalid", source, "there is more than one YAML document", { remedy: "write one" });
  return documents[0] ?? undefined;
}

function loaded(text: string, source: string): unknown[] {
  try {
    return loadAll(text, { maxAliases: MOST_ALIASES });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // The exception's own text shows the lines around.
    const line = error.mark === undefined ? "" : `, line ${error.mark.line + 1}`;
    throw new Fault("Invalid", source, `not YAML${line}`, { remedy: "correct it" });
  }
}
