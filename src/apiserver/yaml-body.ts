import { boolYaml11Tag, CORE_SCHEMA, loadAll, mergeTag, YAMLException } from "js-yaml";

/** Booleans are those of YAML 1.1, `yes` and `off` among them, as with upstream's parser. */
const SCHEMA = CORE_SCHEMA.withTags(boolYaml11Tag, mergeTag);

/** A YAML text read as upstream reads it: its first document; of keys that stand twice, the last. */
export interface YamlBody {
  value: unknown;
  /** The complaint of strict decoding about a key that stands twice, if one does. */
  twice: string | undefined;
}

/** Throws `YAMLException` for a text that is no YAML. */
export function readYaml(text: string): YamlBody {
  try {
    return { value: first(text, false), twice: undefined };
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== "duplicated mapping key" || !error.mark) throw error;
    const { line, position } = error.mark;
    const key = /^(?:"[^"]*"|'[^']*'|[^:\s]+)/.exec(text.slice(position))?.[0].replace(/^(["'])(.*)\1$/, "$2") ?? "";
    const twice = `yaml: unmarshal errors:\n  line ${line + 1}: key ${JSON.stringify(key)} already set in map`;
    return { value: first(text, true), twice };
  }
}

function first(text: string, json: boolean): unknown {
  return loadAll(text, { schema: SCHEMA, json })[0] ?? null;
}
