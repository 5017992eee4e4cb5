import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { BmcView, Facts } from "./facts.ts";

/** When facts are looked at, unless said. */
export const NOW = Date.UTC(2026, 0, 1, 12);

/** A time of day of the day of `NOW`, as status fields have it. */
export function at(time: string): string {
  return `2026-01-01T${time}Z`;
}

/** Facts of a host in a state, with nothing seen of its machine and no BMC unless said. */
export function factsOf(
  state: string,
  { spec, status, ...more }: Partial<Omit<Facts, "host">> & { spec?: object; status?: object } = {},
): Facts {
  const host = {
    metadata: { name: "node-1", namespace: "metal", uid: "uid-1", resourceVersion: "1", generation: 1 },
    spec: { online: true, ...spec },
    status: { operationalStatus: "OK", errorMessage: "", provisioning: { state, ID: "id" }, ...status },
  } as unknown as BareMetalHost;
  return {
    ...{ now: NOW, host, machine: undefined, standing: undefined, rival: undefined, isShared: false, bmc: undefined },
    recorded: undefined,
    ...{ isDescribed: true, isFirmwareRead: true, hasRoom: true, isOffered: () => true, isStarted: () => true },
    newId: "new",
    ...more,
  };
}

/** A BMC that says so. */
export function bmcThat(power: Extract<BmcView, { is: "answers" }>["power"]): BmcView {
  return { is: "answers", power, credentials: "1", macs: [] };
}
