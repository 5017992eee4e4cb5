/** Deployment types that the MachineProvider has nothing for: how it gets them, or why no machine of a cluster can be one. Pure. */
import { Fault } from "@slipway/base";
import { SECRET_PROVIDER } from "./names.ts";

/** By the word before a slash. */
const REFUSED: ReadonlyMap<string, { why: string; instead: string }> = new Map([
  [
    "vsphere",
    {
      why: "ESXi can't be a Node of a Kubernetes cluster",
      instead: "install it by its own means, outside of clusters",
    },
  ],
  [
    "harvester",
    {
      why: "Harvester brings a Kubernetes of its own, and takes no bootstrap data",
      instead: "spec.customDeploy.method of a BareMetalHost, or a HarvesterNodePool, has it join Harvester",
    },
  ],
  [
    "grub",
    {
      why: "GRUB starts machines by a configuration of Slipway's own",
      instead: "write the same for iPXE, and name it as installer: ipxe/NAME",
    },
  ],
]);

/** What an entry of the MachineProvider has to be; by the word before a slash. */
const ENTRIES: ReadonlyMap<string, string> = new Map([
  ...["preseed", "kickstart", "autoinstall", "ipxe"].map(
    (installer) => [installer, `, with installer: ${installer}/NAME, a profile beside the hosts`] as const,
  ),
  ["iso", ", with kernel and initrd inside the ISO, which netboot serves (boot.images)"],
  ["booty", ", with image: what BOOTy would write"],
]);

/** What to say of a deployment type that the MachineProvider has no operating system for. */
export function unknownDeployment(on: string, name: string, provider: string): Fault {
  const system = `spec.inventory.operatingSystems of MachineProvider ${provider}`;
  const type = name.split("/")[0]!;
  const refused = REFUSED.get(type);
  if (refused === undefined)
    return new Fault("MissingInput", on, `spec.deploymentType: nothing says what is installed as ${name}`, {
      remedy: `add ${name} to ${system}${ENTRIES.get(type) ?? ""}`,
    });
  return new Fault("Invalid", on, `spec.deploymentType: ${name} is not served: ${refused.why}`, {
    remedy: `name one of ${system} that takes bootstrap data as cloud-init does, such as the node image; ${refused.instead}`,
  });
}

/** Why an address of a pool can't be set; undefined: the kernel is given it. */
export function unsetAddress(
  on: string,
  name: string,
  { provider, address, isOnDisk }: { provider: string; address: string; isOnDisk: boolean },
): Fault | undefined {
  if (!isOnDisk && !address.includes(":")) return undefined;
  const isRemote = provider === SECRET_PROVIDER;
  const why = !isOnDisk
    ? "a kernel is given IPv4 addresses alone"
    : isRemote
      ? "the netboot of Secret plunder gives machines no addresses of pools"
      : `what is installed on a disk as ${name} configures its network by itself`;
  const elsewhere = isRemote ? "" : ", or name networkData in its BareMetalHost";
  return new Fault("Invalid", on, `spec.addressesFromPool: ${address} can't be set: ${why}`, {
    remedy: `remove the field from this object and from its PlunderMachineTemplate, and reserve an address for the machine's MAC address in DHCP${elsewhere}`,
  });
}
