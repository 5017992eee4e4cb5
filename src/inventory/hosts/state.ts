/** The provisioning states of a BareMetalHost, in Metal3's words (`status.provisioning.state`), and what may happen in each. */
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";

export type HostState =
  | ""
  | "unmanaged"
  | "registering"
  | "inspecting"
  | "preparing"
  | "available"
  | "provisioning"
  | "provisioned"
  | "externally provisioned"
  | "deprovisioning"
  | "powering off before delete"
  | "deleting";

/** States that older operators of Metal3 wrote, as they are called now. */
const FORMER: Readonly<Record<string, HostState>> = { ready: "available", "match profile": "preparing" };

/** The state that the object is in. One that nobody knows counts as none: the host is registered anew. */
export function stateOf({ status }: Pick<BareMetalHost, "status">): HostState {
  const state = status?.provisioning?.state ?? "";
  const named = FORMER[state] ?? state;
  return named in IS_WORK ? (named as HostState) : "";
}

/** Whether the state is one of work that ends by itself. */
const IS_WORK: Readonly<Record<HostState, boolean>> = {
  "": true,
  unmanaged: false,
  registering: true,
  inspecting: true,
  preparing: true,
  available: false,
  provisioning: true,
  provisioned: false,
  "externally provisioned": false,
  deprovisioning: true,
  "powering off before delete": true,
  deleting: true,
};

/** Whether the host is on its way to another state. */
export function isWork(state: HostState): boolean {
  return IS_WORK[state];
}

/** Whether a host in the state keeps an agent and the servers of images at work: only so many hosts may at once. */
export function needsRoom(state: HostState): boolean {
  return ["inspecting", "preparing", "provisioning", "deprovisioning"].includes(state);
}
