import type { Path } from "../files/document.ts";

/** What becomes of one field. Never holds a secret. */
export interface Note {
  path: Path;
  /** Where it is here. */
  becomes?: string;
  /** Why it can't be kept. */
  lost?: string;
}
