/** Which machines of the agent are not the present cluster's, or of a later state of it. Pure. */
import type { FoundDomain, NodeFound } from "../node/found.ts";
import type { NodeWish } from "../node/wish.ts";

/** A machine on the node that the VinoNodes which are seen do not account for. */
export interface Unknown {
  name: string;
  uuid: string;
  /** What is wrong, as a clause. */
  why: string;
  /** Its VinoNode is there, in an earlier state. */
  isEarlier: boolean;
}

/** The agent's own domains that an agent of this scope may change. */
export function ownDomains({ domains }: NodeFound, { scope }: Pick<NodeWish, "scope">): readonly FoundDomain[] {
  return domains.filter(
    ({ next: { record } }) => record !== undefined && (scope === undefined || record.owner.startsWith(`${scope}/`)),
  );
}

/**
 * Machines whose VinoNode is not there, or is there in an earlier state than the machine was made by. A VinoNode stays until the agent has removed all
 * of it, so in the right cluster there are none. The exception: a Node that was deleted and joined again; there the same machine, by name and UUID, is
 * taken over.
 */
export function unknownDomains(found: NodeFound, wish: NodeWish): readonly Unknown[] {
  return ownDomains(found, wish).flatMap((domain) => {
    const is = howUnknown(domain, wish);
    return is === undefined ? [] : [{ name: domain.ref.name, uuid: domain.ref.uuid, isEarlier: false, ...is }];
  });
}

function howUnknown(
  { ref, next: { record } }: FoundDomain,
  wish: NodeWish,
): Pick<Unknown, "why"> | Pick<Unknown, "why" | "isEarlier"> | undefined {
  const { owner, origin } = record!;
  const seen = wish.origins.get(owner);
  if (seen === undefined) return { why: `its VinoNode ${owner} does not exist` };
  // Of an agent from before there were origins.
  if (origin === undefined) return undefined;
  if (seen.uid === origin.uid) {
    if (seen.generation >= origin.generation) return undefined;
    const why = `its VinoNode ${owner} is at generation ${seen.generation}, and was at ${origin.generation}`;
    return { why, isEarlier: true };
  }
  const isTheSame = wish.domains.some(({ name, uuid }) => name === ref.name && uuid === ref.uuid);
  return isTheSame ? undefined : { why: `its VinoNode ${owner} is another one of that name` };
}
