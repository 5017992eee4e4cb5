import { isDeepStrictEqual } from "node:util";
import { asFault, Fault, isFault, offLoop } from "@slipway/base";
import {
  type Context,
  type Controller,
  controllerReference,
  DONE,
  matchesLabels,
  refOf,
  StatusRecord,
  source,
} from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { KubeconfigGenerator } from "../../kinds/kamaji/kubeconfig-generator.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { kubeconfig } from "../../pki/kubeconfig.ts";
import { credentialsOf } from "../../pki/tenant/credentials.ts";
import { generatedUser, isCurrent } from "./generated-kubeconfig.ts";
import { GENERATED_BY, GENERATED_FOR, KAMAJI, LIFECYCLE_LABEL, PAUSED, PROJECT, ROTATE } from "./names.ts";
import { LEFT_MS } from "./tenant-pki.ts";

const BY_GENERATOR = "generator";
const LOOK_MS = 60 * 60_000;
/** The key of the Secret, as Kamaji has it. */
const KEY = "value";

const PROJECT_SELECTOR = Object.entries(PROJECT)
  .map(([key, value]) => `${key}=${value}`)
  .join(",");

/** Keeps a kubeconfig for one user in each of the tenants that a KubeconfigGenerator selects, and removes those of tenants that it selects no more. */
export function kubeconfigGeneratorController(): Controller {
  const all = (cache: Context["cache"]) => cache.list(KubeconfigGenerator).map((one) => refOf(one));
  return {
    name: "kubeconfig-generator",
    system: KAMAJI,
    owner: ({ name }) => `kubeconfig-generator/${name}`,
    sources: [
      source({ resource: KubeconfigGenerator }),
      source({
        resource: TenantControlPlane,
        keys: (_, __, cache) => all(cache),
        when: (tenant, before) => whatCounts(tenant) !== whatCounts(before),
      }),
      source({
        resource: Namespace,
        keys: (_, __, cache) => all(cache),
        when: ({ metadata }, before) => !isDeepStrictEqual(metadata.labels, before.metadata.labels),
      }),
      source({
        resource: Secret,
        labelSelector: PROJECT_SELECTOR,
        indexes: { [BY_GENERATOR]: ({ metadata }) => [metadata.labels?.[GENERATED_BY] ?? []].flat() },
        keys: ({ metadata }) => {
          const name = metadata.labels?.[GENERATED_BY];
          return name === undefined ? [] : [{ name }];
        },
      }),
    ],
    access: [
      { resource: KubeconfigGenerator, verbs: ["get"] },
      { resource: KubeconfigGenerator, verbs: ["update"], subresource: "status" },
      { resource: Secret, verbs: ["get", "create", "patch", "delete"] },
    ],
    async reconcile(ref, context) {
      const { cache } = context;
      const generator = cache.get(KubeconfigGenerator, ref);
      if (generator?.metadata.deletionTimestamp !== undefined) return DONE;
      if (generator?.metadata.annotations?.[PAUSED] !== undefined) return DONE;
      const wanted = generator === undefined ? [] : selected(generator, cache);
      await removeOthers(context, ref.name, wanted);
      if (generator === undefined) return DONE;
      const errors: { resource: string; message: string }[] = [];
      for (const tenant of wanted) {
        const problem = await kept(context, generator, tenant);
        const { namespace, name } = tenant.metadata;
        if (problem !== undefined) errors.push({ resource: `${namespace}/${name}`, message: problem.advice });
      }
      await new StatusRecord(context, KubeconfigGenerator, generator).write({
        resources: wanted.length,
        availableResources: wanted.length - errors.length,
        observedGeneration: generator.metadata.generation ?? 0,
        errors,
      });
      return { againAfterMs: LOOK_MS };
    },
  };
}

/** Of a tenant: all that a kubeconfig may be made of. */
function whatCounts({ metadata, spec, status }: TenantControlPlane): string {
  return JSON.stringify([
    metadata.labels,
    metadata.deletionTimestamp,
    spec,
    status?.kubeconfig,
    status?.certificates?.ca,
  ]);
}

/** The tenants that it selects, those that go not among them, in the order of their names. */
function selected({ spec }: KubeconfigGenerator, cache: Context["cache"]): TenantControlPlane[] {
  const namespaces = new Set(
    cache
      .list(Namespace)
      .filter(({ metadata }) => matchesLabels(spec.namespaceSelector ?? {}, metadata.labels ?? {}))
      .map(({ metadata }) => metadata.name),
  );
  const key = ({ metadata }: TenantControlPlane): string => `${metadata.namespace}/${metadata.name}`;
  return cache
    .list(TenantControlPlane)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && namespaces.has(metadata.namespace!))
    .filter(({ metadata }) => matchesLabels(spec.tenantControlPlaneSelector ?? {}, metadata.labels ?? {}))
    .sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

