/** Hosts on which installations fail again and again are set aside: nobody gets one until a person takes the annotation off. Pure. */
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { hostAnnotations } from "../hosts/annotations.ts";

/** Why the host is given to nobody. A person who has mended it takes it off. */
export const SET_ASIDE = "slipway.dev/set-aside";
/** How many consumers' installations failed on it, one after the other. */
const FAILURES = "slipway.dev/failures";

/** What came of a consumer's turn with a host. */
export interface Failure {
  /** What failed, for people. */
  message: string;
  /** How often it was tried. */
  tries: number;
  /** From so many failures on the host is set aside. */
  most: number;
}

/** Whether the host is given to nobody. */
export function isSetAside(host: BareMetalHost): boolean {
  return hostAnnotations(host)[SET_ASIDE] !== undefined;
}

/** The annotations of a host whose consumer gives it back, as a merge patch has them; `failure`: undefined where its turn went well. */
export function annotationsAfter(host: BareMetalHost, failure: Failure | undefined): Record<string, string | null> {
  if (failure === undefined) return { [FAILURES]: null };
  const before = Number(hostAnnotations(host)[FAILURES] ?? 0);
  const failures = (Number.isSafeInteger(before) ? before : 0) + failure.tries;
  if (failures < failure.most) return { [FAILURES]: String(failures) };
  return { [FAILURES]: null, [SET_ASIDE]: `${failures} installations failed; the last: ${failure.message}` };
}
