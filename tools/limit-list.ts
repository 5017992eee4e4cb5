/** A file's leave to exceed one limit of the linter: an entry of `overrides` in biome.json that turns the limit's rule off. */
export interface Exemption {
  /** Relative to the root of the tree, as it is written. */
  file: string;
  /** As diagnostics name it: `complexity/noExcessiveLinesPerFunction`. */
  rule: string;
}

/** What of biome.json's shape an exemption stands in. */
export interface LinterConfiguration {
  overrides?: readonly {
    includes?: readonly string[];
    linter?: { rules?: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  }[];
}

/** Rules that hold a limit; others are about what a part of the tree is. */
const LIMIT = /^noExcessive/;

/** All exemptions of a configuration, in the order in which they are written. */
export function exemptionsOf({ overrides = [] }: LinterConfiguration): Exemption[] {
  return overrides.flatMap(({ includes = [], linter = {} }) =>
    rulesOff(linter.rules ?? {}).flatMap((rule) => includes.map((file) => ({ file, rule }))),
  );
}

/** The exemptions that no excess needs any more. A pattern in place of a file's name is never needed: it would let new files in. */
export function unneeded(exemptions: readonly Exemption[], excesses: readonly Exemption[]): Exemption[] {
  const needed = new Set(excesses.map(keyOf));
  return exemptions.filter((exemption) => !needed.has(keyOf(exemption)));
}

const keyOf = ({ file, rule }: Exemption): string => `${rule} ${file}`;

function rulesOff(groups: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string[] {
  return Object.entries(groups).flatMap(([group, rules]) =>
    Object.keys(rules)
      .filter((rule) => rules[rule] === "off" && LIMIT.test(rule))
      .map((rule) => `${group}/${rule}`),
  );
}
