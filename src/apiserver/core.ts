import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Authorize } from "./auth/authorize.ts";
import type { Registry } from "./registry.ts";
import type { User } from "./request.ts";
import type { Body, ServedResource } from "./served.ts";
import type { Store } from "./storage/store.ts";

/** What every part of the request path shares. */
export interface Core {
  clock: Clock;
  random: Random;
  log: Log;
  store: Store;
  registry: Registry;
  authorize: Authorize;
  /** Asked in order after the object is decoded and defaulted, before it is validated and stored. */
  admission: readonly Admission[];
}

/** One resource request, authenticated and authorized. */
export interface Call {
  core: Core;
  user: User;
  resource: ServedResource;
  namespace: string;
  /** Empty for the collection. */
  name: string;
  subresource: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  contentType: string;
  /** A JSON value that this request owns. */
  body: unknown;
  /** Paths of the fields that the body's text states twice. */
  duplicates?: readonly string[];
  /** Texts for `Warning` headers, filled on the way. */
  warnings: string[];
  signal: AbortSignal | undefined;
}

/** A write on its way. */
export interface AdmissionReview {
  operation: "CREATE" | "UPDATE" | "DELETE";
  resource: ServedResource;
  subresource: string;
  namespace: string;
  name: string;
  /** May be changed in place; undefined for DELETE. */
  object: Body | undefined;
  /** What is stored now; undefined for CREATE. */
  old: Body | undefined;
  user: User;
  dryRun: boolean;
}

/** One admission step: changes the object or refuses it with a `Fault`. Admission webhooks become such steps. */
export type Admission = (review: AdmissionReview) => void | Promise<void>;

export async function admit(
  call: Call,
  operation: AdmissionReview["operation"],
  object: Body | undefined,
  old: Body | undefined,
): Promise<void> {
  const { core, resource, subresource, namespace, user } = call;
  if (core.admission.length === 0) return;
  const name = object?.metadata.name ?? old?.metadata.name ?? call.name;
  const review = { operation, resource, subresource, namespace, name, object, old, user, dryRun: isDryRun(call) };
  for (const step of core.admission) await step(review);
}

export function isDryRun(call: Call): boolean {
  return call.query.getAll("dryRun").includes("All");
}