async function removeOthers(
  { cache, client }: Context,
  generator: string,
  wanted: readonly TenantControlPlane[],
): Promise<void> {
  const names = new Set(wanted.map((tenant) => `${tenant.metadata.namespace}/${nameOf(generator, tenant)}`));
  for (const secret of cache.byIndex(Secret, BY_GENERATOR, generator)) {
    const { namespace, name } = secret.metadata;
    if (names.has(`${namespace}/${name}`)) continue;
    await client.delete(Secret, refOf(secret)).catch((error: unknown) => {
      if (!isFault(error, "NotFound")) throw error;
    });
  }
}

function nameOf(generator: string, { metadata }: TenantControlPlane): string {
  return `${metadata.name}-${generator}`;
}

/** Undefined: the tenant has its kubeconfig. Else why not. Rejects with what concerns all tenants. */
async function kept(
  context: Context,
  generator: KubeconfigGenerator,
  tenant: TenantControlPlane,
): Promise<Fault | undefined> {
  try {
    await keep(context, generator, tenant);
    return undefined;
  } catch (error) {
    if (context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared", "Unavailable")) throw error;
    return asFault(error, `TenantControlPlane/${tenant.metadata.name}`);
  }
}

async function keep(context: Context, generator: KubeconfigGenerator, tenant: TenantControlPlane): Promise<void> {
  const { cache, client, clock } = context;
  const { namespace = "", name: tenantName } = tenant.metadata;
  const { name: by } = generator.metadata;
  const { user, groups } = generatedUser(generator, tenant);
  const { caPem, caKey, server } = await partsOf(context, generator, tenant);
  const ref = { namespace, name: nameOf(by, tenant) };
  const held = cache.get(Secret, ref) ?? (await client.find(Secret, ref));
  // A generator named "ca" would write over the tenant's own authority.
  if (held !== undefined && held.metadata.labels?.[GENERATED_BY] !== by)
    throw new Fault("AlreadyExists", `Secret ${namespace}/${ref.name}`, "it is not of this generator", {
      remedy: "give the generator another name",
    });
  const isAsked = held?.metadata.annotations?.[ROTATE] !== undefined;
  const wanted = { user, groups, server, caPem, now: clock.now(), leftMs: LEFT_MS };
  if (held !== undefined && !isAsked && isCurrent(textOf(held, KEY), wanted)) return;
  const { issueClient } = await offLoop(import("../../pki/authority.ts"));
  const authority = { certificatePem: caPem, keyPem: caKey };
  const issued = await issueClient(authority, { commonName: user, organizations: groups, clock });
  const text = kubeconfig({
    ...{ name: tenantName, userName: by, server, caPem },
    ...{ clientCertPem: issued.certificatePem, clientKeyPem: issued.keyPem },
  });
  const metadata = {
    labels: { ...PROJECT, [GENERATED_BY]: by, [GENERATED_FOR]: tenantName, [LIFECYCLE_LABEL]: "kubeconfig" },
    ownerReferences: [controllerReference(TenantControlPlane, tenant)],
  };
  const data = { [KEY]: Buffer.from(text, "utf8").toString("base64") };
  if (held === undefined) {
    await client.create(Secret, { metadata: { ...ref, ...metadata }, type: "Opaque", data });
    return;
  }
  const { resourceVersion } = held.metadata;
  const body = { metadata: { ...metadata, resourceVersion, annotations: { [ROTATE]: null } }, data };
  await client.patch(Secret, ref, { type: "merge", body });
}

/** What a kubeconfig in this tenant is made of. Rejects with `MissingInput` for what is not there yet. */
async function partsOf(
  { cache, client }: Context,
  { spec }: KubeconfigGenerator,
  { metadata, status }: TenantControlPlane,
): Promise<{ caPem: string; caKey: string; server: string }> {
  const { namespace = "" } = metadata;
  const read = async (name: string | undefined, key: string): Promise<string> => {
    const ref = { namespace, name: name ?? "" };
    const secret = name ? (cache.get(Secret, ref) ?? (await client.find(Secret, ref))) : undefined;
    const text = secret === undefined ? "" : textOf(secret, key);
    if (text === "") throw new Fault("MissingInput", `${namespace}/${metadata.name}`, `the tenant has no ${key} yet`);
    return text;
  };
  const admin = credentialsOf(await read(status?.kubeconfig?.admin?.secretName, spec.controlPlaneEndpointFrom));
  if (admin === undefined)
    throw new Fault("Invalid", spec.controlPlaneEndpointFrom, "the tenant's kubeconfig can't be read");
  const ca = status?.certificates?.ca?.secretName;
  return { server: admin.server, caPem: await read(ca, "ca.crt"), caKey: await read(ca, "ca.key") };
}

function textOf({ data = {} }: Secret, key: string): string {
  return Buffer.from(data[key] ?? "", "base64").toString("utf8");
}
