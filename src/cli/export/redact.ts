import { Secrets } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { Secret } from "@slipway/kube/core";

const MARK = "[redacted]";

/** Fields that hold secrets, or whole documents in which some may be. Names and references of Secrets are none. */
const SECRET_FIELD =
  /pass(word|wd|phrase)?$|token$|secret(?!.*(name|ref|namespace))|private.?key|api.?key|credential(?!.*(name|ref|version))|user.?data$|cloud.?config$|meta.?data.?template$|kubeconfig$|bootstrap.?data$|authorization|ssh.?keys?$/i;

/** Annotations that repeat a whole object. */
const COPIES: readonly string[] = ["kubectl.kubernetes.io/last-applied-configuration"];

/** What is too long to be a credential; Helm keeps whole releases in Secrets. */
const LONGEST_SECRET = 64 * 1024;
const SHORTEST_WORD = 8;
const PUBLIC_KEYS: ReadonlySet<string> = new Set(["ca.crt", "namespace"]);

/** The filter that knows every value of these Secrets, in all forms in which programs write one. */
export function filterOf(secrets: readonly Secret[]): Secrets {
  const filter = new Secrets();
  for (const { type, data = {} } of secrets) {
    if (type?.startsWith("helm.sh/")) continue;
    for (const [key, base64] of Object.entries(data)) {
      if (PUBLIC_KEYS.has(key) || base64.length > LONGEST_SECRET) continue;
      learn(filter, Buffer.from(base64, "base64").toString("utf8"));
    }
  }
  return filter;
}

/** A key's PEM as a whole; of other documents, such as kubeconfigs, what stands behind their fields' names: their lines are words that everybody writes. */
function learn(filter: Secrets, value: string): void {
  const text = value.trim();
  if (/^-----BEGIN CERTIFICATE-----/.test(text) && !/PRIVATE KEY/.test(text)) return;
  if (!text.includes("\n") || /^-----BEGIN /.test(text)) {
    filter.add(text);
    return;
  }
  for (const line of text.split("\n")) {
    const [, word = line.trim()] = /^\s*-?\s*["']?[\w.-]+["']?\s*[:=]\s*(.*?),?\s*$/.exec(line) ?? [];
    const plain = word.replace(/^["']|["']$/g, "");
    if (plain.length >= SHORTEST_WORD && !isPublic(plain)) filter.add(plain);
  }
}

const isPublic = (word: string): boolean => /^(https?:\/\/[^@\s]+|[a-z0-9.-]+\/v\d\w*|-----.*)$/.test(word);

/** An object without managed fields, without copies of itself, and without what its fields' names say is secret. */
export function withoutSecrets<T extends KubeObject>(object: T, filter: Secrets): unknown {
  const { managedFields: _, annotations, ...metadata } = object.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !COPIES.includes(name));
  const shown = {
    ...object,
    metadata: { ...metadata, ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) },
  };
  return filter.clean(withoutFields(shown));
}

function withoutFields(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, isSecret));
  if (typeof value === "string") return isSecret && value !== "" ? MARK : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      // Environment variables have their names beside their values.
      const isVariable = name === "value" && SECRET_FIELD.test(String((value as { name?: unknown }).name ?? ""));
      return [name, withoutFields(item, isSecret ? !isReference(name) : isVariable || SECRET_FIELD.test(name))];
    }),
  );
}

/** Within a field such as `secretKeyRef` or `bootstrapToken`: who is named, and not what it says. */
const isReference = (name: string): boolean => /^(name|namespace|kind|apiVersion|apiGroup|key|uid)$/.test(name);

/** A Secret by its name, type and keys. */
export const nameOfSecret = ({ metadata: { namespace, name }, type, data = {} }: Secret): object => ({
  ...{ namespace, name, type, keys: Object.keys(data).sort() },
});
