import type { Clock, Log, Random } from "@slipway/base";
import type { AccountTokens } from "../auth/accounts/account-tokens.ts";
import { letOthersGo, type Sized } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { User } from "../model/request.ts";
import type { Body, Convert, ServedResource } from "../model/served.ts";
import type { Store } from "../storage/store.ts";
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
  tokens: AccountTokens;
  /** Asked in order after the object is decoded and defaulted, before the webhooks; again when a webhook changed the object. */
  admission: readonly Admission[];
  /** The stored webhook configurations at work; unset: they are kept but nobody is called. */
  webhooks: Webhooks | undefined;
  /** How questions are answered, by `servedKey` of their resource. */
  answers: ReadonlyMap<string, Answer>;
  /** What goes between the versions of a definition's kind; undefined: only `apiVersion` differs. */
  converterOf(crd: Body): Convert | undefined;
}

/** Answers a question: a create of a kind of which nothing is kept. */
export type Answer = (call: Call) => Promise<unknown>;

/** The admission webhooks that are stored. */
export interface Webhooks {
  /** No configuration is stored: there is nobody to ask. */
  readonly isIdle: boolean;
  /** What mutating webhooks do to a write. The review's object is changed in place. */
  mutation(review: AdmissionReview): Mutation;
  /** Asks the validating webhooks, all at once. Throws the first refusal in their order. */
  approve(review: AdmissionReview): Promise<void>;
}

export interface Mutation {
  /** Calls them in order. Returns whether one changed the object. */
  run(): Promise<boolean>;
  /** Calls those again that want it and were called before a later change. */
  runAgain(): Promise<void>;
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
  /** One object of a request about its whole collection: admission hears no name. */
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

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** A write on its way. */
export interface AdmissionReview {
  operation: "CREATE" | "UPDATE" | "DELETE";
  resource: ServedResource;
  /** The object's: that of the resource, but for subresources that have one of their own (Scale, Eviction, TokenRequest). */
  kind: GroupVersionKind;
  subresource: string;
  namespace: string;
  name: string;
  /** May be changed in place; undefined for DELETE. */
  object: Body | undefined;
  /** What is stored now; undefined for CREATE. */
  old: Body | undefined;
  user: User;
  dryRun: boolean;
  /** What the client asked for beside the object: CreateOptions, UpdateOptions or DeleteOptions. */
  options: Record<string, unknown>;
  /** Texts for `Warning` headers, filled on the way. */
  warnings: string[];
  signal: AbortSignal | undefined;
  /** The call, as far as it says whether others have their turn between the steps. */
  sized: Sized;
}

/** One admission step: changes the object or refuses it with a `Fault`. */
export type Admission = (review: AdmissionReview) => void | Promise<void>;

/**
 * Lets admission change or refuse a write: the server's own steps, then the mutating webhooks; both once more when a webhook changed the
 * object. Returns whether a webhook did.
 */
export async function admit(
  call: Call,
  operation: AdmissionReview["operation"],
  object: Body | undefined,
  old: Body | undefined,
  kind?: GroupVersionKind,
): Promise<boolean> {
  const { core } = call;
  // The server's own steps know whole objects only.
  const steps = kind === undefined ? core.admission : [];
  if (steps.length === 0 && core.webhooks?.isIdle !== false) return false;
  const review = reviewOf(call, operation, object, old, kind);
  const mutation = core.webhooks?.mutation(review);
  for (const step of steps) await step(review);
  await letOthersGo(call);
  if (mutation === undefined || !(await mutation.run())) return false;
  for (const step of steps) await step(review);
  await letOthersGo(call);
  await mutation.runAgain();
  return true;
}

/** Lets the validating webhooks refuse a write that has passed the server's own rules. */
export async function approve(
  call: Call,
  operation: AdmissionReview["operation"],
  object: Body | undefined,
  old: Body | undefined,
  kind?: GroupVersionKind,
): Promise<void> {
  const { webhooks } = call.core;
  if (webhooks?.isIdle === false) await webhooks.approve(reviewOf(call, operation, object, old, kind));
}

function reviewOf(
  call: Call,
  operation: AdmissionReview["operation"],
  object: Body | undefined,
  old: Body | undefined,
  kind: GroupVersionKind | undefined,
): AdmissionReview {
  const { resource, subresource, user, warnings, signal } = call;
  const name = object?.metadata.name || (call.ofCollection === true ? "" : call.name);
  const isNamespace = resource.holdsOthers === true;
  return {
    operation,
    resource,
    kind: kind ?? { group: resource.group, version: resource.version, kind: resource.kind },
    subresource,
    namespace: isNamespace ? name : call.namespace,
    name,
    object,
    old,
    user,
    dryRun: isDryRun(call),
    options: {
      ...optionsOf(call, operation),
      // A Namespace is deleted only as the one that was found.
      ...(isNamespace && operation === "DELETE" && { preconditions: { uid: old?.metadata.uid } }),
    },
    warnings,
    signal,
    sized: call,
  };
}

const OPTIONS = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" };

/** A patch's options are passed on as those of the create or update that it amounts to. */
function optionsOf(call: Call, operation: AdmissionReview["operation"]): Record<string, unknown> {
  const kind = { kind: OPTIONS[operation], apiVersion: "meta.k8s.io/v1" };
  const body = operation === "DELETE" && isRecord(call.body) ? call.body : {};
  const text = (name: string) => {
    const value = call.query.get(name) ?? "";
    return value === "" ? {} : { [name]: value };
  };
  const dryRun = isDryRun(call) ? { dryRun: ["All"] } : {};
  if (operation === "DELETE") return { ...body, ...kind, ...text("propagationPolicy"), ...dryRun };
  return { ...kind, ...dryRun, ...text("fieldManager"), ...text("fieldValidation") };
}

export function isDryRun(call: Call): boolean {
  return call.query.getAll("dryRun").includes("All");
}
