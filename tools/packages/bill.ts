import { readFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "@slipway/base";

/** A bill of materials: CycloneDX 1.6 as JSON, without a time or a random number, so that the same inputs give the same file. */
export interface Bill {
  bomFormat: "CycloneDX";
  specVersion: "1.6";
  version: 1;
  metadata: { component: Component };
  components: Component[];
}

export interface Component {
  type: "application" | "library" | "platform";
  "bom-ref": string;
  group?: string;
  name: string;
  version: string;
  purl: string;
  licenses?: { expression: string }[];
  hashes?: { alg: "SHA-512"; content: string }[];
}

interface LockedPackage {
  version: string;
  license?: string;
  integrity?: string;
}

/** What the bundle is made of, as its LICENSES.txt names it, with what package-lock.json knows of each; and `more`. */
export function billOf(bundle: string, lockFile: string, more: readonly Component[] = []): Bill {
  const { packages } = JSON.parse(readFileSync(lockFile, "utf8")) as { packages: Record<string, LockedPackage> };
  const within = readFileSync(join(bundle, "LICENSES.txt"), "utf8").matchAll(/^={78}\n(\S+) (\S+): /gm);
  const named = new Map([...within].map(([, name = "", version = ""]) => [`${name}@${version}`, { name, version }]));
  // The project's own packages are the application itself.
  const foreign = [...named.values()].filter(({ name }) => !name.startsWith("@slipway/"));
  const libraries = foreign.map((one) => {
    const entry = Object.entries(packages).find(
      ([path, { version }]) => path.endsWith(`node_modules/${one.name}`) && version === one.version,
    );
    return npmComponent("library", one.name, { ...entry?.[1], version: one.version });
  });
  return {
    ...{ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 },
    metadata: { component: npmComponent("application", "slipway", { version: VERSION, license: "Apache-2.0" }) },
    components: [...libraries, ...more].sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1)),
  };
}

/** The Node within an executable or an image. */
export function nodeComponent(version: string, architecture: string): Component {
  const purl = `pkg:generic/node@${version}?arch=${architecture}`;
  return { type: "platform", "bom-ref": purl, name: "node", version, purl };
}

/** A package of Debian within an image. */
export function debianComponent(name: string, version: string, architecture: string): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { type: "library", "bom-ref": purl, name, version, purl };
}

function npmComponent(
  type: Component["type"],
  name: string,
  { version, license, integrity }: LockedPackage,
): Component {
  const [scope, rest] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const purl = `pkg:npm/${scope === undefined ? "" : `${encodeURIComponent(scope)}/`}${rest}@${version}`;
  const [, digest] = /^sha512-(\S+)$/.exec(integrity ?? "") ?? [];
  return {
    ...{ type, "bom-ref": purl, name: rest!, version, purl },
    ...(scope !== undefined && { group: scope }),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    ...(digest !== undefined && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }],
    }),
  };
}
