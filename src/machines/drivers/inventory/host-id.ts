/**
 * A machine's id at the inventory: `namespace/name/claim`. A host serves one claim after the other, and each turn is a machine of its own:
 * who gave a host back must not take it from who has it next.
 */
import { Fault } from "@slipway/base";
import type { Ref } from "@slipway/kube";

export interface HostTurn {
  host: Ref & { namespace: string };
  /** Uid of the object that has the host. */
  claim: string;
}

/** The id of a host's turn for one claim; `hostTurn` reads it. */
export function machineId({ host, claim }: HostTurn): string {
  return `${host.namespace}/${host.name}/${claim}`;
}

/** Throws a `Fault` (`Invalid`) for an id that is none. */
export function hostTurn(id: string): HostTurn {
  const [namespace, name, claim, ...rest] = id.split("/");
  if (!namespace || !name || !claim || rest.length > 0)
    throw new Fault("Invalid", `machine ${id.slice(0, 128)}`, "an id is namespace/name/claim");
  return { host: { namespace, name }, claim };
}
