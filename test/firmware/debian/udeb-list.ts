/** The list of the installer's components (udebs), as the archive writes it: stanzas of fields, deb822(5). Pure. */

/** One component. The fields are kept as they are. */
export interface Udeb {
  name: string;
  version: string;
  /** Name of the source package. */
  source: string;
  /** Of the kernel that it holds modules of. */
  kernel: string | undefined;
  /** Its file, below the archive's root. */
  path: string;
  fields: ReadonlyMap<string, string>;
}

/** The list's components. Fields that go on over several lines are kept whole. */
export function readUdebs(list: string): Udeb[] {
  return list
    .split(/\n{2,}/)
    .filter((stanza) => stanza.trim() !== "")
    .map((stanza) => udebOf(fieldsOf(stanza)));
}

/** A package's stanza in a list of any packages. Throws where there is none. */
export function stanzaOf(list: string, name: string): string {
  const at = `\n${list}`.indexOf(`\nPackage: ${name}\n`);
  if (at < 0) throw new Error(`${name} is in no list`);
  return list.slice(at).split("\n\n", 1)[0]!;
}

/** Reads the stanza of a package: of the list, or of the package's own control file. */
export function fieldsOf(stanza: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const field of stanza.trim().split(/\n(?=\S)/)) {
    const colon = field.indexOf(":");
    fields.set(field.slice(0, colon), field.slice(colon + 1).trimStart());
  }
  return fields;
}

/** A component by its fields. Throws if one is missing that every list has. */
export function udebOf(fields: ReadonlyMap<string, string>): Udeb {
  const field = (name: string): string => {
    const value = fields.get(name);
    if (value === undefined)
      throw new Error(`list of the installer's components: ${fields.get("Package")} has no ${name}`);
    return value;
  };
  return {
    name: field("Package"),
    version: field("Version"),
    source: (fields.get("Source") ?? field("Package")).replace(/ .*$/, ""),
    kernel: fields.get("Kernel-Version"),
    path: field("Filename"),
    fields,
  };
}

/** The list's text, as the archive writes it. */
export function writeUdebs(udebs: readonly Udeb[]): string {
  return udebs.map(({ fields }) => `${[...fields].map(([name, value]) => `${name}: ${value}\n`).join("")}\n`).join("");
}

/**
 * Versions that may have been before this one, the last first: builds again (`+b2`, then `+b1`, then none) and updates of the stable
 * release (`+deb13u2`, or `~deb13u2`). Source: Debian Developer's Reference, 5.8.5.4 and 5.11.2. Not every one need ever have been.
 */
export function earlierVersions(version: string): string[] {
  const counted = /^(.*)([+~](?:b|deb\d+u))(\d+)$/.exec(version);
  if (counted === null) return [];
  const [, before = "", mark = "", count = ""] = counted;
  const lower = Array.from({ length: Number(count) - 1 }, (_, i) => `${before}${mark}${Number(count) - 1 - i}`);
  // `1.2-3~deb13u1` is 1.2-3 built for stable, which stable itself never had.
  return mark.startsWith("~") ? lower : [...lower, before, ...earlierVersions(before)];
}

/** Where the archive has another version of a component: file names hold versions without their epoch. */
export function pathOf(udeb: Udeb, version: string): string {
  const bare = (of: string): string => of.replace(/^\d+:/, "");
  return udeb.path.replace(`_${bare(udeb.version)}_`, `_${bare(version)}_`);
}
