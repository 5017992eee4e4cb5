/** A request on its way, and the ports that every step of it may use. */
import type { Clock, Log, Random } from "@slipway/base";
import type { User } from "../model/request.ts";
import type { Body, Convert, ServedResource } from "../model/served.ts";
import type { Store } from "../storage/store.ts";
import type { Admission, Webhooks } from "./admission.ts";
import type { Authorize } from "./authorize.ts";
import type { Registry } from "./registry.ts";

/** What every part of the request path shares. */
export interface Core {
  clock: Clock;
  random: Random;
  log: Log;
  store: Store;
  registry: Registry;
  authorize: Authorize;
  /** Asked in order after the object is decoded and defaulted, before the webhooks; again when a webhook changed the object. */
  admission: readonly Admission[];
  /** The stored webhook configurations at work; unset: they are kept but nobody is called. */
  webhooks: Webhooks | undefined;
  /** What is answered without anything being kept: questions by `servedKey` of their resource, subresources with `/` and their name behind it. */
  answers: ReadonlyMap<string, Answer>;
  /** The Kubernetes version that is reported, as `v1.30.4`; unset: the one that the behaviour follows. */
  version: (() => string) | undefined;
  /** What goes between the versions of a definition's kind; undefined: only `apiVersion` differs. */
  converterOf(crd: Body): Convert | undefined;
}

/** Answers a create of which nothing is kept: a question, or a token that is asked for. */
export type Answer = (call: Call) => Promise<unknown>;

/** One resource request, authenticated and authorized. */
export interface Call {
  core: Core;
  user: User;
  resource: ServedResource;
  namespace: string;
  /** Empty for the collection. */
  name: string;
  subresource: string;
  /** One object of a request about its whole collection: admission is given no name. */
  ofCollection?: boolean;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  contentType: string;
  /** A JSON value that this request owns. */
  body: unknown;
  /** The body as it came, where it came as text. */
  text?: string | undefined;
  /** The body, or the object that the call is about, is so large that others have their turn between its steps. */
  isLong?: boolean;
  /** What strict decoding minds about keys that the body states twice, in its words. */
  duplicates?: readonly string[];
  /** Texts for `Warning` headers, filled on the way. */
  warnings: string[];
  signal: AbortSignal | undefined;
  /** What a write of this call waits for before it is acknowledged; unset: nothing. */
  unkept?: Set<Promise<void>>;
}

/** To be called at once after each write to the store: later its commit may be over, and have failed. */
export function noteWrite({ core, unkept }: Call): void {
  const kept = core.store.durable();
  if (kept !== undefined) unkept?.add(kept);
}

/** Whether nothing is to be kept. */
export function isDryRun(call: Call): boolean {
  return call.query.getAll("dryRun").includes("All");
}
