/** The certificate of a sub-cluster's provider, and its authority where none is given. */
import { type Clock, offLoop } from "@slipway/base";
import { isGood } from "../../../../pki/renewal.ts";

const DAY_MS = 86_400_000;
const RENEWED_BEFORE_MS = 30 * DAY_MS;

/** By the key of the Secret. `ca.key` is there where the authority is its own. */
export type DexKeys = Readonly<Record<string, string>>;

/** What is held, where it still does; otherwise made anew. `given`: the authority of the user, PEM texts. */
export async function dexKeys(
  held: DexKeys,
  {
    host,
    clock,
    given,
  }: { host: string; clock: Clock; given?: { certificatePem: string; keyPem: string } | undefined },
): Promise<DexKeys> {
  const now = clock.now();
  const own = { certificatePem: held["ca.crt"] ?? "", keyPem: held["ca.key"] ?? "" };
  const hasOwn = isGood(own, { now, leftMs: RENEWED_BEFORE_MS });
  const authority = given ?? (hasOwn ? own : undefined);
  const leaf = { certificatePem: held["tls.crt"] ?? "", keyPem: held["tls.key"] ?? "" };
  const demands = { now, leftMs: RENEWED_BEFORE_MS, hosts: [host], onlyHosts: true };
  if (authority !== undefined && isGood(leaf, { ...demands, authorityPem: authority.certificatePem }))
    return textsOf(authority, leaf, given === undefined);
  // It loads a library that is seldom needed.
  const { createAuthority, issueServer } = await offLoop(import("../../../../pki/authority.ts"));
  const by = authority ?? (await createAuthority({ commonName: "dex", clock }));
  return textsOf(by, await issueServer(by, { commonName: host, hosts: [host], clock }), given === undefined);
}

interface Pair {
  certificatePem: string;
  keyPem: string;
}

function textsOf(authority: Pair, leaf: Pair, isOwn: boolean): DexKeys {
  return {
    "ca.crt": authority.certificatePem,
    ...(isOwn && { "ca.key": authority.keyPem }),
    "tls.crt": leaf.certificatePem,
    "tls.key": leaf.keyPem,
  };
}
