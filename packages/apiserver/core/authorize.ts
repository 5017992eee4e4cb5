import type { Attributes } from "./attributes.ts";

export interface Decision {
  allowed: boolean;
  reason?: string;
}

/** The authorization port. */
export type Authorize = (attributes: Attributes) => Decision | Promise<Decision>;
