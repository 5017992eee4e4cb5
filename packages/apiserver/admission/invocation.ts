import type { Body, ServedResource } from "../model/served.ts";
import type { Hook } from "./configuration.ts";

/** A call of a webhook: which one, and the version of the kind in which the write is sent to it. */
export interface Invocation {
  hook: Hook;
  /** The resource in the version that the webhook asked for. */
  as: ServedResource;
  object: Body | undefined;
  old: Body | undefined;
}
