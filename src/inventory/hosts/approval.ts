import type { Standing } from "../../netboot/hosts/trust.ts";
import { APPROVED_ANNOTATION } from "../discovery/declaration.ts";

/** What a host is waited for that nobody has approved, why, and how that is done. */
export function untilApproved({ because }: Pick<Standing, "because">): string {
  return `the host to be approved: ${because}; the annotation ${APPROVED_ANNOTATION} approves it (true, or the key that its screen shows)`;
}
