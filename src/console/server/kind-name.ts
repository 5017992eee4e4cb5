import { Fault } from "@slipway/base";
import type { Resource, Transport } from "@slipway/kube";
import { ALL_KINDS } from "../../operator/kinds.ts";

/** A kind as the page names it: `machines.cluster.x-k8s.io`, or `nodes` in the core group. */
export interface KindName {
  plural: string;
  group: string;
  text: string;
}

/** Reads names with commas between them. Throws `BadRequest` for what is none, and for more than `most`. */
export function kindNames(text: string, most: number): KindName[] {
  const names = [...new Set(text.split(",").filter((name) => name !== ""))];
  if (names.length === 0 || names.length > most)
    throw new Fault("BadRequest", "kinds", `name 1 to ${most} kinds, with commas between them`);
  return names.map((name) => {
    const [, plural, group = ""] =
      /^([a-z][a-z0-9-]{0,62})(?:\.([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?))?$/.exec(name) ?? [];
    if (plural === undefined) throw new Fault("BadRequest", "kinds", "a kind is written PLURAL.GROUP");
    if (plural === "secrets") throw new Fault("Forbidden", "secrets", "the console shows no Secrets");
    return { plural, group, text: name };
  });
}

interface Group {
  versions: { version: string }[];
  preferredVersion?: { version: string };
}
interface Resources {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

/**
 * The resource of a kind, by the API's discovery documents as the user sees them: in the version that Slipway reads, else in the one that the
 * API prefers. Rejects with `NotFound` when the API does not serve it.
 */
export async function resourceOf(kind: KindName, transport: Transport, signal: AbortSignal): Promise<Resource> {
  const { group, plural } = kind;
  const ask = async (path: string): Promise<unknown> => {
    const { status, body } = await transport.request({ method: "GET", path, signal });
    if (status === 404) throw new Fault("NotFound", kind.text, "the API does not serve this kind");
    if (status === 401) throw new Fault("Unauthorized", kind.text, "the API does not accept the credentials any more");
    if (status === 403) throw new Fault("Forbidden", kind.text, "you may not see which kinds the API serves");
    if (status !== 200) throw new Fault("Unavailable", kind.text, `the API answered ${status}`);
    return body;
  };
  const version = group === "" ? "v1" : versionOf(kind, (await ask(`/apis/${group}`)) as Group);
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const found = ((await ask(root)) as Resources).resources.find(({ name }) => name === plural);
  if (found === undefined) throw new Fault("NotFound", kind.text, "the API does not serve this kind");
  return { group, version, plural, kind: found.kind, namespaced: found.namespaced };
}

function versionOf({ group, plural }: KindName, { versions, preferredVersion }: Group): string {
  const served = versions.map(({ version }) => version);
  const known = ALL_KINDS.find(([first]) => first?.group === group && first.plural === plural) ?? [];
  const read = known.find((one) => one.served && served.includes(one.version));
  return read?.version ?? preferredVersion?.version ?? served[0] ?? "v1";
}
