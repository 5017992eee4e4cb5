/** Objects that were made of the cards of one machine, one each, by a version that knew no better. Pure. */
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { APPROVED_ANNOTATION, bootMacOf, isDiscovered, isOfDiscovery } from "./declaration.ts";

/** In these nothing of a user's is on the machine. */
const IDLE: readonly string[] = ["", "unmanaged", "registering", "inspecting", "preparing", "available"];

/**
 * Of the objects of one machine one that is deleted, and the one that goes on; undefined: there is none to delete. What goes on is, in this order,
 * declared, used, approved, older. Only what discovery made of another card, and nobody uses, is deleted; the object of the very card that
 * somebody declares stays, as it always did.
 */
export function twinsOf(
  known: readonly BareMetalHost[],
  namespace: string,
): { host: BareMetalHost; into: BareMetalHost } | undefined {
  const living = known.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const rank = (host: BareMetalHost): number =>
    [!isOfDiscovery(host, namespace), !isUnused(host), host.metadata.annotations?.[APPROVED_ANNOTATION] !== undefined]
      .map((holds, at) => (holds ? 4 >> at : 0))
      .reduce((sum, each) => sum + each);
  const [into, ...others] = living.toSorted((a, b) => rank(b) - rank(a) || byAge(a, b));
  const host = others.findLast(
    (each) =>
      isDiscovered(each.metadata) &&
      each.metadata.namespace === namespace &&
      isUnused(each) &&
      bootMacOf(each).some((mac) => !bootMacOf(into!).includes(mac)),
  );
  return host && { host, into: into! };
}

/** Nobody has said what becomes of it. */
function isUnused({ spec, status }: BareMetalHost): boolean {
  const { consumerRef, image, customDeploy, bmc, externallyProvisioned } = spec;
  const isGiven = [consumerRef, image, customDeploy, bmc].some((each) => each !== undefined);
  return !isGiven && externallyProvisioned !== true && IDLE.includes(status?.provisioning?.state ?? "");
}

function byAge({ metadata: a }: BareMetalHost, { metadata: b }: BareMetalHost): number {
  const [one, two] = [a, b].map(({ creationTimestamp = "", name }) => `${creationTimestamp} ${name}`);
  return one! < two! ? -1 : 1;
}
