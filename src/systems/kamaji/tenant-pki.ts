/** A tenant's certificates, keys and kubeconfigs as Secrets: read, judged, and made anew where they are due. */
import { createHash } from "node:crypto";
import { Fault, isoTime, offLoop } from "@slipway/base";
import { type Context, controllerReference } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Authority } from "../../pki/authority.ts";
import type { JudgedPki } from "../../pki/tenant/judged.ts";
import { datastorePart, KONNECTIVITY_PARTS, PARTS, type Part, type SecretTexts } from "../../pki/tenant/parts.ts";
import { type Due, duePki, type PkiFacts } from "../../pki/tenant/plan.ts";
import { LIFECYCLE_LABEL, labelsOf, ROTATE } from "./names.ts";
import { createOwn } from "./own-secret.ts";

/** Certificates with less time left are made anew: Kamaji's default, and its least. */
export const LEFT_MS = 24 * 60 * 60_000;

type OwnPart = keyof typeof PARTS;
type KonnectivityPart = keyof typeof KONNECTIVITY_PARTS;
/** `datastore` where the tenant is known to its DataStore by a certificate, konnectivity's where it has that. */
type ExtraPart = "datastore" | KonnectivityPart;
type PartName = OwnPart | ExtraPart;
type OfParts<T> = Readonly<Record<OwnPart, T>> & { readonly [Part in ExtraPart]?: T };
export type HeldPki = OfParts<SecretTexts>;

/** A Secret as a status names it. */
export interface SecretMark {
  secretName: string;
  checksum: string;
  /** RFC 3339: when it was last written. */
  lastUpdate: string;
}

export interface TenantPki {
  held: HeldPki;
  marks: OfParts<SecretMark>;
  /** What was made in this call. */
  made: readonly Due[];
}

/** Where and how the API server is reached: what its certificates and kubeconfigs name. */
export type Reached = Pick<PkiFacts, "hosts" | "servers">;

/** What the certificates are for. */
export interface PkiUse extends Reached {
  /** Set: the tenant is known to its DataStore by a certificate. */
  storeUser?: StoreUser | undefined;
  /** Default: false. */
  hasKonnectivity?: boolean;
}

/** By whom a tenant's user of its DataStore is certified. */
export interface StoreUser {
  user: string;
  authority: Authority;
}

/** Makes certificates and keys, on threads of their own. */
export type MakePki = typeof import("../../pki/tenant/make.ts").makePki;

const makeWhenNeeded: MakePki = async (...of) =>
  await (await offLoop(import("../../pki/tenant/make.ts"))).makePki(...of);

/** Brings the Secrets to what is wanted, writing only those that are due. Rejects with `Invalid` for a name that no certificate can hold. */
export async function keepPki(
  context: Context,
  tenant: TenantControlPlane,
  { storeUser, hasKonnectivity = false, ...reached }: PkiUse,
  { judged, makePki = makeWhenNeeded }: { judged: JudgedPki; makePki?: MakePki | undefined },
): Promise<TenantPki> {
  const { clock } = context;
  const { name, uid } = tenant.metadata;
  const parts: Parts = {
    ...PARTS,
    ...(storeUser !== undefined && { datastore: datastorePart(storeUser.user) }),
    ...(hasKonnectivity && KONNECTIVITY_PARTS),
  };
  const names = Object.keys(parts) as PartName[];
  const secrets = secretsOf(context, tenant, parts);
  const held = Object.fromEntries(names.map((part) => [part, textsOf(secrets[part])]));
  const requested = new Set(names.filter((part) => secrets[part]?.metadata.annotations?.[ROTATE] !== undefined));
  const facts: PkiFacts = {
    ...{ now: clock.now(), leftMs: LEFT_MS, parts, held, requested, ...reached, clusterName: name },
    ...(storeUser !== undefined && { datastoreAuthorityPem: storeUser.authority.certificatePem }),
  };
  const due = judged.due(uid, facts);
  if (due.length > 0) {
    const texts = await makePki(due, facts, {
      clock,
      ...(storeUser !== undefined && { datastoreAuthority: storeUser.authority }),
    });
    // What would be due again at once would be made for ever, and its Secret written each time.
    const [still] = duePki({ ...facts, held: { ...held, ...texts }, requested: new Set() });
    if (still !== undefined)
      throw new Fault("Invalid", `certificate ${still.part} of ${name}`, `${still.because}, even one that is new`, {
        remedy: "renew the authority that signs it",
      });
    for (const [name, data] of Object.entries(texts)) {
      const part = name as PartName;
      secrets[part] = await write(context, tenant, parts[part]!, { texts: data, before: secrets[part] });
      held[part] = data;
    }
  }
  const marks = Object.fromEntries(names.map((part) => [part, markOf(secrets[part]!)]));
  return { held: held as HeldPki, marks: marks as TenantPki["marks"], made: due };
}

type Parts = Readonly<Partial<Record<PartName, Part>>>;

function nameOf(tenant: TenantControlPlane, part: Part): string {
  return `${tenant.metadata.name}-${part.secret}`;
}

function secretsOf({ cache }: Context, tenant: TenantControlPlane, parts: Parts): Partial<Record<PartName, Secret>> {
  const { namespace } = tenant.metadata;
  const found = Object.entries(parts).flatMap(([name, part]) => {
    const secret = cache.get(Secret, { namespace: namespace!, name: nameOf(tenant, part) });
    return secret === undefined ? [] : [[name, secret] as const];
  });
  return Object.fromEntries(found) as Partial<Record<PartName, Secret>>;
}

function textsOf(secret: Secret | undefined): SecretTexts | undefined {
  if (secret === undefined) return undefined;
  const entries = Object.entries(secret.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

/** Applied, so that what others put on the Secret stays. */
async function write(
  { client, clock }: Context,
  tenant: TenantControlPlane,
  part: Part,
  { texts, before }: { texts: SecretTexts; before: Secret | undefined },
): Promise<Secret> {
  const { namespace, name } = tenant.metadata;
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, "utf8").toString("base64")]),
  );
  const ref = { namespace: namespace!, name: nameOf(tenant, part) };
  const metadata = {
    labels: { ...labelsOf(name, part.secret), [LIFECYCLE_LABEL]: lifecycleOf(part) },
    annotations: { "kamaji.clastix.io/checksum": checksumOf(data), [UPDATED]: isoTime(clock.now()) },
    ownerReferences: [controllerReference(TenantControlPlane, tenant)],
  };
  if (before === undefined) return await createOwn(client, name, { metadata: { ...ref, ...metadata }, data });
  const { resourceVersion } = before.metadata;
  const body = {
    metadata: { ...metadata, resourceVersion, annotations: { ...metadata.annotations, [ROTATE]: null } },
    data,
  };
  return await client.patch(Secret, ref, { type: "merge", body });
}

const UPDATED = "slipway.dev/updated";

function lifecycleOf({ is }: Part): string {
  return is === "kubeconfig" ? "kubeconfig" : "x509";
}

function markOf({ metadata, data = {} }: Secret): SecretMark {
  const lastUpdate = metadata.annotations?.[UPDATED] ?? metadata.creationTimestamp ?? "";
  return { secretName: metadata.name, checksum: checksumOf(data), lastUpdate };
}

function checksumOf(data: Readonly<Record<string, string>>): string {
  const sorted = Object.keys(data).sort();
  return createHash("sha256")
    .update(JSON.stringify(sorted.map((key) => [key, data[key]])))
    .digest("hex");
}
