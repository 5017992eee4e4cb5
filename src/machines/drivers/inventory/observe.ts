import { isMac, parseMac } from "@slipway/base";
import { isGivenBack, toInstallAgain } from "../../../inventory/claims/turn.ts";
import { stateOf } from "../../../inventory/hosts/state.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { Address, Machine, Phase, Port } from "../../machine.ts";
import { machineId } from "./host-id.ts";

/** The engine tries an installation again by itself; after so many failures the host is taken for one that does not serve. */
export const MOST_TRIES = 2;

/** A host as a machine of who has it. Undefined: nobody has it. */
export function machineOf(host: BareMetalHost): Machine | undefined {
  const { metadata, spec, status } = host;
  const claim = spec.consumerRef?.uid;
  if (claim === undefined) return undefined;
  const { name, namespace = "" } = metadata;
  const phase = phaseOf(host);
  const started = status?.operationHistory?.provision?.start;
  return {
    id: machineId({ host: { namespace, name }, claim }),
    claim,
    hostname: spec.consumerRef?.name ?? name,
    phase,
    providerState: `${stateOf(host) || "new"}${phase === "failed" ? " failed" : ""}`,
    ...{ plan: undefined, metro: undefined, locked: false, terminatesAt: undefined, progress: undefined },
    bootMac: bootMacOf(host),
    ports: portsOf(host),
    addresses: addressesOf(host),
    lastEvent: status?.errorMessage || status?.waitingFor,
    createdAt: started == null ? undefined : Date.parse(started),
  };
}

/** The MAC address that a host boots from, in its canonical form. */
export function bootMacOf({ spec, status }: BareMetalHost): string | undefined {
  const mac = spec.bootMACAddress ?? status?.hardware?.nics?.find((nic) => nic.pxe === true)?.mac;
  return mac !== undefined && isMac(mac) ? parseMac(mac) : undefined;
}

/** How often the installation that is under way has failed. */
export function failuresOf(host: BareMetalHost): number {
  return stateOf(host) === "provisioning" ? (host.status?.errorCount ?? 0) : 0;
}

function phaseOf(host: BareMetalHost): Phase {
  if (host.metadata.deletionTimestamp !== undefined || isGivenBack(host)) return "releasing";
  const state = stateOf(host);
  if (failuresOf(host) >= MOST_TRIES) return "failed";
  if (state === "provisioned" && isAsked(host)) return host.status?.poweredOn === false ? "stopped" : "running";
  if (toInstallAgain(host) !== undefined) return "reinstalling";
  if (!isAsked(host)) return "releasing";
  return state === "available" || state === "provisioning" ? "building" : "unknown";
}

function isAsked({ spec }: BareMetalHost): boolean {
  return spec.customDeploy !== undefined || spec.image !== undefined;
}

function addressesOf({ status }: BareMetalHost): Address[] {
  const addresses = (status?.hardware?.nics ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return addresses.map((address) => ({
    address,
    family: address.includes(":") ? 6 : 4,
    public: false,
    management: true,
  }));
}

/** The cards by the names that the agent saw. What they are plugged into is not known. */
function portsOf({ status }: BareMetalHost): Port[] {
  return (status?.hardware?.nics ?? []).flatMap(({ name, mac }) =>
    name === undefined || mac === undefined
      ? []
      : [
          {
            ...{
              id: mac,
              name,
              kind: "physical" as const,
              mac,
              bonded: false,
              bond: undefined,
              networkType: undefined,
            },
            ...{ disbondable: false, vlans: [], nativeVlan: undefined },
          },
        ],
  );
}
