/** Operating systems of a MachineProvider: what each entry installs, and the fields and texts by which a host gets it. Pure. */
import { asFault, Fault } from "@slipway/base";
import { includedSeed } from "../../../bootstrap/installation/seed.ts";
import { deployMethod } from "../../../bootstrap/profile.ts";
import type { Install } from "../../../inventory/claims/claim.ts";
import { toInstallAgain } from "../../../inventory/claims/turn.ts";
import { IPXE, SCRIPT_URL_KEY, SEED_URL_KEY } from "../../../inventory/hosts/installer-of.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { HostOffer } from "../../../kinds/slipway/machine-provider.ts";
import type { Boot, NetworkImage } from "../../machine.ts";
import { bootMacOf } from "./observe.ts";

type Entry = NonNullable<HostOffer["operatingSystems"]>[string];

/** The entry of this name; undefined: the provider has none. */
export const systemOf = ({ operatingSystems = {} }: HostOffer, name: string): Entry | undefined =>
  Object.hasOwn(operatingSystems, name) ? operatingSystems[name] : undefined;

/** Why no machine of a cluster can have it; undefined: it can. */
function problemOf(entry: Entry): string | undefined {
  const { kernel, initrd, kernelArguments = [], installer, image } = entry;
  const isNetwork = kernel !== undefined || initrd !== undefined;
  if ([isNetwork, installer !== undefined, image !== undefined].filter(Boolean).length !== 1)
    return "it needs one of: kernel with initrd, installer, image";
  if (isNetwork && (kernel === undefined || initrd === undefined)) return "kernel and initrd go together";
  if (!isNetwork && kernelArguments.length > 0)
    return "kernelArguments go with a kernel; those of an installer are in its profile";
  if (installer === undefined) return undefined;
  try {
    const { installer: which, profile } = deployMethod(installer);
    if (which === "harvester")
      return "installer: Harvester brings a Kubernetes of its own, and takes no bootstrap data: its machine would never join";
    return profile === undefined ? "installer: must be ipxe/NAME, a profile beside the hosts" : undefined;
  } catch (error) {
    return `installer: ${asFault(error, "installer").message}`;
  }
}

/** What the machine boots from the network as this operating system; `onDisk`: it is installed before. Undefined: nothing is known by this name. Throws `MissingInput` for an entry that no machine can have. */
export function imageOf(name: string, offer: HostOffer): NetworkImage | "onDisk" | undefined {
  const entry = systemOf(offer, name);
  if (entry === undefined) return undefined;
  const problem = problemOf(entry);
  if (problem !== undefined)
    throw new Fault("MissingInput", `operatingSystems.${name} of the MachineProvider`, problem, {
      remedy: "correct it there",
    });
  const { kernel, initrd, kernelArguments = [] } = entry;
  return kernel === undefined || initrd === undefined ? "onDisk" : { kernel, initrd, kernelArguments };
}

/** What stands in the Secret beside the host: its keys, and their texts. */
export type BootTexts = Readonly<Record<string, string>>;

interface Names {
  hostname: string;
  /** That the host boots from. */
  mac: string | undefined;
}

/** How a host gets the operating system: what its specification says, and what is in the Secret `name` that it refers to. */
export function installation(
  entry: Pick<Entry, "installer" | "image"> | undefined,
  { scriptUrl, seedUrl }: Pick<Boot, "scriptUrl" | "seedUrl">,
  { hostname, mac }: Names,
): { texts: BootTexts; install(secret: { name: string; namespace: string }): Install } {
  if (seedUrl === undefined || (entry?.installer === undefined && entry?.image === undefined))
    return {
      texts: { [SCRIPT_URL_KEY]: scriptUrl },
      install: (userData) => ({ customDeploy: { method: IPXE }, userData }),
    };
  const { installer, image } = entry;
  if (installer !== undefined)
    return {
      texts: { [SEED_URL_KEY]: seedUrl },
      install: (userData) => ({ customDeploy: { method: installer }, userData }),
    };
  const names = { ...(mac !== undefined && { uuid: mac }), hostname, "local-hostname": hostname };
  return {
    texts: { userData: includedSeed(seedUrl), metaData: JSON.stringify(names) },
    install: (secret) => ({ image: image!, userData: secret, metaData: secret }),
  };
}

/** The texts of a host that is to have what it has, by another boot. */
export function textsAgain(host: BareMetalHost, boot: Pick<Boot, "scriptUrl" | "seedUrl">): BootTexts {
  const { customDeploy, image } = toInstallAgain(host) ?? host.spec;
  const installer = customDeploy?.method === IPXE ? undefined : customDeploy?.method;
  const entry = { ...(installer !== undefined && { installer }), ...(image !== undefined && { image }) } as Entry;
  return installation(entry, boot, { hostname: host.spec.consumerRef?.name ?? "", mac: bootMacOf(host) }).texts;
}
