/** What admission is asked about a write, and who is asked. */
import type { Sized } from "../json/turns.ts";
import type { User } from "../model/request.ts";
import type { Body, ServedResource } from "../model/served.ts";

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
