/**
 * The components that an installer can be given. An installer from before the last point release finds on every mirror a list that has
 * gone on: modules of a newer kernel, and newer builds. And a mirror can be without files that its list names. So the mirror is asked for
 * each file, and where it is not there, for the version that the installer was built with, and for earlier ones.
 */
import { createHash } from "node:crypto";
import { asked, fetched, isThere, sha256 } from "./archive.ts";
import { earlierVersions, fieldsOf, pathOf, type Udeb, udebOf } from "./udeb-list.ts";

/** What a mirror has; the archive, but for tests. */
export interface Mirror {
  isThere(path: string): Promise<boolean>;
  fetched(path: string): Promise<Buffer>;
}

/** What an installer is of. */
export interface Built {
  kernel: string;
  /** Version by source package. */
  sources: ReadonlyMap<string, string>;
}

export interface Fitting {
  udebs: readonly Udeb[];
  /** In the place of later ones, which are not there. */
  earlier: readonly Udeb[];
  /** Not there in any version that was asked for. */
  missing: readonly Udeb[];
}

/** The kernels that the list has modules of, and the mirror the kernel's own package, which stands for them. */
export async function kernelsOf(udebs: readonly Udeb[], mirror: Mirror = { isThere, fetched }): Promise<Udeb[]> {
  const kernels = udebs.filter(({ name, kernel }) => kernel !== undefined && name.startsWith("kernel-image-"));
  const there = await asked(kernels, ({ path }) => mirror.isThere(path));
  return kernels.filter((_, i) => there[i]);
}

/**
 * What this installer can be given. `control` reads a package's own stanza.
 * An installer has its own libraries in it: those that are missing here, it goes without.
 */
export async function fitting(
  list: readonly Udeb[],
  { kernel, sources }: Built,
  control: (udeb: Buffer) => Promise<string>,
  mirror: Mirror = { isThere, fetched },
): Promise<Fitting> {
  const wanted = list.filter((udeb) => udeb.kernel === undefined || udeb.kernel === kernel);
  const found = await asked(wanted, async (udeb) =>
    (await mirror.isThere(udeb.path)) ? udeb : earlierOf(udeb, sources, control, mirror),
  );
  return {
    udebs: found.filter((udeb) => udeb !== undefined),
    earlier: found.filter((udeb, i) => udeb !== undefined && udeb !== wanted[i]) as Udeb[],
    missing: wanted.filter((_, i) => found[i] === undefined),
  };
}

async function earlierOf(
  udeb: Udeb,
  sources: Built["sources"],
  control: (udeb: Buffer) => Promise<string>,
  mirror: Mirror,
): Promise<Udeb | undefined> {
  // Modules have one version for each kernel.
  if (udeb.kernel !== undefined) return undefined;
  const built = sources.get(udeb.source);
  for (const version of [...(built === undefined ? [] : [built]), ...earlierVersions(udeb.version)]) {
    const path = pathOf(udeb, version);
    if (!(await mirror.isThere(path))) continue;
    const bytes = await mirror.fetched(path);
    const fields = fieldsOf(await control(bytes));
    fields.set("Filename", path);
    fields.set("Size", String(bytes.length));
    fields.set("MD5sum", createHash("md5").update(bytes).digest("hex"));
    fields.set("SHA256", sha256(bytes));
    return udebOf(fields);
  }
  return undefined;
}
