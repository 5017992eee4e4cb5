/** Deployment types that no MachineProvider can have as an operating system of a cluster's machine, and what is there instead. Pure. */
import { Fault } from "@slipway/base";

interface Refused {
  why: string;
  /** Where such a machine is installed. */
  instead: string;
}

const installer = (what: string): Refused => ({
  why: `${what} takes no bootstrap data, so its machine would never join`,
  instead: "machines of no cluster are installed so by spec.customDeploy.method of their BareMetalHost",
});

/** By the word before a slash: `autoinstall/noble` is an installer, too. */
const REFUSED: ReadonlyMap<string, Refused> = new Map([
  ["kickstart", installer("an installation by Anaconda")],
  ["autoinstall", installer("an installation by subiquity")],
  ["harvester", installer("Harvester's installer")],
  ["ipxe", installer("a script for iPXE")],
  ["grub", installer("a configuration of GRUB")],
  ["iso", installer("what a medium starts")],
  [
    "vsphere",
    {
      why: "ESXi can't be a Node of a Kubernetes cluster",
      instead: "install it by its own means, outside of clusters",
    },
  ],
  [
    "booty",
    {
      why: "an image that BOOTy writes takes no bootstrap data, so its machine would never join",
      instead:
        "machines of no cluster are written so by spec.image of their BareMetalHost, or by a deployment of plunder's API",
    },
  ],
]);

/** What to say of a deployment type that the MachineProvider has no operating system for. */
export function unknownDeployment(on: string, name: string, provider: string): Fault {
  const system = `spec.inventory.operatingSystems of MachineProvider ${provider}`;
  // Debian's installer by a profile; `preseed` alone is the name that manifests of 2019 have for whatever is booted.
  const refused = name.startsWith("preseed/") ? installer("Debian's installer") : REFUSED.get(name.split("/")[0]!);
  if (refused === undefined)
    return new Fault("Invalid", on, `spec.deploymentType: nothing says what is installed as ${name}`, {
      remedy: `add ${name} to ${system}`,
    });
  return new Fault("Invalid", on, `spec.deploymentType: ${name} is not served: ${refused.why}`, {
    remedy: `name one of ${system} that takes bootstrap data as cloud-init does, such as the node image; ${refused.instead}`,
  });
}
