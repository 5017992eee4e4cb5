import { type Random, text } from "@slipway/base";
import type { Admission, AdmissionReview } from "../../core/admission.ts";
import { at, objectsAt, textAt } from "../../model/read.ts";
import type { Body } from "../../model/served.ts";
import { forbidden } from "../../model/status.ts";
import type { Store } from "../../storage/store.ts";

const DEFAULT_ACCOUNT = "default";
const VOLUME = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const MIRROR = "kubernetes.io/config.mirror";
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

type Json = Record<string, unknown>;

/**
 * Gives each new Pod its ServiceAccount, as upstream's admission plugin of that name: the default one unless it names another,
 * which must exist; the account's pull secrets; and a volume with a token, the cluster's certificate and the namespace's name, mounted into each
 * container that has nothing at that path. Throws Forbidden.
 */
export function podAccounts(
  store: Store,
  random: Random,
  provideDefault: (namespace: string) => Promise<void>,
): Admission {
  return async (review) => {
    const { resource, object, namespace, name } = review;
    const spec = object?.spec as Json | undefined;
    if (!isNewPod(review) || object === undefined || spec === undefined) return;
    const named = textAt(spec, "serviceAccountName");
    if (object.metadata.annotations?.[MIRROR] !== undefined) {
      if (named === "") return;
      throw forbidden(resource, name, "a mirror pod may not reference service accounts");
    }
    const account = named || textAt(spec, "serviceAccount") || DEFAULT_ACCOUNT;
    // The namespace may be so young that its account is still being made.
    if (account === DEFAULT_ACCOUNT) await provideDefault(namespace);
    const found = store.get("/serviceaccounts", `${namespace}/${account}`);
    if (found === undefined)
      throw forbidden(
        resource,
        name,
        `error looking up service account ${namespace}/${account}: serviceaccount ${JSON.stringify(account)} not found`,
      );
    giveAccount(spec, account, found);
    if (isMounted(spec, found)) mountToken(spec, random);
  };
}

const isNewPod = ({ resource: { group, plural }, subresource, operation }: AdmissionReview): boolean =>
  group === "" && plural === "pods" && subresource === "" && operation === "CREATE";

function giveAccount(spec: Json, name: string, account: Body): void {
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
  const secrets = objectsAt(account, "imagePullSecrets");
  if (objectsAt(spec, "imagePullSecrets").length === 0 && secrets.length > 0)
    spec.imagePullSecrets = secrets.map((secret) => ({ name: textAt(secret, "name") }));
}

/** The Pod's word counts before the account's; who says nothing gets it. */
function isMounted(spec: Json, account: Body): boolean {
  return (at(spec, "automountServiceAccountToken") ?? at(account, "automountServiceAccountToken") ?? true) === true;
}

function mountToken(spec: Json, random: Random): void {
  const volumes = objectsAt(spec, "volumes");
  const present = volumes.map((volume) => textAt(volume, "name")).find((name) => name.startsWith(VOLUME));
  const name = present ?? VOLUME + text(random, 5, SUFFIX_ALPHABET);
  let isNeeded = false;
  for (const container of [...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")]) {
    const mounts = objectsAt(container, "volumeMounts");
    if (mounts.some((mount) => mount.mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
    isNeeded = true;
  }
  if (isNeeded && present === undefined) spec.volumes = [...volumes, { name, projected: accessVolume() }];
}

function accessVolume(): Json {
  const namespace = { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } };
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [namespace] } },
    ],
    defaultMode: 420,
  };
}
