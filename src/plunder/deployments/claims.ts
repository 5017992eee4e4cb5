/**
 * Deployments that a program has for an object of its own, as an operator has one for each PlunderMachine. The claim is kept with the deployment: whoever asks
 * after a crash, of either side, finds it. What became of its machine's disks is kept after it, as the proof. Pure.
 */
import { Fault } from "@slipway/base";
import type { WantedMachine } from "../../machines/drivers/plunder/wire.ts";
import type { Claim, KeptDeployment, State, Wiped } from "./state.ts";

/** The newest are kept. Who waits for one asks within seconds. */
const MOST_WIPED = 10_000;

export type ClaimedDeployment = KeptDeployment & { claim: Claim };

/** Whether a program has the deployment for an object of its own. */
export const isClaimed = (kept: KeptDeployment): kept is ClaimedDeployment => kept.claim !== undefined;

/** Throws a `Fault` (`Conflict`) for a deployment that is not its callers' to change. */
export function refuseClaimed({ deployment: { mac }, claim }: KeptDeployment): void {
  if (claim === undefined) return;
  throw new Fault("Conflict", mac, `its deployment is of ${claim.holder}`, { remedy: "delete that object" });
}

/**
 * With a deployment for a claim; the state itself where the claim has that machine already. `macs`: all cards of the machine. Throws a `Fault`
 * (`AlreadyExists`) where the machine has a deployment, or the claim another machine, or had one that is wiped.
 */
export function withClaim(
  state: State,
  { mac, bootConfigName, claim: id, holder, hostname, seedUrl }: WantedMachine,
  { macs, kept, now }: { macs: readonly string[]; kept: string; now: number },
): State {
  const own = state.deployments.find(({ claim }) => claim?.id === id);
  if (own?.deployment.mac === mac && own.claim?.release === undefined) return state;
  if (own !== undefined) throw new Fault("AlreadyExists", holder, `it has the machine ${own.deployment.mac}`);
  if (state.wiped?.some(({ claim }) => claim === id))
    throw new Fault("AlreadyExists", holder, "its machine was given back");
  if (state.deployments.some(({ deployment }) => deployment.mac === mac || macs.includes(deployment.mac)))
    throw new Fault("AlreadyExists", mac, "there is a deployment for it");
  const claim: Claim = { id, holder, seedUrl, createdAt: now };
  const deployment = { mac, bootConfigName, config: { hostname } };
  return { ...state, deployments: [...state.deployments, { deployment, id: kept, claim }] };
}

/** With the machine of a claim to be wiped. Throws a `Fault` (`NotFound`). */
export function withRelease(state: State, id: string): State {
  const found = state.deployments.find(({ claim }) => claim?.id === id);
  if (found === undefined) throw new Fault("NotFound", id.slice(0, 64), "there is no machine of this claim");
  if (found.claim?.release !== undefined) return state;
  return withClaimOf(state, id, (claim) => ({ ...claim, release: { attempt: 1 } }));
}

/** With an attempt to wipe that has failed. */
export function withFailedWipe(state: State, id: string, failed: { at: number; message: string }): State {
  return withClaimOf(state, id, (claim) => ({
    ...claim,
    release: { attempt: (claim.release?.attempt ?? 0) + 1, failed },
  }));
}

/** Without the deployment of a claim, and with the proof. */
export function withWiped(state: State, id: string, proof: string): State {
  const found = state.deployments.find(({ claim }) => claim?.id === id);
  if (found?.claim === undefined) return state;
  const { deployment, claim } = found;
  const { mac, config } = deployment;
  const { holder, createdAt } = claim;
  const wiped: Wiped = { claim: id, holder, mac, hostname: config.hostname ?? "", createdAt, proof };
  return {
    ...state,
    deployments: state.deployments.filter((each) => each !== found),
    wiped: [...(state.wiped ?? []), wiped].slice(-MOST_WIPED),
  };
}

function withClaimOf(state: State, id: string, make: (claim: Claim) => Claim): State {
  return {
    ...state,
    deployments: state.deployments.map((each) => (each.claim?.id === id ? { ...each, claim: make(each.claim) } : each)),
  };
}
